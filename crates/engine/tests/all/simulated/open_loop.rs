//! Open loop: requests leave on their schedule whatever the responses do, and are timed from when
//! they were due.

use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_net::sim::Misbehave;

use crate::simulated::support::{
    HELLO, HELLO_CLOSE, Log, MS, S, Script, Seen, US, check_sums, closing_each, plan_for, run,
    with_timeout, with_workers,
};

fn open(mut plan: Plan, per_s: f64, connections: u32) -> Plan {
    plan.load = Load::Open {
        rate: RateProfile::constant(per_s),
        arrivals: Arrivals::Constant,
        connections,
        bounded: true,
    };
    plan
}

fn times_of_requests(log: &Log) -> Vec<u64> {
    let mut times: Vec<u64> = log
        .take()
        .into_iter()
        .filter_map(|seen| if let Seen::Request(_, at, _) = seen { Some(at) } else { None })
        .collect();
    times.sort_unstable();
    times
}

/// Fifty requests at 200/s have 250 ms: that the first is due at 0 makes no rate of 204/s.
#[test]
fn a_number_of_requests_has_the_time_that_its_rate_gives_it() {
    for (per_s, requests, delay_ns, elapsed_ns) in [
        (200.0, 50, MS, 250 * MS),
        (1.0, 1, MS, S),
        (10.0, 3, 2 * S, 2 * S + 200 * MS),
        // The duration ends before that.
        (0.5, 1, MS, S),
    ] {
        for workers in [1, 2] {
            let mut plan = with_workers(open(plan_for(S, 4), per_s, 4), workers);
            plan.limits.requests = Some(requests);
            plan.limits.duration_ns = (per_s < 1.0).then_some(S);
            run(&plan, &Script::always(HELLO, delay_ns), |run| {
                check_sums(run);
                assert_eq!(run.record.responses, requests);
                assert_eq!(run.elapsed_ns, elapsed_ns, "{per_s} {requests} {workers}");
            });
        }
    }
}

#[test]
fn requests_leave_on_their_schedule_to_the_nanosecond() {
    // Responses take 2.5 ms, requests are due every 0.4 ms: six or seven are in flight.
    let log = Log::default();
    let peer = Script::always(HELLO, 2_500 * US).logged(&log);
    let mut plan = open(plan_for(S, 100), 2500.0, 100);
    plan.limits.requests = Some(1000);
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 1000);
        let times = times_of_requests(&log);
        assert_eq!(times.len(), 1000);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 400 * US));
        let intended = run.record.answered.intended.as_ref().unwrap();
        assert_eq!(intended.lag.max_ns(), Some(0));
        assert_eq!(intended.response.max_ns(), Some(2_500 * US));
        assert_eq!(run.record.answered.total.min_ns(), Some(2_500 * US));
        assert!((7..=10).contains(&run.record.connections_opened));
    });
}

#[test]
fn the_number_of_a_duration_is_exact_over_all_workers() {
    for workers in [1, 2, 3] {
        let plan = with_workers(open(plan_for(S, 300), 20_000.0, 300), workers);
        run(&plan, &Script::always(HELLO, 100 * US), |run| {
            check_sums(run);
            assert_eq!(run.record.finished() + run.record.unfinished, 20_000);
            assert!(run.record.unfinished <= 3, "{}", run.record.unfinished);
        });
    }
}

/// The rate is of the time that was asked for: ten seconds with a request in each are no 1.1/s.
#[test]
fn a_duration_lasts_until_its_end() {
    for workers in [1, 2] {
        let plan = with_workers(open(plan_for(10 * S, 2), 1.0, 2), workers);
        run(&plan, &Script::always(HELLO, MS), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.elapsed_ns), (10, 10 * S));
            assert_eq!(run.rate_per_s(), Some(1.0));
        });
    }
    // With both, a number of requests has its own time.
    let mut plan = open(plan_for(10 * S, 2), 1.0, 2);
    plan.limits.requests = Some(5);
    run(&plan, &Script::always(HELLO, MS), |run| {
        assert_eq!((run.record.responses, run.elapsed_ns), (5, 5 * S));
    });
}

#[test]
fn a_stall_shows_in_the_response_and_hardly_in_the_service() {
    // Coordinated omission (G. Tene): the server stalls for a second, the bound of 5 connections
    // keeps most of that second's requests from being sent. Each of them waited anyway.
    let peer = Script::always(HELLO, MS).stalled(2 * S, 3 * S);
    let plan = open(plan_for(5 * S, 5), 1000.0, 5);
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.finished() + run.record.unfinished, 5000);
        assert_eq!(run.record.failures_total(), 0);
        let answered = &run.record.answered;
        let response = &answered.intended.as_ref().unwrap().response;
        // 1000 of 5000 requests came during the stall, and those behind it while the backlog
        // was worked off, at 5 per ms: 4 per ms faster than they come.
        let p90 = response.quantile_ns(0.90).unwrap();
        assert!((400 * MS..900 * MS).contains(&p90), "{p90}");
        assert!(response.quantile_ns(0.99).unwrap() > 850 * MS);
        let service = &answered.total;
        assert!(service.quantile_ns(0.5).unwrap() < 2 * MS);
        assert!(service.quantile_ns(0.99).unwrap() < 2 * MS, "only five requests saw the stall");
        assert_eq!(response.count(), service.count());
        // What the client could not send in time is its lag.
        assert!(answered.intended.as_ref().unwrap().lag.max_ns() > Some(900 * MS));
    });
}

