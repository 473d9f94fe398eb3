//! What is said about the runs of an experiment together: whether they are to be believed, what
//! limited them, what was found in them and which failed.

use std::collections::{BTreeMap, BTreeSet};

use ablaze_model::experiment::{
    Experiment, Figures, JudgedTogether, Results, SKIPPED, Target, Trial, file_name,
};
use ablaze_model::finding::{DiagnosisId, Finding, Limit, Severity};
use ablaze_model::spec::TargetSpec;

use crate::number::counted;
use crate::table::sentence;

/// What is said in the place of what limited the runs, where there are none.
pub(crate) const NOTHING_MEASURED: &str = "nothing was measured";

/// Findings are broken between words at this many characters.
pub(crate) const WIDTH: usize = 110;

/// Whether the runs are to be believed, what limited them and what was found: the beginning of every report.
pub(crate) fn worth(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
) -> Vec<String> {
    let mut lines = vec![format!("{} · {}", judged.verdict, what_limited(experiment, results))];
    lines.extend(findings(experiment, results));
    lines.extend(together(judged));
    lines
}

/// `, interleaved`, where there is more than one target to take in turns.
pub(crate) fn in_turns(experiment: &Experiment) -> &'static str {
    let here = experiment.targets.iter().filter(|target| target.saved_runs().is_none());
    if here.count() > 1 { ", interleaved" } else { "" }
}

/// `interrupted after 2 of 6 runs: partial results`; nothing of what went to its end. Where later runs are there, one is
/// missing from the folder for another reason.
pub(crate) fn partial(experiment: &Experiment, results: &Results) -> Option<String> {
    let (made, all) = (results.measured().count(), experiment.trials().len() as u64);
    let after = format!("after {made} of {}", counted(all, "run"));
    match (&results.unsaved, results.interrupted) {
        (Some(what), _) => {
            Some(format!("ended {after}: partial results, as {what} could not be saved"))
        }
        // Of none it is not known whether any was made.
        (None, true) if results.trials.is_empty() || has_gap(experiment, results) => {
            Some(format!("{made} of {} are in the folder: partial results", counted(all, "run")))
        }
        (None, true) => Some(format!("interrupted {after}: partial results")),
        (None, false) => None,
    }
}

/// Whether a trial has no outcome and a later one has: they are carried out in their order.
fn has_gap(experiment: &Experiment, results: &Results) -> bool {
    let has_outcome = |trial: &Trial| results.trials.iter().any(|(of, _)| of == trial);
    let trials = experiment.trials();
    let first = trials.iter().position(|trial| !has_outcome(trial));
    first.is_some_and(|first| trials[first..].iter().any(has_outcome))
}

/// Which targets have no figure, and what limited the runs of the others: `b was not measured · 30 of 30 runs limited by the server`.
pub(crate) fn what_limited(experiment: &Experiment, results: &Results) -> String {
    let runs: Vec<&Figures> = results.measured().map(|(_, figures)| figures).collect();
    // Where a run ended early, others may be missing for that alone.
    let failed = |at: usize| {
        let is_measured = results.measured().any(|(trial, _)| trial.target == at);
        !is_measured
            && results.failed().any(|(trial, why)| trial.target == at && !why.starts_with(SKIPPED))
    };
    let missing: Vec<usize> = (0..experiment.targets.len()).filter(|at| failed(*at)).collect();
    let missing = match missing.as_slice() {
        [] => None,
        _ if runs.is_empty() => None,
        [one] => Some(format!("{} was not measured", experiment.targets[*one].name)),
        several => Some(format!(
            "{} of {} were not measured",
            several.len(),
            counted(experiment.targets.len() as u64, "target")
        )),
    };
    missing.into_iter().chain([limits(&runs)]).collect::<Vec<_>>().join(" · ")
}

