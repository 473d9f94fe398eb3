//! Pauses seen by a thread that did nothing but sleep.

use serde::{Deserialize, Serialize};

/// What the heartbeat saw over the whole interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Beats.
    pub beats: u64,
    /// Times it woke up 20 ms late or more.
    pub gaps: u64,
    /// All of them together, ns.
    pub gaps_ns: u64,
    /// Of that time, how long the thread could have run and other tasks had the processors, ns.
    pub gaps_waited_ns: Option<u64>,
    /// The longest of them, at most 64, in order of time.
    pub longest: Vec<Gap>,
}

/// One gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// When it began, on the monotonic clock.
    pub at_clock_ns: u64,
    /// How much too late the thread woke up.
    pub length_ns: u64,
    /// For how much of it the thread could have run and other tasks had the processors.
    pub waited_ns: Option<u64>,
}
