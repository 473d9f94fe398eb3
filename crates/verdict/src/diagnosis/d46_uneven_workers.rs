//! D46: some workers of a fleet did less than the others, or had no CPU time left where others had.

use ablaze_model::Run;
use ablaze_model::fleet::FleetWorker;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D46;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent, rate};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D46,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

/// A worker that has less than this share of the fastest one's rate per connection is slower.
const SLOWER: f64 = 0.75;
/// So many are told of; the others are counted.
const SHOWN: usize = 3;

fn check(run: &Run) -> Option<Finding> {
    at_their_limit(run).or_else(|| slower(run))
}

/// Some had no CPU time left.
pub(super) fn at_their_limit(run: &Run) -> Option<Finding> {
    let counted_ones: Vec<&FleetWorker> = run.fleet.as_ref()?.counted().collect();
    let full: Vec<&FleetWorker> =
        counted_ones.iter().copied().filter(|worker| worker.is_at_its_limit()).collect();
    if full.is_empty() {
        return None;
    }
    let busy = |worker: &FleetWorker| {
        let share = worker.busy.map_or_else(|| "busy".to_owned(), percent);
        format!("{} ({share})", worker.name)
    };
    Some(Finding::new(
        D46,
        Severity::Suspect,
        format!(
            "{} of {} had a thread that was busy all the time: {}.",
            grouped(full.len() as u64),
            counted(counted_ones.len() as u64, "worker"),
            list(&full, busy)
        ),
        "The rate is bounded by these machines, and the times that they saw have their own delay in them.",
        "Use more workers, or machines with more CPUs in place of these; --threads sets the threads of each.",
    ))
}

/// Some did less over as many connections.
fn slower(run: &Run) -> Option<Finding> {
    let fleet = run.fleet.as_ref()?;
    // A rate that was asked for, and a number that was shared out, say nothing of who is slower.
    if run.plan.load.is_open() || run.plan.limits.requests.is_some() {
        return None;
    }
    let each: Vec<(&FleetWorker, f64)> = fleet
        .counted()
        .filter(|worker| worker.lost.is_none())
        .filter_map(|worker| Some((worker, per_connection(worker)?)))
        .collect();
    let fastest = each.iter().map(|(_, own)| *own).fold(0.0, f64::max);
    let slow: Vec<&FleetWorker> =
        each.iter().filter(|(_, own)| *own < SLOWER * fastest).map(|(worker, _)| *worker).collect();
    if slow.is_empty() {
        return None;
    }
    let told = |worker: &FleetWorker| {
        format!("{} ({}/s)", worker.name, rate(per_connection(worker).unwrap_or(0.0)))
    };
    Some(Finding::new(
        D46,
        Severity::Note,
        format!(
            "Per connection, {} of {} did less than {} of the fastest one's {}/s: {}.",
            grouped(slow.len() as u64),
            counted(each.len() as u64, "worker"),
            percent(SLOWER),
            rate(fastest),
            list(&slow, told)
        ),
        "Their responses took longer. Whether that is their machine, their way to the server, or how the server divides its \
         time among connections, these figures do not tell.",
        "Compare the times and the CPU of the workers in the table; put a worker on another machine to see what moves \
         with it.",
    ))
}

fn per_connection(worker: &FleetWorker) -> Option<f64> {
    let connections = worker.machine.as_ref()?.connections;
    Some(worker.rate_per_s()? / f64::from(connections.max(1)))
}

fn list(workers: &[&FleetWorker], told: impl Fn(&FleetWorker) -> String) -> String {
    let mut each: Vec<String> = workers.iter().take(SHOWN).map(|worker| told(worker)).collect();
    if workers.len() > SHOWN {
        each.push(format!("{} more", grouped((workers.len() - SHOWN) as u64)));
    }
    each.join(", ")
}

fn seen(run: &Run) -> Option<String> {
    let text = match run.fleet {
        None => "The load came from one machine.",
        Some(_) => "No worker had less time or was slower than the others.",
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::WorkerLimit;

    use super::*;
    use crate::live::sample;

    #[test]
    fn a_worker_without_time_left_is_named() {
        let mut run = sample::run();
        run.fleet = Some(Box::new(sample::fleet(3)));
        assert_eq!(check(&run), None);
        if let Some(fleet) = &mut run.fleet {
            fleet.workers[1].busy = Some(0.97);
            fleet.workers[1].limit =
                Some(WorkerLimit { key: "client".to_owned(), text: String::new() });
        }
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("1 of 3 workers"), "{}", finding.evidence);
        assert!(finding.evidence.contains("host-1 (97 %)"), "{}", finding.evidence);
    }

    #[test]
    fn a_slower_worker_is_told_of_in_a_closed_loop_alone() {
        let mut run = sample::run();
        let mut fleet = sample::fleet(3);
        fleet.workers[0].responses /= 2;
        run.fleet = Some(Box::new(fleet));
        run.plan.limits.requests = None;
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("1 of 3 workers") && finding.evidence.contains("host-0"));
        run.plan.limits.requests = Some(1000);
        assert_eq!(check(&run), None);
    }
}
