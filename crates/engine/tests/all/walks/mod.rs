//! Users that are asked what they send: whole journeys, pauses, connections that end in between, failures.

#![allow(clippy::unwrap_used, clippy::panic)]

mod http2;
mod http3;
pub(crate) mod journeys;
pub(crate) mod origins;
mod redirects;
mod users;
mod walkers;

use ablaze_engine::{Control, run_simulated_with_sinks};
use ablaze_model::Run;
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};

use self::walkers::{STEPS, Walkers};
use crate::simulated::support::*;

/// Journeys instead of requests.
fn journeys(mut plan: Plan) -> Plan {
    plan.requests.templates = ["/0", "/1", "/2"].map(get).into();
    plan.requests.groups = Groups::of(&["first", "second", "third"].map(str::to_owned));
    plan
}

/// Over both kinds of driver.
fn walk(plan: &Plan, peer: &Script, pause_ns: u64, check: impl Fn(&Run, &[Walkers])) {
    let peers = std::slice::from_ref(peer);
    let control = Control::new();
    for at_once in [false, true] {
        let (plan, make) = (plan.clone(), Walkers::pausing(pause_ns));
        let done = match at_once {
            false => run_simulated_with_sinks::<Script, _, false>(plan, peers, &control, make),
            true => run_simulated_with_sinks::<Script, _, true>(plan, peers, &control, make),
        };
        let (run, walkers) = done.unwrap();
        assert_eq!(run.record.first_malformed, b"a walk reported");
        check_sums(&run);
        check(&run, &walkers);
    }
}

const TOKEN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ntoken-one";
const OTHER: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecond\r\n0\r\n\r\n";

/// Gives each step another body, and wants to see in each request what it gave before.
fn teller() -> Script {
    Script::new(&[TOKEN, OTHER, HELLO], |moment| {
        let line = moment.head.split(|&byte| byte == b'\r').next().unwrap().to_vec();
        let step = match line.as_slice() {
            b"GET /0 HTTP/1.1" => 0,
            b"GET /1/token-one HTTP/1.1" => 1,
            b"GET /2/second HTTP/1.1" => 2,
            other => panic!("{}", String::from_utf8_lossy(other)),
        };
        moment.send(100 * US, step);
    })
}

