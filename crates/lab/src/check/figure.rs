//! A condition on a figure of each target, such as `login.p99 < 300ms`, or of one: `mine: login.p99 < 300ms`. It is judged by the
//! median of the runs, as the tables show it.

use std::fmt;
use std::str::FromStr;

use ablaze_model::experiment::{Experiment, Results};
use ablaze_model::printable::printable;
use ablaze_report::condition::{Condition, ConditionError};
use ablaze_stats::repeats::median;

use super::{Answer, Became, CheckError, Standing, at_load, place_of};

/// A figure of a run, a group, a step or journeys, and its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureCheck {
    /// Whose runs; `None` is each target's.
    target: Option<String>,
    condition: Condition,
}

/// Why a text is no such condition.
#[derive(Debug)]
pub enum FigureError {
    /// It is none at all, and why.
    None(String),
    /// It is one on a figure that experiments do not keep.
    NotKept(CheckError),
}

impl FromStr for FigureCheck {
    type Err = FigureError;

    fn from_str(text: &str) -> Result<Self, FigureError> {
        let (target, condition) = match text.split_once(": ") {
            Some((target, condition)) => (Some(target.trim().to_owned()), condition),
            None => (None, text),
        };
        let condition: Condition = condition
            .parse()
            .map_err(|error: ConditionError| FigureError::None(error.to_string()))?;
        condition
            .check_kept()
            .map_err(|error| FigureError::NotKept(CheckError(error.to_string())))?;
        Ok(Self { target, condition })
    }
}

impl fmt::Display for FigureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(target) = &self.target {
            write!(f, "{target}: ")?;
        }
        f.write_str(self.condition.text())
    }
}

impl FigureCheck {
    /// Whether the target is of this experiment.
    ///
    /// # Errors
    /// When it is not.
    pub fn fits(&self, experiment: &Experiment) -> Result<(), CheckError> {
        match &self.target {
            None => Ok(()),
            Some(name) => place_of(name, experiment, &self.to_string()).map(drop),
        }
    }

    /// What each run is held against.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// What the runs say, once for each target and load.
    pub fn judge(&self, experiment: &Experiment, results: &Results) -> Vec<Standing> {
        let mut standings = Vec::new();
        for (at, target) in experiment.targets.iter().enumerate() {
            // A target that was left out says so in its row.
            if self.target.as_ref().is_some_and(|name| *name != target.name)
                || results.skipped(at).is_some()
            {
                continue;
            }
            for load in 0..experiment.loads.len() {
                let of = match experiment.targets.len() {
                    1 => String::new(),
                    _ => format!(", {}", printable(&target.name)),
                };
                let whose = format!("{}{of}{}", self.condition.text(), at_load(experiment, load));
                standings.push(self.of_runs(&whose, results, (at, load)));
            }
        }
        standings
    }

