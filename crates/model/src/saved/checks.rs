//! The checks of a run in the file, and the samples of what failed.

use serde::{Deserialize, Serialize};

use super::journeys::First;
use super::read::{LoadError, damaged};
use crate::record;

#[derive(Serialize, Deserialize)]
pub(super) struct Checks {
    responses: u64,
    failed_responses: u64,
    each: Vec<Check>,
}

#[derive(Serialize, Deserialize)]
struct Check {
    check: String,
    passed: u64,
    failed: u64,
    /// Of those that it looked at; absent where it looked at none.
    passed_share: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<First>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Samples {
    /// What they were drawn from.
    failed: u64,
    kept: Vec<Sample>,
}

#[derive(Serialize, Deserialize)]
struct Sample {
    at_ns: u64,
    number: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    status: u16,
    total_ns: u64,
    failed: Vec<String>,
    request: Message,
    response: Message,
    /// Text, as JSON readers round large numbers.
    key: String,
}

#[derive(Serialize, Deserialize)]
struct Message {
    head: Vec<String>,
    head_is_cut: bool,
    body: Vec<String>,
    body_bytes: u64,
    body_is_cut: bool,
}

impl Checks {
    pub(super) fn save(own: &record::Checks) -> Self {
        let check = |check: &record::CheckRecord| Check {
            check: check.text.clone(),
            passed: check.passed,
            failed: check.failed,
            passed_share: (check.looked_at() > 0)
                .then(|| check.passed as f64 / check.looked_at() as f64),
            first: check.first.as_ref().map(First::save),
        };
        Self {
            responses: own.responses,
            failed_responses: own.failed_responses,
            each: own.each.iter().map(check).collect(),
        }
    }

    /// `responses` is what the run has.
    pub(super) fn restore(&self, responses: u64) -> Result<Box<record::Checks>, LoadError> {
        if self.responses > responses || self.failed_responses > self.responses {
            return Err(damaged("checks.responses", "more than there are responses"));
        }
        let too_many = |check: &Check| {
            check.passed.checked_add(check.failed).is_none_or(|all| all > self.responses)
        };
        if self.each.iter().any(too_many) {
            return Err(damaged("checks.each", "one looked at more responses than there are"));
        }
        let check = |check: &Check| record::CheckRecord {
            text: check.check.clone(),
            passed: check.passed,
            failed: check.failed,
            first: check.first.as_ref().map(First::restore),
        };
        Ok(Box::new(record::Checks {
            each: self.each.iter().map(check).collect(),
            responses: self.responses,
            failed_responses: self.failed_responses,
        }))
    }
}

impl Samples {
    pub(super) fn save(own: &record::Samples) -> Self {
        let sample = |sample: &record::Sample| Sample {
            at_ns: sample.at_ns,
            number: sample.number,
            step: sample.step.clone(),
            status: sample.status,
            total_ns: sample.total_ns,
            failed: sample.failed.clone(),
            request: Message::save(&sample.request),
            response: Message::save(&sample.response),
            key: sample.key.to_string(),
        };
        Self { failed: own.failed, kept: own.in_order().into_iter().map(sample).collect() }
    }

    pub(super) fn restore(&self) -> Result<Box<record::Samples>, LoadError> {
        let mut samples = record::Samples::default();
        for sample in &self.kept {
            let key = sample.key.parse();
            samples.keep(record::Sample {
                key: key.map_err(|_| damaged("samples.kept.key", "not a number"))?,
                at_ns: sample.at_ns,
                number: sample.number,
                step: sample.step.clone(),
                status: sample.status,
                total_ns: sample.total_ns,
                failed: sample.failed.clone(),
                request: sample.request.restore(),
                response: sample.response.restore(),
            });
        }
        samples.failed = self.failed;
        Ok(Box::new(samples))
    }
}

impl Message {
    fn save(own: &record::Message) -> Self {
        let record::Message { head, head_is_cut, body, body_bytes, body_is_cut } = own.clone();
        Self { head, head_is_cut, body, body_bytes, body_is_cut }
    }

    fn restore(&self) -> record::Message {
        record::Message {
            head: self.head.clone(),
            head_is_cut: self.head_is_cut,
            body: self.body.clone(),
            body_bytes: self.body_bytes,
            body_is_cut: self.body_is_cut,
        }
    }
}
