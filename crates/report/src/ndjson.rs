//! The lines of a `.ndjson` file: one JSON object each, written while a run lasts. What they hold is docs/ndjson.md, and
//! docs/ndjson.schema.json for programs. The lines of intervals add up to the report.

use ablaze_model::finding::{DiagnosisId, Finding};
use ablaze_model::progress::Interval;
use ablaze_model::run::Ended;
use ablaze_model::{Assessed, FailureKind, Plan, printable};
use ablaze_stats::touched;
use serde_json::{Map, Value, json};

use crate::condition::Metric;

/// The format that these lines have; it changes when a reader of the old one would be wrong.
const FORMAT: u32 = 1;

/// The first line: what is loaded, and how long the lines of intervals are.
pub fn begin(plan: &Plan, interval_ns: u64) -> String {
    line(json!({
        "type": "begin",
        "format": FORMAT,
        "method": plan.requests.method.to_string(),
        "url": plan.target.url,
        "interval_ns": interval_ns,
        "groups": plan.requests.groups.names,
    }))
}

/// What happened in a piece of the run's time. `groups` are the names of its groups.
pub fn interval(interval: &Interval, groups: &[String]) -> String {
    let Interval { from_ns, to_ns, responses, unexpected, times, .. } = interval;
    let statuses: Map<String, Value> =
        interval.statuses.iter().map(|(status, n)| (status.to_string(), json!(n))).collect();
    let failures = FailureKind::ALL.iter().zip(interval.failures).filter(|(_, n)| *n > 0);
    let errors: Map<String, Value> =
        failures.map(|(kind, n)| (kind.key().to_owned(), json!(n))).collect();
    let of_groups = groups.iter().zip(&interval.groups).map(|(name, group)| {
        json!({
            "name": name,
            "responses": group.responses,
            "unexpected": group.unexpected,
            "errors": group.failures,
            "p50_ns": group.quantile_ns(0.5),
            "p99_ns": group.quantile_ns(0.99),
        })
    });
    line(json!({
        "type": "interval",
        "from_ns": from_ns,
        "to_ns": to_ns,
        "responses": responses,
        "unexpected": unexpected,
        "errors": errors,
        "statuses": statuses,
        "connections_opened": interval.connections_opened,
        "received_bytes": interval.received_bytes,
        "sent_bytes": interval.sent_bytes,
        "rate_per_s": interval.rate_per_s(),
        "p50_ns": interval.quantile_ns(0.5),
        "p90_ns": interval.quantile_ns(0.9),
        "p99_ns": interval.quantile_ns(0.99),
        "max_ns": (!times.is_empty()).then_some(interval.max_ns),
        "times": touched::to_text(times),
        "groups": of_groups.collect::<Vec<_>>(),
    }))
}

/// A finding of the verdict.
pub fn finding(finding: &Finding) -> String {
    let Finding { id, severity, evidence, cause, fix, explained_by, .. } = finding;
    line(json!({
        "type": "finding",
        "id": id.to_string(),
        "name": id.name(),
        "severity": severity,
        "evidence": evidence,
        "cause": cause,
        "fix": fix,
        "explained_by": explained_by.map(|id| id.to_string()),
    }))
}

/// What is found by now, at this time of the clock, or holds no more: before the verdict, which comes at the end.
pub fn so_far(id: DiagnosisId, evidence: &str, holds: bool, at_ns: u64) -> String {
    line(json!({
        "type": "finding-so-far",
        "at_ns": at_ns,
        "id": id.to_string(),
        "name": id.name(),
        "holds": holds,
        "evidence": evidence,
    }))
}

/// The last line: the figures of the report.
pub fn summary(assessed: &Assessed) -> String {
    let Assessed { run, judged } = assessed;
    let record = &run.record;
    let ns = |metric: Metric| metric.value(run).map(|ns| ns.round() as u64);
    line(json!({
        "type": "summary",
        "elapsed_ns": run.elapsed_ns,
        "interrupted": run.ended == Ended::Interrupted,
        "responses": record.responses,
        "unexpected": record.responses - record.succeeded(),
        "errors": record.failures_total(),
        "rate_per_s": Metric::Rate.value(run),
        "p50_ns": ns(Metric::Percentile(50.0)),
        "p90_ns": ns(Metric::Percentile(90.0)),
        "p99_ns": ns(Metric::Percentile(99.0)),
        "max_ns": ns(Metric::Max),
        "verdict": judged.verdict,
        "limited_by": judged.limited.to_string(),
    }))
}

/// One line: what commands a terminal is escaped, line ends are part of no value.
fn line(value: Value) -> String {
    format!("{}\n", printable::json(&value.to_string()))
}
