//! The groups, steps and journeys of an experiment's targets side by side, and their checks.

use ablaze_model::experiment::{Experiment, Figures, GroupFigures, Results};
use ablaze_model::printable::printable;
use ablaze_stats::repeats::median;

use crate::number::{grouped, percent, rate, time};

/// Below the table on a page.
pub const CAPTION: &str = "Medians of the runs; errors of all runs together, and checks of all responses that were looked at.";

/// The columns of the table behind what is shown: group, load and target.
const FIGURES: [&str; 5] = ["rate /s", "p50", "p95", "p99", "errors"];

/// Whether a column has figures.
pub fn is_figure(head: &str) -> bool {
    FIGURES.contains(&head)
}

/// A head, and for each group a row per load and target; last, where anything is checked, the share of checks that passed. `None`
/// where no run has groups, journeys or checks.
pub fn table(
    experiment: &Experiment,
    results: &Results,
) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let several = experiment.loads.len() > 1;
    let mut head = vec![String::new(), "target".to_owned()];
    if several {
        head.insert(1, "load".to_owned());
    }
    head.extend(FIGURES.map(String::from));
    let names = names(results);
    let mut rows = Vec::new();
    for name in names.iter().map(Some).chain([None]) {
        let mut shown = match name {
            Some(name) => printable(name).into_owned(),
            None => "checks passed".to_owned(),
        };
        for (load, asked) in experiment.loads.iter().enumerate() {
            for (at, target) in experiment.targets.iter().enumerate() {
                let runs = results.of(at, load);
                let cells = match name {
                    Some(name) => cells(&runs, name),
                    None => checks(&runs),
                };
                let Some(cells) = cells else { continue };
                let mut row =
                    vec![std::mem::take(&mut shown), printable(&target.name).into_owned()];
                if several {
                    row.insert(1, asked.label.clone());
                }
                row.extend(cells);
                rows.push(row);
            }
        }
    }
    (!rows.is_empty()).then_some((head, rows))
}

/// The names of all groups, in the order in which they come.
pub fn names(results: &Results) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, run) in results.measured() {
        for name in run.groups.iter().filter_map(|group| group.name.as_ref()) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// What a run has of a group.
pub fn group_of<'a>(run: &'a Figures, name: &str) -> Option<&'a GroupFigures> {
    run.groups.iter().find(|group| group.name.as_deref() == Some(name))
}

fn cells(runs: &[&Figures], name: &str) -> Option<Vec<String>> {
    let groups: Vec<&GroupFigures> = runs.iter().filter_map(|run| group_of(run, name)).collect();
    if groups.is_empty() {
        return None;
    }
    let middle = |figure: &dyn Fn(&GroupFigures) -> Option<f64>| {
        median(&groups.iter().filter_map(|group| figure(group)).collect::<Vec<_>>())
    };
    let shown = |value: Option<f64>, words: fn(f64) -> String| value.map_or("-".to_owned(), words);
    let mut cells = vec![shown(middle(&|group| group.rate_per_s), rate)];
    cells.extend([50.0, 95.0, 99.0].map(|percent| {
        let ns = middle(&|group| group.percentile_ns(percent));
        shown(ns, time)
    }));
    cells.push(grouped(groups.iter().map(|group| group.errors).sum()));
    Some(cells)
}

fn checks(runs: &[&Figures]) -> Option<Vec<String>> {
    let checked: Vec<(u64, u64)> = runs.iter().filter_map(|run| run.checks).collect();
    let (passed, all) = checked.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (all > 0).then(|| vec![format!("{} of {}", share(passed, all), grouped(all))])
}

/// A share that is 100 % only where it is all.
fn share(passed: u64, all: u64) -> String {
    match passed == all {
        true => "100 %".to_owned(),
        false => percent((passed as f64).min(all as f64 * 0.9999), all as f64),
    }
}
