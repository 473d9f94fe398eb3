//! A run for spreadsheets: one figure per row, `phase,statistic,value,unit`. One column of numbers
//! to filter and pivot, no matter how many phases or figures a version has. docs/json.md has the
//! meaning of every name.

use ablaze_model::{FailureKind, Run};

use crate::effort::Effort;
use crate::phases::{self, QUANTILES};

/// The run as CSV (RFC 4180, lines end in CRLF). Figures that do not exist have no row. Names
/// and numbers need no quoting.
pub fn write(run: &Run) -> String {
    let mut rows = Rows(String::from("phase,statistic,value,unit\r\n"));
    whole_run(run, &mut rows);
    for (phase, latency) in phases::flat(&run.record) {
        rows.add(&phase, "count", latency.count(), "values");
        let figures = [("mean", latency.mean_ns()), ("sd", latency.deviation_ns())];
        for (statistic, value) in figures {
            if let Some(value) = value {
                rows.add(&phase, statistic, format_args!("{value:.1}"), "ns");
            }
        }
        let quantiles = QUANTILES.map(|(name, q)| (name, latency.quantile_ns(q)));
        let extremes = [("min", latency.min_ns()), ("max", latency.max_ns())];
        for (statistic, value) in extremes[..1].iter().chain(&quantiles).chain(&extremes[1..]) {
            if let Some(value) = value {
                rows.add(&phase, statistic, value, "ns");
            }
        }
    }
    rows.0
}

fn whole_run(run: &Run, rows: &mut Rows) {
    let record = &run.record;
    rows.add("run", "elapsed", run.elapsed_ns, "ns");
    if let Some(rate) = run.rate_per_s() {
        rows.add("run", "rate", format_args!("{rate:.3}"), "per_s");
    }
    for (statistic, number) in [
        ("responses", record.responses),
        ("succeeded", record.succeeded()),
        ("unexpected", record.unexpected),
        ("failed", record.failures_total()),
        ("unfinished", record.unfinished),
        ("repeated", record.repeated),
    ] {
        rows.add("run", statistic, number, "requests");
    }
    for kind in FailureKind::ALL {
        let number = record.failures_of(kind);
        if number > 0 {
            rows.add("run", &format!("failed.{}", kind.key()), number, "requests");
        }
    }
    for (status, number) in &record.statuses {
        rows.add("run", &format!("status.{status}"), number, "requests");
    }
    rows.add("run", "received", record.received_bytes, "bytes");
    rows.add("run", "sent", record.sent_bytes, "bytes");
    if let Some(effort) = Effort::of(run) {
        rows.add("run", "cpu", format_args!("{:.1}", effort.work_ns()), "ns_per_request");
    }
}

struct Rows(String);

impl Rows {
    fn add(&mut self, phase: &str, statistic: &str, value: impl std::fmt::Display, unit: &str) {
        self.0.push_str(&format!("{phase},{statistic},{value},{unit}\r\n"));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::sample;

    fn read(text: &str) -> HashMap<(String, String), f64> {
        let mut lines = text.split_terminator("\r\n");
        assert_eq!(lines.next(), Some("phase,statistic,value,unit"));
        lines
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                assert_eq!(cells.len(), 4, "{line}");
                let value: f64 = cells[2].parse().unwrap();
                assert!(value.is_finite());
                ((cells[0].to_string(), cells[1].to_string()), value)
            })
            .collect()
    }

    #[test]
    fn every_figure_is_one_row_with_one_number() {
        let figures = read(&super::write(&sample::troubled()));
        let figure = |phase: &str, name: &str| figures[&(phase.to_string(), name.to_string())];
        assert_eq!(figure("run", "rate"), 2000.0);
        assert_eq!(figure("run", "failed.timeout"), 3.0);
        assert_eq!(figure("run", "status.404"), 90.0);
        assert_eq!(figure("total", "count"), 20_000.0);
        assert_eq!(figure("connect", "max"), 88_000.0);
        assert_eq!(figure("setup-connect", "min"), 40_000.0);
        assert_eq!(figure("failed-total", "count"), 15.0);
        assert!(figure("total", "p99.9") >= figure("total", "p99"));
    }

    #[test]
    fn an_empty_run_has_counts_and_no_times() {
        let figures = read(&super::write(&sample::refused()));
        assert_eq!(figures[&("total".into(), "count".into())], 0.0);
        assert!(!figures.contains_key(&("total".into(), "mean".into())));
        assert!(!figures.contains_key(&("run".into(), "rate".into())));
    }
}
