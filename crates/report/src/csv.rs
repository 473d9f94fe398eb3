//! A run for spreadsheets: one figure per row, `phase,statistic,value,unit`. One column of numbers
//! to filter and pivot, no matter how many phases or figures a version has. docs/json.md has the
//! meaning of every name.

use std::collections::BTreeMap;

use ablaze_model::record::{GroupRecord, Journeys};
use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

use crate::effort::Effort;
use crate::phases::{self, QUANTILES};
use ablaze_model::printable::printable;

/// The run as CSV (RFC 4180, lines end in CRLF). Figures that do not exist have no row. Only the names of
/// groups, checks and journeys may need quotes.
pub fn write(run: &Run) -> String {
    let mut rows = Rows(String::from("phase,statistic,value,unit\r\n"));
    whole_run(run, &mut rows);
    for (phase, latency) in phases::flat(&run.record) {
        distribution(&phase, latency, &mut rows);
    }
    checks(run, &mut rows);
    run.record.groups.iter().for_each(|one| group(one, &mut rows));
    run.record.journeys.iter().for_each(|all| journeys(all, &mut rows));
    rows.0
}

fn distribution(phase: &str, latency: &Latency, rows: &mut Rows) {
    rows.add(phase, "count", latency.count(), "values");
    let figures = [("mean", latency.mean_ns()), ("sd", latency.deviation_ns())];
    for (statistic, value) in figures {
        if let Some(value) = value {
            rows.add(phase, statistic, format_args!("{value:.1}"), "ns");
        }
    }
    let quantiles = QUANTILES.map(|(name, q)| (name, latency.quantile_ns(q)));
    let extremes = [("min", latency.min_ns()), ("max", latency.max_ns())];
    for (statistic, value) in extremes[..1].iter().chain(&quantiles).chain(&extremes[1..]) {
        if let Some(value) = value {
            rows.add(phase, statistic, value, "ns");
        }
    }
}

/// Responses that failed a check, and how each check went, as `check:TEXT`.
fn checks(run: &Run, rows: &mut Rows) {
    let Some(checks) = &run.record.checks else { return };
    rows.add("run", "checked", checks.responses, "responses");
    rows.add("run", "failed_checks", checks.failed_responses, "responses");
    for check in &checks.each {
        let phase = field(&format!("check:{}", printable(&check.text)));
        rows.add(&phase, "passed", check.passed, "responses");
        rows.add(&phase, "failed", check.failed, "responses");
    }
}

/// What is kept of one group: the figures of `group:NAME`, and its times as `group-wait:NAME` and so on.
fn group(group: &GroupRecord, rows: &mut Rows) {
    let name = printable(&group.name);
    let phase = field(&format!("group:{name}"));
    for (statistic, number) in [
        ("responses", group.responses),
        ("succeeded", group.succeeded()),
        ("unexpected", group.unexpected),
        ("failed", group.failures_total()),
        ("unfinished", group.unfinished),
    ] {
        rows.add(&phase, statistic, number, "requests");
    }
    failures(&phase, &group.failures, rows);
    statuses(&phase, &group.statuses, rows);
    rows.add(&phase, "body", group.body_bytes, "bytes");
    for (prefix, times) in [("", &group.answered), ("failed-", &group.failed)] {
        let mut all = vec![("wait", &times.wait), ("total", &times.total)];
        all.extend(times.response.as_ref().map(|response| ("response", response)));
        for (phase, latency) in all {
            distribution(&field(&format!("group-{prefix}{phase}:{name}")), latency, rows);
        }
    }
}

/// What became of journeys; of each as `journeys:NAME`, where there are several.
fn journeys(all: &Journeys, rows: &mut Rows) {
    let mut add = |name: &str, counts: [u64; 4], duration: &Latency| {
        let phase = field(&format!("journeys{name}"));
        for (statistic, number) in ["begun", "whole", "failed", "unfinished"].iter().zip(counts) {
            rows.add(&phase, statistic, number, "journeys");
        }
        distribution(&field(&format!("journey-duration{name}")), duration, rows);
    };
    add("", [all.begun, all.whole, all.failed, all.unfinished()], &all.duration);
    for one in &all.each {
        let counts = [one.begun, one.whole, one.failed, one.unfinished()];
        add(&format!(":{}", printable(&one.name)), counts, &one.duration);
    }
    if let Some(setup) = &all.setup {
        rows.add("setup", "begun", setup.begun, "users");
        rows.add("setup", "failed", setup.failed, "users");
    }
}

fn failures(phase: &str, failures: &[u64; FailureKind::ALL.len()], rows: &mut Rows) {
    for kind in FailureKind::ALL {
        let number = failures[kind as usize];
        if number > 0 {
            rows.add(phase, &format!("failed.{}", kind.key()), number, "requests");
        }
    }
}

fn statuses(phase: &str, statuses: &BTreeMap<u16, u64>, rows: &mut Rows) {
    for (status, number) in statuses {
        rows.add(phase, &format!("status.{status}"), number, "requests");
    }
}

/// A field of a row, in quotes where a comma or a quote would end it (RFC 4180, 2).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
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
    failures("run", &record.failures, rows);
    statuses("run", &record.statuses, rows);
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
    fn groups_have_rows_of_their_own_with_quotes_where_they_are_needed() {
        let text = super::write(&sample::grouped());
        for row in [
            "group:/item,responses,15000,requests",
            "\"group:/search?q=a,b\",failed.timeout,15,requests",
            "\"group:/search?q=a,b\",status.404,90,requests",
            "group-total:/item,count,15000,values",
            "\"group-failed-total:/search?q=a,b\",count,15,values",
        ] {
            assert!(text.lines().any(|line| line == row), "{row} is not in {text}");
        }
        assert!(!super::write(&sample::troubled()).contains("group"));
        assert_eq!(super::field("a \"b\""), "\"a \"\"b\"\"\"");
    }

    #[test]
    fn an_empty_run_has_counts_and_no_times() {
        let figures = read(&super::write(&sample::refused()));
        assert_eq!(figures[&("total".into(), "count".into())], 0.0);
        assert!(!figures.contains_key(&("total".into(), "mean".into())));
        assert!(!figures.contains_key(&("run".into(), "rate".into())));
    }
}
