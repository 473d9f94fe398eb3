//! The report of wrk 4.2: its lines in its order, with its labels, columns and units, so that what reads them goes on
//! working. The numbers are those measured: nothing is added to them. What differs from wrk's, and why, is in docs/wrk.md.

mod units;

use std::fmt::Write as _;

use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

pub use units::{binary, metric, time_s, time_us};

/// The percentiles that `--latency` lists.
const PERCENTS: [u32; 4] = [50, 75, 90, 99];

/// The least status that wrk counts as an error; the line that says how many there were calls them otherwise.
const STATUS_ERROR: u16 = 400;

/// What wrk prints before it starts.
pub fn heading(url: &str, duration_s: u64, threads: u32, connections: u32) -> String {
    let time = time_s(duration_s as f64);
    format!("Running {time} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// The report; with the latency distribution if that was asked for.
pub fn write(run: &Run, with_percentiles: bool) -> String {
    let mut out = String::from("  Thread Stats   Avg      Stdev     Max   +/- Stdev\n");
    // Writing to a String cannot fail.
    let _ = lines(run, with_percentiles, &mut out);
    out
}

/// Errors as wrk tells them apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// No connection, or no TLS on it.
    pub connect: u64,
    /// The connection ended or broke in place of a response or within one, or what came was none.
    pub read: u64,
    /// The request could not be written: such a connection is found to be broken when it is read from.
    pub write: u64,
    /// No complete response within the timeout.
    pub timeout: u64,
    /// Responses of status 400 and above; they are among the responses, too.
    pub status: u64,
}

/// What went wrong in a run.
pub fn errors(run: &Run) -> Errors {
    let record = &run.record;
    let statuses = record.statuses.range(STATUS_ERROR..);
    let mut errors = Errors { status: statuses.map(|(_, count)| count).sum(), ..Errors::default() };
    for kind in FailureKind::ALL {
        let count = record.failures_of(kind);
        match kind {
            FailureKind::Timeout => errors.timeout += count,
            FailureKind::Refused
            | FailureKind::Unreachable
            | FailureKind::LocalPorts
            | FailureKind::LocalDescriptors => errors.connect += count,
            FailureKind::TlsTruncated => errors.read += count,
            kind if kind.is_of_setup() => errors.connect += count,
            _ => errors.read += count,
        }
    }
    errors
}

/// Latencies as wrk has them: from the request to the end of its response, without connecting.
pub fn latency(run: &Run) -> &Latency {
    &run.record.answered.processing
}

/// The value at a percentile (0 to 100), by wrk's rank; 0 without values.
pub fn percentile(values: &Latency, percent: f64) -> u64 {
    let rank = (percent / 100.0 * values.count() as f64 + 0.5).round() as u64;
    values.value_at_rank_ns(rank.clamp(1, values.count().max(1))).unwrap_or(0)
}

/// Microseconds, whole ones, as wrk counts them.
pub fn micros(ns: u64) -> u64 {
    ns / 1_000
}

fn lines(run: &Run, with_percentiles: bool, out: &mut String) -> std::fmt::Result {
    let (latency, record) = (latency(run), &run.record);
    stats("Latency", latency, 1e3, time_us, out)?;
    stats("Req/Sec", &record.worker_rates, 1.0, metric, out)?;
    if with_percentiles {
        writeln!(out, "  Latency Distribution")?;
        for percent in PERCENTS {
            let us = micros(percentile(latency, f64::from(percent)));
            writeln!(out, "{percent:>7}%{}", cell(&time_us(us as f64), 10))?;
        }
    }
    let seconds = run.elapsed_ns as f64 / 1e9;
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let received = binary(record.received_bytes as f64);
    let taken = time_us(micros(run.elapsed_ns) as f64);
    writeln!(out, "  {} requests in {taken}, {received}B read", record.responses)?;
    let Errors { connect, read, write, timeout, status } = errors(run);
    if connect + read + write + timeout > 0 {
        writeln!(
            out,
            "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}"
        )?;
    }
    if status > 0 {
        writeln!(out, "  Non-2xx or 3xx responses: {status}")?;
    }
    writeln!(out, "Requests/sec: {:>9.2}", per_second(record.responses))?;
    writeln!(out, "Transfer/sec: {:>10}B", binary(per_second(record.received_bytes)))
}

/// A row of the table: mean, standard deviation, largest, and the share of values within one deviation of the mean.
/// `scale` is what the unit of the report has of the unit of the values.
fn stats(
    name: &str,
    values: &Latency,
    scale: f64,
    format: fn(f64) -> String,
    out: &mut String,
) -> std::fmt::Result {
    let mean = values.mean_ns().unwrap_or(0.0) / scale;
    let deviation = values.deviation_ns().unwrap_or(0.0) / scale;
    let largest = (values.max_ns().unwrap_or(0) as f64 / scale).floor();
    let cells = [cell(&format(mean), 8), cell(&format(deviation), 10), cell(&format(largest), 9)];
    let within = match share_within(values, mean * scale, deviation * scale) {
        Some(share) => format!("{:>8.2}", share * 100.0),
        // What C prints for 0 / 0.
        None => format!("{:>8}", "-nan"),
    };
    writeln!(out, "    {name:<10}{}{within}%", cells.concat())
}

/// The share of values that lie within one deviation of the mean; `None` without values.
fn share_within(values: &Latency, mean: f64, deviation: f64) -> Option<f64> {
    let (low, high) = ((mean - deviation).max(0.0).ceil() as u64, (mean + deviation) as u64);
    let below = low.checked_sub(1).map_or(0, |below| values.count_at_most(below));
    let within = values.count_at_most(high).saturating_sub(below);
    (values.count() > 0).then(|| within as f64 / values.count() as f64)
}

/// A figure with its unit in a column, aligned at the last digit: each letter of a unit takes one of two places behind.
fn cell(text: &str, width: usize) -> String {
    let is_letter = |from_end: usize| {
        text.len().checked_sub(from_end).is_some_and(|at| text.as_bytes()[at].is_ascii_alphabetic())
    };
    let pad = 2 - usize::from(is_letter(1)) - usize::from(is_letter(2));
    format!("{text:>width$}{:pad$}", "", width = width - pad)
}

#[cfg(test)]
mod tests;