/// `30 of 30 runs limited by the server`; of none that nothing was measured.
fn limits(runs: &[&Figures]) -> String {
    if runs.is_empty() {
        return NOTHING_MEASURED.to_owned();
    }
    let mut limits: Vec<(Limit, usize)> = Vec::new();
    for run in runs {
        match limits.iter_mut().find(|(limit, _)| *limit == run.limit) {
            Some((_, count)) => *count += 1,
            None => limits.push((run.limit, 1)),
        }
    }
    limits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let limits: Vec<String> = limits
        .iter()
        .map(|(limit, count)| {
            let all = counted(runs.len() as u64, "run");
            match limit {
                Limit::Unknown => format!("{limit} in {count} of {all}"),
                _ => format!("{count} of {all} {limit}"),
            }
        })
        .collect();
    limits.join(" · ")
}

/// What was found above a note, once for each diagnosis with the gravest evidence and the targets
/// concerned; notes by number.
fn findings(experiment: &Experiment, results: &Results) -> Vec<String> {
    let all = counted(results.measured().count() as u64, "run");
    let among = |found: &Found| format!("in {} of {all}{}", found.runs, found.names(experiment));
    let of = |found: &Found| format!("in {} of {all}{}", found.runs, found.example(experiment));
    let found = found(results);
    let (notes, grave): (Vec<&Found>, Vec<&Found>) =
        found.iter().partition(|found| found.gravest.severity == Severity::Note);
    let line = |found: &&Found| {
        let Finding { id, severity, evidence, .. } = found.gravest;
        let (of, fix) = (of(found), found.fix(experiment));
        let text = format!("{severity} {}, {of}: {evidence} {fix}", id.name());
        sentence(&format!("  {id} "), &text, WIDTH)
    };
    let mut lines: Vec<String> = grave.iter().flat_map(line).collect();
    if !notes.is_empty() {
        let note = |found: &&Found| {
            let id = found.gravest.id;
            format!("{id} {} {}", id.name(), among(found))
        };
        let notes: Vec<String> = notes.iter().map(note).collect();
        lines.extend(sentence("  notes: ", &notes.join(", "), WIDTH));
    }
    lines
}

/// One diagnosis in the runs of an experiment.
pub(crate) struct Found<'a> {
    /// The gravest of its findings, or the first of these.
    pub gravest: &'a Finding,
    /// The run that this is of.
    of: Trial,
    /// Runs that it was found in.
    pub runs: usize,
    targets: BTreeSet<usize>,
}

/// Every diagnosis that no other explains, in the order of their numbers.
pub(crate) fn found(results: &Results) -> Vec<Found<'_>> {
    let mut found: BTreeMap<DiagnosisId, Found<'_>> = BTreeMap::new();
    for (trial, run) in results.measured() {
        for finding in run.findings.iter().filter(|finding| finding.explained_by.is_none()) {
            let new = Found { gravest: finding, of: trial, runs: 0, targets: BTreeSet::new() };
            let of = found.entry(finding.id).or_insert(new);
            of.runs += 1;
            of.targets.insert(trial.target);
            if finding.severity > of.gravest.severity {
                (of.gravest, of.of) = (finding, trial);
            }
        }
    }
    found.into_values().collect()
}

