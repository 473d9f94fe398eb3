//! What is handed to the network is counted once.

use crate::simulated::support::{
    HELLO, MS, Script, clock_before, closing_each, pipelined, plan, run,
};

#[test]
fn sent_bytes_are_those_of_the_requests() {
    for plan in [plan(30, 2), clock_before(plan(30, 2)), closing_each(plan(30, 2))] {
        for depth in [1, 4] {
            let plan = pipelined(plan.clone(), depth);
            let request = plan.requests.templates[0].bytes.len() as u64;
            run(&plan, &Script::always(HELLO, MS), |run| {
                assert_eq!(run.record.sent_bytes, 30 * request);
            });
        }
    }
}
