//! D45: the workers of a fleet did not start together, or their clocks went apart: the intervals of the one are not those of
//! the other.

use ablaze_model::Run;
use ablaze_model::fleet::FleetWorker;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D45;
use crate::finding::{Finding, Severity};
use crate::live::whose::without_fleet;
use crate::words::time;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D45,
    shown_by: ShownBy::Run,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    skewed(run).or_else(|| drifted(run)).or_else(|| apart(run))
}

/// Runs that were put together: only some of them ran for this share of the window, and more than an interval.
const APART: f64 = 0.01;

fn apart(run: &Run) -> Option<Finding> {
    let shards = run.shards?;
    let alone_ns = run.elapsed_ns.saturating_sub(shards.together_ns);
    let is_much = alone_ns as f64 > APART * run.elapsed_ns as f64;
    (is_much && alone_ns > run.record.slices.slice_ns).then(|| {
        Finding::new(
            D45,
            Severity::Suspect,
            format!(
                "All of the {} runs that were merged ran for {} of {}, by the clocks of their machines.",
                shards.count,
                milliseconds(shards.together_ns),
                milliseconds(run.elapsed_ns)
            ),
            "If these clocks agree, only some of them, or none, ran in the rest of the time. The rate is the responses over the whole \
             time: it is not that under the load of all of them. If the clocks do not agree, the time in which they ran is \
             not known, nor is the rate.",
            "Compare the clocks, and start them at the same moment with the same duration; or let `ablaze --fleet` start \
             them, which compares clocks itself.",
        )
    })
}

/// They started further apart than the shortest interval that is reported.
fn skewed(run: &Run) -> Option<Finding> {
    let skew = run.fleet.as_ref()?.skew?;
    let slice_ns = run.record.slices.slice_ns;
    // However wrong the clocks were compared.
    (skew.ns > slice_ns.saturating_add(skew.bound_ns)).then(|| {
        Finding::new(
            D45,
            Severity::Invalid,
            format!(
                "The first worker started {} (±{}) before the last{}; an interval of the report is {}.",
                milliseconds(skew.ns),
                milliseconds(skew.bound_ns),
                last(run),
                milliseconds(slice_ns)
            ),
            "The load was not the one asked for while only some of the workers ran, and what is shown as one interval \
             is several. All of them were told to start at the same moment by their own clocks. Why one was late does not \
             show: it had no CPU then, was stopped, was told too late, or its clock changed after it was compared.",
            "Measure again; if the same worker is late again, see what else its machine does, or leave it out.",
        )
    })
}

/// ` (NAME)` of the one that started last, where that is known.
fn last(run: &Run) -> String {
    let workers = run.fleet.iter().flat_map(|fleet| &fleet.workers);
    let started = workers.filter_map(|worker| Some((worker.started_ns?, &worker.name)));
    started.max().map_or_else(String::new, |(_, name)| format!(" ({name})"))
}

/// A clock went away from the coordinator's by more than an interval.
fn drifted(run: &Run) -> Option<Finding> {
    let slice_ns = run.record.slices.slice_ns;
    let workers = &run.fleet.as_ref()?.workers;
    let drift = |worker: &FleetWorker| worker.drift_ns.map(|ns| (ns, worker.name.clone()));
    let (drift_ns, name) = workers.iter().filter_map(drift).max()?;
    let is_much = |worker: &&FleetWorker| worker.drift_ns.is_some_and(|ns| ns > slice_ns);
    let all = workers.len() > 1 && workers.iter().filter(is_much).count() == workers.len();
    (drift_ns > slice_ns).then(|| {
        let evidence = format!(
            "The clock of {name} drifted {} from the coordinator's during the run{}.",
            milliseconds(drift_ns),
            if all { ", and those of all other workers by more than an interval" } else { "" }
        );
        let (cause, fix) = if all { OF_ALL } else { OF_ONE };
        Finding::new(D45, Severity::Suspect, evidence, cause, fix)
    })
}

