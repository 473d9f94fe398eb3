//! Saved runs stay readable for ever: one file of every format, kept as it was written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ablaze_model::run::Ended;
use ablaze_report::json::load;

/// Do not write this file anew when the test fails: give the field that was added in
/// json/document.rs, or in the engine's plan, a default.
#[test]
fn a_file_of_format_1_can_be_read() {
    let saved = load(include_str!("saved/format-1.json")).unwrap();
    let run = saved.run;
    assert_eq!((saved.format, saved.tool_version.as_str()), (1, "0.1.0"));
    assert_eq!(run.plan.target.url, "http://127.0.0.1:8080/");
    assert_eq!(run.plan.load.connections(), 100);
    assert_eq!(run.plan.limits.duration_ns, Some(10_000_000_000));
    assert_eq!(run.record.answers, 20_000);
    assert_eq!(run.record.failures_total(), 15);
    assert_eq!(run.record.statuses[&404], 90);
    assert_eq!(run.record.answered.total.count(), 20_000);
    assert_eq!(run.record.answered.total.quantile_ns(0.99), Some(698_399));
    assert_eq!(run.record.answered.connect.max_ns(), Some(88_000));
    assert_eq!(run.workers.len(), 2);
    assert_eq!(run.backend.name, "epoll");
    assert_eq!(run.ended, Ended::Interrupted);
}
