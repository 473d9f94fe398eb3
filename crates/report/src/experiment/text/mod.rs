//! What experiments print: tables for people, in the words of the native report.

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