const OF_ONE: (&str, &str) = (
    "The clocks of others kept up with the coordinator's, or there are none whose clock was compared again: which of the two clocks is wrong then does not show. If it is \
     the worker's, its rate is measured by a clock that is wrong by as much, and its intervals are not those of the others.",
    "Look at the clocks of both machines (CLOCK_MONOTONIC follows NTP's corrections of its speed, and stands still while a \
     machine is suspended), or leave that worker out.",
);
const OF_ALL: (&str, &str) = (
    "What they have in common is the coordinator's clock, which went wrong if the workers' did not all do so alike. Then the \
     workers' own rates are right, and the time of the whole run and its intervals may not be.",
    "Look at the clock of the coordinator's machine first, which stands still while a machine is suspended, and measure again.",
);

fn milliseconds(ns: u64) -> String {
    time(ns as f64 / 1e6)
}

fn seen(run: &Run) -> Option<String> {
    if let Some(shards) = run.shards {
        let (all, whole) = (milliseconds(shards.together_ns), milliseconds(run.elapsed_ns));
        return Some(format!(
            "All of the {} runs that were merged ran for {all} of {whole}.",
            shards.count
        ));
    }
    let Some(fleet) = &run.fleet else {
        return Some(without_fleet(run).to_owned());
    };
    let skew = fleet.skew?;
    let (apart, bound) = (milliseconds(skew.ns), milliseconds(skew.bound_ns));
    Some(format!("All workers started within {apart} (±{bound})."))
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::StartSkew;

    use super::*;
    use crate::live::sample;

    #[test]
    fn starts_further_apart_than_an_interval_make_a_run_invalid() {
        let mut run = sample::run();
        let slice_ns = run.record.slices.slice_ns;
        let mut skewed = |ns, bound_ns| {
            let skew = Some(StartSkew { ns, bound_ns });
            run.fleet = Some(Box::new(ablaze_model::fleet::Fleet { skew, ..sample::fleet(2) }));
            check(&run)
        };
        assert_eq!(skewed(slice_ns, 0), None);
        assert_eq!(skewed(slice_ns + 10, 10), None, "the clocks explain it");
        let finding = skewed(3 * slice_ns, 1_000_000).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.contains("300 ms (±1.00 ms)"), "{}", finding.evidence);
        let fleet = run.fleet.as_mut().unwrap();
        for (worker, started_ns) in fleet.workers.iter_mut().zip([300_000_000, 0]) {
            worker.started_ns = Some(started_ns);
        }
        let evidence = check(&run).unwrap().evidence;
        assert!(evidence.contains("before the last (host-0);"), "{evidence}");
    }

    #[test]
    fn merged_runs_that_ran_apart_are_suspect() {
        let mut run = sample::run();
        let slice_ns = run.record.slices.slice_ns;
        run.elapsed_ns = 100 * slice_ns;
        let mut together = |together_ns| {
            run.shards = Some(ablaze_model::run::Shards { count: 2, together_ns });
            check(&run)
        };
        assert_eq!(together(100 * slice_ns), None);
        assert_eq!(together(99 * slice_ns), None);
        let finding = together(80 * slice_ns).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        // One may have begun after the other ended.
        assert!(finding.cause.contains("only some of them, or none, ran"), "{finding:?}");
        assert!(
            finding.evidence.contains("2 runs that were merged ran for 8.00 s of 10.0 s"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_clock_that_goes_wrong_is_named() {
        let mut run = sample::run();
        let mut fleet = sample::fleet(3);
        fleet.workers[2].drift_ns = Some(50_000_000);
        run.fleet = Some(Box::new(fleet.clone()));
        assert_eq!(check(&run), None, "less than an interval");
        fleet.workers[2].drift_ns = Some(2_000_000_000);
        run.fleet = Some(Box::new(fleet));
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("host-2"), "{}", finding.evidence);
        assert!(!finding.cause.contains("in common"), "{}", finding.cause);
        let fleet = run.fleet.as_mut().unwrap();
        fleet.workers.iter_mut().for_each(|worker| worker.drift_ns = Some(2_000_000_000));
        // It is unlikely that all clocks but one are wrong.
        let finding = check(&run).unwrap();
        assert!(finding.cause.contains("the coordinator's clock, which went wrong"), "{finding:?}");
    }
}
