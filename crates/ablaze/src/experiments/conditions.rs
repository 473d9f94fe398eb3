//! `--fail-if` on comparisons, and the checks of a file: read before the first run, judged at the
//! end, told on stderr.

use ablaze_lab::check::{Answer, Check, Standing};
use ablaze_model::experiment::{Experiment, Results};

use crate::CommandError;
use crate::error::note;

/// What must not be met, and what must.
#[derive(Debug, Default)]
pub struct Conditions {
    /// Conditions of `--fail-if`: must not be met.
    pub fail_if: Vec<Check>,
    /// Checks of a file: must hold.
    pub checks: Vec<Check>,
}

impl Conditions {
    /// Reads what `--fail-if` says.
    ///
    /// # Errors
    /// When a condition cannot be understood.
    pub fn fail_if(texts: &[String]) -> Result<Self, CommandError> {
        let fail_if = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>();
        let fail_if = fail_if.map_err(|error: ablaze_lab::check::CheckError| {
            CommandError::usage(format!("--fail-if {error}"))
        })?;
        Ok(Self { fail_if, checks: Vec::new() })
    }

    /// Whether the targets of `--fail-if` are those of the experiment.
    ///
    /// # Errors
    /// When one is not.
    pub fn fit(&self, experiment: &Experiment) -> Result<(), CommandError> {
        self.fail_if.iter().try_for_each(|check| {
            check
                .fits(experiment)
                .map_err(|error| CommandError::usage(format!("--fail-if {error}")))
        })
    }

    /// Whether a build fails by them; each one by which it does gets a line on stderr.
    pub fn fail(&self, experiment: &Experiment, results: &Results, unequal: &[String]) -> bool {
        let judged = |check: &Check| check.judge(experiment, results, unequal);
        let mut met = self.fail_if.iter().flat_map(judged).collect::<Vec<_>>();
        met.retain(|standing| standing.answer.fails_if_met());
        let mut failed = self.checks.iter().flat_map(judged).collect::<Vec<_>>();
        failed.retain(|standing| standing.answer.fails_unless_met());
        met.iter().for_each(|standing| note(&format!("--fail-if {}", standing.text)));
        failed.iter().for_each(|standing| note(&format!("check failed: {}", standing.text)));
        !met.is_empty() || !failed.is_empty()
    }

    /// Every condition and check with its result, for the page.
    pub fn rows(
        &self,
        experiment: &Experiment,
        results: &Results,
        unequal: &[String],
    ) -> Vec<[String; 2]> {
        let judged = |check: &Check| check.judge(experiment, results, unequal);
        let fails_if = |standing: Standing| {
            let answer = match standing.answer {
                Answer::Met => "met",
                Answer::NotMet => "not met",
                Answer::NotShown => "not shown",
                Answer::Unknown => "cannot be judged",
            };
            let fails = if standing.answer.fails_if_met() { ": exit status 3" } else { "" };
            [format!("fail if {}", standing.text), format!("{answer}{fails}")]
        };
        let checks = |standing: Standing| {
            let fails = if standing.answer.fails_unless_met() { ": exit status 3" } else { "" };
            let answer = in_words(standing.answer);
            [standing.text, format!("{answer}{fails}")]
        };
        let rows = self.checks.iter().flat_map(judged).map(checks);
        rows.chain(self.fail_if.iter().flat_map(judged).map(fails_if)).collect()
    }

    /// How the checks stand, a line each, for the report.
    pub fn in_words(
        &self,
        experiment: &Experiment,
        results: &Results,
        unequal: &[String],
    ) -> String {
        let standing = self.checks.iter().flat_map(|c| c.judge(experiment, results, unequal));
        let line = |standing: Standing| {
            format!("  check {}  {}\n", standing.text, in_words(standing.answer))
        };
        standing.map(line).collect()
    }
}

/// The answer to a check.
fn in_words(answer: Answer) -> &'static str {
    match answer {
        Answer::Met => "holds",
        Answer::NotMet => "does not hold",
        Answer::NotShown => "inconclusive",
        Answer::Unknown => "fails",
    }
}
