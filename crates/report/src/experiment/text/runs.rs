//! What is said about the runs of an experiment together: whether they are to be believed, what
//! limited them, what was found in them and which failed.

use std::collections::{BTreeMap, BTreeSet};

use ablaze_model::experiment::{Experiment, Figures, JudgedTogether, Results, SKIPPED, Target};
use ablaze_model::finding::{DiagnosisId, Finding, Limit, Severity};
use ablaze_model::spec::TargetSpec;

use crate::number::counted;
use crate::table::sentence;

/// Findings are broken between words at this many characters.
pub(crate) const WIDTH: usize = 110;

/// Whether the runs are to be believed, what limited them and what was found: the beginning of every report.
pub(crate) fn worth(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
) -> Vec<String> {
    let runs: Vec<&Figures> = results.measured().map(|(_, figures)| figures).collect();
    if runs.is_empty() {
        return vec!["nothing was measured".to_owned()];
    }
    let mut lines = vec![format!("{} · {}", judged.verdict, limits(&runs))];
    lines.extend(findings(experiment, results));
    lines.extend(together(judged));
    lines
}

/// `, interleaved`, where there is more than one target to take in turns.
pub(crate) fn in_turns(experiment: &Experiment) -> &'static str {
    if experiment.targets.len() > 1 { ", interleaved" } else { "" }
}

/// `interrupted after 2 of 6 runs: partial results`.
pub(crate) fn partial(experiment: &Experiment, results: &Results) -> String {
    let all = counted(experiment.trials().len() as u64, "run");
    format!("interrupted after {} of {all}: partial results", results.measured().count())
}

/// `30 of 30 runs limited by the server`.
pub(crate) fn limits(runs: &[&Figures]) -> String {
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
    let found = found(results);
    let (notes, grave): (Vec<&Found>, Vec<&Found>) =
        found.iter().partition(|found| found.gravest.severity == Severity::Note);
    let line = |found: &&Found| {
        let Finding { id, severity, evidence, fix, .. } = found.gravest;
        let text = format!("{severity} {}, {}: {evidence} {fix}", id.name(), among(found));
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
    /// Runs that it was found in.
    pub runs: usize,
    targets: BTreeSet<usize>,
}

/// Every diagnosis that no other explains, in the order of their numbers.
pub(crate) fn found(results: &Results) -> Vec<Found<'_>> {
    let mut found: BTreeMap<DiagnosisId, Found<'_>> = BTreeMap::new();
    for (trial, run) in results.measured() {
        for finding in run.findings.iter().filter(|finding| finding.explained_by.is_none()) {
            let new = Found { gravest: finding, runs: 0, targets: BTreeSet::new() };
            let of = found.entry(finding.id).or_insert(new);
            of.runs += 1;
            of.targets.insert(trial.target);
            if finding.severity > of.gravest.severity {
                of.gravest = finding;
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

/// What was found in the runs beside each other: the reasons of a verdict that no run has by itself.
fn together(judged: &JudgedTogether) -> Vec<String> {
    let line = |finding: &&Finding| {
        let (id, name) = (finding.id, finding.id.name());
        let text = format!("{} {name}: {}", finding.severity, finding.evidence.replace('\n', " "));
        sentence(&format!("  {id} "), &text, WIDTH)
    };
    let roots = judged.findings.iter().filter(|finding| finding.explained_by.is_none());
    roots.collect::<Vec<_>>().iter().flat_map(line).collect()
}

/// Why a run of a target failed. What may be wrong with a port or a protocol is no question of a built-in server's.
pub(crate) fn why_of<'a>(target: &Target, why: &'a str) -> &'a str {
    match (&target.source, why.rsplit_once(": ")) {
        (TargetSpec::Model(_), Some((what, question))) if question.ends_with('?') => what,
        _ => why,
    }
}

/// Which trials failed, and why: of one target and load the first reason.
pub(crate) fn failures(experiment: &Experiment, results: &Results) -> Vec<String> {
    let mut reasons: BTreeMap<(usize, usize), (&str, usize)> = BTreeMap::new();
    // What was left out says so in its row.
    for (trial, why) in results.failed().filter(|(_, why)| !why.starts_with(SKIPPED)) {
        reasons.entry((trial.target, trial.load)).or_insert((why, 0)).1 += 1;
    }
    let line = |((target, load), (why, count)): (&(usize, usize), &(&str, usize))| {
        let (name, label) = (&experiment.targets[*target].name, &experiment.loads[*load].label);
        let of = experiment.repeats_of(*target);
        let why = why_of(&experiment.targets[*target], why);
        format!("  failed: {name}, {label}, {count} of {of} runs: {why}")
    };
    reasons.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::spec::ModelSpec;

    #[test]
    fn a_built_in_server_is_not_asked_what_it_is() {
        let why = "127.0.0.1:1 closed the connection without a response: does it speak TLS?";
        let built_in = Target::new("a", TargetSpec::Model(ModelSpec::default()));
        assert_eq!(why_of(&built_in, why), "127.0.0.1:1 closed the connection without a response");
        assert_eq!(why_of(&built_in, "it went away: no answer"), "it went away: no answer");
        let another = Target::new("b", TargetSpec::Command("./server".to_owned()));
        assert_eq!(why_of(&another, why), why);
    }
}
