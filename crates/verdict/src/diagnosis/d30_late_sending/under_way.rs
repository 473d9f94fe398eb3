//! Requests that are due and have not left, seen while the run lasts: of those that are neither over nor have room to be in
//! flight it needs no clock of theirs.

use ablaze_model::plan::{Arrivals, Load};

use super::NEVER_SENT;
use crate::live::UnderWay;
use crate::words::{counted, grouped, percent};

/// By this many standard deviations more or fewer users than expected arrive at random, at most.
const AT_RANDOM: f64 = 4.0;

/// Where a number of requests ends the run, all of them are sent in the end; and of a worker that was lost (D44) nobody counts
/// what was due.
pub(super) fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let (asked, so_far) = (run.asked, run.so_far);
    let Load::Open { rate, arrivals, .. } = asked.load else { return None };
    let is_counted = !asked.walks && asked.requests.is_none() && run.lost.is_empty();
    if !is_counted || so_far.responses == 0 {
        return None;
    }
    let duration_ns = asked.duration_ns.unwrap_or(0);
    let due = rate.arrivals_until(duration_ns, run.rate_changes, so_far.to_ns);
    let doubt = match arrivals {
        Arrivals::Constant => 1.0,
        Arrivals::Poisson => AT_RANDOM * due.sqrt(),
    };
    let waiting = due - doubt - so_far.finished() as f64 - asked.places as f64;
    let share = waiting / due.max(1.0);
    (share > NEVER_SENT).then(|| {
        let of = counted(due as u64, "request");
        format!(
            "of {of} due so far, at least {} ({}) have not left",
            grouped(waiting as u64),
            percent(share)
        )
    })
}
