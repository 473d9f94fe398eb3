//! The shape of the file, in format 2: one struct per JSON object, names as they stand there. Times
//! are in ns. A field that is added later gets `#[serde(default)]`, so that older files stay
//! readable. Renaming a field of the Plan or the Record changes nothing here; what the monitor and
//! the profiler saw is data of its own already, saved as it is.

use ablaze_feed::Order;
use std::collections::BTreeMap;

use crate::fleet::Fleet;
use crate::monitor::Monitored;
use crate::profiling::Profiling;
use crate::rate_change::RateChange;
use crate::record;
use crate::run::Shards;
use crate::spec::LoadSpec;
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::checks::{Checks, Samples};
use super::circumstances::Circumstances;
use super::distribution::{Distribution, PhasesOf};
use super::early::AnsweredEarly;
use super::groups::Group;
use super::http2::Http2;
use super::http3::Http3;
use super::idle::EndedIdle;
use super::journeys::Journeys;
use super::plan::{Connections, Limits, Load, Target, Threads};
use super::proxy::Proxy;
use super::tls::Tls;
use super::verdict::Assessment;
use crate::plan::users::Users;

#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    pub format: u32,
    pub tool: Tool,
    pub command: Vec<String>,
    /// Not in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<LoadSpec>>,
    pub started_at: String,
    pub started_unix_ns: u64,
    pub elapsed_ns: u64,
    pub setup_ns: u64,
    /// Only where the rate was changed while the run went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<RateChange>,
    /// Only where several machines carried it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Box<Fleet>>,
    /// Only where several runs were put together by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<Shards>,
    pub ended: Ended,
    pub target: Target,
    pub connected_to: String,
    pub request: Request,
    pub load: Load,
    pub limits: Limits,
    pub connections: Connections,
    pub threads: Threads,
    pub backend: Backend,
    pub machine: Machine,

    pub rate_per_s: Option<f64>,
    pub responses: u64,
    pub succeeded: u64,
    pub unexpected: u64,
    pub failed: Failed,
    pub unfinished: Unfinished,
    #[serde(default)]
    pub stopped: Stopped,
    /// Only where there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    pub repeated: u64,
    #[serde(default)]
    pub repeated_after_failure: u64,
    #[serde(default)]
    pub repeated_after_announced: u64,
    #[serde(default)]
    pub repeated_after_reset: u64,
    #[serde(default)]
    pub repeated_after_surplus: u64,
    #[serde(default)]
    pub ended_idle: EndedIdle,
    #[serde(default)]
    pub surplus: u64,
    #[serde(default)]
    pub surplus_responses: u64,
    #[serde(default)]
    pub circumstances: Circumstances,
    #[serde(default)]
    pub awaited_close: u64,
    #[serde(default)]
    pub left_open: u64,
    #[serde(default)]
    pub closed_early: u64,
    #[serde(default)]
    pub answered_early: AnsweredEarly,
    pub reused: u64,
    /// Only what there was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_kept: BTreeMap<String, u64>,
    pub connections_opened: u64,
    pub statuses: BTreeMap<u16, u64>,
    pub body_lengths: BTreeMap<u64, u64>,
    pub body_lengths_other: u64,
    pub bytes: Bytes,
    pub first_response: Option<FirstResponse>,
    /// Where requests said which they take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_codings: Vec<String>,
    /// On https only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// With HTTP/2 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2>,
    /// With HTTP/3 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http3: Option<Http3>,
    /// With tunnels through a proxy only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,

    pub latency_ns: PhasesOf,
    pub failed_latency_ns: PhasesOf,
    pub setup_connect_ns: Distribution,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_tls_ns: Option<Distribution>,
    /// Attempts to connect before the clock that failed, by kind; only where some did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub setup_failed: BTreeMap<String, u64>,
    /// Only of a name with several addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_address: Vec<Address>,
    /// Where requests waited for a stream only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_wait_ns: Option<Distribution>,
    pub event_age_ns: Distribution,
    pub in_flight: InFlight,
    pub workers: Vec<Worker>,
    pub slice_ns: u64,
    pub slices: Vec<Slice>,
    /// Only where requests belong to groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// Only where requests are the steps of a journey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journeys: Option<Journeys>,
    /// Only where responses were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
    /// Only where a check, or an assert or a capture of a journey, failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    #[serde(default)]
    pub monitor: Option<Monitored>,
    #[serde(default)]
    pub profile: Option<Profiling>,
    /// What the rules say of all this; judged again when a file is read.
    #[serde(default)]
    pub verdict: Option<Assessment>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Tool {
    pub name: String,
    pub version: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ended {
    Complete,
    Interrupted,
    Unreachable,
    Failed,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    pub method: String,
    pub http_version: String,
    pub has_body: bool,
    pub seed: u64,
    pub expected_statuses: Vec<(u16, u16)>,
    /// Only where more groups were named than are kept apart: how many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub groups_too_many: u64,
    /// Only where requests took their data from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<Feed>,
    /// Only where requests are the steps of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journey: Option<Journey>,
}

/// A file of steps.
#[derive(Serialize, Deserialize)]
pub(super) struct Journey {
    pub name: String,
    pub steps: Vec<String>,
    /// Only where some permit any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any_status: Vec<usize>,
    /// Only where something was asked of users.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub users: Users,
}

fn is_usual(users: &Users) -> bool {
    *users == Users::default()
}

/// Rows of a file.
#[derive(Serialize, Deserialize)]
pub(super) struct Feed {
    pub name: String,
    pub rows: u64,
    pub order: Order,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
pub(super) struct Backend {
    pub name: String,
    pub fallback_reason: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Machine {
    pub kernel: Option<String>,
    pub cpu_model: Option<String>,
    pub cpus_allowed: Option<u32>,
    pub memory_bytes: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Failed {
    pub total: u64,
    pub by_kind: BTreeMap<String, u64>,
    pub first: Option<FirstFailure>,
    /// How the first malformed response began, one character per byte; empty when none was.
    #[serde(default)]
    pub first_malformed: String,
    /// What the malformed responses are; only what there was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub malformed_by: BTreeMap<String, u64>,
    /// Of the timeouts, those of requests that waited for a stream where the server permitted none.
    #[serde(default)]
    pub without_stream: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FirstFailure {
    pub kind: String,
    pub errno: i32,
    pub connecting: bool,
    pub at_clock_ns: u64,
}

/// A worker that ended before its run.
#[derive(Serialize, Deserialize)]
pub(super) struct Fault {
    pub thread: u32,
    pub after_ns: Option<u64>,
    pub message: String,
    /// `file:line:column`.
    pub panicked_at: Option<String>,
}

impl Fault {
    pub fn save(fault: &record::Fault) -> Self {
        Self {
            thread: fault.worker,
            after_ns: fault.after_ns,
            message: fault.message.clone(),
            panicked_at: fault.panicked_at.clone(),
        }
    }

    pub fn load(&self) -> record::Fault {
        record::Fault {
            worker: self.thread,
            after_ns: self.after_ns,
            message: self.message.clone(),
            panicked_at: self.panicked_at.clone(),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Unfinished {
    pub count: u64,
    /// Of them, those that were due and found no connection.
    #[serde(default)]
    pub never_sent: u64,
    pub oldest_ns: u64,
    /// Of them, those that waited for a stream where the server permitted none.
    #[serde(default)]
    pub without_stream: u64,
    /// Without a byte of a response for a second or longer, or for half of a shorter run, those of the warm-up too.
    #[serde(default)]
    pub silent: u64,
    #[serde(default)]
    pub silent_of_warmup: u64,
    #[serde(default)]
    pub silent_interim: u64,
    /// Connections that had not opened for as long.
    #[serde(default)]
    pub silent_connecting: u64,
    #[serde(default)]
    pub silent_longest_ns: u64,
}

/// Responses that stopped in the middle; those of `unfinished` and of `failed` among them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Stopped {
    pub timed_out: u64,
    pub unfinished: u64,
    #[serde(default)]
    pub partway: u64,
    #[serde(default)]
    pub endless: u64,
    #[serde(default)]
    pub begun: u64,
    #[serde(default)]
    pub begun_without_length: u64,
    pub longest: Option<StoppedResponse>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoppedResponse {
    pub silent_ns: u64,
    pub body_bytes: u64,
    pub missing_bytes: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Bytes {
    pub received: u64,
    pub body: u64,
    pub sent: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FirstResponse {
    pub at_clock_ns: u64,
    pub body_bytes: Option<u64>,
    /// One character per byte (ISO 8859-1), so that any head can be given back.
    pub head: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct InFlight {
    pub mean: Option<f64>,
    pub integral_ns: String,
    /// How long, at the end, too few requests were left to keep them in flight.
    #[serde(default)]
    pub drain_ns: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Worker {
    pub user_ns: u64,
    pub system_ns: u64,
    pub spun_ns: u64,
    pub busy_ns: u64,
    pub window_ns: u64,
    pub system_calls: u64,
    pub turns: u64,
    pub events: u64,
    pub involuntary_switches: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Slice {
    pub responses: u64,
    pub failures: u64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    /// The buckets of its histogram: ablaze-stats' `touched` says how they are written.
    #[serde(default)]
    pub buckets: String,
}
