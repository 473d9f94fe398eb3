//! `--fail-if` on comparisons, and the checks of a file: read before the first run, judged at the
//! end, told in every form of the report, and on stderr where a build fails by them.

use ablaze_lab::check::{Answer, Check};
use ablaze_load::planning::{self, Composed};
use ablaze_model::experiment::{Experiment, JudgedTogether, Results, Unequal};
use ablaze_model::printable;
use ablaze_model::spec::Secrets;
use ablaze_report::condition::Condition;
use ablaze_report::experiment::cases;
use ablaze_report::junit::{Case, CaseOutcome, Suite};
use serde_json::json;

use super::shown;
use crate::CommandError;
use crate::error::{INTERRUPTED, note};

/// What must not be met, and what must.
#[derive(Debug, Default)]
pub struct Conditions {
    /// Conditions of `--fail-if`: must not be met.
    pub fail_if: Vec<Check>,
    /// Checks of a file: must hold.
    pub checks: Vec<Check>,
}

/// How a condition is written that was meant for a target, where it names one in the place of a group: `b: p99 < 1s` for
/// `b.p99 < 1s`.
fn of_a_target(experiment: &Experiment, condition: &Condition) -> Option<String> {
    let name = condition.name()?;
    let named = experiment.targets.iter().any(|target| target.name == name);
    let rest = condition.text().strip_prefix(name)?.strip_prefix('.')?;
    named.then(|| format!("{name}: {rest}"))
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

    /// Whether the loads have the groups, steps and journeys that conditions on figures name.
    ///
    /// # Errors
    /// When one has not: the text has the names that there are.
    pub fn check_names(
        &self,
        experiment: &Experiment,
        secrets: &Secrets,
    ) -> Result<(), CommandError> {
        let named = self.fail_if.iter().chain(&self.checks).filter_map(Check::condition);
        let named: Vec<_> = named.filter(|condition| condition.name().is_some()).collect();
        if named.is_empty() || experiment.is_saved() {
            return Ok(());
        }
        for load in &experiment.loads {
            let Composed { requests, journey, .. } = planning::unaimed(&load.spec, secrets)?;
            for condition in &named {
                condition.check(&requests.groups, journey.as_ref()).map_err(|error| {
                    CommandError::usage(match of_a_target(experiment, condition) {
                        Some(instead) => format!("{error}; of one target alone: `{instead}`"),
                        None => error.to_string(),
                    })
                })?;
            }
        }
        Ok(())
    }

    /// Whether a build fails by them; each one by which it does gets a line on stderr.
    pub fn fail(&self, experiment: &Experiment, results: &Results, unequal: &[Unequal]) -> bool {
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
        unequal: &[Unequal],
    ) -> Vec<[String; 2]> {
        // Where a target could not be measured, or somebody ended it, the status says that.
        let is_first = matches!(outcome(experiment, results), CaseOutcome::Passed);
        let status = if is_first { ": exit status 3" } else { ": the command fails" };
        let row = |judged: Judged| {
            let fails = if judged.fails { status } else { "" };
            [judged.what(), format!("{}{fails}", judged.answer)]
        };
        self.judged(experiment, results, unequal).map(row).collect()
    }

    /// How they stand, a line each, for the report.
    pub fn in_words(
        &self,
        experiment: &Experiment,
        results: &Results,
        unequal: &[Unequal],
    ) -> String {
        let line = |judged: Judged| {
            let check = if judged.must_hold { "check " } else { "" };
            format!("  {check}{}\n", judged.with_answer("  "))
        };
        self.judged(experiment, results, unequal).map(line).collect()
    }

    /// These results as JSON, with how the conditions stand under `checks`.
    pub fn in_json(
        &self,
        json: &str,
        experiment: &Experiment,
        results: &Results,
        unequal: &[Unequal],
    ) -> String {
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(json) else {
            return json.to_owned();
        };
        let check = |judged: Judged| {
            let must = if judged.must_hold { "hold" } else { "not be met" };
            json!({"must": must, "text": judged.text, "answer": judged.answer, "fails": judged.fails})
        };
        value["checks"] = self.judged(experiment, results, unequal).map(check).collect();
        format!("{}\n", printable::json(&format!("{value:#}")))
    }

    /// The experiment as the cases of a test: that its targets responded, its verdict, every check and condition.
    pub fn suite(
        &self,
        experiment: &Experiment,
        results: &Results,
        judged: &JudgedTogether,
        unequal: &[Unequal],
    ) -> Suite {
        let mut cases = vec![cases::responses(experiment, results, outcome(experiment, results))];
        cases.push(cases::verdict(experiment, results, judged));
        cases.extend(self.judged(experiment, results, unequal).map(|judged| Case {
            class: if judged.must_hold { "check" } else { "condition" },
            name: judged.named(&judged.condition),
            outcome: match judged.fails {
                true => CaseOutcome::Failed(judged.with_answer(": ")),
                false => CaseOutcome::Passed,
            },
            output: judged.with_answer(": "),
        }));
        cases.extend(cases::held(experiment, results));
        Suite { name: experiment.title.clone(), elapsed_ns: cases::elapsed_ns(results), cases }
    }

    /// The checks and then the conditions, each with its answer.
    fn judged(
        &self,
        experiment: &Experiment,
        results: &Results,
        unequal: &[Unequal],
    ) -> impl Iterator<Item = Judged> {
        let judged = |check: &Check| check.judge(experiment, results, unequal);
        let checks = self.checks.iter().flat_map(judged).map(|standing| Judged {
            must_hold: true,
            answer: in_words(standing.answer),
            fails: standing.answer.fails_unless_met(),
            condition: standing.what,
            text: standing.text,
        });
        let fail_if = self.fail_if.iter().flat_map(judged).map(|standing| Judged {
            must_hold: false,
            answer: match standing.answer {
                Answer::Met => "met",
                Answer::NotMet => "not met",
                Answer::NotShown => "not shown",
                Answer::Unknown => "cannot be judged",
            },
            fails: standing.answer.fails_if_met(),
            condition: standing.what,
            text: standing.text,
        });
        checks.chain(fail_if).collect::<Vec<_>>().into_iter()
    }
}

