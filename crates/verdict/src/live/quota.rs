//! CPU quotas of control groups (docker's `--cpus`, systemd's `CPUQuota=`, a CPU limit of Kubernetes): whom one stopped in a
//! Run, and for how long. A group that has used up its quota stands still for the rest of the period, 100 ms by default,
//! while CPUs are idle and no thread looks busy (Linux, scheduler/sched-bwc).

use ablaze_model::Run;
use ablaze_model::monitor::Throttled;

use super::figures::{monitor, target};
use crate::words::{counted, grouped, time};

/// What is stopped for at least this part of a time explains it.
const MOST: f64 = 0.5;
/// In fewer periods chance decides what share of them it is.
const FEWEST_PERIODS: u64 = 5;

/// What its quota cost the group that the client is in, and whatever else is in it.
pub(crate) fn of_client(run: &Run) -> Option<Throttled> {
    monitor(run)?.kernel.throttled.filter(|throttled| throttled.periods > 0)
}

/// What its quota cost the server, in a group that the client is not in.
pub(crate) fn of_server(run: &Run) -> Option<Throttled> {
    target(run)?.throttled.filter(|throttled| throttled.periods > 0)
}

/// Whether it lasted for half of such a time or more.
pub(crate) fn explains(throttled: Option<Throttled>, ns: f64) -> bool {
    throttled.is_some_and(|throttled| throttled.time_ns as f64 >= MOST * ns)
}

/// Whether it was used up in half of the periods or more: then it, and no CPU, bounds what the group does.
pub(crate) fn bounds(throttled: Throttled) -> bool {
    let most = |of: u64| of >= FEWEST_PERIODS && throttled.periods as f64 >= MOST * of as f64;
    throttled.of_periods.is_some_and(most)
}

/// How often it was used up: `98 of 100 periods`.
pub(crate) fn how_often(throttled: Throttled) -> String {
    match throttled.of_periods.filter(|of| *of >= throttled.periods) {
        Some(of) => format!("{} of {}", grouped(throttled.periods), counted(of, "period")),
        None => counted(throttled.periods, "period"),
    }
}

/// The same with what that cost: `98 of 100 periods, which stopped its threads for 4.90 s, added up over all CPUs`. The kernel
/// counts for each CPU how long the group's threads stood still there: of a run of two seconds it may be three.
pub(crate) fn cost(throttled: Throttled) -> String {
    let total = time(throttled.time_ns as f64 / 1e6);
    format!(
        "{}, which stopped its threads for {total}, added up over all CPUs",
        how_often(throttled)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_bounds_what_it_stops_in_most_periods() {
        let throttled = |periods, of_periods| Throttled { periods, of_periods, time_ns: 5_000_000 };
        assert!(bounds(throttled(50, Some(100))));
        assert!(!bounds(throttled(49, Some(100))));
        assert!(!bounds(throttled(4, Some(4))));
        // A kernel that does not say how many there were.
        assert!(!bounds(throttled(50, None)));
        assert_eq!(how_often(throttled(50, Some(100))), "50 of 100 periods");
        assert_eq!(how_often(throttled(1, None)), "1 period");
        assert_eq!(
            cost(throttled(1, Some(1))),
            "1 of 1 period, which stopped its threads for 5.00 ms, added up over all CPUs"
        );
        assert!(explains(Some(throttled(1, None)), 10e6));
        assert!(!explains(Some(throttled(1, None)), 11e6) && !explains(None, 0.0));
    }
}
