//! A run whose beginning ran at another rate than the rest.

use ablaze_model::Run;
use ablaze_stats::change_point;

use crate::diagnosis::d02_no_response;
use crate::live::figures::users_pause;
use crate::live::options::{Opt, spelled};
use crate::words::{amount, percent, time};

/// A beginning that ran at another rate than the rest.
pub(super) struct Beginning {
    length_s: f64,
    before_per_s: f64,
    after_per_s: f64,
    /// The rate of the whole run against that of the rest.
    moved: f64,
}

/// Looked for where the rate is the server's to decide: a closed loop, and without what the run
/// itself does at its beginning.
pub(super) fn warm_up(run: &Run) -> Option<Beginning> {
    let slices = &run.record.slices;
    let decides = run.plan.load.is_open() || users_pause(run);
    if decides || run.plan.connections.ramp_ns > 0 || slices.slice_ns == 0 {
        return None;
    }
    // The last slice may be cut short. Once all requests of a run of so many have been sent, the rate is what the last take.
    let full_ns = run.elapsed_ns.saturating_sub(run.record.drain_ns.unwrap_or(0));
    let whole = (full_ns / slices.slice_ns) as usize;
    let counts: Vec<u64> = slices.slices.iter().take(whole).map(|slice| slice.responses).collect();
    let shift = change_point::warm_up(&counts)?;
    let per_s = |per_slice: f64| per_slice * 1e9 / slices.slice_ns as f64;
    let (before, after) = counts.split_at_checked(shift.index)?;
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let mean = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    if mean(after) <= 0.0 || shift.after <= 0.0 || d02_no_response::gone(run).is_some() {
        // What comes before silence is no beginning of anything.
        return None;
    }
    // The medians of both parts differ; where the rates do not so, single slices made one of them.
    if (mean(before) < mean(after)) != (shift.before < shift.after) {
        return None;
    }
    Some(Beginning {
        length_s: shift.index as f64 * slices.slice_ns as f64 / 1e9,
        before_per_s: per_s(mean(before)),
        after_per_s: per_s(mean(after)),
        moved: mean(&counts) / mean(after) - 1.0,
    })
}

/// From this share on the rate of the whole run says nothing of the rest.
const MOVED: f64 = 0.33;

impl Beginning {
    /// Whether the rate of the run is another one because of it.
    pub(super) fn decides(&self) -> bool {
        self.moved.abs() >= MOVED
    }

    pub(super) fn evidence(&self) -> String {
        let moved = if self.moved.abs() < 0.001 {
            String::new()
        } else {
            let way = if self.moved < 0.0 { "lower" } else { "higher" };
            format!("; this makes the overall rate {} {way}", percent(self.moved.abs()))
        };
        format!(
            "The first {} ran at {}/s, the rest at {}/s{moved}. Nothing was excluded.",
            time(self.length_s * 1e3),
            amount(self.before_per_s),
            amount(self.after_per_s)
        )
    }

    pub(super) fn cause(&self, run: &Run) -> &'static str {
        if are_unlike(run) {
            return "Requests or responses were not all alike (several requests, several statuses, or failures): where their mix changes \
                    with the time, the rate does too. Or something had to warm up, or something else ran on the machine for a \
                    part of the run.";
        }
        let held = run.record.left_open + run.record.closed_early > 0;
        if self.after_per_s > self.before_per_s && held {
            "Something had to warm up (caches, a JIT compiler in the server, CPU clock rates), something else ran on the machine \
             at the beginning, or the connections that the server left open kept workers of it busy until they were closed."
        } else if self.after_per_s > self.before_per_s {
            "Something had to warm up: caches, a JIT compiler in the server, CPU clock rates; or \
             something else ran on the machine at the beginning."
        } else {
            "The server became slower after a while, or something was used up: space in a queue, burst CPU credit, thermal \
             headroom; or something else started to run on the machine."
        }
    }

    pub(super) fn fix(&self, run: &Run) -> String {
        if are_unlike(run) {
            return "Find out first whether what was sent or came back changed then, and measure again.".to_owned();
        }
        let seconds = (self.length_s * 1.5).ceil().max(1.0);
        format!(
            "If it happens every time, exclude it with {} {seconds:.0}s; if not, measure again on a \
             quiet machine.",
            spelled(run, Opt::Warmup)
        )
    }
}

/// Whether responses had several statuses, requests failed, or several were sent.
fn are_unlike(run: &Run) -> bool {
    let record = &run.record;
    let asked = run.asked.as_ref().map(|asked| &asked.requests);
    let several = asked.is_some_and(|asked| asked.urls.is_some() || asked.data.is_some());
    several || record.groups.len() > 1 || record.statuses.len() > 1 || record.failures_total() > 0
}

/// Whether its beginning ran at another rate than the rest.
pub(in crate::diagnosis) fn has_beginning(run: &Run) -> bool {
    warm_up(run).is_some()
}
