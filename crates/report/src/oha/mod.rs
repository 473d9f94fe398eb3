//! The reports of oha: its text, with its lines in its order, its labels and units, its JSON and its CSV. The numbers are those
//! measured; what differs from oha's, and why, is in docs/oha.md.

mod json;
mod text;

use std::fmt::Write as _;

use ablaze_model::record::RequestLine;
use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

pub use json::json;
pub use text::{Unit, text};

/// The percentiles that the reports list.
const PERCENTS: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// What oha calls the requests that were in flight when the time was over.
const CUT_OFF: &str = "aborted due to deadline";

/// Times as oha has them: from connecting or sending to the end of the response; `corrected` from when it was due.
fn latency(run: &Run, corrected: bool) -> &Latency {
    let answered = &run.record.answered;
    if corrected { answered.latency() } else { &answered.total }
}

/// The share of requests that got a response, of those that ended.
fn success_rate(run: &Run) -> f64 {
    let ended = run.record.finished();
    if ended == 0 { 0.0 } else { run.record.responses as f64 / ended as f64 }
}

/// Requests per second: those that failed, and those that were in flight when the time was over, are among them, as in oha
/// (`ResultData::len`).
fn rate_per_s(run: &Run) -> f64 {
    let seconds = run.elapsed_ns as f64 / 1e9;
    let all = run.record.finished() + cut_off(run);
    if seconds > 0.0 { all as f64 / seconds } else { 0.0 }
}

/// How many were in flight when the time was over; none where the run was one of so many requests.
fn cut_off(run: &Run) -> u64 {
    let by_time = run.plan.limits.duration_ns.is_some() && run.plan.limits.requests.is_none();
    if by_time { run.record.unfinished.saturating_sub(run.record.never_sent) } else { 0 }
}

/// What went wrong, and how often.
fn errors(run: &Run) -> Vec<(&'static str, u64)> {
    let record = &run.record;
    let kinds = FailureKind::ALL.iter().map(|kind| (kind.label(), record.failures_of(*kind)));
    kinds.chain([(CUT_OFF, cut_off(run))]).filter(|(_, count)| *count > 0).collect()
}

/// Eleven marks from the shortest to the longest time, ns, each with what lies up to it and above the one before.
fn histogram(latency: &Latency) -> Vec<(f64, u64)> {
    let (Some(low), Some(high)) = (latency.min_ns(), latency.max_ns()) else { return Vec::new() };
    let step = (high - low) as f64 / 10.0;
    let mut below = 0;
    let mut marks = Vec::new();
    for number in 0..=10 {
        let mark = low as f64 + step * f64::from(number);
        let all = if number == 10 { latency.count() } else { latency.count_at_most(mark as u64) };
        let at_most = all.max(below);
        marks.push((mark, at_most - below));
        below = at_most;
    }
    marks
}

/// Connecting, with the handshake of TLS.
fn connect(run: &Run) -> &Latency {
    let answered = &run.record.answered;
    answered.tls.as_ref().map_or(&answered.connect, |tls| &tls.connected)
}

/// A line for each response, in the order in which they began, times in seconds.
pub fn csv(run: &Run) -> String {
    let answered = run.record.every_request.iter().filter(|line| line.failure.is_none());
    let mut lines: Vec<&RequestLine> = answered.collect();
    lines.sort_by_key(|line| line.started_ns);
    let mut out =
        String::from("request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n");
    for line in lines {
        let s = |ns: u64| ns as f64 / 1e9;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{},0,{},{},{},{},{}",
            s(line.started_ns),
            s(line.connect_ns),
            s(line.connect_ns + line.wait_ns),
            s(line.total_ns),
            line.body_bytes,
            line.status
        );
    }
    out
}

#[cfg(test)]
mod tests;
