//! Whether an open loop's server falls behind: as the run goes on, less comes back than is due, and what is in flight grows.

use ablaze_model::Run;
use ablaze_model::plan::{Arrivals, Load};
use ablaze_model::record::Slice;

use super::figures::elapsed_s;

/// A third of the run has so many slices of time at least.
const FEWEST_SLICES: usize = 2;
/// Less than this share of what was due came back in the last third, and in its second half, while responses took longer.
const LESS: f64 = 0.98;
/// And where responses took no longer.
const MUCH_LESS: f64 = 0.8;
/// So many times as long as in the first third.
const LONGER: f64 = 2.0;
/// Fewer missing responses may be chance.
const FEWEST_MISSED: f64 = 20.0;
/// Arrivals at random vary by so many times the square root of what is due, seldom by more.
const DEVIATIONS: f64 = 3.0;

/// A server that fell behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Behind {
    /// Requests that were due per second in the last third of the run.
    pub due_per_s: f64,
    /// Requests that came to an end per second in it.
    pub came_per_s: f64,
    /// The median of a usual slice of the first and of the last third, ns.
    pub medians_ns: [u64; 2],
    /// Whether responses took longer meanwhile: where some are answered at once and others not, they need not.
    pub is_slower: bool,
    /// More are missing than chance explains.
    pub is_shown: bool,
}

/// `None` where as much came back as was due, or it cannot be told: in closed loop, by journeys, at a rate that changes, where
/// the last request was sent before the end, or where the first response came late, as where each takes most of the run.
pub(crate) fn behind(run: &Run) -> Option<Behind> {
    let record = &run.record;
    let all_sent = record.drain_ns.is_some_and(|drain_ns| drain_ns > 0);
    let Load::Open { rate, arrivals, .. } = run.plan.load else { return None };
    let varies = !rate.is_constant() || !run.rate_changes.is_empty();
    if varies || run.plan.journey.is_some() || all_sent {
        return None;
    }
    let slice_ns = record.slices.slice_ns;
    let whole = run.elapsed_ns.checked_div(slice_ns)? as usize;
    let slices = record.slices.slices.get(..whole)?;
    let third = whole / 3;
    let (first, last) = (&slices[..third], &slices[whole - third..]);
    let began = slices.iter().position(|slice| slice.responses > 0)?;
    if third < FEWEST_SLICES || began > (whole - third) / 2 {
        return None;
    }
    let length_s = third as f64 * slice_ns as f64 / 1e9;
    let due_per_s = (record.finished() + record.unfinished) as f64 / elapsed_s(run);
    let due = due_per_s * length_s;
    let came: u64 = last.iter().map(|slice| slice.responses + slice.failures).sum();
    let missed = due - came as f64;
    let by_chance = match arrivals {
        Arrivals::Poisson => DEVIATIONS * due.sqrt(),
        Arrivals::Constant => 0.0,
    };
    let medians_ns = [median_ns(first)?, median_ns(last)?];
    let slower = medians_ns[1] as f64 >= LONGER * medians_ns[0] as f64;
    // A response time that steps up leaves a gap, and then as much comes back as before.
    let half = &last[third - third / 2..];
    let in_half: u64 = half.iter().map(|slice| slice.responses + slice.failures).sum();
    let goes_on = (in_half as f64) < LESS * due * half.len() as f64 / third as f64;
    let is_less = goes_on && (came as f64) < LESS * due;
    let is_less = is_less && (slower || is_much_less(&slices[third..], due / third as f64));
    (is_less && missed > 0.0).then_some(Behind {
        due_per_s,
        came_per_s: came as f64 / length_s,
        medians_ns,
        is_slower: slower,
        is_shown: missed >= FEWEST_MISSED.max(by_chance),
    })
}

/// Whether much less came in each half of these slices, and something in each slice: no silence, and no step.
fn is_much_less(slices: &[Slice], due_per_slice: f64) -> bool {
    let halves = slices.split_at(slices.len() / 2);
    [halves.0, halves.1].iter().all(|half| {
        let came: u64 = half.iter().map(|slice| slice.responses + slice.failures).sum();
        (came as f64) < MUCH_LESS * due_per_slice * half.len() as f64
    }) && slices.iter().all(|slice| slice.responses > 0)
}

/// The middle one of the medians of slices that have responses.
fn median_ns(slices: &[Slice]) -> Option<u64> {
    let with = slices.iter().filter(|slice| slice.responses > 0);
    let mut medians: Vec<u64> = with.map(|slice| slice.p50_ns).collect();
    medians.sort_unstable();
    medians.get(medians.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    /// Ten seconds at 2,000/s, of which so many came in each slice of 100 ms, with these times.
    fn with(came: impl Fn(usize) -> u64, p50_ns: impl Fn(usize) -> u64) -> Run {
        let mut run = sample::run();
        sample::open_loop(&mut run, 2_000.0);
        for (at, slice) in run.record.slices.slices.iter_mut().enumerate() {
            (slice.responses, slice.p50_ns) = (came(at), p50_ns(at));
        }
        run.record.responses = run.record.slices.slices.iter().map(|slice| slice.responses).sum();
        run.record.unfinished = 20_000 - run.record.responses;
        run
    }

    #[test]
    fn a_queue_that_grows_is_seen_by_what_comes_late_in_the_run() {
        // 330/s, in a queue that grows by what is missing.
        let found = behind(&with(|_| 33, |at| 16_700_000 * (at as u64 + 1))).unwrap();
        assert_eq!((found.due_per_s.round(), found.came_per_s.round()), (2_000.0, 330.0));
        assert!(found.is_shown);
        // 4 % less, with a queue of 4 ms for each slice.
        let found = behind(&with(|_| 192, |at| 4_000_000 * (at as u64 + 1))).unwrap();
        assert!(found.is_shown);
        // As much less for another reason.
        assert_eq!(behind(&with(|_| 192, |_| 2_000_000)), None);
        // Half as much, and what is answered is answered at once.
        let found = behind(&with(|_| 100, |_| 2_000_000)).unwrap();
        assert!(found.is_shown && !found.is_slower);
    }

    #[test]
    fn slow_responses_are_no_queue() {
        // Each takes three seconds, and then all that was due comes.
        let slow = with(|at| if at < 30 { 0 } else { 200 }, |_| 3_000_000_000);
        assert_eq!(behind(&slow), None);
        // Each takes eight.
        assert_eq!(behind(&with(|at| if at < 80 { 0 } else { 200 }, |_| 8_000_000_000)), None);
        // A closed loop has no other rate.
        assert_eq!(behind(&sample::run()), None);
        // Each takes 600 ms from a moment in the last third on, and then all that was due comes.
        let came = |at: usize| if (70..76).contains(&at) { 0 } else { 200 };
        assert_eq!(behind(&with(came, |at| if at < 70 { 5_000_000 } else { 600_000_000 })), None);
        // The same at the very end, where nothing had come back yet.
        let came = |at: usize| if at < 80 { 200 } else { 0 };
        assert_eq!(behind(&with(came, |_| 5_000_000)), None);
        // Nothing was left to send.
        let mut run = with(|at| if at < 50 { 200 } else { 33 }, |at| 16_700_000 * (at as u64 + 1));
        assert!(behind(&run).is_some());
        run.record.drain_ns = Some(5_000_000_000);
        assert_eq!(behind(&run), None);
    }
}
