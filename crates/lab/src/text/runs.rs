//! What is said about the runs of an experiment together: whether they are to be believed, what
//! limited them, what was found in them and which failed.

use std::collections::BTreeMap;

use ablaze_report::number::counted;
use ablaze_verdict::several::Several;
use ablaze_verdict::{Finding, Limit, Severity};

use crate::beside::other_findings;
use crate::curve::worst;
use crate::experiment::{Experiment, Figures, Results};

/// `VALID  30 of 30 runs limited by the server`.
pub(crate) fn all_runs(runs: &[&Figures]) -> String {
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
    format!("{}  {}", worst(runs), limits.join(" · "))
}

/// What was found above a note, once for each target and diagnosis, with the gravest evidence; notes
/// by number.
pub(crate) fn findings(experiment: &Experiment, results: &Results) -> Vec<String> {
    let mut grave: BTreeMap<_, (&Finding, usize)> = BTreeMap::new();
    let mut notes: BTreeMap<_, (&Finding, usize)> = BTreeMap::new();
    for (trial, run) in results.measured() {
        for finding in run.findings.iter().filter(|finding| finding.explained_by.is_none()) {
            if finding.severity == Severity::Note {
                notes.entry(finding.id).or_insert((finding, 0)).1 += 1;
                continue;
            }
            let entry = grave.entry((trial.subject, finding.id)).or_insert((finding, 0));
            entry.1 += 1;
            if finding.severity > entry.0.severity {
                entry.0 = finding;
            }
        }
    }
    let runs = |of: usize| counted(of as u64, "run");
    let of_subject =
        |subject: usize| results.measured().filter(|(trial, _)| trial.subject == subject).count();
    let mut lines: Vec<String> = grave
        .iter()
        .map(|((subject, id), (finding, count))| {
            let (target, name) = (&experiment.subjects[*subject].name, id.name());
            let (evidence, remedy) = (&finding.evidence, &finding.remedy);
            let among = format!("in {count} of {}", runs(of_subject(*subject)));
            format!("  {target}: {id} {} {name} {among}: {evidence} {remedy}", finding.severity)
        })
        .collect();
    let all = results.measured().count();
    let among = |count: usize| format!("in {count} of {}", runs(all));
    if !notes.is_empty() {
        let named: Vec<String> = notes
            .values()
            .map(|(finding, count)| {
                format!("{} {} ({})", finding.id, finding.id.name(), among(*count))
            })
            .collect();
        lines.push(format!("  notes: {}", named.join(", ")));
    }
    lines
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