/// Whether the targets responded: without that the command fails, whatever else was asked.
fn outcome(experiment: &Experiment, results: &Results) -> CaseOutcome {
    if let Some(what) = &results.unsaved {
        return CaseOutcome::Failed(format!("{what} could not be saved"));
    }
    match shown::status(experiment, results) {
        0 => CaseOutcome::Passed,
        INTERRUPTED => CaseOutcome::Failed("it was interrupted".to_owned()),
        _ => CaseOutcome::Failed("no expected response came from a target".to_owned()),
    }
}

/// A condition with its answer.
struct Judged {
    /// A check; else a condition of `--fail-if`.
    must_hold: bool,
    /// The condition alone: in one build as in the next.
    condition: String,
    /// The condition with the figure that it was judged by.
    text: String,
    answer: &'static str,
    /// Whether a build fails by it.
    fails: bool,
}

impl Judged {
    /// With the answer behind this, unless the text has it: why something cannot be judged.
    fn with_answer(&self, before: &str) -> String {
        match self.text.contains(&format!(": {}, ", self.answer)) {
            true => self.what(),
            false => format!("{}{before}{}", self.what(), self.answer),
        }
    }

    fn what(&self) -> String {
        self.named(&self.text)
    }

    fn named(&self, condition: &str) -> String {
        match self.must_hold {
            true => condition.to_owned(),
            false => format!("fail if {condition}"),
        }
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

#[cfg(test)]
mod tests {
    use ablaze_model::experiment::Outcome;

    use super::*;

    #[test]
    fn a_condition_names_its_status_only_where_no_other_goes_before_it() {
        let experiment = ablaze_testing::experiments::experiment();
        let figures = ablaze_testing::experiments::figures(1e3);
        let measured = |trial| (trial, Outcome::Measured(Box::new(figures.clone())));
        let trials = experiment.trials().into_iter().map(measured).collect();
        let mut results = Results { trials, ..Results::default() };
        let check: Check = "rate<1000000".parse().expect("a condition");
        let conditions = Conditions { fail_if: vec![check], ..Conditions::default() };
        let said = |results: &Results| conditions.rows(&experiment, results, &[])[0][1].clone();
        // The figures of these runs lack the rate of conditions, and what cannot be judged fails as well.
        assert_eq!(said(&results), "cannot be judged: exit status 3");
        results.interrupted = true;
        assert_eq!(said(&results), "cannot be judged: the command fails");
    }
}
