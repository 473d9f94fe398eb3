//! wrk's report beside what wrk itself printed.

use super::*;
use crate::sample;

/// Printed by wrk 4.1 for `wrk -t2 -c5 -d1s --latency -H 'A: b' http://127.0.0.1:18999/x?q=1`.
const OF_WRK: &str = "\
Running 1s test @ http://127.0.0.1:18999/x?q=1
  2 threads and 5 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    44.95ms    9.13ms  52.11ms   95.45%
    Req/Sec    43.80      7.95    60.00     80.00%
  Latency Distribution
     50%   47.11ms
     75%   48.13ms
     90%   50.89ms
     99%   52.11ms
  88 requests in 1.01s, 10.14KB read
  Non-2xx or 3xx responses: 88
Requests/sec:     87.47
Transfer/sec:     10.08KB
";

/// The same of a server that never responds.
const WITHOUT_RESPONSES: &str = "  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     0.00us    0.00us   0.00us    -nan%
    Req/Sec     0.00      0.00     0.00      -nan%
  Latency Distribution
     50%    0.00us
     75%    0.00us
     90%    0.00us
     99%    0.00us
  0 requests in 1.01s, 0.00B read
Requests/sec:      0.00
Transfer/sec:       0.00B
";

#[test]
fn figures_stand_where_wrk_has_them() {
    let mut run = sample::ordinary();
    let record = &mut run.record;
    record.responses = 88;
    record.statuses = [(404, 88)].into();
    record.received_bytes = 10_383;
    run.elapsed_ns = 1_006_000_000;
    record.answered.processing.clear();
    record.worker_rates.clear();
    // All but the three short ones are within a deviation, 6.75 ms, of the mean, 45.91 ms: 85 of 88.
    for ns in [47_110_000; 84] {
        record.answered.processing.record(ns);
    }
    for ns in [10_000_000, 12_000_000, 9_000_000, 52_110_000] {
        record.answered.processing.record(ns);
    }
    for rate in [43, 43, 43, 51] {
        record.worker_rates.record(rate);
    }
    let text = heading("http://127.0.0.1:18999/x?q=1", 1, 2, 5) + &write(&run, true);
    let shape = |text: &str| {
        let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
        text.chars().map(digits).collect::<String>()
    };
    // The same report but for digits.
    assert_eq!(shape(&text), shape(OF_WRK), "{text}");
    assert!(text.contains("    Latency    45.91ms    6.75ms  52.11ms   96.59%\n"), "{text}");
    assert!(text.contains("    Req/Sec    45.00      4.00    51.00     75.00%\n"), "{text}");
    assert!(text.contains("  88 requests in 1.01s, 10.14KB read\n"), "{text}");
    assert!(text.ends_with("Requests/sec:     87.48\nTransfer/sec:     10.08KB\n"), "{text}");
}

#[test]
fn a_server_that_never_responds_is_reported_as_wrk_does() {
    let mut run = sample::ordinary();
    run.record = ablaze_model::Record::new();
    run.elapsed_ns = 1_010_000_000;
    assert_eq!(write(&run, true), WITHOUT_RESPONSES);
}

#[test]
fn errors_are_told_apart_as_wrk_does() {
    let mut run = sample::troubled();
    run.record.failures[FailureKind::Refused as usize] = 5;
    run.record.failures[FailureKind::CertificateName as usize] = 1;
    let expected = Errors { connect: 6, read: 12, write: 0, timeout: 3, status: 100 };
    assert_eq!(errors(&run), expected);
    let text = write(&run, false);
    let lines = "  Socket errors: connect 6, read 12, write 0, timeout 3\n  \
                 Non-2xx or 3xx responses: 100\nRequests/sec: ";
    assert!(text.contains(lines), "{text}");
    assert!(!text.contains("Distribution"), "{text}");
}

#[test]
fn percentiles_have_wrks_rank() {
    let mut values = Latency::new(3);
    for value in 1..=100 {
        values.record(value);
    }
    // wrk: round(50 / 100 * 100 + 0.5) = 51.
    assert_eq!((percentile(&values, 50.0), percentile(&values, 99.0)), (51, 100));
    assert_eq!((percentile(&values, 0.0), percentile(&values, 100.0)), (1, 100));
    values.clear();
    assert_eq!(percentile(&values, 50.0), 0);
}
