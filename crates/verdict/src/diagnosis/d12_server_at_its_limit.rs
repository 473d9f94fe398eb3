//! D12: the server had no time left. Nothing is wrong with that: it is what was to be measured.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D12;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{asked_in_flight, of_a_core, server, target};
use crate::words::grouped;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D12,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// A thread that did this share of the server's work is all of it.
const ALONE: f64 = 0.9;
/// So much of a core each, on average, is all that threads can do beside a client.
const ALL: f64 = 0.85;

fn on_run(run: &Run) -> Option<Finding> {
    let limited = limit::of(run);
    if !matches!(limited.by, Limit::Server | Limit::Proxy) {
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
        None if !run.plan.target.others.is_empty() => (
            "server",
            "One of several servers that requests went to had no time left. Those who wait for it send nothing to the others \
             meanwhile: the rate is that of all together.",
            "Load each of them by itself to see what it can do.",
        ),
        None if asked_in_flight(run) == Some(1) => (
            "server",
            "With one request in flight no more than one of the server's threads has work: the rate is what one of them can do.",
            "More requests in flight show whether the server has others.",
        ),
        None if !is_full(run) => (
            "server",
            "One of the server's threads had no time left, and others had. If all requests go through that one, the rate is the \
             server's capacity; whether they do does not show.",
            "See with `top -H` what that thread is, and with more requests in flight whether the rate still grows.",
        ),
        None => (
            "server",
            "The server's threads that worked had no time left. What they work at does not show: if it is nothing but serving, the \
             rate is its capacity.",
            "For a higher rate, give the server more threads or processes that serve, or profile it to see where its time \
             goes.",
        ),
        Some(_) => (
            "proxy",
            "The proxy's threads that worked had no time left. What they work at does not show: if it is nothing but passing on, the \
             rate is its capacity, and a lower bound for the target.",
            "For a higher rate, give the proxy more threads, or load the target without it.",
        ),
    };
    let evidence = format!("The {whose}: {}.{who}", limited.evidence);
    Some(Finding::new(D12, Severity::Note, evidence, cause, fix))
}

/// Whether all of the server's threads that worked had hardly any time left, or one did nearly all of its work.
fn is_full(run: &Run) -> bool {
    server(run).is_some_and(|server| {
        server.busiest >= ALONE * server.cores || server.cores >= ALL * server.threads as f64
    })
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
    fn one_full_thread_among_others_or_one_request_is_not_all_that_a_server_can_do() {
        let mut run = sample::run();
        let threads = sample::threads(&mut run);
        let more =
            vec![ablaze_model::monitor::Thread { cpu_ns: 2_000_000_000, ..threads[0].clone() }; 3];
        threads.extend(more);
        sample::monitor(&mut run).target.processes[0].user_ns += 6_000_000_000;
        let cause = on_run(&run).unwrap().cause;
        assert!(cause.contains("whether they do does not show"), "{cause}");
        let mut run = sample::run();
        assert!(on_run(&run).unwrap().cause.contains("if it is nothing but serving"));
        if let ablaze_model::plan::Load::Closed { connections, .. } = &mut run.plan.load {
            *connections = 1;
        }
        assert!(on_run(&run).unwrap().cause.contains("what one of them can do"));
    }

    #[test]
    fn what_a_proxy_can_pass_on_is_not_the_capacity_of_the_target() {
        let mut run = sample::run();
        run.plan.target.proxy = Some(sample::proxy());
        assert_eq!(limit::of(&run).by, Limit::Proxy);
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("The proxy: its one thread"), "{finding:?}");
        assert!(finding.cause.contains("a lower bound for the target"), "{finding:?}");
        assert!(!finding.fix.contains("server"), "{finding:?}");
    }
}
