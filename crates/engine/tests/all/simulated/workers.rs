//! Several workers' records merged are the record of one that did it all.

use crate::simulated::support::{
    HELLO, MS, S, Script, US, check_sums, plan_for, run, with_workers,
};

#[test]
fn the_merged_record_is_that_of_one_worker() {
    let peer = Script::always(HELLO, MS).accepting_after(200 * US);
    let one = run(&plan_for(S, 4), &peer, check_sums);
    for workers in [2, 4] {
        run(&with_workers(plan_for(S, 4), workers), &peer, |run| {
            check_sums(run);
            let (record, expected) = (&run.record, &one.record);
            assert_eq!(run.workers.len(), workers as usize);
            assert_eq!(record.responses, expected.responses);
            assert_eq!(record.answered.total.sum_ns(), expected.answered.total.sum_ns());
            assert_eq!(record.answered.total.count(), expected.answered.total.count());
            assert_eq!(record.received_bytes, expected.received_bytes);
            assert_eq!(record.sent_bytes, expected.sent_bytes);
            assert_eq!(record.in_flight_ns, expected.in_flight_ns);
            assert_eq!(record.unfinished, expected.unfinished);
            assert_eq!(record.setup_connect.count(), 4);
            assert_eq!(record.slices.slices.len(), expected.slices.slices.len());
            assert_eq!(run.elapsed_ns, S);
        });
    }
}

#[test]
fn workers_that_connect_at_different_paces_begin_together() {
    // Five connections over two workers, one ramp step apart: the first worker needs a step more.
    let mut plan = with_workers(crate::simulated::support::plan(1_000, 5), 2);
    plan.connections.ramp_ns = 10 * MS;
    run(&plan, &Script::always(HELLO, MS), |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 1_000);
    });
}

#[test]
fn slices_cover_the_run() {
    run(&plan_for(S, 4), &Script::always(HELLO, MS), |run| {
        let slices = &run.record.slices.slices;
        assert_eq!(slices.len(), 10);
        for slice in slices {
            assert_eq!((slice.responses, slice.failures), (400, 0));
            assert_eq!(slice.max_ns, MS);
        }
    });
}
