//! Conditions on experiments: on the ratio of two targets ([`ratio`], `mine / nginx CPU/request <= 1.15`), or on a figure of each
//! target ([`figure`], `login.p99 < 300ms`).

pub mod figure;
pub mod ratio;

use std::fmt;
use std::str::FromStr;

use ablaze_model::experiment::{Experiment, Results, Unequal};
use ablaze_report::condition::Condition;
use ablaze_report::experiment::curve::is_most;
use ablaze_report::number::counted;
use ablaze_verdict::Verdict;

use figure::{FigureCheck, FigureError};
use ratio::RatioCheck;

/// A condition on an experiment.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// On the ratio of two targets.
    Ratio(RatioCheck),
    /// On a figure of each target, or of one.
    Figure(FigureCheck),
}

/// What these runs say about a condition under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The condition, and the target and load where there are several: the same for every measurement.
    pub what: String,
    /// The condition with the figure it was judged by, for people.
    pub text: String,
    /// What they say.
    pub answer: Answer,
}

/// What runs say about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Every value of the interval meets it.
    Met,
    /// No value of the interval does.
    NotMet,
    /// Some do: these runs do not show which.
    NotShown,
    /// There is no interval.
    Unknown,
}

/// A condition that cannot be understood. The text names the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(String);

impl FromStr for Check {
    type Err = CheckError;

    /// Reads a condition.
    ///
    /// ```
    /// use ablaze_lab::check::Check;
    ///
    /// let check: Check = "mine / nginx CPU/request <= 1.15".parse().unwrap();
    /// assert_eq!(check.to_string(), "mine / nginx CPU/request <= 1.15");
    /// assert!("login.p99 < 300ms".parse::<Check>().is_ok());
    /// assert!("mine rate < 0.95".parse::<Check>().is_err());
    /// let refused = "bogus > 1".parse::<Check>().unwrap_err().to_string();
    /// assert!(refused.contains("p99") && !refused.contains("a number above 0"), "{refused}");
    /// ```
    fn from_str(text: &str) -> Result<Self, CheckError> {
        let compared = text.split(['<', '>']).next().unwrap_or_default();
        match (compared.contains(" / "), text.parse()) {
            (false, Ok(check)) => Ok(Self::Figure(check)),
            (false, Err(FigureError::NotKept(error))) => Err(error),
            (false, Err(FigureError::None(why))) => Err(CheckError(format!(
                "{why}; a condition on one target is `NAME: p99<50ms`, on two targets `A / B rate < 0.95`"
            ))),
            (true, _) => text.parse().map(Self::Ratio),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(check) => check.fmt(f),
            Self::Figure(check) => check.fmt(f),
        }
    }
}

impl Check {
    /// Whether its targets are of this experiment.
    ///
    /// # Errors
    /// When one is not.
    pub fn fits(&self, experiment: &Experiment) -> Result<(), CheckError> {
        match self {
            Self::Ratio(check) => check.fits(experiment),
            Self::Figure(check) => check.fits(experiment),
        }
    }

    /// The condition on a figure of a run, if it is one.
    pub fn condition(&self) -> Option<&Condition> {
        match self {
            Self::Ratio(_) => None,
            Self::Figure(check) => Some(check.condition()),
        }
    }

    /// What the runs say, once for each load. `unequal` says which targets did other work under which load: then there is
    /// no ratio of the same thing.
    pub fn judge(
        &self,
        experiment: &Experiment,
        results: &Results,
        unequal: &[Unequal],
    ) -> Vec<Standing> {
        match self {
            Self::Ratio(check) => check.judge(experiment, results, unequal),
            Self::Figure(check) => check.judge(experiment, results),
        }
    }
}

/// The place of a target.
fn place_of(name: &str, experiment: &Experiment, of: &str) -> Result<usize, CheckError> {
    let names = || experiment.targets.iter().map(|target| target.name.as_str());
    names().position(|other| other == name).ok_or_else(|| {
        let there: Vec<&str> = names().collect();
        CheckError(format!("`{of}`: unknown target `{name}`; expected one of {}", there.join(", ")))
    })
}

/// What became of the runs of a target under a load. Those that failed are missing from its figures, and how fast error pages
/// came is none.
struct Became {
    measured: usize,
    failed: usize,
    invalid: usize,
}

impl Became {
    fn of(results: &Results, target: usize, load: usize) -> Self {
        let runs = results.of(target, load);
        let failed =
            results.failed().filter(|(trial, _)| (trial.target, trial.load) == (target, load));
        Self {
            measured: runs.len(),
            failed: failed.count(),
            invalid: runs.iter().filter(|run| run.verdict == Verdict::Invalid).count(),
        }
    }

    /// `3 runs`, those that failed too.
    fn all(&self) -> String {
        counted((self.measured + self.failed) as u64, "run")
    }

    /// `1 of 3 runs failed`.
    fn failed(&self) -> Option<String> {
        (self.failed > 0).then(|| format!("{} of {} failed", self.failed, self.all()))
    }

    /// `2 of 3 runs are INVALID`, where that is most of them.
    fn invalid(&self) -> Option<String> {
        is_most(self.invalid, self.measured)
            .then(|| format!("{} of {} are INVALID", self.invalid, self.all()))
    }
}

/// ` at c=10`, where there are several loads.
fn at_load(experiment: &Experiment, load: usize) -> String {
    match experiment.loads.len() {
        1 => String::new(),
        _ => format!(" at {}", experiment.loads[load].label),
    }
}

impl Answer {
    /// Whether this fails a build that must not have the condition met. What cannot be judged does.
    pub fn fails_if_met(self) -> bool {
        matches!(self, Self::Met | Self::Unknown)
    }

    /// Whether this fails a build that must have it met.
    pub fn fails_unless_met(self) -> bool {
        matches!(self, Self::NotMet | Self::Unknown)
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
