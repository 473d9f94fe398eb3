//! Little's law: the integral of what is in flight is connections × time when none ever rests.

use crate::support::{
    HELLO, MS, S, Script, US, check_sums, closing_each, pipelined, plan_for, run, with_workers,
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
    plan.connections.close = ablaze_engine::plan::Close::Fin;
    run(&plan, &Script::always(HELLO, MS).accepting_after(300 * US), |run| {
        check_sums(run);
        assert_eq!(run.record.in_flight_ns, 5 * u128::from(S));
    });
}
