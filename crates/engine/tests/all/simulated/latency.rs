//! Times are those of the script, exactly.

use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::support::{
    HELLO, MS, Script, US, check_sums, clock_before, closing_each, plan, run,
};

const CONNECT: u64 = 300 * US;
const WAIT: u64 = 2 * MS + 7;
const GAP: u64 = 40 * US;

/// Takes 300 µs to accept, responses after 2 ms in two pieces 40 µs apart.
fn peer() -> ablaze_net::sim::Prepared<Script> {
    Script::always(HELLO, WAIT).accepting_after(CONNECT).cut(Pieces::SplitAt(20), GAP)
}

fn all_are(latency: &ablaze_stats::Latency, count: u64, value_ns: u64) {
    assert_eq!(latency.count(), count);
    assert_eq!((latency.min_ns(), latency.max_ns()), (Some(value_ns), Some(value_ns)));
    assert_eq!(latency.sum_ns(), u128::from(count * value_ns));
}

#[test]
fn kept_alive_with_the_clock_after_connecting() {
    run(&plan(6, 2), &peer(), |run| {
        check_sums(run);
        let answered = &run.record.answered;
        all_are(&answered.wait, 6, WAIT);
        all_are(&answered.receive, 6, GAP);
        all_are(&answered.total, 6, WAIT + GAP);
        all_are(&answered.processing, 6, WAIT + GAP);
        assert_eq!(answered.connect.count(), 0);
        all_are(&run.record.setup_connect, 2, CONNECT);
        assert_eq!(run.elapsed_ns, 3 * (WAIT + GAP));
    });
}

#[test]
fn kept_alive_with_the_clock_before_connecting() {
    run(&clock_before(plan(6, 2)), &peer(), |run| {
        check_sums(run);
        let answered = &run.record.answered;
        all_are(&answered.connect, 2, CONNECT);
        all_are(&answered.wait, 6, WAIT);
        all_are(&answered.processing, 6, WAIT + GAP);
        assert_eq!(answered.total.max_ns(), Some(CONNECT + WAIT + GAP));
        assert_eq!(answered.total.sum_ns(), u128::from(6 * (WAIT + GAP) + 2 * CONNECT));
        assert_eq!(run.record.setup_connect.count(), 0);
        assert_eq!(run.elapsed_ns, CONNECT + 3 * (WAIT + GAP));
    });
}

#[test]
fn closing_after_each() {
    let mut plan = closing_each(plan(6, 2));
    plan.connections.close = ablaze_model::plan::Close::Fin;
    for plan in [plan.clone(), clock_before(plan)] {
        run(&plan, &peer(), |run| {
            check_sums(run);
            let answered = &run.record.answered;
            all_are(&answered.connect, 6, CONNECT);
            all_are(&answered.wait, 6, WAIT);
            all_are(&answered.receive, 6, GAP);
            all_are(&answered.total, 6, CONNECT + WAIT + GAP);
            all_are(&answered.processing, 6, WAIT + GAP);
            assert_eq!(run.record.connections_opened, 6);
            assert_eq!(run.elapsed_ns, 3 * (CONNECT + WAIT + GAP));
        });
    }
}

#[test]
fn pipelined_requests_that_had_to_connect() {
    let plan = crate::simulated::support::pipelined(clock_before(plan(4, 1)), 4);
    run(&plan, &Script::always(HELLO, WAIT).accepting_after(CONNECT), |run| {
        check_sums(run);
        // One connection, which all four waited for.
        all_are(&run.record.answered.connect, 1, CONNECT);
        all_are(&run.record.answered.processing, 4, WAIT);
        all_are(&run.record.answered.wait, 4, WAIT);
        all_are(&run.record.answered.total, 4, CONNECT + WAIT);
    });
}
