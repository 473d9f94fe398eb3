//! The figures of one run that experiments compare. The whole run stays in its file: a hundred of
//! them would not fit into memory with all their distributions.

use crate::finding::{Finding, Limit, Verdict};

/// One run's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Complete responses.
    pub responses: u64,
    /// Exchanges that ended without a valid response.
    pub errors: u64,
    /// Responses outside the expected statuses.
    pub unexpected: u64,
    /// Responses per second.
    pub rate_per_s: f64,
    /// Mean time, ns.
    pub mean_ns: Option<f64>,
    /// Median, ns.
    pub p50_ns: Option<u64>,
    /// 99th percentile, ns.
    pub p99_ns: Option<u64>,
    /// CPU time of the server per request, ns, where its process was seen.
    pub server_cpu_ns: Option<f64>,
    /// CPU time of the client per request without active waiting, ns.
    pub client_cpu_ns: Option<f64>,
    /// Whether the run is to be believed.
    pub verdict: Verdict,
    /// What bounded its rate.
    pub limit: Limit,
    /// What was found.
    pub findings: Vec<Finding>,
    /// When it began, ns since 1970.
    pub started_unix_ns: u64,
    /// Length of the measured window, ns.
    pub elapsed_ns: u64,
}
