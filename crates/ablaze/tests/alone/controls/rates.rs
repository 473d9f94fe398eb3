//! An open loop at 20,000/s for ten seconds: how many requests leave. How late and how evenly is
//! measured by bench/monitor.

use crate::alone;
use crate::controls::noise::if_quiet;
use crate::controls::support::{Server, load};
use crate::controls::verdict::Report;

const RATE: [&str; 5] = ["-r", "20000/s", "-d", "10s", "-t1"];

#[test]
#[ignore = "long: ten seconds at a rate, on a quiet machine"]
fn a_rate_of_20000_per_second_is_exact_over_ten_seconds() {
    let _alone = alone();
    let run = || {
        let server = Server::start(&[]);
        let report = load(&[&[server.url("/").as_str()][..], &RATE].concat());
        // However late: each that was due is accounted for.
        assert_eq!(due(&report), 200_000.0);
        // As the server counts, which may not have got to the last ones.
        let never_sent = report.number("/unfinished/never_sent");
        let unfinished = report.number("/unfinished/count");
        let counted = server.requests() as f64;
        let expected = 200_000.0 - unfinished..=200_000.0 - never_sent;
        assert!(expected.contains(&counted), "{counted}, {expected:?}");
        report
    };
    if_quiet(run, |report| {
        let never_sent = report.number("/unfinished/never_sent");
        (never_sent > 0.0).then(|| format!("{never_sent} requests were due and not sent"))
    });
}

/// Requests that became due.
fn due(report: &Report) -> f64 {
    ["/responses", "/failed/total", "/unfinished/count"].map(|at| report.number(at)).iter().sum()
}
