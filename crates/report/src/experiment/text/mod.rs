//! What experiments print: tables for people, in the words of the native report.

use ablaze_model::experiment::{Experiment, Results};

use super::groups;
use crate::table::Table;

mod comparison;
mod runs;
mod search;
mod sweep;

pub use comparison::comparison;
pub use search::{answer, search};
pub use sweep::sweep;

pub(crate) use comparison::{cells, ratio_rows};
pub(crate) use runs::{
    WIDTH, failures, found, in_turns, limits, partial, runs_of_each, why_of, worth,
};
pub(crate) use search::{cells_of_stage, findings, verdict, what_for};
pub(crate) use sweep::{doubtful, what};

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