impl Found<'_> {
    /// The targets it was found of, unless it was all of them.
    pub fn names(&self, experiment: &Experiment) -> String {
        if self.targets.len() == experiment.targets.len() {
            return String::new();
        }
        let name = |target: &usize| experiment.targets[*target].name.as_str();
        format!(" ({})", self.targets.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

impl Found<'_> {
    /// Which run the evidence is of: ` (nf, repeat 3)` of the only one, else ` (nf), for example nf, repeat 3`.
    pub fn example(&self, experiment: &Experiment) -> String {
        let run = run_of(experiment, self.of);
        match self.runs {
            1 => format!(" ({run})"),
            _ => format!("{}, for example {run}", self.names(experiment)),
        }
    }

    /// What to do about it. A server that was started for its runs has ended with them: the address that a
    /// command names is its no more.
    pub fn fix(&self, experiment: &Experiment) -> String {
        let (fix, target) = (&self.gravest.fix, &experiment.targets[self.of.target]);
        if !target.is_started_here() || !fix.contains("://") {
            return fix.clone();
        }
        let name = &target.name;
        format!(
            "{fix} {name} ran at that address for its runs only: start it there again first. What it \
             printed is in targets/{}.log.",
            file_name(name)
        )
    }
}

/// `nf, c=10, repeat 3`, the load only where there are several.
fn run_of(experiment: &Experiment, trial: Trial) -> String {
    let label = match experiment.loads.len() {
        1 => String::new(),
        _ => format!("{}, ", experiment.loads[trial.load].label),
    };
    format!("{}, {label}repeat {}", experiment.targets[trial.target].name, trial.repeat + 1)
}

/// What was found in the runs beside each other: the reasons of a verdict that no run has by itself.
fn together(judged: &JudgedTogether) -> Vec<String> {
    let line = |finding: &&Finding| {
        let (id, name) = (finding.id, finding.id.name());
        let text = format!("{} {name}: {}", finding.severity, finding.evidence_in_line());
        sentence(&format!("  {id} "), &text, WIDTH)
    };
    let roots = judged.findings.iter().filter(|finding| finding.explained_by.is_none());
    roots.collect::<Vec<_>>().iter().flat_map(line).collect()
}

/// What a command adds to its advice where nothing shows that the port is the right one.
pub const CHECK_PORT: &str = ", and check that it is the right port";

/// Why a run of a target failed. What may be wrong with a port or a protocol is no question of a built-in server's;
/// the port of whatever is started here is the right one.
pub(crate) fn why_of<'a>(target: &Target, why: &'a str) -> &'a str {
    let why = why.strip_suffix(CHECK_PORT).filter(|_| target.is_started_here()).unwrap_or(why);
    match (&target.source, why.rsplit_once(": ")) {
        (TargetSpec::Model(_), Some((what, question))) if question.ends_with('?') => what,
        _ => why,
    }
}

/// Which trials failed, and why: of one target and load the first reason.
pub(crate) fn failures(experiment: &Experiment, results: &Results) -> Vec<String> {
    let mut reasons: BTreeMap<(usize, usize), Vec<(Trial, &str)>> = BTreeMap::new();
    // What was left out says so in its row.
    for (trial, why) in results.failed().filter(|(_, why)| !why.starts_with(SKIPPED)) {
        reasons.entry((trial.target, trial.load)).or_default().push((trial, why));
    }
    let line = |((target, load), failed): (&(usize, usize), &Vec<(Trial, &str)>)| {
        let (name, label) = (&experiment.targets[*target].name, &experiment.loads[*load].label);
        let of = counted(u64::from(experiment.repeats_of(*target)), "run");
        let (first, why) = failed[0];
        let why = why_of(&experiment.targets[*target], why);
        let example = match failed.iter().all(|(_, other)| *other == failed[0].1) {
            true => String::new(),
            false => format!("for example repeat {}: ", first.repeat + 1),
        };
        format!("  failed: {name}, {label}, {} of {of}: {example}{why}", failed.len())
    };
    reasons.iter().map(line).collect()
}

/// `6 runs of each`, or how many of each target were measured where these differ.
pub(crate) fn runs_of_each(experiment: &Experiment, results: &Results) -> String {
    let of = |target: usize| {
        results.measured().filter(|(trial, _)| trial.target == target).count() as u64
    };
    let counts: Vec<u64> = (0..experiment.targets.len()).map(of).collect();
    let planned = u64::from(experiment.repeats);
    // What was left out says so in its row.
    let as_planned = |(at, count): (usize, &u64)| {
        let here = experiment.targets[at].saved_runs().is_none();
        here && *count == planned || results.skipped(at).is_some()
    };
    if counts.iter().all(|count| *count == 0) && !experiment.is_saved() {
        return "0 runs of each".to_owned();
    }
    if counts.iter().enumerate().all(as_planned) {
        return format!("{} of each", counted(planned, "run"));
    }
    let of = |(at, count): (usize, &u64)| {
        let target = &experiment.targets[at];
        let runs = match (at, target.saved_runs()) {
            (_, Some(_)) => counted(*count, "saved run"),
            (1.., None) if experiment.targets[at - 1].saved_runs().is_none() => count.to_string(),
            _ => counted(*count, "run"),
        };
        format!("{runs} of {}", target.name)
    };
    counts.iter().enumerate().map(of).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod tests;
