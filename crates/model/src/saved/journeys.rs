//! The journeys of a run in the file.

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use super::read::{LoadError, damaged};
use crate::record;

#[derive(Serialize, Deserialize)]
pub(super) struct Journeys {
    begun: u64,
    whole: u64,
    failed: u64,
    unfinished: u64,
    /// Whole ones.
    rate_per_s: Option<f64>,
    asserts: Asserts,
    duration_ns: Distribution,
    steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
struct Asserts {
    passed: u64,
    failed: u64,
}

#[derive(Serialize, Deserialize)]
struct Step {
    name: String,
    failed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<First>,
}

#[derive(Serialize, Deserialize)]
struct First {
    at_clock_ns: u64,
    text: String,
}

impl Journeys {
    pub(super) fn save(own: &record::Journeys, elapsed_ns: u64) -> Self {
        let step = |step: &record::JourneyStep| Step {
            name: step.name.clone(),
            failed: step.failed,
            first: step
                .first
                .as_ref()
                .map(|first| First { at_clock_ns: first.at_ns, text: first.text.clone() }),
        };
        Self {
            begun: own.begun,
            whole: own.whole,
            failed: own.failed,
            unfinished: own.unfinished(),
            rate_per_s: (elapsed_ns > 0).then(|| own.whole as f64 / (elapsed_ns as f64 / 1e9)),
            asserts: Asserts { passed: own.asserts_passed, failed: own.asserts_failed },
            duration_ns: Distribution::save(&own.duration),
            steps: own.steps.iter().map(step).collect(),
        }
    }

    pub(super) fn restore(&self) -> Result<Box<record::Journeys>, LoadError> {
        if self.whole.checked_add(self.failed).is_none_or(|ended| ended > self.begun) {
            return Err(damaged("journeys.begun", "fewer than have ended"));
        }
        let step = |step: &Step| record::JourneyStep {
            name: step.name.clone(),
            failed: step.failed,
            first: step.first.as_ref().map(|first| record::FirstMessage {
                at_ns: first.at_clock_ns,
                text: first.text.clone(),
            }),
        };
        Ok(Box::new(record::Journeys {
            begun: self.begun,
            whole: self.whole,
            failed: self.failed,
            asserts_passed: self.asserts.passed,
            asserts_failed: self.asserts.failed,
            duration: self.duration_ns.restore("journeys.duration_ns")?,
            steps: self.steps.iter().map(step).collect(),
        }))
    }
}
