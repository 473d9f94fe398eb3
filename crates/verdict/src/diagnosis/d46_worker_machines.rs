//! D46: some workers of a fleet did less than the others, were at the limit of a thread, or saw of their own machines what makes
//! their figures doubtful.

mod own_findings;

pub(super) use own_findings::made_late;

use ablaze_model::Run;
use ablaze_model::fleet::FleetWorker;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D46;
use crate::finding::{Finding, Severity};
use crate::limit;
use crate::live::whose::without_fleet;
use crate::words::{counted, grouped, percent, rate, time};

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
    let all = [at_their_limit(run), own_findings::found(run), slower(run)];
    all.into_iter().flatten().reduce(together)
}

/// One finding with what both say.
fn together(first: Finding, second: Finding) -> Finding {
    let both = |a: &str, b: &str| format!("{a} {b}");
    Finding::new(
        D46,
        first.severity.max(second.severity),
        both(&first.evidence, &second.evidence),
        both(&first.cause, &second.cause),
        both(&first.fix, &second.fix),
    )
}

/// Some were at the limit of a thread.
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
            "{} of {} had a thread that worked {} of the time or more: {}.",
            grouped(full.len() as u64),
            counted(counted_ones.len() as u64, "worker"),
            percent(limit::CLIENT_FULL),
            list(&full, busy)
        ),
        "Their part of the rate is bounded by these machines, and the times that they saw have their own delay in them.",
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
    let first = each.iter().find(|(_, own)| *own >= fastest).map(|(worker, _)| *worker)?;
    let (cause, fix) = why_slower(&slow, first);
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
        cause,
        fix,
    ))
}

/// Medians that are apart by this share of what the rates are apart explain a lower rate.
const EXPLAINED: f64 = 0.8;

/// Whether responses took longer, or something else made them fewer.
fn why_slower(slow: &[&FleetWorker], fastest: &FleetWorker) -> (String, &'static str) {
    let median = |worker: &FleetWorker| {
        worker.p50_ns.map_or_else(|| "none".to_owned(), |ns| time(ns as f64 / 1e6))
    };
    let took_longer = |worker: &&FleetWorker| {
        let rates = per_connection(worker).zip(per_connection(fastest));
        let medians = worker.p50_ns.zip(fastest.p50_ns);
        rates.zip(medians).is_some_and(|((own, most), (median, least))| {
            median as f64 * own >= EXPLAINED * least as f64 * most
        })
    };
    let (longer, others): (Vec<&FleetWorker>, Vec<&FleetWorker>) =
        slow.iter().copied().partition(|worker| took_longer(worker));
    let told = |worker: &FleetWorker| format!("{} (median {})", worker.name, median(worker));
    if others.is_empty() {
        let cause = format!(
            "Responses took longer: {}; the fastest one's median is {}. Whether that is their machine, their way to the \
             server, their part of the requests, or how the server divides its time among connections, these figures do \
             not tell.",
            list(&longer, told),
            median(fastest)
        );
        let fix = "Compare the times and the CPU of the workers in the table; put a worker on another machine to see what \
                   moves with it.";
        return (cause, fix);
    }
    let with_errors = |worker: &FleetWorker| {
        let errors = counted(worker.failures, "error");
        format!("{} (median {}, {errors})", worker.name, median(worker))
    };
    let cause = format!(
        "The medians do not explain {}: the fastest one's is {}. Requests that fail, connections that are not open, pauses, \
         and a few slow responses make a rate lower, too.",
        list(&others, with_errors),
        median(fastest)
    );
    (
        cause,
        "Compare the errors, the longest times and the course of the workers, and what stands on their stderr.",
    )
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
        None => without_fleet(run),
        Some(_) => {
            "No worker had less time, was slower than the others, or found something of its own machine."
        }
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

    /// A worker that stood still, or whose requests failed, has fewer responses that took no longer.
    #[test]
    fn only_longer_times_are_called_that() {
        let with = |p50_ns: Option<u64>, failures: u64| {
            let mut run = sample::run();
            let mut fleet = sample::fleet(3);
            fleet.workers.iter_mut().for_each(|worker| worker.p50_ns = Some(1_000_000));
            let slow = &mut fleet.workers[0];
            (slow.responses, slow.p50_ns, slow.failures) = (slow.responses / 2, p50_ns, failures);
            run.fleet = Some(Box::new(fleet));
            run.plan.limits.requests = None;
            check(&run).unwrap().cause
        };
        let longer = with(Some(2_000_000), 0);
        assert!(
            longer.contains("Responses took longer: host-0 (median 2.00 ms); the fastest"),
            "{longer}"
        );
        let paused = with(Some(1_000_000), 0);
        assert!(
            paused.contains("medians do not explain host-0 (median 1.00 ms, 0 errors)"),
            "{paused}"
        );
        // Slower, and not by as much as the rate is lower.
        let both = with(Some(1_300_000), 0);
        assert!(both.contains("do not explain host-0"), "{both}");
        let failed = with(None, 12);
        assert!(failed.contains("host-0 (median none, 12 errors)"), "{failed}");
    }
}
