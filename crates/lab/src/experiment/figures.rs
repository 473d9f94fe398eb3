//! The figures of one run that experiments compare. The whole run stays in its file: a hundred of
//! them would not fit into memory with all their distributions.

use ablaze_model::Assessed;
use ablaze_model::finding::{Finding, Limit, Verdict};
use ablaze_report::effort::{self, Effort};

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

impl Figures {
    /// The figures of a run.
    pub fn of(Assessed { run, judged }: &Assessed) -> Self {
        let latency = run.record.answered.latency();
        let elapsed_s = run.elapsed_ns as f64 / 1e9;
        Self {
            responses: run.record.responses,
            errors: run.record.failures_total(),
            unexpected: run.record.unexpected,
            rate_per_s: if elapsed_s > 0.0 { run.record.responses as f64 / elapsed_s } else { 0.0 },
            mean_ns: latency.mean_ns(),
            p50_ns: latency.quantile_ns(0.5),
            p99_ns: latency.supported_quantile_ns(0.99),
            // No response is free: a CPU time of 0 means that the server was observed too briefly.
            server_cpu_ns: effort::of_the_server(run)
                .map(|(cpu_ns, _)| cpu_ns)
                .filter(|cpu_ns| *cpu_ns > 0.0),
            client_cpu_ns: Effort::of(run).map(|effort| effort.work_ns()),
            verdict: judged.verdict,
            limit: judged.limited.by,
            findings: judged.findings.clone(),
            started_unix_ns: run.started_unix_ns,
            elapsed_ns: run.elapsed_ns,
        }
    }
}
