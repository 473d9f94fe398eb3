//! The Run: what came out. `Run = merge(what each worker recorded)` plus what is known of the
//! machine and of the client's own effort.

mod beside_load;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use beside_load::BesideLoad;

use crate::fleet::Fleet;
use crate::monitor::{Monitored, Processors};
use crate::profiling::Profiling;

use crate::plan::{Load, Plan};
use crate::rate_change::RateChange;
use crate::record::Record;
use crate::spec::{FrontEnd, LoadSpec};

/// What came out of a Plan.
#[derive(Debug, Clone)]
pub struct Run {
    /// What it did.
    pub plan: Plan,
    /// What was asked for, as [`LoadSpec::kept`] keeps it: without secrets; `None` where that is not known, as in
    /// files of older versions.
    pub asked: Option<Box<LoadSpec>>,
    /// The command line, for display only.
    pub command_line: Vec<String>,
    /// Wall-clock time of the clock's start, ns since 1970.
    pub started_unix_ns: u64,
    /// Length of the measured window: from the clock's start to the end of the last exchange, or
    /// to the end of the duration.
    pub elapsed_ns: u64,
    /// Time it took to open the connections before the clock started.
    pub setup_ns: u64,
    /// How it ended.
    pub ended: Ended,
    /// Everything recorded, all workers merged.
    pub record: Record,
    /// The effort of each worker.
    pub workers: Vec<WorkerEffort>,
    /// The I/O backend used.
    pub backend: Backend,
    /// The peer that connections were made to.
    pub connected_to: String,
    /// Facts about this machine.
    pub machine: Machine,
    /// What the operating system saw of it, if it was asked to monitor.
    pub monitor: Option<Monitored>,
    /// How its rate was changed while it went on, in order of time.
    pub rate_changes: Vec<RateChange>,
    /// The machines that carried it out together; `None` if it was one.
    pub fleet: Option<Box<Fleet>>,
    /// The runs that it was put together from by hand; `None` if it was one.
    pub shards: Option<Shards>,
    /// Where CPU time went, if that was asked for: from a run of its own.
    pub profiling: Option<Profiling>,
}

impl Run {
    /// The responses by status, without those to steps of a journey that permit any.
    pub fn statuses_judged(&self) -> BTreeMap<u16, u64> {
        let mut judged = self.record.statuses.clone();
        let Some(journey) = self.plan.journey.as_ref().filter(|own| !own.any_status.is_empty())
        else {
            return judged;
        };
        // One name has no group: it is all there is.
        if self.record.groups.is_empty() && self.plan.requests.groups.too_many == 0 {
            let all = journey.any_status.len() == journey.steps.len();
            return if all { BTreeMap::new() } else { judged };
        }
        let permitted = self.record.groups.iter().filter(|group| journey.permits_any(&group.name));
        for (status, responses) in permitted.flat_map(|group| &group.statuses) {
            if let Some(left) = judged.get_mut(status) {
                *left = left.saturating_sub(*responses);
            }
        }
        judged.retain(|_, responses| *responses > 0);
        judged
    }

    /// Whose options it was described with, as far as is known.
    pub fn front_end(&self) -> FrontEnd {
        self.asked.as_ref().map_or(FrontEnd::Load, |asked| asked.front_end)
    }

    /// Arrivals per second that an open loop was asked for over the measured window, on average; `None` in closed loop.
    pub fn requested_per_s(&self) -> Option<f64> {
        let Load::Open { rate, .. } = self.plan.load else { return None };
        let duration_ns = self.plan.limits.duration_ns.unwrap_or(0);
        Some(rate.mean_per_s(duration_ns, &self.rate_changes, self.elapsed_ns))
    }

    /// Whether no request was due for a part of this time because somebody had paused the rate; ns since the clock started.
    pub fn was_paused_between(&self, from_ns: u64, to_ns: u64) -> bool {
        self.pauses().any(|(began_ns, end_ns)| began_ns < to_ns && from_ns < end_ns)
    }

    /// For how long of this time somebody had paused the rate; ns, as above.
    pub fn paused_ns_between(&self, from_ns: u64, to_ns: u64) -> u64 {
        let within = |(began_ns, end_ns): (u64, u64)| {
            end_ns.min(to_ns).saturating_sub(began_ns.max(from_ns))
        };
        self.pauses().map(within).sum()
    }

    /// When each pause of the rate began and ended.
    fn pauses(&self) -> impl Iterator<Item = (u64, u64)> {
        let ends = self.rate_changes.iter().skip(1).map(|next| next.at_ns).chain([u64::MAX]);
        let changes = self.rate_changes.iter().zip(ends);
        changes
            .filter(|(change, _)| change.times_asked == 0.0)
            .map(|(change, end_ns)| (change.at_ns, end_ns))
    }

    /// Responses per second over the measured window; `None` when the window has no length.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.record.responses as f64 * 1e9 / self.elapsed_ns as f64)
    }

    /// How busy each worker was, from 0 to 1: its CPU time without active waiting, as a share of the measured time, with
    /// the interrupts of its packets. What reports call the client's busy time, and what decides whether it was the limit.
    pub fn workers_busy(&self) -> Vec<f64> {
        let times = self.monitor.as_ref().and_then(|monitor| monitor.kernel.processors);
        let workers = self.workers.iter().filter(|worker| worker.window_ns > 0);
        // Both clocks are read at times of their own: what exceeds the window is theirs.
        let shares = workers.map(|worker| worker.busy_ns as f64 / worker.window_ns as f64);
        shares.map(|share| with_interrupts(share.min(1.0), times)).collect()
    }
}

/// A thread's share of a core with the interrupts that its own packets caused. Kernels that account for
/// interrupts apart (CONFIG_IRQ_TIME_ACCOUNTING) leave them out of a thread's CPU time: over loopback a
/// thread that never rests then shows 80 %. Of a busy processor's time they take the same share
/// wherever they strike. With other kernels the share is whole as it is.
pub fn with_interrupts(share: f64, times: Option<Processors>) -> f64 {
    let rest = times.map_or(1.0, |times| times.of_threads());
    if share < 1.0 { (share / rest).min(1.0) } else { share }
}

/// Runs of several clients at the same time, put together as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shards {
    /// How many.
    pub count: u64,
    /// For how much of the window all of them ran, by the clocks of their machines.
    pub together_ns: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By its own limits.
    Complete,
    /// By Ctrl-C.
    Interrupted,
    /// No connection could be made at all.
    Unreachable,
    /// By a fault of this program in a worker ([`Record::faults`]): the others were stopped then.
    Failed,
}

/// The effort of one worker, over the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkerEffort {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Time spent watching actively for events; part of the CPU time, but no work.
    pub spun_ns: u64,
    /// Time not spent waiting or watching.
    pub busy_ns: u64,
    /// Length of the window this is out of.
    pub window_ns: u64,
    /// System calls of the loop.
    pub system_calls: u64,
    /// Times the loop waited.
    pub turns: u64,
    /// Events handled.
    pub events: u64,
    /// Times the kernel took the CPU away.
    pub involuntary_switches: u64,
}

/// The I/O backend used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// `io_uring` or `epoll`.
    pub name: &'static str,
    /// Why it is not the one preferred, if so.
    pub fallback_reason: Option<String>,
}

/// Facts about this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// CPUs this process may use.
    pub cpus_allowed: Option<u32>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
}
