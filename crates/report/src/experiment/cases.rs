//! An experiment as the cases of a test: whether its targets responded, with the figures of each; its verdict, with every finding
//! that made it; and what had to hold of responses and journeys.

use ablaze_model::experiment::{Experiment, Held, JudgedTogether, Results, Searched};
use ablaze_model::finding::{Finding, Severity};

use super::curve::{Pick, Point};
use super::text;
use crate::junit::{self, Case, CaseOutcome};
use crate::number::{counted, grouped, rate, time};

/// Whether the targets responded; `outcome` is that of the command. A line for each target under each load.
pub fn responses(experiment: &Experiment, results: &Results, outcome: CaseOutcome) -> Case {
    let loads = 0..experiment.loads.len();
    let cells = loads.flat_map(|load| (0..experiment.targets.len()).map(move |at| (at, load)));
    let mut lines: Vec<String> = cells.map(|cell| figures(experiment, results, cell)).collect();
    let failures = text::failures(experiment, results);
    lines.extend(failures.iter().map(|line| line.trim().to_owned()));
    let name = "some responses came as expected".to_owned();
    Case { class: "responses", name, outcome, output: lines.join("\n") }
}

/// `one, c=10: 3 runs, 30,000 responses, 0 of them unexpected, 0 errors, 1,000/s (990–1,010), p50 …`.
fn figures(experiment: &Experiment, results: &Results, (target, load): (usize, usize)) -> String {
    let (name, label) = (&experiment.targets[target].name, &experiment.loads[load].label);
    let runs = results.of(target, load);
    let Some(point) = Point::of(&runs, Pick::Median) else {
        let why = results.skipped(target).unwrap_or("not measured");
        return format!("{name}, {label}: {why}");
    };
    let (slowest, fastest) = point.extent();
    let times =
        [("p50", point.p50_ns), ("p99", point.p99_ns), ("server CPU/request", point.server_cpu_ns)];
    let times = times.into_iter().filter_map(|(of, ns)| Some(format!(", {of} {}", time(ns?))));
    format!(
        "{name}, {label}: {}, {}, {} of them unexpected, {} errors, {}/s ({}–{}){}",
        counted(runs.len() as u64, "run"),
        counted(runs.iter().map(|run| run.responses).sum(), "response"),
        grouped(runs.iter().map(|run| run.unexpected).sum()),
        grouped(point.errors),
        rate(point.rate_per_s),
        rate(slowest),
        rate(fastest),
        times.collect::<String>()
    )
}

/// The verdict, with what was found in the runs and in all of them together.
pub fn verdict(experiment: &Experiment, results: &Results, judged: &JudgedTogether) -> Case {
    let all = counted(results.measured().count() as u64, "run");
    let mut lines: Vec<(Severity, String)> = Vec::new();
    for found in text::found(results) {
        let Finding { id, severity, cause, .. } = found.gravest;
        let of = format!("in {} of {all}{}", found.runs, found.example(experiment));
        let (evidence, fix) = (found.gravest.evidence_in_line(), found.fix(experiment));
        let said = [evidence.as_str(), cause, &fix].join(" ");
        lines.push((*severity, format!("{id} {severity} {}, {of}: {said}", id.name())));
    }
    let roots = judged.findings.iter().filter(|finding| finding.explained_by.is_none());
    lines.extend(roots.map(|finding| (finding.severity, junit::in_a_line(finding))));
    let nothing = results.measured().next().is_none();
    let why = if nothing { text::NOTHING_MEASURED } else { "" };
    junit::of_judged(judged.verdict, &lines, why, false)
}

/// The verdict of a search, with what was found in the stages that make it.
pub fn search_verdict(searched: &Searched) -> Case {
    let found = text::findings(searched).into_iter().map(|(of, finding)| {
        let line = junit::in_a_line(finding);
        (finding.severity, format!("{line} ({of})"))
    });
    junit::of_judged(text::verdict(searched), &found.collect::<Vec<_>>(), "", false)
}

/// What had to hold of the responses and journeys of each target, in all of its runs.
pub fn held(experiment: &Experiment, results: &Results) -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, target) in experiment.targets.iter().enumerate() {
        let mut all: Vec<Held> = Vec::new();
        let of = results.measured().filter(|(trial, _)| trial.target == at);
        for held in of.flat_map(|(_, run)| &run.held) {
            let same = |own: &&mut Held| own.class == held.class && own.what == held.what;
            match all.iter_mut().find(same) {
                Some(own) => own.merge(held),
                None => all.push(held.clone()),
            }
        }
        let name = (experiment.targets.len() > 1).then_some(target.name.as_str());
        cases.extend(all.iter().map(|held| junit::of_held(held, name)));
    }
    cases
}

/// How long its runs took, all together, ns.
pub fn elapsed_ns(results: &Results) -> u64 {
    results.measured().map(|(_, run)| run.elapsed_ns).sum()
}

#[cfg(test)]
#[path = "cases_tests.rs"]
mod tests;
