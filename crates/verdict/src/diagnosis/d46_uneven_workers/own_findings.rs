//! What workers of a fleet found of their own machines. The run of all has no monitor: what only a machine itself can see is
//! found in its own run or nowhere.

use ablaze_model::Run;
use ablaze_model::finding::DiagnosisId;
use ablaze_model::fleet::FleetWorker;

use super::list;
use crate::DiagnosisId::{D07, D08, D09, D11, D13, D22, D23, D26, D28, D30, D38, D46, D58};
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, listed};

/// What is found by what one machine sees of itself, its kernel and its own connections.
const OF_A_MACHINE: [DiagnosisId; 11] = [D07, D08, D09, D11, D13, D22, D23, D26, D28, D38, D58];
/// What keeps a client from sending in time.
const MAKE_LATE: [DiagnosisId; 4] = [D11, D13, D23, D58];

/// Workers whose own runs are doubtful by what the run of all does not show.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let fleet = run.fleet.as_ref()?;
    let is_told = |worker: &FleetWorker, id: DiagnosisId| worker.is_at_its_limit() && id == D11;
    let told = |worker: &FleetWorker| -> Vec<String> {
        let of_a_machine = OF_A_MACHINE.iter().filter(|id| !is_told(worker, **id));
        of_a_machine.filter_map(|id| finding(worker, *id)).map(str::to_owned).collect()
    };
    let those: Vec<&FleetWorker> =
        fleet.counted().filter(|worker| !told(worker).is_empty()).collect();
    if those.is_empty() {
        return None;
    }
    let evidence = format!(
        "The own runs of {} of {} are doubtful by what only these machines saw: {}.",
        grouped(those.len() as u64),
        counted(fleet.counted().count() as u64, "worker"),
        list(&those, |worker| format!("{} ({})", worker.name, listed(told(worker))))
    );
    Some(Finding::new(
        D46,
        Severity::Suspect,
        evidence,
        "The figures of all have the times and the responses of these workers in them.",
        "Put right what these workers found, or leave them out; a run on such a machine alone (without --fleet) tells more of it.",
    ))
}

/// The workers whose machines found what makes requests late, where that is why each of them was: none was late in its own
/// run without a reason.
pub(in crate::diagnosis) fn made_late(run: &Run) -> Option<String> {
    let fleet = run.fleet.as_ref()?;
    if fleet.counted().any(|worker| finding(worker, D30).is_some()) {
        return None;
    }
    let late = |worker: &&FleetWorker| MAKE_LATE.iter().any(|id| finding(worker, *id).is_some());
    let those: Vec<&FleetWorker> = fleet.counted().filter(late).collect();
    (!those.is_empty()).then(|| list(&those, |worker| worker.name.clone()))
}

/// `D23 machine paused`, if the worker's own run is doubtful because of that.
fn finding(worker: &FleetWorker, id: DiagnosisId) -> Option<&str> {
    let number = id.to_string();
    let found = worker.findings.iter().map(String::as_str);
    found.into_iter().find(|found| found.split(' ').next() == Some(number.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn with(findings: &[&str]) -> Run {
        let mut run = sample::run();
        let mut fleet = sample::fleet(2);
        fleet.workers[1].findings = findings.iter().map(|text| (*text).to_owned()).collect();
        run.fleet = Some(Box::new(fleet));
        run
    }

    /// One that was stopped for a while has a run that is not to be believed; so has the fleet.
    #[test]
    fn what_a_worker_found_of_its_machine_counts() {
        let paused = super::super::check(&with(&["D14 too short", "D23 machine paused"])).unwrap();
        assert_eq!(paused.severity, Severity::Suspect);
        assert!(
            paused.evidence.ends_with("1 of 2 workers are doubtful by what only these machines saw: host-1 (D23 machine paused)."),
            "{}",
            paused.evidence
        );
        // The run of all shows this itself.
        assert_eq!(found(&with(&["D14 too short", "D02 no response"])), None);
        assert_eq!(found(&with(&[])), None);
    }

    #[test]
    fn a_pause_makes_late_unless_a_worker_was_late_for_no_reason() {
        assert_eq!(made_late(&with(&["D23 machine paused"])).as_deref(), Some("host-1"));
        assert_eq!(made_late(&with(&["D23 machine paused", "D30 late sending"])), None);
        assert_eq!(made_late(&with(&["D09 retransmission"])), None);
    }
}
