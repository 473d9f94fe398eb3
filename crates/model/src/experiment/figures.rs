//! The figures of one run that experiments compare. The whole run stays in its file: a hundred of
//! them would not fit into memory with all their distributions.

use serde::{Deserialize, Serialize};

use super::GroupFigures;
use crate::finding::{Finding, Limit, Verdict};

/// One run's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Complete responses.
    pub responses: u64,
    /// Exchanges that ended without a valid response.
    pub errors: u64,
    /// Responses outside the expected statuses.
    pub unexpected: u64,
    /// Responses per second.
    pub rate_per_s: f64,
    /// Mean time, ns.
    pub mean_ns: Option<f64>,
    /// Median, ns.
    pub p50_ns: Option<u64>,
    /// 99th percentile, ns.
    pub p99_ns: Option<u64>,
    /// CPU time of the server per request, ns, where its process was seen.
    pub server_cpu_ns: Option<f64>,
    /// CPU time of the client per request without active waiting, ns.
    pub client_cpu_ns: Option<f64>,
    /// Whether the run is to be believed.
    pub verdict: Verdict,
    /// What bounded its rate.
    pub limit: Limit,
    /// What the server counted, where it is a built-in one that served this run alone.
    pub counted: Option<Counted>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// When it began, ns since 1970.
    pub started_unix_ns: u64,
    /// Length of the measured window, ns.
    pub elapsed_ns: u64,
    /// Whether the rate is the client's: an open loop, whose whole rate the target carried.
    pub rate_as_requested: bool,
    /// The same of the run as a whole, its groups, steps and journeys; empty for other clients.
    pub groups: Vec<GroupFigures>,
    /// How many checks and asserts passed, and of how many; `None` where nothing was checked.
    pub checks: Option<(u64, u64)>,
    /// What had to hold of its responses and journeys; empty where nothing was asked of them.
    pub held: Vec<Held>,
}

/// What had to hold of each response or each journey of a run, and how often it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What kind of thing: `check`, `journey`, `step`, `setup`.
    pub class: &'static str,
    /// What had to hold: `status==200`, `no journey fails in login`.
    pub what: String,
    /// What it was asked of: `response`, `journey`, `assert`, `user`.
    pub of: &'static str,
    /// How many of these were looked at.
    pub looked_at: u64,
    /// Of how many it did not hold.
    pub failed: u64,
    /// What was wrong with the first.
    pub first: String,
}

impl Held {
    /// Adds what was seen of the same thing in another run.
    pub fn merge(&mut self, other: &Self) {
        self.looked_at = self.looked_at.saturating_add(other.looked_at);
        self.failed = self.failed.saturating_add(other.failed);
        if self.first.is_empty() {
            self.first.clone_from(&other.first);
        }
    }
}

/// What a built-in server counted from its start to its end: the calls that tell whether a response could be written at
/// once. Probes and warm-up are in them, and in its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Requests that it answered.
    pub requests: u64,
    /// Calls that wrote to a connection.
    pub writes: u64,
    /// Of these, those that could not go on (EAGAIN).
    pub write_eagains: u64,
    /// Events that said that a blocked connection can be written again.
    pub out_events: u64,
    /// epoll_ctl MOD.
    pub epoll_mods: u64,
}

impl Counted {
    /// Each count per response, by the name that tables have for it; `None` without a response.
    pub fn per_response(&self) -> Option<[(&'static str, f64); 4]> {
        let each = |count: u64| count as f64 / self.requests as f64;
        (self.requests > 0).then(|| {
            [
                ("writes", each(self.writes)),
                ("EAGAIN", each(self.write_eagains)),
                ("EPOLLOUT events", each(self.out_events)),
                ("epoll_ctl MOD", each(self.epoll_mods)),
            ]
        })
    }
}

impl std::ops::Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            writes: self.writes + other.writes,
            write_eagains: self.write_eagains + other.write_eagains,
            out_events: self.out_events + other.out_events,
            epoll_mods: self.epoll_mods + other.epoll_mods,
        }
    }
}
