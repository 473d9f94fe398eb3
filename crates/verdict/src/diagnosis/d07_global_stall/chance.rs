//! Whether requests that are slow one by one, each for a reason of its own, would all be slow at the same moment as
//! often as nothing finished: with few in flight, where slow ones take much of the time, they are.

use ablaze_model::Run;
use ablaze_model::plan::Load;

use crate::live::figures::in_flight;

/// As many stalls as there were come about by chance no more often than this: then they are stalls.
const SELDOM: f64 = 0.001;
/// As many stretches without a response as there were come about by chance no more often than this.
const HARDLY_EVER: f64 = 1e-6;
/// In an open loop a request that is due waits for a place only where so many of them were in use: while places are free, the
/// next one is sent, and would come back.
const IN_USE: f64 = 0.9;
/// So many stalls are more than one long one and what came of it.
const AGAIN: usize = 3;
const MOST_OF_THE_TIME: f64 = 0.5;
/// A place meets a slow request within this share of the time that one takes.
const SOON: f64 = 0.05;

/// Whether independent slow requests explain how often and for how long nothing finished; stalls are `(begin, length)` in
/// slices.
pub(super) fn explains(run: &Run, stalls: &[(usize, usize)]) -> bool {
    if run.plan.load.connections() == 1 && run.plan.places_per_connection() == 1 {
        // One slow request out of one is all of them.
        return true;
    }
    let Some(places) = places_in_use(run) else { return false };
    stalls.iter().all(|(_, length)| {
        let as_long = stalls.iter().filter(|(_, other)| other >= length).count();
        at_least(as_long, expected(run, *length as u64, places)) > SELDOM
    })
}

/// Whether so few finish in a slice as a rule that stretches as long as the stalls may be without any by chance.
pub(super) fn leaves_empty(finished: &[u64], stalls: &[(usize, usize)]) -> bool {
    let slices = finished.len() as f64;
    let mean = finished.iter().sum::<u64>() as f64 / slices.max(1.0);
    !stalls.iter().any(|(_, length)| {
        let as_long = stalls.iter().filter(|(_, other)| other >= length).count();
        at_least(as_long, slices * (-mean * *length as f64).exp()) <= HARDLY_EVER
    })
}

/// Whether most of the time of all places went into requests as slow as the stalls are long, again and again. Places that began
/// together and are slow for equal times stay together: that they are slow at the same time need not have a common reason then.
pub(super) fn are_all_slow(run: &Run, stalls: &[(usize, usize)]) -> bool {
    let Some(shortest) = stalls.iter().map(|(_, length)| *length as u64).min() else {
        return false;
    };
    if places_in_use(run).is_none() {
        // What was due meanwhile was sent on others, and did not come back either.
        return false;
    }
    let stall_ns = shortest * run.record.slices.slice_ns;
    let slow = || times(run).filter(|(took_ns, _)| *took_ns >= stall_ns);
    let slow_ns: f64 = slow().map(|(took_ns, count)| took_ns as f64 * count as f64).sum();
    let again =
        stalls.len() >= AGAIN || are_met_soon(run, slow().map(|(_, count)| count).sum(), stall_ns);
    again && slow_ns >= MOST_OF_THE_TIME * run.record.in_flight_ns as f64
}

/// Whether so many slow requests among all others are so frequent that a place meets the next one long before another is over:
/// soon after places began together, all are in one.
fn are_met_soon(run: &Run, slow: u64, stall_ns: u64) -> bool {
    let fast = run.record.finished().saturating_sub(slow) as f64;
    let Some(median_ns) = run.record.answered.total.quantile_ns(0.5) else { return false };
    slow > 0 && fast / slow as f64 * median_ns as f64 <= stall_ns as f64 * SOON
}

/// The times of all requests that held a place, with how many took each: a request that times out is a slow one.
fn times(run: &Run) -> impl Iterator<Item = (u64, u64)> {
    run.record.answered.total.recorded().chain(run.record.failed.total.recorded())
}

/// How many requests have to be slow at once for nothing to finish; `None` where others would have been sent meanwhile.
pub(super) fn places_in_use(run: &Run) -> Option<f64> {
    let used = in_flight(run)?;
    let free = match run.plan.load {
        Load::Closed { .. } => false,
        Load::Open { connections, .. } => {
            used < f64::from(connections) * f64::from(run.plan.places_per_connection()) * IN_USE
        }
    };
    (!free).then_some(used.round().max(1.0))
}

/// How often nothing finishes for so many slices if requests are slow independently of each other: a place is in a request that
/// neither began nor ends within that time for a share of the run, and all places at once for its power.
fn expected(run: &Run, slices: u64, places: f64) -> f64 {
    let length_ns = slices * run.record.slices.slice_ns;
    let beyond =
        |(took_ns, count): (u64, u64)| took_ns.saturating_sub(length_ns) as f64 * count as f64;
    let share = times(run).map(beyond).sum::<f64>() / (run.record.in_flight_ns as f64).max(1.0);
    run.elapsed_ns as f64 / length_ns as f64 * share.min(1.0).powf(places)
}

