//! Connections are opened one after the other when a ramp is asked for.

use ablaze_model::FailureKind;
use ablaze_net::sim::ConnectReply;

use crate::simulated::support::{
    HELLO, Log, MS, S, Script, Seen, check_sums, clock_before, plan, run, with_timeout,
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

#[test]
fn connections_that_time_out_before_the_clock_hold_the_others_up_for_one_timeout() {
    let log = Log::default();
    let peer = Script::always(HELLO, MS).connecting(|_, number| match number {
        0 => ConnectReply::AcceptAfter(MS),
        _ => ConnectReply::Never,
    });
    run(&with_timeout(plan(10, 3), 2 * S), &peer.logged(&log), |run| {
        check_sums(run);
        let first = *begins(&log).first().expect("a connection stood");
        assert!((2 * S..2 * S + 10 * MS).contains(&first), "{first}");
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 2);
        assert_eq!(run.record.responses, 8);
    });
}
