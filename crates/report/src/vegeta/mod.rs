//! What vegeta writes and reads: a result for each request, as a line of JSON or CSV, and the reports over them. The rules
//! of its figures are in `metrics`, what differs from vegeta is in docs/vegeta.md.

mod duration;
mod metrics;
mod read;
mod text;

use std::fmt::Write as _;

use ablaze_model::Run;
use ablaze_model::moment::rfc3339;
use serde::Serialize;

pub use duration::{duration, parse_duration};
pub use metrics::{Metrics, json};
pub use read::{ReadError, read};
pub use text::{Buckets, hdrplot, histogram, text};

/// What became of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// When it began, ns since 1970.
    pub began_unix_ns: u64,
    /// From then to the end of the response, ns.
    pub latency_ns: u64,
    /// Status of the response; 0 without one.
    pub code: u16,
    /// Bytes of its body.
    pub bytes_out: u64,
    /// Bytes of the response's body.
    pub bytes_in: u64,
    /// Why it is no success; empty where it is.
    pub error: String,
}

/// A request that results name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Bytes of its body.
    pub body_bytes: u64,
}

/// A line of vegeta's JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    attack: &'a str,
    seq: u64,
    code: u16,
    timestamp: String,
    latency: u64,
    bytes_out: u64,
    bytes_in: u64,
    error: String,
    body: Option<&'a str>,
    method: &'a str,
    url: &'a str,
    headers: Option<&'a str>,
}

/// The requests of a run as lines of JSON, in the order in which they began. `targets` has what each of the Plan's
/// templates asks for.
pub fn results(run: &Run, name: &str, targets: &[Target]) -> String {
    let mut lines: Vec<_> = run.record.every_request.iter().collect();
    lines.sort_by_key(|line| line.started_ns);
    let mut out = String::new();
    for (seq, line) in (0..).zip(lines) {
        let Some(target) = targets.get(line.template as usize) else { continue };
        let error = match line.failure {
            Some(kind) => format!("{} \"{}\": {}", target.method, target.url, kind.label()),
            None if (200..400).contains(&line.status) => String::new(),
            None => line.status.to_string(),
        };
        let line = Line {
            attack: name,
            seq,
            code: line.status,
            timestamp: rfc3339(run.started_unix_ns + line.started_ns),
            latency: line.total_ns,
            bytes_out: target.body_bytes,
            bytes_in: line.body_bytes,
            error,
            body: None,
            method: &target.method,
            url: &target.url,
            headers: None,
        };
        // Neither writing to a String nor texts and numbers as JSON can fail.
        let text = serde_json::to_string(&line).unwrap_or_default();
        let _ = writeln!(out, "{text}");
    }
    out
}

#[cfg(test)]
mod tests;
