//! What came of a fleet: of each worker its Run, or why there is none; and how far apart they started.

use ablaze_model::fleet::WorkerMachine;
use ablaze_model::progress::Interval;

use super::standing::Standing;
use crate::clock::Clock;

/// What came of a fleet.
#[derive(Debug)]
pub struct Outcome {
    /// The common start by the coordinator's clock, ns; `None` if it did not come to that.
    pub start_ns: Option<u64>,
    /// The person ended it.
    pub interrupted: bool,
    /// Of each worker, in the order of the assignments.
    pub workers: Vec<WorkerOutcome>,
}

/// What came of a worker.
#[derive(Debug)]
pub struct WorkerOutcome {
    /// Its name.
    pub name: String,
    /// Its machine; `None` if it was never ready.
    pub machine: Option<WorkerMachine>,
    /// Its clock beside the coordinator's, before the run.
    pub clock: Option<Clock>,
    /// The same after the run.
    pub clock_after: Option<Clock>,
    /// When the clock of its run started, by the coordinator's clock, ns.
    pub started_ns: Option<u64>,
    /// Everything that its rows said.
    pub rows: Interval,
    /// How it stood by what it said last.
    pub standing: Standing,
    /// Its Run, as a file.
    pub run: Option<String>,
    /// Why it was lost. A foreign string.
    pub lost: Option<String>,
}

/// How far apart the workers started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skew {
    /// From the first to the last, ns.
    pub ns: u64,
    /// How wrong that can be, ns.
    pub bound_ns: u64,
}

impl Outcome {
    /// How far apart the workers started that did; `None` where fewer than two did.
    pub fn skew(&self) -> Option<Skew> {
        let started = self.workers.iter().filter_map(|worker| {
            worker.started_ns.zip(worker.clock).map(|(at_ns, clock)| (at_ns, clock.bound_ns))
        });
        let (first, last) = (started.clone().min()?, started.clone().max()?);
        let bound_ns = first.1 + last.1;
        (started.count() > 1).then_some(Skew { ns: last.0 - first.0, bound_ns })
    }
}
