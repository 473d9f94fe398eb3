//! What is said about the runs of an experiment together: whether they are to be believed, what
//! limited them, what was found in them and which failed.

use std::collections::{BTreeMap, BTreeSet};

use ablaze_report::number::counted;
use ablaze_verdict::several::Several;
use ablaze_verdict::{DiagnosisId, Finding, Limit, Severity};

use crate::beside::other_findings;
use crate::curve::worst;
use crate::experiment::{Experiment, Figures, Results};

/// `VALID  30 of 30 runs limited by the server`.
pub(crate) fn all_runs(runs: &[&Figures]) -> String {
    format!("{}  {}", worst(runs), limits(runs))
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
        .map(|(limit, count)| format!("{count} of {} {}", counted(runs.len() as u64, "run"), limit))
        .collect();
    limits.join(" · ")
}

/// What was found above a note, once for each diagnosis with the gravest evidence and the targets
/// concerned; notes by number.
pub(crate) fn findings(experiment: &Experiment, results: &Results) -> Vec<String> {
    let mut found: BTreeMap<DiagnosisId, Found> = BTreeMap::new();
    for (trial, run) in results.measured() {
        for finding in run.findings.iter().filter(|finding| finding.explained_by.is_none()) {
            let of = found.entry(finding.id).or_insert(Found {
                gravest: finding,
                runs: 0,
                subjects: BTreeSet::new(),
            });
            of.runs += 1;
            of.subjects.insert(trial.subject);
            if finding.severity > of.gravest.severity {
                of.gravest = finding;
            }
        }
    }
    let all = counted(results.measured().count() as u64, "run");
    let (notes, grave): (Vec<_>, Vec<_>) =
        found.iter().partition(|(_, found)| found.gravest.severity == Severity::Note);
    let mut lines: Vec<String> = grave
        .iter()
        .map(|(id, found)| {
            let Finding { severity, evidence, remedy, .. } = found.gravest;
            let (name, runs) = (id.name(), found.runs);
            let of = found.names(experiment);
            format!("  {id} {severity} {name}, in {runs} of {all}{of}: {evidence} {remedy}")
        })
        .collect();
    if !notes.is_empty() {
        let note = |(id, found): &(&DiagnosisId, &Found)| {
            format!("{id} {} (in {} of {all}{})", id.name(), found.runs, found.names(experiment))
        };
        let notes: Vec<String> = notes.iter().map(note).collect();
        lines.push(format!("  notes: {}", notes.join(", ")));
    }
    lines
}

/// One diagnosis in the runs of an experiment.
struct Found<'a> {
    gravest: &'a Finding,
    runs: usize,
    subjects: BTreeSet<usize>,
}

impl Found<'_> {
    /// The targets it was found of, unless it was all of them.
    fn names(&self, experiment: &Experiment) -> String {
        if self.subjects.len() == experiment.subjects.len() {
            return String::new();
        }
        let name = |subject: &usize| experiment.subjects[*subject].name.as_str();
        format!(" ({})", self.subjects.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

/// What was found in the runs beside each other, unequal work apart.
pub(crate) fn together(several: &Several) -> Vec<String> {
    let line = |finding: &&Finding| {
        let (id, name) = (finding.id, finding.id.name());
        let evidence = finding.evidence.replace('\n', " ");
        format!("  {id} {} {name}: {evidence}", finding.severity)
    };
    other_findings(several).iter().map(line).collect()
}

/// Which trials failed, and why: of one target and load the first reason.
pub(crate) fn failures(experiment: &Experiment, results: &Results) -> Vec<String> {
    let mut reasons: BTreeMap<(usize, usize), (&str, usize)> = BTreeMap::new();
    for (trial, why) in results.failed() {
        reasons.entry((trial.subject, trial.load)).or_insert((why, 0)).1 += 1;
    }
    let line = |((subject, load), (why, count)): (&(usize, usize), &(&str, usize))| {
        let (name, label) = (&experiment.subjects[*subject].name, &experiment.loads[*load].label);
        let of = experiment.repeats;
        format!("  failed: {name}, {label}, {count} of {of} runs: {why}")
    };
    reasons.iter().map(line).collect()
}
