//! What experiments print: tables for people, in the words of the native report.

use ablaze_model::experiment::{ByFleet, Experiment, Placement, Results, Target};

use super::groups;
use crate::number::counted;
use crate::table::Table;

mod comparison;
mod dashes;
mod runs;
mod search;
mod sweep;

pub use comparison::comparison;
pub use runs::CHECK_PORT;
pub use search::{answer, search};
pub use sweep::sweep;

pub(crate) use comparison::{cells, of_ranking, ratio_rows};
pub(crate) use dashes::{dashes, dashes_of_sweep};
pub(crate) use runs::{
    NOTHING_MEASURED, WIDTH, failures, found, in_turns, partial, runs_of_each, what_limited,
    why_of, worth,
};
pub(crate) use search::{cells_of_stage, findings, unsupported, verdict, what_for};
pub(crate) use sweep::{doubtful, with_errors};

/// What was carried out: how many targets, under which loads, how often.
pub(crate) fn what(experiment: &Experiment, results: &Results) -> String {
    match experiment.loads.len() {
        1 => comparison::what(experiment, results),
        _ => sweep::what(experiment, results),
    }
}

/// The groups, steps and journeys of the targets side by side, below an empty line; nothing where there are none.
fn of_groups(experiment: &Experiment, results: &Results) -> Vec<String> {
    let Some((head, rows)) = groups::table(experiment, results) else { return Vec::new() };
    let words: Vec<usize> =
        (0..head.iter().filter(|cell| !groups::is_figure(cell)).count()).collect();
    let mut table = Table::new(&words);
    table.row(head, "");
    rows.into_iter().for_each(|row| table.row(row, ""));
    std::iter::once(String::new()).chain(table.lines()).collect()
}

/// Whether an experiment starts all of its targets, and so decides where they run.
pub(crate) fn starts_all(experiment: &Experiment) -> bool {
    experiment.targets.iter().all(Target::is_started_here)
}

/// Who carried the runs out, and on which processors, as far as that was said.
pub(crate) fn carried_out(
    fleet: Option<&ByFleet>,
    placement: &Placement,
    starts_all: bool,
) -> String {
    let mut placed = placement.in_words();
    if !starts_all {
        placed = placed.replacen("target on CPU", "started targets on CPU", 1);
    }
    let Some(fleet) = fleet else { return placed };
    let workers = counted(u64::from(fleet.workers), "worker");
    // What is said of the client's processors is said of this machine's.
    let target = placed.strip_suffix(", client anywhere").filter(|_| !placement.target.is_empty());
    let target = target.map_or_else(String::new, |target| format!(", {target}"));
    format!("each run by {workers}{target}")
}

#[cfg(test)]
mod table_tests;