/// The chance of so many events or more where so many are expected (Poisson).
fn at_least(events: usize, expected: f64) -> f64 {
    let (mut term, mut fewer) = ((-expected).exp(), 0.0);
    for number in 1..=events {
        fewer += term;
        term *= expected / number as f64;
    }
    1.0 - fewer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    /// Ten seconds with so many places, of whose requests `slow` took 250 ms and the others 1 ms.
    fn with_slow(places: u32, slow: u64) -> Run {
        let mut run = sample::run();
        run.plan.load = Load::Closed { connections: places, pipeline: 1 };
        run.record.in_flight_ns = u128::from(places) * 10_000_000_000;
        let times = &mut run.record.answered.total;
        times.clear();
        times.record_many(250_000_000, slow);
        times.record_many(1_000_000, u64::from(places) * 10_000 - slow * 250);
        run
    }

    #[test]
    fn few_places_are_slow_together_by_chance() {
        // Four places, three quarters of whose time is spent in slow requests.
        assert!(explains(&with_slow(4, 120), &[(3, 1)]));
        assert!(
            explains(&with_slow(1, 1), &[(3, 1)]),
            "one slow request out of one is all of them"
        );
        // A hundred places never are.
        assert!(!explains(&with_slow(100, 3_000), &[(3, 1)]));
    }

    /// Ten places, each of which meets a request of 1.5 s after ten others, or after two thousand.
    #[test]
    fn places_that_began_together_are_in_slow_requests_together() {
        let with_fast = |fast: u64| {
            let mut run = with_slow(10, 0);
            run.record.answered.total.clear();
            run.record.answered.total.record_many(1_500_000_000, 10);
            run.record.answered.total.record_many(200_000, fast);
            run.record.responses = 10 + fast;
            run.record.in_flight_ns = 15_000_000_000 + u128::from(fast) * 200_000;
            run
        };
        assert!(are_all_slow(&with_fast(100), &[(1, 14)]));
        assert!(!are_all_slow(&with_fast(20_000), &[(1, 14)]));
    }

    #[test]
    fn one_stall_of_all_places_is_no_chance() {
        assert!(!explains(&with_slow(4, 4), &[(3, 1)]));
        // Two places: once may be chance, five times not.
        assert!(explains(&with_slow(2, 10), &[(3, 1)]));
        let stalls = [(3, 1), (13, 1), (23, 1), (33, 1), (43, 1)];
        assert!(!explains(&with_slow(2, 10), &stalls));
    }

    /// A server that sleeps 200 ms in every hundredth request, with ten connections: all sleep nearly all the time.
    #[test]
    fn places_that_are_nearly_always_slow_are_so_together() {
        let all_slow = |slow, stalls: usize| {
            let stalls: Vec<_> = (0..stalls).map(|number| (2 * number + 1, 1)).collect();
            are_all_slow(&with_slow(10, slow), &stalls)
        };
        // 390 × 250 ms of 10 × 10 s; 190 are less than half.
        assert!(all_slow(390, 14));
        assert!(!all_slow(190, 14));
        // A server that stood still for most of the run, once.
        assert!(!all_slow(390, 2));
        assert!(!all_slow(390, 0));
    }

    #[test]
    fn requests_that_were_sent_in_a_stall_are_not_slow_for_reasons_of_their_own() {
        let mut run = with_slow(10, 390);
        let stalls: Vec<_> = (0..5).map(|number| (10 * number, 2)).collect();
        assert!(are_all_slow(&run, &stalls[..]));
        sample::open_loop(&mut run, 500.0);
        assert!(!are_all_slow(&run, &stalls), "10 of 100 connections are in use");
    }

    #[test]
    fn where_places_are_free_the_next_request_would_come_back() {
        let mut run = with_slow(4, 120);
        sample::open_loop(&mut run, 500.0);
        assert!(!explains(&run, &[(3, 1)]), "4 of 100 connections are in use");
        if let Load::Open { connections, .. } = &mut run.plan.load {
            *connections = 4;
        }
        assert!(explains(&run, &[(3, 1)]));
    }

    /// Eight seconds.
    #[test]
    fn stretches_without_any_of_few_are_chance_unless_long_or_many() {
        let finished = |per_slice: u64, stalls: &[(usize, usize)]| {
            let mut finished = vec![per_slice; 80];
            for (at, length) in stalls {
                finished[*at..][..*length].fill(0);
            }
            leaves_empty(&finished, stalls)
        };
        // 80 × e⁻²⁰ and 80 × e⁻¹⁰.
        assert!(!finished(10, &[(30, 2)]));
        assert!(finished(10, &[(30, 1)]));
        assert!(!finished(10, &[(10, 1), (30, 1), (50, 1)]));
        // 80 × e⁻², of which there are eleven.
        let ten: Vec<_> = (0..10).map(|at| (at * 7, 2)).collect();
        assert!(finished(1, &ten));
    }

    #[test]
    fn the_tail_of_poisson_s_distribution() {
        // 1 − e⁻¹ and 1 − 2/e.
        assert!((at_least(1, 1.0) - 0.632_12).abs() < 1e-5);
        assert!((at_least(2, 1.0) - 0.264_24).abs() < 1e-5);
        assert_eq!(at_least(1, 0.0), 0.0);
    }
}
