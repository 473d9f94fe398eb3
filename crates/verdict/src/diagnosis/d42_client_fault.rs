//! D42: a thread of this program ended before the run did.

use ablaze_model::Run;
use ablaze_model::record::Fault;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D42;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, time};

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
    Some(Finding::new(
        D42,
        Severity::Invalid,
        format!("{} of {threads} failed: {}.", faults.len(), each.join("; ")),
        "A bug in ablaze, or a system error that it cannot handle. The run was ended; what had \
         been recorded until then is reported, but the load was not the one requested.",
        format!(
            "Report the line above with the command, and measure again with {} or {}, which use \
             different code.",
            spelled(run, Opt::Epoll),
            spelled(run, Opt::OneThread)
        ),
    ))
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
}
