//! The plan as a table: every combination of target and load, how many of its runs are done, which is under way.

use ablaze_model::experiment::{Experiment, Outcome, Results, SKIPPED, Trial};
use ablaze_report::number::{counted, rate, time};
use ablaze_report::page::{Block, Section};

/// More combinations are counted only.
const ROWS_MOST: usize = 200;

/// The section. `now` is the trial under way, with how many come before it: those that are not among the results were kept
/// when the experiment was run before.
pub fn of(experiment: &Experiment, results: &Results, now: Option<(Trial, usize)>) -> Section {
    let all = experiment.trials();
    let kept: Vec<Trial> = match now {
        Some((_, before)) => all[..before]
            .iter()
            .filter(|trial| !results.trials.iter().any(|(done, _)| done == *trial))
            .copied()
            .collect(),
        None => Vec::new(),
    };
    let is_of =
        |trial: &Trial, load: usize, target: usize| trial.load == load && trial.target == target;
    let mut rows = Vec::new();
    for load in 0..experiment.loads.len() {
        for target in 0..experiment.targets.len() {
            let of = all.iter().filter(|trial| is_of(trial, load, target)).count();
            if of == 0 {
                continue;
            }
            let done = results.trials.iter().filter(|(trial, _)| is_of(trial, load, target));
            let outcomes: Vec<&Outcome> = done.map(|(_, outcome)| outcome).collect();
            let kept = kept.iter().filter(|trial| is_of(trial, load, target)).count();
            let is_now = now.is_some_and(|(trial, _)| is_of(&trial, load, target));
            let mut cells = vec![
                experiment.targets[target].name.clone(),
                experiment.loads[load].label.clone(),
                runs(&outcomes, kept, of, is_now),
            ];
            cells.extend(last(&outcomes));
            rows.push(cells);
        }
    }
    let section = Section::new("The plan");
    if rows.len() > ROWS_MOST {
        let text = counted(rows.len() as u64, "combination");
        return section.with(Block::Remark(format!("{text} of target and load.")));
    }
    section.with(Block::table(&["target", "load", "runs", "the last /s", "p99"], rows))
}

/// `3 of 10, 1 failed, one under way`
fn runs(outcomes: &[&Outcome], kept: usize, of: usize, is_now: bool) -> String {
    let failed = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Failed(_))).count();
    let mut text = format!("{} of {of}", outcomes.len() - failed + kept);
    if failed > 0 {
        text.push_str(&format!(", {failed} failed"));
    }
    if is_now {
        text.push_str(", one under way");
    }
    text
}

/// Rate and 99th percentile of the last run.
fn last(outcomes: &[&Outcome]) -> [String; 2] {
    match outcomes.last() {
        Some(Outcome::Measured(figures)) => {
            let p99 = figures.p99_ns.map_or("-".to_owned(), |ns| time(ns as f64));
            [rate(figures.rate_per_s), p99]
        }
        Some(Outcome::Failed(why)) if why.starts_with(SKIPPED) => {
            ["skipped".to_owned(), "-".to_owned()]
        }
        Some(Outcome::Failed(_)) => ["failed".to_owned(), "-".to_owned()],
        None => ["-".to_owned(), "-".to_owned()],
    }
}
