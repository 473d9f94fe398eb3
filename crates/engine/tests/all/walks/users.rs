//! Users over the simulated network: they come one after the other, walk several journeys by weight, prepare before the clock
//! starts, keep what they have, think, and stop when they are through.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ablaze_model::plan::users::{Ramp, ThinkTime, Users, WeightedJourney};
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};

use super::journeys::{field, first_line, journey, walk};
use crate::simulated::support::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const NO: &[u8] = b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno";
/// Users whose next journey would begin when the run ends.
const AT_THE_END: u64 = 12;
const ONE: &str = "# name: one\nGET http://there/one\nHTTP 200\n";
const TWO: &str =
    "# name: one\nGET http://there/one\nHTTP 200\n# name: two\nGET http://there/two\nHTTP 200\n";
/// Two steps of journeys, and one of a setup whose capture both use.
const WITH_SETUP: &str = "# name: one
GET http://there/one/{{token}}
HTTP 200

# name: two
GET http://there/two/{{token}}
HTTP 200

# name: login
GET http://there/login
HTTP 200
[Captures]
token: header \"X-Token\"
";

fn users(plan: Plan, users: Users) -> Plan {
    let mut plan = plan;
    plan.journey.as_mut().unwrap().users = users;
    plan
}

/// For a time, with so many connections.
fn lasting(duration_ns: u64, connections: u32) -> Plan {
    let mut plan = plan(1, connections);
    (plan.limits.requests, plan.limits.duration_ns) = (None, Some(duration_ns));
    plan
}

/// When what was asked for.
type Noted = Arc<Mutex<Vec<(u64, String)>>>;

/// A peer that is content with everything, and notes when it was asked for what.
fn noting(after_ns: u64) -> (Script, Noted) {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&noted);
    let peer = Script::new(&[OK], move |moment| {
        own.lock().unwrap().push((moment.far.now(), first_line(moment.head)));
        moment.send(after_ns, 0);
    });
    (peer, noted)
}

#[test]
fn users_of_a_ramp_come_evenly_over_the_time() {
    for (workers, warmup_ns) in [(1, 0), (3, 0), (2, 20 * MS)] {
        let (peer, noted) = noting(10 * MS);
        let mut plan = with_workers(lasting(100 * MS, 30), workers);
        plan.limits.warmup_ns = warmup_ns;
        let ramp = Some(Ramp { from: 3, to: 30, over_ns: 90 * MS });
        let plan = journey(plan, ONE, |_, _| {});
        let plan = users(plan, Users { ramp, pause: true, ..Users::default() });
        walk(&plan, &peer, |run, journeys| {
            // Users 0 to 2 walk ten journeys each; user 2 + n comes n / 27 of 90 ms later.
            let each = |comes_ns: u64| (100 * MS - comes_ns).div_ceil(10 * MS);
            let late = (1..=27).map(|n| each(90 * MS * n / 27)).sum::<u64>();
            // Three of the warm-up may be under way when the window opens, and twelve begin in the moment it closes.
            let most = 3 * each(0) + late + AT_THE_END;
            let least = most - AT_THE_END - if warmup_ns > 0 { 3 } else { 0 };
            assert!((least..=most).contains(&journeys.begun), "{} of {most}", journeys.begun);
            assert_eq!(run.record.connections_opened, 30, "one each, when they come");
            // Each is counted when it came: half of the 27 within half of their 90 ms.
            let came = [MS, 45 * MS, 100 * MS].map(|ns| journeys.came.count_at_most(ns));
            assert!(came[0] == 3 && (15..=17).contains(&came[1]) && came[2] == 30, "{came:?}");
            assert_eq!(journeys.pauses_ns, 0, "nobody thinks");
        });
        // In the tenth of the time before the first of the others comes, three users ask.
        let noted = noted.lock().unwrap();
        let begun = noted.iter().map(|(at, _)| *at).min().unwrap() + warmup_ns;
        let early = noted.iter().filter(|(at, _)| (begun..begun + 3 * MS).contains(at)).count();
        assert!((3..=2 * 3).contains(&early), "{early} over both drivers");
    }
}

