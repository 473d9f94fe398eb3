//! What is known of the machines that carried one load out together: each with its own figures, how far apart they
//! started, and the time in which all of them ran. The Run beside it is that of all.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::record::Slices;

/// The machines that carried one load out together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    /// What reached them: `exec`, `ssh`, `k8s` or `docker`.
    pub by: String,
    /// How far apart they started; `None` where fewer than two did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<StartSkew>,
    /// The time in which all ran of which something is known, in whole slices, where that is not the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Where their connections came from, as the target's host had it; empty where that was not looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_from: Vec<SeenFrom>,
    /// Each of them, in the order they were asked for.
    pub workers: Vec<FleetWorker>,
}

/// Connections from one address, as the target's host had them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFrom {
    /// Where they came from.
    pub address: IpAddr,
    /// How many there were when it was looked.
    pub connections: u64,
}

/// How far apart workers started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartSkew {
    /// From the first to the last, ns.
    pub ns: u64,
    /// How wrong that can be, ns.
    pub bound_ns: u64,
}

/// The figures of a part of a run, from the rows of all workers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// Its beginning, ns from the common start.
    #[serde(default, skip_serializing_if = "starts_with_all")]
    pub from_ns: u64,
    /// Its end, ns from the common start.
    pub to_ns: u64,
    /// Complete responses of any status.
    pub responses: u64,
    /// Exchanges without a valid response.
    pub failures: u64,
    /// The median of their times, ns, to 1 %.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of their times, ns, to 1 %.
    pub p99_ns: Option<u64>,
}

fn starts_with_all(from_ns: &u64) -> bool {
    *from_ns == 0
}

/// One of the machines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetWorker {
    /// What it is called.
    pub name: String,
    /// Its machine; `None` if it was never ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<WorkerMachine>,
    /// When its clock started, ns from the common start; `None` where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ns: Option<i64>,
    /// How wrong that can be, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns: Option<u64>,
    /// How far its clock went away from the coordinator's during the run, ns, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ns: Option<u64>,
    /// Why it was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// It was lost, and its Run was fetched afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collected: bool,
    /// Whether its Run is a part of the Run of all.
    pub counted: bool,
    /// Complete responses of any status: of its Run, or, where there is none, of the rows that came.
    pub responses: u64,
    /// Exchanges without a valid response.
    pub failures: u64,
    /// Length of its measured window, ns.
    pub elapsed_ns: u64,
    /// The median of its times, ns.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of its times, ns.
    pub p99_ns: Option<u64>,
    /// How busy its busiest thread was, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// What limited it; `None` without a Run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<WorkerLimit>,
    /// Its share over time; `None` without a Run of at least two slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<WorkerCourse>,
    /// How busy its threads were over time, as it said while its run lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_over_time: Option<BusyCourse>,
    /// What its own Run was found to be: number and name of each finding that its verdict stands on; without a Run, what it
    /// had told of by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// What one of the machines did over time, in equal pieces from the start of its clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerCourse {
    /// Length of a piece.
    pub piece_ns: u64,
    /// Responses completed in each.
    pub responses: Vec<u64>,
    /// The highest of the 99th percentiles in each, ns; 0 where there was no response.
    pub p99_ns: Vec<u64>,
}

impl WorkerCourse {
    /// At most so many pieces are kept of each machine.
    pub const PIECES_MAX: usize = 60;

    /// Of the slices of its Run, which lasted so long; `None` where there are fewer than two.
    pub fn of(slices: &Slices, elapsed_ns: u64) -> Option<Self> {
        let whole = usize::try_from(elapsed_ns / slices.slice_ns.max(1)).unwrap_or(usize::MAX);
        let whole = &slices.slices[..whole.min(slices.slices.len())];
        let together = whole.len().div_ceil(Self::PIECES_MAX).max(1);
        let pieces = whole.chunks_exact(together);
        let course = Self {
            piece_ns: slices.slice_ns * together as u64,
            responses: pieces
                .clone()
                .map(|piece| piece.iter().map(|slice| slice.responses).sum())
                .collect(),
            p99_ns: pieces
                .map(|piece| piece.iter().map(|slice| slice.p99_ns).max().unwrap_or(0))
                .collect(),
        };
        (course.responses.len() > 1).then_some(course)
    }
}

/// How busy the threads of one of the machines were over time, in equal pieces from the start of its clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BusyCourse {
    /// Length of a piece.
    pub piece_ns: u64,
    /// The most in each, from 0 to 1; what nothing was said of has that of the piece before.
    pub busy: Vec<f64>,
}

