//! The groups of a run in the file: one object per group, in the order of the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Unreadable};
use super::read::{LoadError, damaged, failures};
use super::save::by_kind;
use crate::record::{GroupRecord, GroupTimes};

#[derive(Serialize, Deserialize)]
pub(super) struct Group {
    name: String,
    responses: u64,
    succeeded: u64,
    unexpected: u64,
    failed: Failed,
    unfinished: u64,
    statuses: BTreeMap<u16, u64>,
    body_bytes: u64,
    latency_ns: Times,
    failed_latency_ns: Times,
}

#[derive(Serialize, Deserialize)]
struct Failed {
    total: u64,
    by_kind: BTreeMap<String, u64>,
}

#[derive(Serialize, Deserialize)]
struct Times {
    wait: Distribution,
    total: Distribution,
    /// From when a request was due; in open loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Distribution>,
}

impl Group {
    pub(super) fn save(group: &GroupRecord) -> Self {
        let succeeded = group.succeeded();
        let GroupRecord {
            name,
            responses,
            unexpected,
            failures,
            statuses,
            body_bytes,
            unfinished,
            answered,
            failed,
        } = group;
        Self {
            name: name.clone(),
            responses: *responses,
            succeeded,
            unexpected: *unexpected,
            failed: Failed { total: group.failures_total(), by_kind: by_kind(failures) },
            unfinished: *unfinished,
            statuses: statuses.clone(),
            body_bytes: *body_bytes,
            latency_ns: Times::save(answered),
            failed_latency_ns: Times::save(failed),
        }
    }

    pub(super) fn restore(&self) -> Result<GroupRecord, LoadError> {
        if self.unexpected > self.responses {
            return Err(damaged("groups.unexpected", "more than there are responses"));
        }
        Ok(GroupRecord {
            name: self.name.clone(),
            responses: self.responses,
            unexpected: self.unexpected,
            failures: failures("groups.failed", self.failed.total, &self.failed.by_kind)?,
            statuses: self.statuses.clone(),
            body_bytes: self.body_bytes,
            unfinished: self.unfinished,
            answered: self.latency_ns.restore("groups.latency_ns")?,
            failed: self.failed_latency_ns.restore("groups.failed_latency_ns")?,
        })
    }
}

impl Times {
    fn save(times: &GroupTimes) -> Self {
        Self {
            wait: Distribution::save(&times.wait),
            total: Distribution::save(&times.total),
            response: times.response.as_ref().map(Distribution::save),
        }
    }

    fn restore(&self, name: &str) -> Result<GroupTimes, Unreadable> {
        let restore = |distribution: &Distribution, phase: &str| {
            distribution.restore(&format!("{name}.{phase}"))
        };
        let response = self.response.as_ref().map(|response| restore(response, "response"));
        Ok(GroupTimes {
            wait: restore(&self.wait, "wait")?,
            total: restore(&self.total, "total")?,
            response: response.transpose()?,
        })
    }
}
