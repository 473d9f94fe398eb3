//! `-n` is exact, however it divides among workers, connections and places in flight.

use crate::simulated::support::{
    HELLO, MS, Script, check_sums, pipelined, plan, run, with_workers,
};

#[test]
fn every_request_is_answered_and_none_more() {
    let peer = Script::always(HELLO, MS);
    for workers in 1..=4 {
        for (requests, connections) in [(1, 1), (3, 8), (100, 7), (1_000, 10), (4_099, 33)] {
            for depth in [1, 3] {
                let plan = pipelined(with_workers(plan(requests, connections), workers), depth);
                run(&plan, &peer, |run| {
                    check_sums(run);
                    assert_eq!(run.record.responses, requests);
                    assert_eq!(run.record.failures_total() + run.record.unfinished, 0);
                    assert_eq!(run.record.connections_opened, u64::from(connections));
                    assert_eq!(run.record.received_bytes, requests * HELLO.len() as u64);
                    assert_eq!(run.record.body_bytes, requests * 5);
                    assert_eq!(run.record.reused, requests);
                });
            }
        }
    }
}
