//! oha's reports beside what oha itself printed.

use super::*;
use crate::sample;

/// Printed by oha for `oha --no-tui -z 2s -c 20 http://127.0.0.1:23001/`, without its bars.
const OF_OHA: &str = "\
Summary:
  Success rate:\t100.00%
  Total:\t2007.4566 ms
  Slowest:\t101.5547 ms
  Fastest:\t0.0987 ms
  Average:\t1.0288 ms
  Requests/sec:\t19321.9619

  Total data:\t12.09 MiB
  Size/request:\t327 B
  Size/sec:\t6.02 MiB

Response time histogram:
    0.099 ms [1]     |
   10.244 ms [38712] |
   20.390 ms [45]    |
   30.536 ms [0]     |
   40.681 ms [0]     |
   50.827 ms [0]     |
   60.972 ms [0]     |
   71.118 ms [0]     |
   81.264 ms [0]     |
   91.409 ms [0]     |
  101.555 ms [10]    |

Response time distribution:
  10.00% in 0.2810 ms
  25.00% in 0.4713 ms
  50.00% in 0.6451 ms
  75.00% in 0.9832 ms
  90.00% in 1.8698 ms
  95.00% in 3.4371 ms
  99.00% in 6.6400 ms
  99.90% in 13.0990 ms
  99.99% in 101.0037 ms


Details (average, fastest, slowest):
  DNS+dialup:\t0.5846 ms, 0.0553 ms, 3.1261 ms
  DNS-lookup:\t0.0054 ms, 0.0012 ms, 0.0278 ms

Status code distribution:
  [200] 38768 responses

Error distribution:
  [20] aborted due to deadline
";

/// A run with these times: oha's shortest and longest, and what lies between.
fn run() -> Run {
    let mut run = sample::ordinary();
    run.elapsed_ns = 2_007_456_600;
    (run.plan.limits.requests, run.plan.limits.duration_ns) = (None, Some(2_000_000_000));
    let record = &mut run.record;
    record.responses = 38_768;
    record.statuses = [(200, 38_768)].into();
    record.body_bytes = 38_768 * 327;
    record.unfinished = 20;
    let total = &mut record.answered.total;
    total.clear();
    total.record(98_700);
    total.record_many(645_100, 38_712);
    total.record_many(15_000_000, 45);
    total.record_many(101_554_700, 10);
    for ns in [55_300, 584_600, 3_126_100] {
        record.answered.connect.record(ns);
    }
    run
}

fn without_bars(text: &str) -> String {
    text.replace('■', "")
}

#[test]
fn lines_labels_and_columns_are_ohas() {
    let text = without_bars(&text(&run(), None, false));
    let shape = |line: &str| {
        let mut shape = String::new();
        for letter in line.chars() {
            let shown = if letter.is_ascii_digit() { '0' } else { letter };
            if !(shown == '0' && shape.ends_with('0')) {
                shape.push(shown);
            }
        }
        shape
    };
    let shapes = |text: &str| text.lines().map(shape).collect::<Vec<_>>();
    assert_eq!(shapes(&text), shapes(OF_OHA), "{text}");
    // Those cut off are among the requests of the rate; its last digits are those of a length that is printed with fewer.
    assert!(text.contains("  Requests/sec:\t19321.96"), "{text}");
    // What follows from the same figures is the same.
    for line in [
        "  Total:\t2007.4566 ms",
        "  Slowest:\t101.5547 ms",
        "  Fastest:\t0.0987 ms",
        "  Total data:\t12.09 MiB",
        "  Size/request:\t327 B",
        "  Size/sec:\t6.02 MiB",
        "   10.244 ms [38712] |",
        "   20.390 ms [45]    |",
        "  101.555 ms [10]    |",
        "  [200] 38768 responses",
        "  [20] aborted due to deadline",
    ] {
        assert!(
            OF_OHA.contains(&format!("{line}\n")) && text.contains(&format!("{line}\n")),
            "{line}\n{text}"
        );
    }
}

#[test]
fn a_run_without_a_response_has_no_times() {
    let mut run = run();
    run.record = ablaze_model::Record::new();
    run.record.failures[FailureKind::Timeout as usize] = 20;
    let text = text(&run, None, false);
    // As oha prints them.
    for line in [
        "  Success rate:\t0.00%",
        "  Slowest:\t-inf ns",
        "  Fastest:\tinf ns",
        "  Average:\tNaN ns",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
    }
    assert!(text.ends_with("Error distribution:\n  [20] timeout\n"), "{text}");
}

#[test]
fn a_unit_can_be_asked_for() {
    let text = text(&run(), Unit::named("s"), false);
    assert!(text.contains("  Slowest:\t0.1016 sec\n"), "{text}");
    assert_eq!(Unit::named("days"), None);
}

#[test]
fn the_json_has_ohas_keys() {
    let document: serde_json::Value = serde_json::from_str(&json(&run(), false)).unwrap();
    // Of what oha prints with --output-format json.
    for pointer in [
        "/summary/successRate",
        "/summary/total",
        "/summary/slowest",
        "/summary/fastest",
        "/summary/average",
        "/summary/requestsPerSec",
        "/summary/totalData",
        "/summary/sizePerRequest",
        "/summary/sizePerSec",
        "/latencyPercentiles/p10",
        "/latencyPercentiles/p99",
        "/latencyPercentiles/p99.9",
        "/latencyPercentiles/p99.99",
        "/firstBytePercentiles/p50",
        "/rps/mean",
        "/rps/stddev",
        "/rps/max",
        "/rps/min",
        "/rps/percentiles/p50",
        "/details/DNSDialup/average",
        "/details/DNSLookup/fastest",
        "/details/firstByte/slowest",
        "/statusCodeDistribution/200",
    ] {
        assert!(
            document.pointer(pointer).is_some_and(serde_json::Value::is_number),
            "{pointer}: {document:#}"
        );
    }
    assert_eq!(document["errorDistribution"][CUT_OFF], 20);
    assert_eq!(document["summary"]["slowest"], 0.101_554_7);
    assert_eq!(document["responseTimeHistogram"].as_object().unwrap().len(), 11);
}

#[test]
fn the_csv_has_a_line_for_each_response() {
    let text = csv(&crate::ab::sample::run());
    assert_eq!(text.lines().count(), 11);
    // Of 12 ms, the body took 0.5 ms; 14 bytes.
    assert_eq!(text.lines().nth(1), Some("0,0,0,0.0115,0.012,14,200"));
}