#[test]
fn without_a_bound_a_stall_holds_no_request_back() {
    let log = Log::default();
    let peer = Script::always(HELLO, MS).logged(&log).stalled(S, 2 * S);
    let plan = open(plan_for(3 * S, 2000), 1000.0, 2000);
    run(&plan, &peer, |run| {
        assert_eq!(run.record.finished() + run.record.unfinished, 3000);
        let intended = run.record.answered.intended.as_ref().unwrap();
        assert_eq!(intended.lag.max_ns(), Some(0));
        assert!(run.record.connections_opened > 990, "{}", run.record.connections_opened);
        let times = times_of_requests(&log);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == MS));
    });
}

#[test]
fn what_was_never_sent_is_unfinished_and_not_lost() {
    // One connection, no responses: one request is in flight at the end, 999 are due behind it.
    let plan = open(plan_for(S, 1), 1000.0, 1);
    run(&plan, &Script::new(&[], |_| {}), |run| {
        assert_eq!((run.record.responses, run.record.failures_total()), (0, 0));
        assert_eq!((run.record.unfinished, run.record.never_sent), (1000, 999));
        assert_eq!(run.record.unfinished_oldest_ns, S);
    });
}

#[test]
fn a_request_times_out_from_when_it_was_due() {
    // One connection, responses after 30 ms, a request every 10 ms, 50 ms of timeout: the backlog
    // grows until every request has waited too long.
    let mut plan = with_timeout(open(plan_for(10 * S, 1), 100.0, 1), 50 * MS);
    plan.limits.requests = Some(200);
    run(&plan, &Script::always(HELLO, 30 * MS), |run| {
        check_sums(run);
        assert_eq!(run.record.finished(), 200);
        let timeouts = run.record.failures_of(ablaze_model::failure::FailureKind::Timeout);
        assert_eq!(timeouts, run.record.failures_total());
        assert!(timeouts > 100, "{timeouts}");
        let response = &run.record.answered.intended.as_ref().unwrap().response;
        // Deadlines are looked at once a millisecond.
        assert!(response.max_ns() <= Some(51 * MS), "{:?}", response.max_ns());
    });
}

#[test]
fn a_connection_per_request_is_opened_when_it_is_due() {
    let log = Log::default();
    let peer = Script::always(HELLO_CLOSE, 3 * MS).accepting_after(MS).logged(&log);
    let mut plan = closing_each(open(plan_for(S, 50), 1000.0, 50));
    plan.limits.requests = Some(500);
    plan.connections.close = ablaze_model::plan::Close::Fin;
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.connections_opened), (500, 500));
        let intended = run.record.answered.intended.as_ref().unwrap();
        assert_eq!(intended.lag.max_ns(), Some(0));
        assert_eq!(intended.response.max_ns(), Some(4 * MS));
        let times = times_of_requests(&log);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == MS));
    });
}

#[test]
fn a_server_that_closes_idle_connections_costs_no_request() {
    let peer = Script::always(HELLO, MS).closing_after(3);
    let mut plan = open(plan_for(10 * S, 20), 500.0, 20);
    plan.limits.requests = Some(2000);
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.failures_total()), (2000, 0));
    });
}

#[test]
fn a_ramp_and_a_warmup_send_what_they_ask_for() {
    let mut plan = open(plan_for(2 * S, 100), 0.0, 100);
    plan.load = Load::Open {
        rate: RateProfile { from_per_s: 100.0, to_per_s: 900.0, steps: 5 },
        arrivals: Arrivals::Constant,
        connections: 100,
        bounded: false,
    };
    plan.limits.warmup_ns = 300 * MS;
    run(&plan, &Script::always(HELLO, MS), |run| {
        check_sums(run);
        // 100, 300, 500, 700 and 900 per second, 0.4 s each.
        assert_eq!(run.record.finished() + run.record.unfinished, 1000);
    });
}

#[test]
fn poisson_arrivals_are_as_many_as_asked_for() {
    let mut plan = open(plan_for(100 * S, 500), 1000.0, 500);
    plan.load = Load::Open {
        rate: RateProfile::constant(1000.0),
        arrivals: Arrivals::Poisson,
        connections: 500,
        bounded: false,
    };
    plan.limits.requests = Some(3000);
    run(&plan, &Script::always(HELLO, MS), |run| {
        assert_eq!(run.record.responses, 3000);
        let intended = run.record.answered.intended.as_ref().unwrap();
        assert_eq!(intended.lag.max_ns(), Some(0));
        // 3000 gaps of mean 1 ms: 3 s, with a standard deviation of 55 ms.
        assert!((2_700 * MS..3_300 * MS).contains(&run.elapsed_ns), "{}", run.elapsed_ns);
    });
}

/// A server that closes many idle connections at once, as one that is stopped does, costs no request; the arrivals
/// behind that open connections anew.
#[test]
fn many_idle_connections_that_are_closed_at_once_are_opened_anew() {
    let peer = Script::new(&[HELLO], |moment| {
        let since_start_ns = moment.far.now() - ablaze_net::sim::START_NS;
        if since_start_ns < S {
            // Idle from 1.1 s on, and closed at 1.2 s, all of them.
            moment.send(1_100 * MS - since_start_ns, 0);
            moment.far.close_after(1_200 * MS - since_start_ns);
        } else {
            moment.send(MS, 0);
        }
    });
    // 20,000 arrivals in the first second, each on a connection of its own, and 1,000 in the next.
    let mut plan = open(plan_for(2 * S, 21_000), 0.0, 21_000);
    plan.load = Load::Open {
        rate: RateProfile { from_per_s: 20_000.0, to_per_s: 1_000.0, steps: 2 },
        arrivals: Arrivals::Constant,
        connections: 21_000,
        bounded: true,
    };
    run(&plan, &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!((record.failures_total(), record.finished() + record.unfinished), (0, 21_000));
        // Two at a time are enough in the second half, and some more while the first are busy.
        assert!(
            (20_001..=20_210).contains(&record.connections_opened),
            "{}",
            record.connections_opened
        );
    });
}
