//! D12: the server had no time left. Nothing is wrong with that: it is what was to be measured.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D12;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{of_a_core, server, target};
use crate::words::grouped;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D12,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let limited = limit::of(run);
    if limited.by != Limit::Server {
        return None;
    }
    let who = target(run).and_then(|target| target.busiest()).map_or(String::new(), |process| {
        format!(
            " It is {}, process {}.",
            process.name,
            grouped(process.pid.into()).replace(',', "")
        )
    });
    let (whose, cause, fix) = match run.plan.target.proxy {
        None => (
            "server",
            "The server could not respond faster on the CPUs it used: the rate is its capacity.",
            "For a higher rate, give the server more threads, or profile it to see where its time \
             goes.",
        ),
        Some(_) => (
            "proxy",
            "The proxy could not pass on more on the CPUs it used: the rate is its capacity, and a lower bound for the \
             target.",
            "For a higher rate, give the proxy more threads, or load the target without it.",
        ),
    };
    let evidence = format!("The {whose}: {}.{who}", limited.evidence);
    Some(Finding::new(D12, Severity::Note, evidence, cause, fix))
}

fn seen(run: &Run) -> Option<String> {
    Some(format!(
        "The server's busiest thread ran at {}; {} counts as its limit.",
        of_a_core(server(run)?.busiest),
        of_a_core(limit::SERVER_FULL)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_full_server_is_named() {
        let finding = on_run(&sample::run()).unwrap();
        assert!(finding.evidence.contains("It is nginx, process 4711"), "{}", finding.evidence);
        assert_eq!(on_run(&sample::with_shares(0.5, 0.5)), None);
    }

    #[test]
    fn what_a_proxy_can_pass_on_is_not_the_capacity_of_the_target() {
        let mut run = sample::run();
        run.plan.target.proxy = Some(sample::proxy());
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("The proxy: its one thread"), "{finding:?}");
        assert!(finding.cause.contains("a lower bound for the target"), "{finding:?}");
        assert!(!finding.fix.contains("server"), "{finding:?}");
    }
}
