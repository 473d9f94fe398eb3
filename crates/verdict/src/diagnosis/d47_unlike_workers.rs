//! D47: the machines of a fleet are not alike: other kernels, processors or backends, or some share a host with the target.

use std::collections::BTreeMap;

use ablaze_model::Run;
use ablaze_model::fleet::WorkerMachine;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D47;
use crate::finding::{Finding, Severity};
use crate::live::whose::without_fleet;
use crate::words::{counted, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D47,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let workers = &run.fleet.as_ref()?.workers;
    let machines: Vec<&WorkerMachine> =
        workers.iter().filter_map(|worker| worker.machine.as_ref()).collect();
    on_the_target_host(&machines).or_else(|| unlike(&machines))
}

/// Some share a host with the target, and others do not.
fn on_the_target_host(machines: &[&WorkerMachine]) -> Option<Finding> {
    let near = machines.iter().filter(|machine| machine.on_target_host).count();
    (near > 0 && near < machines.len()).then(|| {
        Finding::new(
            D47,
            Severity::Suspect,
            format!(
                "{} of {} run on the target's host, the others elsewhere.",
                grouped(near as u64),
                counted(machines.len() as u64, "worker")
            ),
            "Those have no network in between, and may take CPU time from the server: the times of all together are a mixture \
             of two paths.",
            "Leave the target's host out of the fleet.",
        )
    })
}

/// They differ in what the times depend on.
fn unlike(machines: &[&WorkerMachine]) -> Option<Finding> {
    let differences: Vec<String> = [
        difference(machines, "kernels", |machine| machine.kernel.clone()),
        difference(machines, "processors", |machine| machine.cpu_model.clone()),
        difference(machines, "CPUs allowed", |machine| {
            machine.cpus_allowed.map(|cpus| cpus.to_string())
        }),
        difference(machines, "I/O", |machine| machine.backend.split(',').next().map(str::to_owned)),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!differences.is_empty()).then(|| {
        Finding::new(
            D47,
            Severity::Note,
            format!("The machines of the fleet differ: {}.", differences.join("; ")),
            "Times may depend on that, and the distribution of all together may then be several of them.",
            "Compare the rows of the table of workers, or use machines that are alike.",
        )
    })
}

/// `kernels 6.1.0 (2), 6.6.1 (1)`, where there is more than one.
fn difference(
    machines: &[&WorkerMachine],
    what: &str,
    of: impl Fn(&WorkerMachine) -> Option<String>,
) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    machines.iter().filter_map(|machine| of(machine)).for_each(|value| {
        *counts.entry(value).or_default() += 1;
    });
    let each = counts.iter().map(|(value, count)| format!("{value} ({count})"));
    (counts.len() > 1).then(|| format!("{what} {}", each.collect::<Vec<_>>().join(", ")))
}

fn seen(run: &Run) -> Option<String> {
    let Some(fleet) = &run.fleet else { return Some(without_fleet(run).to_owned()) };
    // Of one that was lost early nothing is known.
    let known = fleet.workers.iter().filter(|worker| worker.machine.is_some()).count() as u64;
    (known > 0).then(|| {
        format!(
            "{} of {}: no two differ in kernel, processor, number of CPUs or I/O, as far as these are known.",
            counted(known, "machine"),
            counted(fleet.workers.len() as u64, "worker")
        )
    })
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::Fleet;

    use super::*;
    use crate::live::sample;

    fn found(change: impl FnOnce(&mut Fleet)) -> Option<Finding> {
        let mut run = sample::run();
        let mut fleet = sample::fleet(3);
        change(&mut fleet);
        run.fleet = Some(Box::new(fleet));
        check(&run)
    }

    fn machine(fleet: &mut Fleet, number: usize) -> &mut WorkerMachine {
        fleet.workers[number].machine.as_mut().unwrap()
    }

    #[test]
    fn machines_that_differ_are_counted_by_what_they_differ_in() {
        assert_eq!(found(|_| {}), None);
        let finding = found(|fleet| {
            machine(fleet, 1).kernel = Some("6.6.1".to_owned());
            machine(fleet, 2).cpus_allowed = Some(96);
        });
        let finding = finding.unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("kernels 6.1.0 (2), 6.6.1 (1)"), "{}", finding.evidence);
        assert!(finding.evidence.contains("CPUs allowed 8 (2), 96 (1)"), "{}", finding.evidence);
    }

    #[test]
    fn only_machines_that_are_known_are_called_alike() {
        let mut run = sample::run();
        assert_eq!(seen(&run).unwrap(), "The load came from one machine.");
        run.shards = Some(ablaze_model::run::Shards { count: 2, together_ns: run.elapsed_ns });
        assert!(seen(&run).unwrap().contains("several runs"), "{:?}", seen(&run));
        let mut fleet = sample::fleet(3);
        fleet.workers[2].machine = None;
        run.fleet = Some(Box::new(fleet.clone()));
        assert!(seen(&run).unwrap().starts_with("2 machines of 3 workers:"), "{:?}", seen(&run));
        fleet.workers.iter_mut().for_each(|worker| worker.machine = None);
        run.fleet = Some(Box::new(fleet));
        assert_eq!(seen(&run), None);
    }

    #[test]
    fn a_worker_beside_the_target_is_suspect_unless_all_are() {
        let finding = found(|fleet| machine(fleet, 0).on_target_host = true).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.starts_with("1 of 3 workers run"), "{}", finding.evidence);
        // A host of 96 CPUs has enough for both.
        assert!(finding.cause.contains("may take CPU time"), "{}", finding.cause);
        let all = |fleet: &mut Fleet| (0..3).for_each(|n| machine(fleet, n).on_target_host = true);
        assert_eq!(found(all), None);
    }
}
