//! The figures of a run that experiments compare, read from the run.

use ablaze_model::Assessed;
use ablaze_model::experiment::Figures;
use ablaze_report::condition;
use ablaze_report::effort::{self, Effort};
use ablaze_report::held;
use ablaze_verdict::limit;

/// The figures of a run.
pub(crate) fn of_run(Assessed { run, judged }: &Assessed) -> Figures {
    let latency = run.record.answered.latency();
    let elapsed_s = run.elapsed_ns as f64 / 1e9;
    Figures {
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
        counted: None,
        findings: judged.findings.clone(),
        started_unix_ns: run.started_unix_ns,
        elapsed_ns: run.elapsed_ns,
        rate_as_requested: limit::is_as_requested(run),
        groups: condition::groups_of(run),
        checks: run.record.passed_checks(),
        held: held::of_run(run),
    }
}
