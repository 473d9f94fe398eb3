//! What an experiment has come to so far: the figures of each run, or why there are none, and which runs of two
//! targets make pairs.

use super::{Experiment, Figures, Trial};

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Figures>),
    /// It was not, or not to its end, and why.
    Failed(String),
}

/// How the reason begins where a trial was skipped because a program is missing.
pub const SKIPPED: &str = "skipped: ";

/// What an experiment has come to so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// In the order in which they were run.
    pub trials: Vec<(Trial, Outcome)>,
    /// Whether somebody ended it before its end.
    pub interrupted: bool,
    /// What could not be saved, and why: no trial behind it was made, as it could not be kept either.
    pub unsaved: Option<String>,
}

impl Results {
    /// Whether trials are missing because nobody made them.
    pub fn ended_early(&self) -> bool {
        self.interrupted || self.unsaved.is_some()
    }

    /// The figures of one target under one load, in the order of the repeats.
    pub fn of(&self, target: usize, load: usize) -> Vec<&Figures> {
        let mut of: Vec<(u32, &Figures)> = self
            .trials
            .iter()
            .filter(|(trial, _)| trial.target == target && trial.load == load)
            .filter_map(|(trial, outcome)| match outcome {
                Outcome::Measured(figures) => Some((trial.repeat, &**figures)),
                Outcome::Failed(_) => None,
            })
            .collect();
        of.sort_by_key(|(repeat, _)| *repeat);
        of.into_iter().map(|(_, figures)| figures).collect()
    }

    /// The repeats in which both targets were measured under this load, as pairs.
    pub fn pairs(&self, one: usize, other: usize, load: usize) -> Vec<(&Figures, &Figures)> {
        let find = |wanted: Trial| {
            self.trials.iter().find_map(|(trial, outcome)| match outcome {
                Outcome::Measured(figures) if *trial == wanted => Some(&**figures),
                _ => None,
            })
        };
        let mut repeats: Vec<u32> = self.trials.iter().map(|(trial, _)| trial.repeat).collect();
        repeats.sort_unstable();
        repeats.dedup();
        let pair = |repeat| {
            let one = find(Trial { repeat, load, target: one })?;
            Some((one, find(Trial { repeat, load, target: other })?))
        };
        repeats.into_iter().filter_map(pair).collect()
    }

    /// Trials that were measured.
    pub fn measured(&self) -> impl Iterator<Item = (Trial, &Figures)> {
        self.trials.iter().filter_map(|(trial, outcome)| match outcome {
            Outcome::Measured(figures) => Some((*trial, &**figures)),
            Outcome::Failed(_) => None,
        })
    }

    /// Why a target was left out: `skipped: install nginx`. `None` if it was not.
    pub fn skipped(&self, target: usize) -> Option<&str> {
        let of = self.failed().filter(|(trial, _)| trial.target == target);
        of.map(|(_, why)| why).find(|why| why.starts_with(SKIPPED))
    }

    /// Trials that were not measured, and why.
    pub fn failed(&self) -> impl Iterator<Item = (Trial, &str)> {
        self.trials.iter().filter_map(|(trial, outcome)| match outcome {
            Outcome::Failed(why) => Some((*trial, why.as_str())),
            Outcome::Measured(_) => None,
        })
    }

    /// The runs of two targets under this load as pairs; `None` where nothing pairs them. Saved runs are pairs only
    /// where they were taken in turns; else what lies between them in time may be what makes the difference.
    pub fn paired(
        &self,
        experiment: &Experiment,
        load: usize,
        (one, other): (usize, usize),
    ) -> Option<Vec<(&Figures, &Figures)>> {
        let is_saved = |target: usize| experiment.targets[target].saved_runs().is_some();
        if !is_saved(one) && !is_saved(other) {
            return Some(self.pairs(one, other, load));
        }
        let (ones, others) = (self.of(one, load), self.of(other, load));
        in_turns(&ones, &others).then(|| ones.into_iter().zip(others).collect())
    }
}

/// Whether each run of the one has one of the other beside it, before the next of either: as the
/// runs of an experiment lie, and those of two days do not.
fn in_turns(ones: &[&Figures], others: &[&Figures]) -> bool {
    let began = |runs: &[&Figures]| {
        let mut began: Vec<u64> = runs.iter().map(|run| run.started_unix_ns).collect();
        began.sort_unstable();
        began
    };
    let turns: Vec<(u64, u64)> = began(ones)
        .into_iter()
        .zip(began(others))
        .map(|(one, other)| (one.min(other), one.max(other)))
        .collect();
    turns.len() > 1
        && ones.len() == others.len()
        && turns.windows(2).all(|next| next[0].1 < next[1].0)
}
