//! Where the figures of an experiment's page come from, and where what it does not show is to be found.

use super::counters;
use super::curve::Pick;
use crate::page::Block;

/// Where what a page does not show is to be found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whence {
    runs: &'static str,
    /// The rest of what servers counted.
    pub(super) counters: &'static str,
}

/// In the folder of the results, where an experiment's own page lies.
pub(super) const IN_FOLDER: Whence =
    Whence { runs: " Every run is in `runs/` of the results folder.", counters: counters::WHENCE };

/// On a page of several experiments: each has a folder of its own, and the page says which.
pub(super) const ELSEWHERE: Whence = Whence { runs: "", counters: "" };

/// Where the figures come from.
pub(super) fn of_figures(pick: Pick, whence: Whence) -> [Block; 2] {
    let of_what = match pick {
        Pick::Median => "Medians of the runs.",
        Pick::Best => "Rates: the best of the runs. Everything else: medians of the runs.",
    };
    [
        Block::Remark(format!("{of_what}{}", whence.runs)),
        Block::OfTheFile(
            "This page contains the figures of all runs (class `ablaze-figures`).".to_owned(),
        ),
    ]
}
