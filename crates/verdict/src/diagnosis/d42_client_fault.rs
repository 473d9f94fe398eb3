//! D42: a thread of this program ended before the run did.

use ablaze_model::Run;
use ablaze_model::record::Fault;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D42;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, listed, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D42,
    shown_by: ShownBy::Run,
    severities: &[Severity::Invalid],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let faults = &run.record.faults;
    if faults.is_empty() {
        return None;
    }
    let threads = counted(u64::from(run.plan.workers.count), "thread");
    let each: Vec<String> = faults.iter().map(in_words).collect();
    let on = on_which(run).map_or_else(String::new, |names| format!(" (on {names})"));
    Some(Finding::new(
        D42,
        Severity::Invalid,
        format!("{} of {threads} failed{on}: {}.", faults.len(), each.join("; ")),
        "A bug in ablaze, or a system error that it cannot handle. The run was ended; what had \
         been recorded until then is reported, but the load was not the one requested.",
        format!("Report the line above with the command{}.", other_code(run)),
    ))
}

/// What uses code that did not run here, if there is any.
fn other_code(run: &Run) -> String {
    let epoll = (run.backend.name != "epoll").then(|| spelled(run, Opt::Epoll));
    let one_thread = (run.plan.workers.count > 1).then(|| spelled(run, Opt::OneThread));
    let others: Vec<&str> = epoll.into_iter().chain(one_thread).collect();
    match others.is_empty() {
        true => String::new(),
        false => format!(", and measure again with {}, which uses other code", others.join(" or ")),
    }
}

/// The workers of a fleet whose threads these are: their numbers are those on each machine.
fn on_which(run: &Run) -> Option<String> {
    let workers = &run.fleet.as_ref()?.workers;
    let failed = |found: &String| found.split(' ').next() == Some("D42");
    let those = workers.iter().filter(|worker| worker.findings.iter().any(failed));
    let names: Vec<&str> = those.map(|worker| worker.name.as_str()).collect();
    (!names.is_empty()).then(|| listed(names))
}

/// `thread 1 after 1.20 s: MESSAGE (panic at FILE:LINE:COLUMN)`.
fn in_words(fault: &Fault) -> String {
    let after = match fault.after_ns {
        Some(ns) => format!("after {}", time(ns as f64 / 1e6)),
        None => "before the clock started".to_owned(),
    };
    let place = fault.panicked_at.as_ref().map(|place| format!(" (panic at {place})"));
    let message = fault.message.replace('\n', " ");
    format!("thread {} {after}: {message}{}", fault.worker, place.unwrap_or_default())
}

fn seen(_run: &Run) -> Option<String> {
    Some("No thread of the client failed.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_fault_is_named_with_thread_message_and_place() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        run.record.faults.push(Fault {
            worker: 1,
            after_ns: Some(1_200_000_000),
            message: "index out of bounds".to_owned(),
            panicked_at: Some("worker.rs:7:1".to_owned()),
        });
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        for part in ["thread 1 after 1.20 s", "index out of bounds", "panic at worker.rs:7:1"] {
            assert!(finding.evidence.contains(part), "{part}: {}", finding.evidence);
        }
        run.record.faults[0] = Fault {
            worker: 0,
            after_ns: None,
            message: "no more memory".to_owned(),
            panicked_at: None,
        };
        let finding = check(&run).unwrap();
        assert!(finding.evidence.ends_with("before the clock started: no more memory."));
    }

    #[test]
    fn only_code_that_did_not_run_is_recommended() {
        let mut run = sample::run();
        let fault = Fault {
            worker: 0,
            after_ns: None,
            message: "no more memory".to_owned(),
            panicked_at: None,
        };
        run.record.faults.push(fault);
        (run.backend.name, run.plan.workers.count) = ("io_uring", 2);
        let fix = |run: &Run| check(run).unwrap().fix.to_string();
        assert!(fix(&run).contains("epoll or "), "{}", fix(&run));
        run.backend.name = "epoll";
        assert!(!fix(&run).contains("epoll"), "{}", fix(&run));
        run.plan.workers.count = 1;
        assert_eq!(fix(&run), "Report the line above with the command.");
        // Threads are numbered on each machine.
        let mut fleet = sample::fleet(2);
        fleet.workers[1].findings = vec!["D42 client fault".to_owned()];
        run.fleet = Some(Box::new(fleet));
        assert!(check(&run).unwrap().evidence.contains("failed (on host-1): thread 0"));
    }
}
