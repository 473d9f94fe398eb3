//! The journeys of a run in the file.

use ablaze_stats::Latency;
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
    /// Only where some were.
    #[serde(default, skip_serializing_if = "is_zero")]
    cookies_refused: u64,
    duration_ns: Distribution,
    steps: Vec<Step>,
    /// Only where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    each: Vec<One>,
    /// Only where users have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    setup: Option<Setup>,
    /// Only where users paused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pauses_ns: u64,
    /// Only where users came over the measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    users_came_ns: Option<Distribution>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
struct One {
    name: String,
    begun: u64,
    whole: u64,
    failed: u64,
    unfinished: u64,
    duration_ns: Distribution,
}

#[derive(Serialize, Deserialize)]
struct Setup {
    begun: u64,
    failed: u64,
    #[serde(default)]
    unfinished: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<First>,
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

/// The first message of its kind; of checks, too.
#[derive(Serialize, Deserialize)]
pub(super) struct First {
    at_clock_ns: u64,
    text: String,
    /// Only of journeys with a feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feed_line: Option<u32>,
}

impl Journeys {
    pub(super) fn save(own: &record::Journeys, elapsed_ns: u64) -> Self {
        let step = |step: &record::JourneyStep| Step {
            name: step.name.clone(),
            failed: step.failed,
            first: step.first.as_ref().map(First::save),
        };
        let one = |one: &record::OneJourney| One {
            name: one.name.clone(),
            begun: one.begun,
            whole: one.whole,
            failed: one.failed,
            unfinished: one.unfinished(),
            duration_ns: Distribution::save(&one.duration),
        };
        let setup = |setup: &record::Setup| Setup {
            begun: setup.begun,
            failed: setup.failed,
            unfinished: setup.unfinished(),
            first: setup.first.as_ref().map(First::save),
        };
        Self {
            begun: own.begun,
            whole: own.whole,
            failed: own.failed,
            unfinished: own.unfinished(),
            rate_per_s: (elapsed_ns > 0).then(|| own.whole as f64 / (elapsed_ns as f64 / 1e9)),
            asserts: Asserts { passed: own.asserts_passed, failed: own.asserts_failed },
            cookies_refused: own.cookies_refused,
            duration_ns: Distribution::save(&own.duration),
            steps: own.steps.iter().map(step).collect(),
            each: own.each.iter().map(one).collect(),
            setup: own.setup.as_ref().map(setup),
            pauses_ns: own.pauses_ns,
            users_came_ns: (own.came.count() > 0).then(|| Distribution::save(&own.came)),
        }
    }

    pub(super) fn restore(&self) -> Result<Box<record::Journeys>, LoadError> {
        if self.whole.checked_add(self.failed).is_none_or(|ended| ended > self.begun) {
            return Err(damaged("journeys.begun", "fewer than have ended"));
        }
        let step = |step: &Step| record::JourneyStep {
            name: step.name.clone(),
            failed: step.failed,
            first: step.first.as_ref().map(First::restore),
        };
        let one = |one: &One| {
            if one.whole.checked_add(one.failed).is_none_or(|ended| ended > one.begun) {
                return Err(damaged("journeys.each.begun", "fewer than have ended"));
            }
            Ok(record::OneJourney {
                name: one.name.clone(),
                begun: one.begun,
                whole: one.whole,
                failed: one.failed,
                duration: one.duration_ns.restore("journeys.each.duration_ns")?,
            })
        };
        let setup = |setup: &Setup| record::Setup {
            begun: setup.begun,
            whole: setup.begun.saturating_sub(setup.failed.saturating_add(setup.unfinished)),
            failed: setup.failed,
            first: setup.first.as_ref().map(First::restore),
        };
        Ok(Box::new(record::Journeys {
            begun: self.begun,
            whole: self.whole,
            failed: self.failed,
            asserts_passed: self.asserts.passed,
            asserts_failed: self.asserts.failed,
            cookies_refused: self.cookies_refused,
            duration: self.duration_ns.restore("journeys.duration_ns")?,
            steps: self.steps.iter().map(step).collect(),
            each: self.each.iter().map(one).collect::<Result<_, _>>()?,
            setup: self.setup.as_ref().map(setup),
            pauses_ns: self.pauses_ns,
            came: match &self.users_came_ns {
                Some(came) => came.restore("journeys.users_came_ns")?,
                None => Latency::new(3),
            },
        }))
    }
}

impl First {
    pub(super) fn save(own: &record::FirstMessage) -> Self {
        Self { at_clock_ns: own.at_ns, text: own.text.clone(), feed_line: own.feed_line }
    }

    pub(super) fn restore(&self) -> record::FirstMessage {
        let (at_ns, feed_line) = (self.at_clock_ns, self.feed_line);
        record::FirstMessage { at_ns, text: self.text.clone(), feed_line }
    }
}
