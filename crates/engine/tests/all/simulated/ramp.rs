//! Connections are opened one after the other when a ramp is asked for.

use crate::simulated::support::{
    HELLO, Log, MS, Script, Seen, check_sums, clock_before, plan, run,
};

fn begins(log: &Log) -> Vec<u64> {
    let mut first = std::collections::BTreeMap::new();
    for seen in log.take() {
        if let Seen::Request(connection, at, _) = seen {
            first.entry(connection).or_insert(at - ablaze_net::sim::START_NS);
        }
    }
    first.into_values().collect()
}

#[test]
fn with_the_clock_before_connecting_it_spreads_the_load() {
    let log = Log::default();
    let mut plan = clock_before(plan(100, 4));
    plan.connections.ramp_ns = 5 * MS;
    run(&plan, &Script::always(HELLO, MS).logged(&log), |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 100);
        assert_eq!(begins(&log), [0, 5 * MS, 10 * MS, 15 * MS]);
    });
}

#[test]
fn with_the_clock_after_connecting_it_is_part_of_the_setup() {
    let log = Log::default();
    let mut plan = plan(100, 4);
    plan.connections.ramp_ns = 5 * MS;
    run(&plan, &Script::always(HELLO, MS).logged(&log), |run| {
        check_sums(run);
        assert_eq!(begins(&log), [15 * MS; 4]);
        assert_eq!(run.elapsed_ns, 25 * MS);
    });
}
