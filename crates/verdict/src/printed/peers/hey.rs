//! hey. oha begins with the same word.

use super::{behind, error_line, status_line, time_ms, time_s};
use crate::printed::line::number;
use crate::printed::{Connections, Printed, Report, Tool};

pub fn begins(line: &str) -> Option<Tool> {
    (line == "Summary:").then_some(Tool::Hey)
}

pub fn take(report: &mut Report, line: &str) -> bool {
    if line.starts_with("Success rate:") {
        report.tool = Tool::Oha;
        return true;
    }
    let total = |text| time_ms(text).filter(|ms: &Printed| ms.value > 0.0);
    if let Some(taken) = behind(line, "Total:") {
        report.taken_s = time_s(taken);
        report.connections = Connections::Unknown;
    } else if let Some(ms) = behind(line, "Slowest:") {
        report.total.get_or_insert_default().max_ms = total(ms);
    } else if let Some(ms) = behind(line, "Fastest:") {
        report.total.get_or_insert_default().min_ms = total(ms);
    } else if let Some(ms) = behind(line, "Average:") {
        report.total.get_or_insert_default().mean_ms = total(ms);
    } else if let Some(rate) = behind(line, "Requests/sec:") {
        report.rate_per_s = number(rate).map(|(rate, _)| rate);
    } else if let Some(bytes) = behind(line, "Total data:") {
        report.body_bytes = number(bytes).map(|(bytes, _)| bytes.value as i64);
    } else if let Some((status, responses)) = status_line(line) {
        report.statuses.insert(status, responses);
        report.complete = Some(report.complete.unwrap_or(0).saturating_add(responses));
        report.failed = report.failed.or(Some(0));
    } else if let Some(failed) = error_line(line).filter(|_| !line.contains('|')) {
        // hey counts them in its rate.
        report.failed = Some(report.failed.unwrap_or(0).saturating_add(failed));
        report.complete = Some(report.complete.unwrap_or(0).saturating_add(failed));
    } else if let Some((percent, ms)) = percentile(line) {
        report.percentiles.push((percent, ms));
    } else {
        return is_other(line);
    }
    true
}

/// `10% in 0.0010 secs`, of some versions `10%% in …`.
fn percentile(line: &str) -> Option<(f64, Printed)> {
    let (percent, rest) = number(line)?;
    let ms = time_ms(rest.trim_start_matches('%').trim_start().strip_prefix("in ")?)?;
    Some((percent.value, ms))
}

/// Lines with nothing to take: those of the histogram (`0.001 [1] |■`) and of the phases.
fn is_other(line: &str) -> bool {
    let starts = [
        "Summary:",
        "Size/request:",
        "Response time histogram:",
        "Latency distribution:",
        "Details (average",
        "DNS+dialup:",
        "DNS-lookup:",
        "req write:",
        "resp wait:",
        "resp read:",
        "Status code distribution:",
        "Error distribution:",
    ];
    starts.iter().any(|start| line.starts_with(start)) || line.contains("]") && line.contains('[')
}
