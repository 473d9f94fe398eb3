//! What the report says about latency, held against the time stamps of the server.

use ablaze_testing::hostile::{Behaviour, Hostile};
use serde_json::Value;

use crate::e2e::support::{BACKENDS, measured};

/// What the report says beyond the server's own truth, ns.
#[derive(Debug)]
struct Beyond {
    wait_p50_ns: i64,
    wait_p99_ns: i64,
    total_p50_ns: i64,
    total_p99_ns: i64,
}

/// Asks a server that answers after so many milliseconds.
fn beyond(io: &str, delay_ms: u64, requests: &str, connections: &str) -> Beyond {
    let delay = std::time::Duration::from_millis(delay_ms);
    let server = Hostile::always(Behaviour::Stamped { delay }).unwrap();
    let (ran, json) =
        measured(&[&server.url(), "-n", requests, "-c", connections, "-t1", "--io", io]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let mut truth: Vec<u64> = server.stamps().iter().map(|stamp| stamp.service_ns()).collect();
    truth.sort_unstable();
    // Nearest rank, as the report's own (docs/json.md).
    let rank = |percent: usize| truth[(truth.len() * percent).div_ceil(100) - 1] as i64;
    let said = |phase: &str, percentile: &str| value(&json, phase, percentile);
    Beyond {
        wait_p50_ns: said("wait", "p50") - rank(50),
        wait_p99_ns: said("wait", "p99") - rank(99),
        total_p50_ns: said("total", "p50") - rank(50),
        total_p99_ns: said("total", "p99") - rank(99),
    }
}

fn value(json: &Value, phase: &str, percentile: &str) -> i64 {
    json["latency_ns"][phase][percentile].as_i64().unwrap()
}

/// How far above the truth is a matter of the machine: 50 ms were seen on a busy one. A wrong phase or unit is not.
/// Histograms round by up to 0.1 %.
fn assert_plausible(beyond: &Beyond, io: &str, delay_ms: u64) {
    let rounding_ns = delay_ms as i64 * 1_000;
    let Beyond { wait_p50_ns, wait_p99_ns, total_p50_ns, total_p99_ns } = *beyond;
    for ns in [wait_p50_ns, total_p50_ns, wait_p99_ns, total_p99_ns] {
        assert!((-rounding_ns..500_000_000).contains(&ns), "{io} {delay_ms} ms: {beyond:?}");
    }
}

#[test]
fn no_percentile_is_below_the_server_s_own() {
    for io in BACKENDS {
        for (delay_ms, requests) in [(1, "200"), (10, "50"), (100, "5")] {
            let beyond = beyond(io, delay_ms, requests, "1");
            println!("{io}, {delay_ms} ms: {beyond:?}");
            assert_plausible(&beyond, io, delay_ms);
        }
    }
}

/// The same over many requests; says whether this machine is quiet enough for the bar of p50 within
/// 50 µs of the truth and p99 within 100 µs.
#[test]
#[ignore = "long: many requests, on a quiet machine"]
fn no_percentile_of_many_requests_is_below_the_server_s_own() {
    for io in BACKENDS {
        for (delay_ms, requests, connections) in
            [(1, "3000", "1"), (10, "500", "1"), (10, "4000", "10"), (100, "500", "10")]
        {
            let beyond = beyond(io, delay_ms, requests, connections);
            let p50_ns = beyond.wait_p50_ns.abs().max(beyond.total_p50_ns.abs());
            let p99_ns = beyond.wait_p99_ns.abs().max(beyond.total_p99_ns.abs());
            let bar = if p50_ns > 50_000 || p99_ns > 100_000 { "not met here" } else { "met" };
            println!("{io}, {delay_ms} ms, {connections} connections, {bar}: {beyond:?}");
            assert_plausible(&beyond, io, delay_ms);
        }
    }
}
