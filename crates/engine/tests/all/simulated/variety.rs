//! Different requests in one run: their order, their share, their numbers.

use crate::simulated::support::{
    HELLO, Log, MS, Script, Seen, get, pipelined, plan, run, with_workers,
};

fn paths(log: &Log) -> Vec<String> {
    let path = |seen| match seen {
        Seen::Request(_, _, head) => {
            let text = String::from_utf8(head).unwrap();
            Some(text.split(' ').nth(1).unwrap().to_owned())
        }
        Seen::Closed(..) => None,
    };
    log.take().into_iter().filter_map(path).collect()
}

#[test]
fn order_and_weights_are_exact() {
    let log = Log::default();
    let mut plan = plan(70, 1);
    plan.requests.templates = vec![get("/a"), get("/b"), get("/c")];
    plan.requests.order = vec![0, 1, 0, 2, 0, 1, 0];
    run(&plan, &Script::always(HELLO, MS).logged(&log), |_| {
        assert_eq!(paths(&log), ["/a", "/b", "/a", "/c", "/a", "/b", "/a"].repeat(10));
    });
    let plan = with_workers(pipelined(plan, 3), 1);
    run(&plan, &Script::always(HELLO, MS).logged(&log), |_| {
        assert_eq!(paths(&log), ["/a", "/b", "/a", "/c", "/a", "/b", "/a"].repeat(10));
    });
}

#[test]
fn more_requests_than_heads_are_remembered_for() {
    let log = Log::default();
    let mut plan = plan(300, 2);
    plan.requests.templates = (0..100).map(|number| get(&format!("/{number}"))).collect();
    plan.requests.order = (0..100).collect();
    run(&plan, &Script::always(HELLO, MS).logged(&log), |run| {
        assert_eq!((run.record.responses, run.record.body_bytes), (300, 1_500));
        let mut paths = paths(&log);
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 100);
    });
}

#[test]
fn sequence_numbers_are_unique_and_without_gaps_over_workers() {
    let log = Log::default();
    for workers in 1..=4 {
        for depth in [1, 4] {
            let mut plan = pipelined(with_workers(plan(1_000, 9), workers), depth);
            plan.requests.templates = vec![get("/{seq}")];
            run(&plan, &Script::always(HELLO, MS).logged(&log), |_| {
                let mut paths = paths(&log);
                paths.sort();
                let expected: Vec<String> =
                    (0..1_000).map(|number| format!("/{number:010}")).collect();
                assert_eq!(paths, expected);
            });
        }
    }
}
