//! Little's law: the integral of what is in flight is connections × time when none ever rests.

use crate::simulated::support::{
    HELLO, MS, S, Script, US, check_sums, closing_each, pipelined, plan, plan_for, run,
    with_workers,
};

#[test]
fn saturated_connections_are_always_in_flight() {
    let peer = Script::new(&[HELLO], |moment| {
        moment.send(MS + moment.connection * 13 * US, 0);
    })
    .accepting_after(300 * US);
    for workers in [1, 3] {
        for depth in [1, 4] {
            let plan = with_workers(pipelined(plan_for(S, 5), depth), workers);
            run(&plan, &peer, |run| {
                check_sums(run);
                assert_eq!(run.record.in_flight_ns, u128::from(5 * depth) * u128::from(S));
            });
        }
    }
}

#[test]
fn connecting_is_part_of_it() {
    let mut plan = closing_each(plan_for(S, 5));
    plan.connections.close = ablaze_model::plan::Close::Fin;
    run(&plan, &Script::always(HELLO, MS).accepting_after(300 * US), |run| {
        check_sums(run);
        assert_eq!(run.record.in_flight_ns, 5 * u128::from(S));
    });
}

/// 20 connections, one of which takes 200 ms for a response and the others 1 ms: when the requests
/// run out, the slow one is waited for alone.
#[test]
fn the_end_of_a_number_of_requests_is_timed_from_when_places_stay_empty() {
    let peer = Script::new(&[HELLO], |moment| {
        moment.send(if moment.connection == 7 { 200 * MS } else { MS }, 0);
    });
    run(&plan(1_901, 20), &peer, |run| {
        check_sums(run);
        // 19 connections share 1,900 requests in 100 ms; the slow one has one.
        let drain_ns = run.record.drain_ns.unwrap();
        assert!((95 * MS..=105 * MS).contains(&drain_ns), "{drain_ns}");
        assert!(run.elapsed_ns >= 200 * MS);
    });
    // Two workers: the one that has nothing left drains until the other has ended too.
    run(&with_workers(plan(1_901, 20), 2), &peer, |run| {
        assert!(run.record.drain_ns.unwrap() >= 95 * MS, "{:?}", run.record.drain_ns);
    });
    // What time ends does not drain.
    run(&plan_for(S, 20), &peer, |run| assert_eq!(run.record.drain_ns, None));
}
