//! Carries a Plan out: starts the workers, lets them be watched and stopped, merges what they
//! recorded into a Run.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::plan::{Plan, PlanError};
use crate::run::Run;

/// The handle on a run that is under way, for the thread that watches it: stop it, or ask how
/// far it is. Made before the run, shared by reference or `Arc`.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// Whether the clock has started (connections stand, warm-up is over).
    pub measuring: bool,
    /// Time since the clock started.
    pub elapsed_ns: u64,
    /// Answers so far.
    pub answers: u64,
    /// Failures so far.
    pub failures: u64,
    /// Answers per second over the last slices.
    pub recent_rate_per_s: f64,
    /// 99th percentile over the last slice, ns; 0 when unknown.
    pub recent_p99_ns: u64,
}

impl Control {
    /// A handle for a run to come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to end now. What was measured is kept. May be called from any thread, at any
    /// time, more than once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Why a run could not take place.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The Plan cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The machine refused something the run cannot do without.
    #[error("{what}: {source}")]
    System {
        /// What was tried, and what to do.
        what: String,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

/// Carries the Plan out and returns when it is done, stopped or hopeless.
///
/// # Errors
/// When the run could not take place. Failures of single exchanges are part of the Run.
pub fn run(plan: Plan, control: &Control) -> Result<Run, LaunchError> {
    let _ = (plan, control);
    todo!("under way")
}