#[test]
fn journeys_are_walked_by_their_weights() {
    let several = |route: &mut ablaze_model::plan::journey::Route| {
        route.ways.journeys = vec![0..1, 1..2];
        route.ways.order = vec![0, 0, 1, 0];
    };
    let named = |name: &str, weight| WeightedJourney { name: name.to_owned(), weight };
    let asked = Users { journeys: vec![named("a", 3), named("b", 1)], ..Users::default() };
    // In closed loop users are spread: 2 of 8 walk the other journey, whatever the worker.
    for workers in [1, 2, 3] {
        let (peer, noted) = noting(MS);
        let plan =
            journey(with_workers(lasting(10 * MS, 8), workers), TWO, |route, _| several(route));
        walk(&users(plan, asked.clone()), &peer, |run, journeys| {
            let [a, b] = &journeys.each[..] else { panic!() };
            assert_eq!((a.begun, b.begun), (3 * b.begun, journeys.begun / 4), "{workers} workers");
            assert_eq!(a.whole + b.whole, journeys.whole);
            assert_eq!(a.duration.count() + b.duration.count(), journeys.duration.count());
            let groups: Vec<_> = run.record.groups.iter().map(|group| group.responses).collect();
            assert_eq!(groups, [a.whole, b.whole]);
        });
        assert!(!noted.lock().unwrap().is_empty());
    }
    // In open loop arrivals are: exactly a quarter of 100.
    let (peer, _) = noting(MS);
    let mut plan = plan(100, 50);
    let rate = RateProfile::constant(10_000.0);
    plan.load = Load::Open { rate, arrivals: Arrivals::Constant, connections: 50, bounded: true };
    for workers in [1, 2] {
        let plan = journey(with_workers(plan.clone(), workers), TWO, |route, _| several(route));
        walk(&users(plan, asked.clone()), &peer, |_, journeys| {
            let begun: Vec<u64> = journeys.each.iter().map(|one| one.begun).collect();
            assert_eq!(begun, [75, 25]);
        });
    }
}

#[test]
fn a_setup_runs_once_per_user_and_is_not_counted() {
    for (workers, keep_session) in [(1, false), (2, false), (2, true)] {
        let logins = Arc::new(Mutex::new(0u32));
        let count = Arc::clone(&logins);
        let mut responses: Vec<Vec<u8>> = (0..10)
            .map(|n| {
                format!(
                    "HTTP/1.1 200 OK\r\nX-Token: t{n}\r\nSet-Cookie: session=t{n}; Path=/\r\nContent-Length: 2\r\n\r\nok"
                )
                .into_bytes()
            })
            .collect();
        responses.push(OK.to_vec());
        responses.push(NO.to_vec());
        let seen = Arc::new(Mutex::new(BTreeMap::<String, u64>::new()));
        let own = Arc::clone(&seen);
        let parts: Vec<&[u8]> = responses.iter().map(Vec::as_slice).collect();
        let peer = Script::new(&parts, move |moment| {
            let line = first_line(moment.head);
            let cookie = field(moment.head, "Cookie");
            if line.starts_with("GET /login ") {
                assert_eq!(cookie, None);
                let mut count = count.lock().unwrap();
                *count += 1;
                // Every fifth user cannot log in.
                let which = if count.is_multiple_of(5) { 11 } else { *count as usize % 10 };
                return moment.send(200 * US, which);
            }
            let token = line.split(' ').nth(1).unwrap().rsplit('/').next().unwrap().to_owned();
            assert_eq!(cookie, Some(format!("session={token}")), "{line}");
            *own.lock().unwrap().entry(token).or_default() += 1;
            moment.send(100 * US, 10);
        });
        let plan = journey(with_workers(plan(40, 10), workers), WITH_SETUP, |route, plan| {
            route.ways.setup = Some(2..3);
            plan.requests.groups.names.pop();
            plan.requests.groups.of_templates[2] = 0;
        });
        let mut plan = users(
            plan,
            Users { setup: Some("login.hurl".to_owned()), keep_session, ..Users::default() },
        );
        plan.journey.as_mut().unwrap().steps.pop();
        walk(&plan, &peer, |run, journeys| {
            assert_eq!((journeys.begun, journeys.whole, journeys.failed), (40, 40, 0));
            let setup = journeys.setup.as_ref().unwrap();
            assert_eq!((setup.begun, setup.failed), (10, 2));
            let first = &setup.first.as_ref().unwrap().text;
            assert!(first.contains("line 11"), "{first}");
            // Of the setup nothing is counted.
            assert_eq!((run.record.responses, run.record.failures_total()), (80, 0));
            let groups: Vec<_> = run.record.groups.iter().map(|group| group.responses).collect();
            assert_eq!(groups, [40, 40]);
            assert_eq!(journeys.steps.len(), 2);
        });
        assert_eq!(*logins.lock().unwrap(), 20, "ten users, over two drivers");
        assert!(seen.lock().unwrap().len() >= 4);
    }
}

#[test]
fn an_open_loop_is_handed_to_users_who_are_prepared() {
    let peer =
        Script::new(&[b"HTTP/1.1 200 OK\r\nX-Token: t\r\nContent-Length: 2\r\n\r\nok", NO], {
            let count = Mutex::new(0u32);
            move |moment| {
                if !moment.head.starts_with(b"GET /login ") {
                    return moment.send(100 * US, 0);
                }
                let mut count = count.lock().unwrap();
                *count += 1;
                moment.send(100 * US, usize::from(count.is_multiple_of(3)));
            }
        });
    let mut plan = plan(60, 6);
    let rate = RateProfile::constant(1_000.0);
    plan.load = Load::Open { rate, arrivals: Arrivals::Constant, connections: 6, bounded: true };
    let plan = journey(plan, WITH_SETUP, |route, plan| {
        route.ways.setup = Some(2..3);
        plan.requests.groups.names.pop();
        plan.requests.groups.of_templates[2] = 0;
    });
    let plan = users(plan, Users { setup: Some("l".to_owned()), ..Users::default() });
    walk(&plan, &peer, |run, journeys| {
        assert_eq!((journeys.begun, journeys.whole), (60, 60));
        let setup = journeys.setup.as_ref().unwrap();
        assert_eq!((setup.begun, setup.failed), (6, 2));
        assert_eq!(run.record.responses, 120);
    });
}

