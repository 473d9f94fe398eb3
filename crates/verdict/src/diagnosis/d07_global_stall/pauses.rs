//! For how long this process stood still, as its thread that only sleeps saw it, and whether that was what all requests
//! waited for.

use ablaze_model::Run;
use ablaze_model::monitor::Gap;

use crate::live::figures::monitor;

/// Pauses of at least so much of the stalls can be their cause.
const OF_THE_STALL: f64 = 0.5;

/// In seconds.
pub(super) struct OwnPauses {
    /// All of them together.
    total_s: f64,
    /// The most in a time as long as the longest stall: a process that is left a moment of a processor now and then stands
    /// still several times in one stall, and short pauses all over a run made none.
    at_once_s: f64,
}

impl OwnPauses {
    /// Whether they can be what the longest stall was, and all of them all stalls.
    pub(super) fn cover(&self, longest_s: f64, lost_s: f64) -> bool {
        self.last_as_long_as(lost_s) && self.at_once_s >= longest_s * OF_THE_STALL
    }

    /// Whether there were enough of them; otherwise something else stood still while this process ran on.
    pub(super) fn last_as_long_as(&self, lost_s: f64) -> bool {
        self.total_s >= lost_s * OF_THE_STALL
    }
}

/// `None` where nobody looked.
pub(super) fn own(run: &Run, longest_stall_s: f64) -> Option<OwnPauses> {
    let heartbeat = monitor(run)?.heartbeat.as_ref().filter(|heartbeat| heartbeat.beats > 0)?;
    let stall_ns = (longest_stall_s * 1e9) as u64;
    let from = |first: &Gap| {
        let time_ns = first.at_clock_ns..first.at_clock_ns.saturating_add(stall_ns);
        let within = heartbeat.longest.iter().filter(|gap| time_ns.contains(&gap.at_clock_ns));
        within.map(|gap| gap.length_ns).sum::<u64>()
    };
    let at_once_ns = heartbeat.longest.iter().map(from).max().unwrap_or(0);
    Some(OwnPauses { total_s: heartbeat.gaps_ns as f64 / 1e9, at_once_s: at_once_ns as f64 / 1e9 })
}
