//! A full thread of the server that requests need not have waited for. At the start of a closed loop all places send at once:
//! where one thread serves them one after another, the first responses come long before the others, as few wait ahead of them.
//! Where even the fastest response of the run took as long as all others, the time was something else, such as a sleep, and the
//! thread may work beside it; or the thread shares its time evenly among all that it has begun. Which of them does not show.

use ablaze_model::Run;
use ablaze_model::plan::Load;

use super::{Limit, Limited, of_server};
use crate::live::figures::{self, Busy};
use crate::words::{counted, time};

/// So many places for each full thread: the first response then comes in a fourth of the time, or less.
const FEWEST_EACH: f64 = 4.0;
/// The fastest took at least, and the slowest at most, so many times the median: a first response that was slow for a reason of its
/// own would hold up all of the first.
const FASTEST: f64 = 0.8;
const SLOWEST: f64 = 1.5;
/// All places were in use.
const IN_USE: f64 = 0.9;

pub(super) fn found(run: &Run, server: &Busy) -> Option<Limited> {
    let Load::Closed { connections, .. } = run.plan.load else { return None };
    let record = &run.record;
    let places = f64::from(connections);
    let from_the_start = run.plan.limits.warmup_ns == 0 && run.plan.connections.ramp_ns == 0;
    // What comes in one read over one connection may be answered in one write.
    let one_each = run.plan.places_per_connection() == 1;
    if !from_the_start
        || !one_each
        || figures::users_pause(run)
        || record.failures_total() > 0
        || places < FEWEST_EACH * server.full.max(1) as f64
        || figures::in_flight(run)? < places * IN_USE
    {
        return None;
    }
    let times = &record.answered.processing;
    let (fastest, median, slowest) =
        (times.min_ns()? as f64, times.quantile_ns(0.5)? as f64, times.max_ns()? as f64);
    if fastest < median * FASTEST || slowest > median * SLOWEST {
        return None;
    }
    let evidence = format!(
        "{}, but all responses took about as long, {} to {}, also the first of {} that were sent at once: whether requests wait \
         for that thread does not show",
        of_server(server),
        time(fastest / 1e6),
        time(slowest / 1e6),
        counted(connections.into(), "request")
    );
    Some(Limited { by: Limit::Unknown, evidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::of;
    use crate::live::sample;

    /// A hundred places whose responses take 100 ms, and this long once.
    fn with(share: f64, once_ns: u64) -> Run {
        let mut run = sample::with_shares(share, 0.01);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        let times = &mut run.record.answered.processing;
        times.clear();
        times.record_many(100_000_000, 9_999);
        times.record(once_ns);
        run
    }

    #[test]
    fn a_thread_that_works_beside_requests_that_sleep_is_not_said_to_bound_them() {
        for share in [0.92, 0.97] {
            let limited = of(&with(share, 99_000_000));
            assert_eq!(limited.by, Limit::Unknown, "{limited}");
            let said = "also the first of 100 requests that were sent at once";
            assert!(limited.evidence.contains(said), "{limited}");
        }
    }

    #[test]
    fn where_the_first_responses_came_sooner_requests_waited_in_turn() {
        let by = |run: &Run| of(run).by;
        assert_eq!(by(&with(0.92, 1_000_000)), Limit::Server);
        // The first of all was slow for itself, and held up the others.
        assert_eq!(by(&with(0.92, 400_000_000)), Limit::Server);
        let mut warmed = with(0.92, 99_000_000);
        warmed.plan.limits.warmup_ns = 1_000_000_000;
        assert_eq!(by(&warmed), Limit::Server, "the first responses are in no figure");
    }
}
