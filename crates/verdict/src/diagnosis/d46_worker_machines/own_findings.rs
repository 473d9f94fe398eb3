//! What workers of a fleet found of their own machines. The run of all has no monitor: what only a machine itself can see is
//! found in its own run or nowhere.

use ablaze_model::Run;
use ablaze_model::finding::DiagnosisId;
use ablaze_model::fleet::FleetWorker;

use super::super::Diagnosis;
use super::list;
use crate::DiagnosisId::{D08, D09, D11, D13, D22, D23, D26, D28, D30, D38, D46, D58};
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, listed};

/// What is found by what one machine sees of itself, its kernel and its own connections.
const OF_A_MACHINE: [DiagnosisId; 10] = [D08, D09, D11, D13, D22, D23, D26, D28, D38, D58];
/// What keeps a client from sending in time.
const MAKE_LATE: [DiagnosisId; 4] = [D11, D13, D23, D58];

/// Workers whose own runs are doubtful by what the run of all does not show.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let workers: Vec<&FleetWorker> = run.fleet.as_ref()?.counted().collect();
    let common = in_common(&workers);
    let is_told = |worker: &FleetWorker, id: DiagnosisId| worker.is_at_its_limit() && id == D11;
    let told = |worker: &FleetWorker| -> Vec<String> {
        let own = OF_A_MACHINE.iter().filter(|id| !is_told(worker, **id) && !common.contains(id));
        own.filter_map(|id| finding(worker, *id)).map(str::to_owned).collect()
    };
    let those: Vec<&FleetWorker> =
        workers.iter().copied().filter(|worker| !told(worker).is_empty()).collect();
    let of_all: Vec<String> = common
        .iter()
        .filter(|id| !is_of_the_whole(run, &workers, **id))
        .filter_map(|id| finding(workers.first()?, *id))
        .map(str::to_owned)
        .collect();
    let of_some = (!those.is_empty()).then(|| {
        format!(
            "The own runs of {} of {} are doubtful by what these saw of their machines: {}.",
            grouped(those.len() as u64),
            counted(workers.len() as u64, "worker"),
            list(&those, |worker| format!("{} ({})", worker.name, listed(told(worker))))
        )
    });
    let one_of_all = (!of_all.is_empty()).then(|| {
        format!(
            "All {} run on one host, and the own run of each is doubtful by what it saw of that machine: {}.",
            counted(workers.len() as u64, "worker"),
            listed(of_all)
        )
    });
    // Who leaves all of them out has no load.
    let fix = match common.is_empty() && those.len() < workers.len() {
        true => {
            "Put right what these workers found, or leave them out; a run on such a machine alone (without --fleet) tells more of it."
        }
        false => {
            "Put right what these workers found; a run on such a machine alone (without --fleet) tells more of it."
        }
    };
    let evidence: Vec<String> = of_some.into_iter().chain(one_of_all).collect();
    (!evidence.is_empty()).then(|| {
        let cause = "The figures of all have the times and the responses of these workers in them.";
        Finding::new(D46, Severity::Suspect, evidence.join(" "), cause, fix)
    })
}

/// What several workers on one host all found: it is of the machine that they share, and no difference between them.
fn in_common(workers: &[&FleetWorker]) -> Vec<DiagnosisId> {
    let host = |worker: &FleetWorker| worker.machine.as_ref().map(|machine| machine.host.clone());
    let Some((first, others)) = workers.split_first().filter(|(_, others)| !others.is_empty())
    else {
        return Vec::new();
    };
    if host(first).is_none() || others.iter().any(|worker| host(worker) != host(first)) {
        return Vec::new();
    }
    let by_all = |id: &DiagnosisId| workers.iter().all(|worker| finding(worker, *id).is_some());
    OF_A_MACHINE.into_iter().filter(by_all).collect()
}

/// Whether the run of all has the same finding: of a target's host that is theirs, too.
fn is_of_the_whole(run: &Run, workers: &[&FleetWorker], id: DiagnosisId) -> bool {
    let on_its_host = |worker: &&FleetWorker| {
        worker.machine.as_ref().is_some_and(|machine| machine.on_target_host)
    };
    let check = Diagnosis::of(id).forms.run.map(|form| form.check);
    let finding = check.and_then(|check| check(run));
    workers.iter().all(on_its_host)
        && finding.is_some_and(|finding| finding.severity > Severity::Note)
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
            paused.evidence.ends_with("1 of 2 workers are doubtful by what these saw of their machines: host-1 (D23 machine paused)."),
            "{}",
            paused.evidence
        );
        // The run of all shows this itself.
        assert_eq!(found(&with(&["D14 too short", "D02 no response"])), None);
        assert_eq!(found(&with(&[])), None);
    }

    /// Alike on a machine that they share, a finding sets none of them apart, and none can be left out for it.
    #[test]
    fn what_all_workers_on_one_host_found_is_no_difference_between_them() {
        let mut run = with(&["D07 global stall", "D13 shared processors"]);
        let partly = found(&run).unwrap();
        assert!(
            partly.evidence.contains("1 of 2 workers") && partly.fix.contains("leave them out")
        );
        assert!(!partly.evidence.contains("D07"), "the run of all shows it: {partly:?}");
        let both = |run: &mut Run, change: fn(&mut FleetWorker)| {
            run.fleet.as_mut().unwrap().workers.iter_mut().for_each(change);
        };
        both(&mut run, |worker| worker.findings = vec!["D13 shared processors".to_owned()]);
        let alike = found(&run).unwrap();
        let said = "All 2 workers run on one host, and the own run of each is doubtful by what it saw of that machine: D13 shared";
        assert!(alike.evidence.starts_with(said), "{alike:?}");
        assert!(!alike.fix.contains("leave them out"), "{alike:?}");
        // The same on two hosts.
        run.fleet.as_mut().unwrap().workers[0].machine.as_mut().unwrap().host = "other".to_owned();
        let apart = found(&run).unwrap();
        assert!(apart.evidence.contains("2 of 2 workers"), "{apart:?}");
        assert!(!apart.fix.contains("leave them out"), "{apart:?}");
    }

    #[test]
    fn what_the_run_of_all_says_of_their_host_is_not_said_again() {
        let mut run = sample::with_shares(0.5, 0.4);
        sample::threads(&mut run)[0].waited_ns = 4_800_000_000;
        sample::processors(&mut run).user_ns += 9_000_000_000;
        sample::processors(&mut run).idle_ns -= 9_000_000_000;
        run.fleet = with(&[]).fleet;
        let workers = &mut run.fleet.as_mut().unwrap().workers;
        workers
            .iter_mut()
            .for_each(|worker| worker.findings = vec!["D13 shared processors".to_owned()]);
        assert!(found(&run).is_some(), "the target's host may be another");
        let workers = &mut run.fleet.as_mut().unwrap().workers;
        workers
            .iter_mut()
            .for_each(|worker| worker.machine.as_mut().unwrap().on_target_host = true);
        assert_eq!(found(&run), None);
    }

    #[test]
    fn a_pause_makes_late_unless_a_worker_was_late_for_no_reason() {
        assert_eq!(made_late(&with(&["D23 machine paused"])).as_deref(), Some("host-1"));
        assert_eq!(made_late(&with(&["D23 machine paused", "D30 late sending"])), None);
        assert_eq!(made_late(&with(&["D09 retransmission"])), None);
    }
}
