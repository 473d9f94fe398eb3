//! The conditions that a run was put under, and how each of them came out: what decides the exit status, and what reports
//! for build servers list.

use ablaze_model::Run;

use super::{Condition, Outcome};

/// What was asked of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conditions {
    /// What must not be met: `--fail-if`.
    pub fail_if: Vec<Condition>,
    /// What has to hold: `--slo`.
    pub slo: Vec<Condition>,
    /// Whether a run whose verdict is INVALID fails: `--strict`.
    pub strict: bool,
}

/// A condition, held against a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The option that it was given to: `--fail-if` or `--slo`.
    pub option: &'static str,
    /// The condition as it was written.
    pub text: String,
    /// The figure of the run, if it has one.
    pub figure: Option<String>,
    /// Why the run fails by it; `None` if it does not.
    pub failure: Option<String>,
}

impl Conditions {
    /// Every condition held against this run, those of `--fail-if` first.
    pub fn judged(&self, run: &Run) -> Vec<Judged> {
        let fail_if = self.fail_if.iter().map(|condition| {
            let failure = match condition.judge(run) {
                Outcome::NotMet => None,
                Outcome::Met(text) | Outcome::Unknown(text) => Some(text),
            };
            judged("--fail-if", condition, run, failure)
        });
        let slo = self.slo.iter().map(|condition| {
            let failure = match condition.judge_by_slowest(run) {
                Outcome::Met(_) => None,
                Outcome::Unknown(text) => Some(text),
                Outcome::NotMet => {
                    let figure = condition.figure(run).unwrap_or_default();
                    let stand_in = condition.stand_in(run);
                    Some(format!("{} does not hold: {figure}{stand_in}", condition.text()))
                }
            };
            judged("--slo", condition, run, failure)
        });
        fail_if.chain(slo).collect()
    }
}

fn judged(
    option: &'static str,
    condition: &Condition,
    run: &Run,
    failure: Option<String>,
) -> Judged {
    Judged { option, text: condition.text().to_owned(), figure: condition.figure(run), failure }
}