#[test]
fn a_run_ends_when_no_user_could_be_prepared() {
    let peer = Script::new(&[NO], |moment| moment.send(100 * US, 0));
    for plan in [plan(100, 4), lasting(1_000 * MS, 4)] {
        let plan = journey(with_workers(plan, 2), WITH_SETUP, |route, plan| {
            route.ways.setup = Some(2..3);
            plan.requests.groups.names.pop();
            plan.requests.groups.of_templates[2] = 0;
        });
        let plan = users(plan, Users { setup: Some("l".to_owned()), ..Users::default() });
        walk(&plan, &peer, |run, journeys| {
            assert_eq!((journeys.begun, run.record.responses), (0, 0));
            let setup = journeys.setup.as_ref().unwrap();
            assert_eq!((setup.begun, setup.failed), (4, 4));
        });
    }
}

#[test]
fn a_session_that_is_kept_has_its_cookies_and_captures_in_the_next_iteration() {
    const SESSION: &str = "GET http://there/page\nHTTP 200\n";
    const SETS: &[u8] =
        b"HTTP/1.1 200 OK\r\nSet-Cookie: seen=yes; Path=/\r\nContent-Length: 2\r\n\r\nok";
    for keep_session in [false, true] {
        let cookies = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&cookies);
        let peer = Script::new(&[SETS], move |moment| {
            own.lock().unwrap().push(field(moment.head, "Cookie"));
            moment.send(100 * US, 0);
        });
        let plan = journey(plan(10, 2), SESSION, |_, _| {});
        let plan = users(plan, Users { keep_session, ..Users::default() });
        cookies.lock().unwrap().clear();
        walk(&plan, &peer, |_, journeys| assert_eq!(journeys.whole, 10));
        let with = cookies.lock().unwrap().iter().flatten().count();
        // Two users begin without, over each of two drivers.
        assert_eq!(with, if keep_session { 2 * (10 - 2) } else { 0 });
    }
}

#[test]
fn every_user_walks_so_many_journeys_and_no_more() {
    for workers in [1, 3] {
        let (peer, _) = noting(MS);
        let mut plan = with_workers(plan(35, 7), workers);
        plan.limits.warmup_ns = 3 * MS;
        let plan = journey(plan, ONE, |_, _| {});
        let asked = Users { iterations: Some(5), pause: true, ..Users::default() };
        walk(&users(plan, asked), &peer, |run, journeys| {
            assert_eq!((journeys.begun, journeys.whole), (35, 35));
            assert!(run.elapsed_ns <= 7 * MS, "{}: nobody waits for anybody", run.elapsed_ns);
        });
    }
}

#[test]
fn users_think_between_steps_and_not_around_journeys() {
    for think in [
        ThinkTime::Constant { ns: 7 * MS },
        ThinkTime::Uniform { from_ns: 5 * MS, to_ns: 9 * MS },
        ThinkTime::Exponential { mean_ns: 7 * MS },
    ] {
        let (peer, _) = noting(MS);
        let plan = journey(plan(2_000, 20), TWO, |_, _| {});
        let asked = Users { think_time: Some(think), pause: true, ..Users::default() };
        walk(&users(plan, asked), &peer, |run, journeys| {
            assert_eq!(journeys.whole, 2_000);
            // Two responses of 1 ms, and one pause.
            let mean = journeys.duration.mean_ns().unwrap();
            assert!((mean / 9e6 - 1.0).abs() < 0.05, "{think:?}: {mean}");
            let most = run.record.answered.total.max_ns().unwrap();
            assert!(most < 2 * MS, "the pause is no part of a request: {most}");
            if think == (ThinkTime::Constant { ns: 7 * MS }) {
                assert_eq!(run.elapsed_ns / MS, 900, "100 journeys of 9 ms behind each other");
                assert_eq!(journeys.pauses_ns, 2_000 * 7 * MS);
            }
        });
    }
}

/// Nothing is asked of them any more, and they think until the end all the same.
#[test]
fn a_pause_that_the_end_cuts_short_counts_up_to_there() {
    let (peer, _) = noting(MS);
    let mut plan = journey(plan(1, 4), TWO, |_, _| {});
    plan.limits.requests = None;
    plan.limits.duration_ns = Some(100 * MS);
    let think = Some(ThinkTime::Constant { ns: 400 * MS });
    let asked = Users { think_time: think, pause: true, ..Users::default() };
    walk(&users(plan, asked), &peer, |run, journeys| {
        // Each has its first response after 1 ms.
        let thought_ns = 4 * (run.elapsed_ns - MS);
        let off = thought_ns.abs_diff(journeys.pauses_ns);
        assert!(off <= 4 * MS / 2, "{} of {thought_ns}", journeys.pauses_ns);
        assert!(run.elapsed_ns >= 100 * MS, "{}", run.elapsed_ns);
    });
}