fn numbers(walkers: &[Walkers]) -> Vec<u64> {
    let mut numbers: Vec<u64> = walkers.iter().flat_map(|walker| walker.whole.clone()).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn every_journey_is_walked_once_and_whole() {
    for (connections, workers) in [(1, 1), (3, 1), (7, 2)] {
        for plan in [plan(20, connections), closing_each(plan(20, connections))] {
            let plan = journeys(with_workers(plan, workers));
            walk(&plan, &teller(), 0, |run, walkers| {
                assert_eq!(numbers(walkers), (0..20).collect::<Vec<_>>());
                let record = &run.record;
                assert_eq!((record.responses, record.failures_total()), (60, 0));
                let groups: Vec<u64> = record.groups.iter().map(|group| group.responses).collect();
                assert_eq!(groups, [20, 20, 20]);
            });
        }
    }
}

#[test]
fn what_came_back_is_seen_however_it_is_cut() {
    // The first response comes in two pieces, cut everywhere.
    for at in 1..TOKEN.len() {
        let peer = Script::new(&[TOKEN, &TOKEN[at..], OTHER, HELLO], move |moment| {
            if moment.head.starts_with(b"GET /0 ") {
                moment.send_part(100 * US, 0, at);
                moment.send(200 * US, 1);
            } else if moment.head.starts_with(b"GET /1/token-one ") {
                moment.send(100 * US, 2);
            } else {
                assert!(moment.head.starts_with(b"GET /2/second "));
                moment.send(100 * US, 3);
            }
        });
        walk(&journeys(plan(4, 2)), &peer, 0, |run, walkers| {
            assert_eq!((run.record.responses, numbers(walkers).len()), (12, 4), "at {at}");
        });
    }
}

#[test]
fn a_user_pauses_between_its_requests_and_the_run_waits_for_it() {
    let plan = journeys(plan(4, 4));
    walk(&plan, &teller(), 5 * MS, |run, walkers| {
        assert_eq!(numbers(walkers).len(), 4);
        for walker in walkers {
            for (number, step, at_ns) in &walker.asked_ns {
                if let Some(before) =
                    walker.asked_ns.iter().find(|(n, s, _)| (n, s + 1) == (number, *step))
                {
                    assert!(at_ns - before.2 >= 5 * MS, "journey {number}, step {step}");
                }
            }
        }
        // Three responses of 0.1 ms and two pauses; nobody waits behind the last.
        let most = 12 * MS;
        assert!((10 * MS..most).contains(&run.elapsed_ns), "{}", run.elapsed_ns);
    });
}

#[test]
fn a_server_that_closes_in_a_pause_costs_a_connection_and_no_journey() {
    let peer = Script::new(&[TOKEN, OTHER, HELLO], |moment| {
        let step = usize::from(moment.head[5] - b'0');
        moment.send(100 * US, step);
        moment.far.close_after(MS);
    });
    walk(&journeys(plan(6, 2)), &peer, 5 * MS, |run, walkers| {
        assert_eq!(numbers(walkers).len(), 6);
        assert_eq!((run.record.responses, run.record.failures_total()), (18, 0));
        assert!(run.record.connections_opened >= 12, "{}", run.record.connections_opened);
    });
}

#[test]
fn a_failed_step_ends_its_journey_and_no_other() {
    // Every journey's second step gets no response on the first connection.
    let peer = Script::new(&[TOKEN, OTHER, HELLO], |moment| {
        let step = usize::from(moment.head[5] - b'0');
        if !(moment.connection == 0 && step == 1) {
            moment.send(100 * US, step);
        }
    });
    let plan = journeys(with_timeout(without_repeat(plan(10, 2)), 50 * MS));
    walk(&plan, &peer, 0, |run, walkers| {
        let broken: Vec<_> = walkers.iter().flat_map(|walker| walker.broken.clone()).collect();
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert_eq!((broken[0].1, broken[0].2), (1, FailureKind::Timeout));
        assert_eq!(numbers(walkers).len(), 9);
        assert_eq!(run.record.failures_total(), 1);
        assert_eq!(run.record.groups[1].failures.iter().sum::<u64>(), 1);
        assert_eq!(run.record.responses, 9 * u64::from(STEPS) + 1);
    });
}

#[test]
fn arrivals_of_an_open_loop_are_journeys() {
    let mut plan = journeys(plan(50, 20));
    plan.load = Load::Open {
        rate: RateProfile::constant(1_000.0),
        arrivals: Arrivals::Constant,
        connections: 20,
        bounded: true,
    };
    walk(&plan, &teller(), 2 * MS, |run, walkers| {
        assert_eq!(numbers(walkers), (0..50).collect::<Vec<_>>());
        for walker in walkers {
            for (number, step, at_ns) in walker.asked_ns.iter().filter(|asked| asked.1 == 0) {
                assert_eq!(*step, 0);
                assert!(*at_ns > 0, "{number}");
            }
        }
        let times = run.record.answered.intended.as_ref().unwrap();
        // Later steps count from when they were asked for, not from when the journey was due.
        let longest_ns = times.response.max_ns().unwrap();
        assert!(longest_ns < 2 * MS, "{longest_ns}");
    });
}

#[test]
fn a_time_limit_ends_the_run_in_the_middle_of_journeys() {
    let mut plan = journeys(plan_for(20 * MS, 3));
    plan.limits.warmup_ns = 10 * MS;
    walk(&plan, &teller(), 3 * MS, |run, walkers| {
        assert_eq!(run.elapsed_ns, 20 * MS);
        assert!(walkers.iter().all(|walker| walker.sent > 6));
        assert_eq!(run.record.failures_total(), 0);
    });
}