impl Default for BusyCourse {
    /// Of no time, in seconds.
    fn default() -> Self {
        Self { piece_ns: 1_000_000_000, busy: Vec::new() }
    }
}

impl BusyCourse {
    /// At most so many pieces are kept.
    pub const PIECES_MAX: usize = 64;

    /// It was so busy in the second that ended that long after the start.
    pub fn hear(&mut self, busy: f64, after_ns: u64) {
        // In the middle of that second.
        let at_ns = after_ns.saturating_sub(500_000_000);
        while at_ns / self.piece_ns >= Self::PIECES_MAX as u64 {
            let halves = self.busy.chunks(2);
            self.busy = halves.map(|two| two.iter().copied().fold(0.0, f64::max)).collect();
            self.piece_ns = self.piece_ns.saturating_mul(2);
        }
        let at = (at_ns / self.piece_ns) as usize;
        if self.busy.len() <= at {
            let last = self.busy.last().copied().unwrap_or(busy);
            self.busy.resize(at, last);
            self.busy.push(busy);
        } else {
            self.busy[at] = self.busy[at].max(busy);
        }
    }
}

/// What limited one of the machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerLimit {
    /// As reports of machines call it: `client`.
    pub key: String,
    /// In words, with the evidence.
    pub text: String,
}

/// What is known of a worker's machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerMachine {
    /// Its host's name.
    pub host: String,
    /// Version of the program.
    pub program: String,
    /// Its kernel's release.
    pub kernel: Option<String>,
    /// Model of its processors.
    pub cpu_model: Option<String>,
    /// CPUs that it may use.
    pub cpus_allowed: Option<u32>,
    /// Threads that it loaded with.
    pub threads: u32,
    /// Connections that it had.
    pub connections: u32,
    /// The backend: io_uring or epoll, and why not io_uring.
    pub backend: String,
    /// Its own address on the way to the target; `None` where there is no way, or no address in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Whether the target is on the same host.
    pub on_target_host: bool,
    /// What is to be said of it before a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What `ablaze doctor` finds there before the run that is not fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<MachineCheck>,
}

/// Something of a machine that can get in the way of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCheck {
    /// Its name: a heading in docs/doctor.md.
    pub name: String,
    /// How it stands.
    pub state: CheckState,
    /// What was found, with its numbers.
    pub figure: String,
    /// What that does to a measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// What to do, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// How something of a machine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It gets in the way.
    Problem,
    /// It can get in the way.
    Note,
}

impl FleetWorker {
    /// Responses per second over its window; `None` when that has no length.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.responses as f64 * 1e9 / self.elapsed_ns as f64)
    }

    /// Whether it was itself what limited it.
    pub fn is_at_its_limit(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.key == "client")
    }
}

impl Fleet {
    /// Those whose Runs are in that of all.
    pub fn counted(&self) -> impl Iterator<Item = &FleetWorker> {
        self.workers.iter().filter(|worker| worker.counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Slice;

    #[test]
    fn how_busy_it_was_is_kept_in_few_pieces_however_long_it_ran() {
        let mut course = BusyCourse::default();
        for after_s in 1..=100u64 {
            let busy = if after_s == 41 { 0.9 } else { 0.25 };
            course.hear(busy, after_s * 1_000_000_000);
        }
        assert_eq!((course.piece_ns, course.busy.len()), (2_000_000_000, 50));
        let full = course.busy.iter().enumerate().filter(|(_, busy)| **busy > 0.5);
        assert_eq!(full.map(|(at, _)| at).collect::<Vec<_>>(), [20]);
        let mut rare = BusyCourse::default();
        rare.hear(0.5, 1_000_000_000);
        rare.hear(0.1, 4_000_000_000);
        assert_eq!(rare.busy, [0.5, 0.5, 0.5, 0.1]);
    }

    #[test]
    fn a_course_has_every_whole_slice_once() {
        let mut slices = Slices::new();
        let slice = |at: u64| Slice { responses: at, p99_ns: 1000 - at, ..Slice::default() };
        slices.slices.extend((0..130).map(slice));
        // 127.5 slices were measured: of 127, three together, the last is not whole.
        let course = WorkerCourse::of(&slices, 12_750_000_000).unwrap();
        assert_eq!((course.piece_ns, course.responses.len()), (300_000_000, 42));
        assert_eq!(course.responses.iter().sum::<u64>(), (0..126).sum::<u64>());
        assert_eq!((course.responses[1], course.p99_ns[1]), (3 + 4 + 5, 997));
        assert_eq!(WorkerCourse::of(&slices, 150_000_000), None);
    }
}