    fn of_runs(&self, whose: &str, results: &Results, (target, load): (usize, usize)) -> Standing {
        let runs = results.of(target, load);
        let values: Vec<f64> = runs.iter().filter_map(|run| self.condition.value_in(run)).collect();
        let missing = runs.len() - values.len();
        let became = Became::of(results, target, load);
        // How fast error pages came, for example, says nothing.
        let invalid = became.invalid().filter(|_| self.condition.is_of_speed());
        let why = match () {
            () if runs.is_empty() => Some("nothing was measured".to_owned()),
            () if became.failed > 0 => became.failed(),
            () if missing > 0 => Some(format!("missing in {missing} of {}", became.all())),
            () => invalid,
        };
        let middle = median(&values).filter(|_| why.is_none());
        let Some(middle) = middle else {
            let why = why.unwrap_or_else(|| "nothing was measured".to_owned());
            return Standing {
                what: whose.to_owned(),
                text: format!("{whose}: cannot be judged, {why}"),
                answer: Answer::Unknown,
            };
        };
        let words = |value: f64| self.condition.in_words(value);
        let metric = self.condition.metric_text();
        let by_longest = match runs.iter().filter(|run| self.condition.is_by_longest(run)).count() {
            0 => String::new(),
            all if all == runs.len() => {
                format!(", the longest time: too few responses for {metric}")
            }
            some => format!(", in {some} of them the longest time: too few responses for {metric}"),
        };
        let text = match values.len() {
            1 => format!("{whose}: it was {}{by_longest}", words(middle)),
            runs => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!(
                    "{whose}: the median of {runs} runs was {} ({}–{}){by_longest}",
                    words(middle),
                    words(least),
                    words(most)
                )
            }
        };
        let answer = match self.condition.is_met_at(middle) {
            true => Answer::Met,
            false => Answer::NotMet,
        };
        Standing { what: whose.to_owned(), text, answer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::experiment::{Figures, GroupFigures, Outcome};
    use ablaze_testing::experiments;
    use ablaze_verdict::Verdict;

    use crate::check::Check;

    fn login(p99_ns: Option<f64>) -> GroupFigures {
        GroupFigures {
            name: Some("login".to_owned()),
            is_journeys: false,
            responses: 98,
            errors: 2,
            unexpected: Some(0),
            rate_per_s: Some(9.8),
            mean_ns: Some(2e6),
            percentiles_ns: [Some(1e6), Some(2e6), Some(3e6), p99_ns, None],
            max_ns: Some(9e6),
        }
    }

    /// The answers for the targets, whose logins took so long in each of their runs, ms.
    fn answers(check: &str, p99_ms: [&[Option<f64>]; 2]) -> Vec<(String, Answer)> {
        let check: Check = check.parse().unwrap();
        let experiment = experiments::experiment();
        check.fits(&experiment).unwrap();
        let trials = experiment.trials().into_iter().filter_map(|trial| {
            let p99_ms = p99_ms[trial.target].get(trial.repeat as usize)?;
            let groups = vec![login(p99_ms.map(|ms| ms * 1e6))];
            let checks = Some((990, 1000));
            let figures = Figures { groups, checks, ..experiments::figures(1e3) };
            Some((trial, Outcome::Measured(Box::new(figures))))
        });
        let results = Results { trials: trials.collect(), ..Results::default() };
        let standings = check.judge(&experiment, &results, &[]);
        standings.into_iter().map(|standing| (standing.text, standing.answer)).collect()
    }

    #[test]
    fn each_target_is_held_against_it_by_the_median_of_its_runs() {
        let runs: [&[Option<f64>]; 2] =
            [&[Some(1.0), Some(2.0), Some(50.0)], &[Some(30.0), Some(40.0), Some(1.0)]];
        let [one, other] = &answers("login.p99 < 10ms", runs)[..] else { panic!() };
        assert_eq!((one.1, other.1), (Answer::Met, Answer::NotMet));
        let text = "login.p99 < 10ms, one: the median of 3 runs was 2.00 ms (1.00 ms–50.0 ms)";
        assert_eq!(one.0, text);
        assert_eq!(answers("other: login.p99 < 10ms", runs).len(), 1);
        let met = |check: &str| answers(check, runs)[0].1 == Answer::Met;
        assert!(met("checks >= 99%") && !met("checks < 99%"));
        assert!(met("login.errors <= 2%") && !met("login.errors > 2%") && met("login.errors<3"));
        assert!(met("login.rate > 9") && met("cpu < 1ms") && met("login.max<=9ms"));
    }

    #[test]
    fn what_no_run_has_is_not_judged() {
        // The longest stands for a percentile of too few, where there is an upper limit alone.
        let few: [&[Option<f64>]; 2] = [&[None], &[None]];
        assert_eq!(answers("login.p99 < 10ms", few)[0].1, Answer::Met);
        assert_eq!(answers("login.p99 > 10ms", few)[0].1, Answer::Unknown);
        let [one, other] = &answers("pay.p99 < 10ms", [&[Some(1.0)], &[]])[..] else { panic!() };
        assert_eq!((one.1, other.1), (Answer::Unknown, Answer::Unknown));
        assert!(one.0.ends_with("missing in 1 of 1 run"), "{}", one.0);
    }

    #[test]
    fn runs_that_failed_or_are_invalid_are_not_left_out() {
        let experiment = experiments::experiment();
        let judged = |check: &str, outcome: &dyn Fn(u32) -> Outcome| {
            let check: Check = check.parse().unwrap();
            let trials = experiment.trials().into_iter().filter(|trial| trial.target == 0);
            let trials = trials.map(|trial| (trial, outcome(trial.repeat))).collect();
            let results = Results { trials, ..Results::default() };
            let standing = check.judge(&experiment, &results, &[]).swap_remove(0);
            (standing.answer, standing.text)
        };
        let figures = |unexpected: u64, verdict: Verdict| {
            let whole = GroupFigures {
                name: None,
                responses: 10_000,
                unexpected: Some(unexpected),
                rate_per_s: Some(1e3),
                ..login(Some(1e6))
            };
            let groups = vec![whole];
            let figures = experiments::figures(1e3);
            Outcome::Measured(Box::new(Figures { unexpected, verdict, groups, ..figures }))
        };
        let measured = || figures(0, Verdict::Valid);
        assert_eq!(judged("p99 < 10ms", &|_| measured()).0, Answer::Met);
        let crashed = |repeat| match repeat {
            0 => measured(),
            _ => Outcome::Failed("the server ended".to_owned()),
        };
        let (answer, text) = judged("p99 < 10ms", &crashed);
        assert_eq!(answer, Answer::Unknown);
        assert!(text.contains(" failed"), "{text}");
        let errors = |_| figures(10_000, Verdict::Invalid);
        assert_eq!(judged("p99 < 10ms", &errors).0, Answer::Unknown);
        assert_eq!(judged("rate > 10", &errors).0, Answer::Unknown);
        // That is what these are about.
        assert_eq!(judged("unexpected < 10", &errors).0, Answer::NotMet);
    }

    #[test]
    fn figures_that_are_not_kept_are_refused_before_the_run() {
        for text in ["login.p97 < 1ms", "lag < 1ms", "status.500 > 0", "login.cpu < 1ms"] {
            let refused = text.parse::<Check>().unwrap_err().to_string();
            assert!(refused.contains("the figures of an experiment are"), "{text}: {refused}");
        }
        let third: Check = "third: p99 < 1ms".parse().unwrap();
        assert!(third.fits(&experiments::experiment()).is_err());
    }
}
