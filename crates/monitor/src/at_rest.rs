//! What a process did when the load was over.

use std::time::Duration;

use ablaze_model::monitor::AtRest;

/// Who runs, or is ready to, for so much of the time does not rest.
const AT_WORK: f64 = 0.5;

/// Of threads that ran, or were ready to, for so long each; `None` for no threads.
pub(crate) fn at_rest(
    settled: Duration,
    watched_ns: u64,
    busy_ns: impl Iterator<Item = u64>,
) -> Option<AtRest> {
    let shares: Vec<f64> = busy_ns.map(|ns| ns as f64 / watched_ns.max(1) as f64).collect();
    Some(AtRest {
        settled_ns: settled.as_nanos() as u64,
        watched_ns,
        busiest_share: shares.iter().copied().reduce(f64::max)?,
        cores: shares.iter().sum(),
        busy_threads: shares.iter().filter(|share| **share > AT_WORK).count() as u64,
    })
}

/// How many of its threads were busy, or one where they were together.
pub(crate) fn busy(at_rest: &AtRest) -> u64 {
    at_rest.busy_threads.max(u64::from(at_rest.cores > AT_WORK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_take_turns_do_not_rest() {
        let of = |busy_ns: &[u64]| {
            let settled = Duration::from_millis(15);
            busy(&at_rest(settled, 100, busy_ns.iter().copied()).unwrap())
        };
        assert_eq!(of(&[97, 0, 2]), 1);
        assert_eq!(of(&[97, 60]), 2);
        assert_eq!(of(&[30, 30, 30]), 1, "a task that goes from one to another");
        assert_eq!(of(&[10, 10]), 0);
        assert_eq!(at_rest(Duration::ZERO, 100, std::iter::empty()), None);
    }
}
