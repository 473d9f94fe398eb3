//! A report with nothing wrong, for the tests of rules to spoil.

use crate::printed::{Connections, Document, Printed, Report, Times, Tool};

/// A printed figure.
pub fn printed(value: f64, step: f64) -> Printed {
    Printed { value, step }
}

/// A row as ab prints it: whole ms, the deviation to a tenth.
pub fn times(min: f64, mean: f64, deviation: f64, median: f64, max: f64) -> Times {
    Times {
        min_ms: Some(printed(min, 1.0)),
        mean_ms: Some(printed(mean, 1.0)),
        deviation_ms: Some(printed(deviation, 0.1)),
        median_ms: Some(printed(median, 1.0)),
        max_ms: Some(printed(max, 1.0)),
    }
}

/// ab, 1,000,000 requests, 200 in flight, 10,000 per second, 20 ms each: 10,000 × 0.02 = 200.
pub fn ab() -> Report {
    let mut report = Report::empty(Tool::Ab, 1);
    report.server = Some("demo/1".into());
    report.host = Some("10.0.0.1".into());
    report.port = Some(8080);
    report.path = Some("/".into());
    report.document = Some(Document::Bytes(1000));
    report.concurrency = Some(200);
    report.taken_s = Some(printed(100.0, 0.001));
    report.complete = Some(1_000_000);
    report.failed = Some(0);
    report.non_2xx = Some(0);
    report.connections = Connections::PerRequest;
    report.total_bytes = Some(1_200_000_000);
    report.body_bytes = Some(1_000_000_000);
    report.rate_per_s = Some(printed(10_000.0, 0.01));
    report.per_request_ms = Some(printed(20.0, 0.001));
    // 1,200,000,000 B / 1024 / 100 s.
    report.kilobytes_per_s = Some(printed(11_718.75, 0.01));
    report.connect = Some(times(0.0, 1.0, 0.5, 1.0, 9.0));
    report.total = Some(times(12.0, 20.0, 3.0, 20.0, 60.0));
    report.percentiles = [(50.0, 20.0), (95.0, 25.0), (99.0, 31.0), (100.0, 60.0)]
        .map(|(percent, ms)| (percent, printed(ms, 1.0)))
        .to_vec();
    report
}

#[test]
fn nothing_is_wrong_with_it() {
    assert_eq!(crate::rules::report(&ab()), []);
}
