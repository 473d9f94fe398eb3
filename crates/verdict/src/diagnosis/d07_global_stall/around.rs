//! What surrounds an empty stretch of a run, and tells a stall from responses that are slow there one by one: behind a stall
//! work goes on as before it.

use ablaze_model::Run;

use crate::live::figures::asked_in_flight;

/// Between two empty stretches more comes back than what was in flight: so many times as much. Connections that wait for slow
/// responses in step finish once each.
const ROUNDS: u64 = 2;
/// Where responses still take this share of the stretch when it is long over, they had become slow.
const STILL_SLOW: f64 = 0.5;
/// A request that a stall held up took as long as that and this many slices of time: the stall may have been up to two longer
/// than it shows, and the request had begun before.
const SLICES_LONGER: u64 = 3;

/// Whether work came back before and behind an empty stretch `(begin, length)` of slices, and as fast as ever.
pub(super) fn goes_on(run: &Run, finished: &[u64], (begin, length): (usize, usize)) -> bool {
    let behind = &finished[begin + length..];
    let near: u64 = behind.iter().take_while(|number| **number > 0).sum();
    let before: u64 = finished[..begin].iter().rev().take_while(|number| **number > 0).sum();
    let in_step = asked_in_flight(run).is_some_and(|places| near.min(before) < ROUNDS * places);
    !in_step && !was_slow(run, (begin, length)) && !is_still_slow(run, (begin, length))
}

/// Whether responses that came right before it took about as long as it was: then none had to come in it.
fn was_slow(run: &Run, (begin, length): (usize, usize)) -> bool {
    let slices = &run.record.slices;
    let before = slices.slices.get(..begin).unwrap_or_default();
    let last = before.iter().rev().find(|slice| slice.responses > 0);
    let stretch_ns = length as u64 * slices.slice_ns;
    last.is_some_and(|slice| slice.p50_ns as f64 >= STILL_SLOW * stretch_ns as f64)
}

/// Whether responses that come long behind it take about as long as it was.
fn is_still_slow(run: &Run, (begin, length): (usize, usize)) -> bool {
    let slices = &run.record.slices;
    let behind = slices.slices.get(begin + length..).unwrap_or_default();
    // What waited comes back first.
    let later = behind.get(length.min(behind.len().saturating_sub(2))..).unwrap_or_default();
    let mut medians: Vec<u64> =
        later.iter().filter(|slice| slice.responses > 0).map(|slice| slice.p50_ns).collect();
    medians.sort_unstable();
    let stretch_ns = length as u64 * slices.slice_ns;
    medians
        .get(medians.len() / 2)
        .is_some_and(|median_ns| *median_ns as f64 >= STILL_SLOW * stretch_ns as f64)
}

/// Whether the requests that took so long took no longer than an empty stretch of so many slices explains: what takes twice as
/// long is slow for another reason.
pub(super) fn explains_the_late(run: &Run, slices: u64, least_ns: f64) -> bool {
    let slice_ns = run.record.slices.slice_ns;
    let recorded = run.record.answered.total.recorded();
    let late: Vec<(u64, u64)> =
        recorded.filter(|(took_ns, _)| *took_ns as f64 >= least_ns).collect();
    let all: u64 = late.iter().map(|(_, count)| count).sum();
    let mut so_far = 0;
    let median_ns = late.iter().find_map(|(took_ns, count)| {
        so_far += count;
        (so_far * 2 >= all).then_some(*took_ns)
    });
    median_ns.is_none_or(|median_ns| median_ns <= (slices + SLICES_LONGER) * slice_ns)
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::Load;
    use ablaze_model::plan::journey::PlannedJourney;
    use ablaze_model::plan::users::Users;
    use ablaze_model::record::Slice;

    use super::super::on_run;
    use super::*;
    use crate::live::sample;

    fn slice(responses: u64, p50_ms: u64) -> Slice {
        Slice { responses, p50_ns: p50_ms * 1_000_000, ..Slice::default() }
    }

    /// Four seconds of ten connections whose requests take 2 ms, and in slices 10 to 20 so many ms each, in step.
    fn in_step(took_ms: u64) -> Run {
        let mut run = sample::run();
        run.plan.load = Load::Closed { connections: 10, pipeline: 1 };
        run.elapsed_ns = 4_000_000_000;
        run.record.in_flight_ns = 40_000_000_000;
        run.record.slices.slices = (0..40)
            .map(|at: u64| match at {
                10..20 if (at * 100).is_multiple_of(took_ms) => slice(10, took_ms),
                10..20 => Slice::default(),
                _ => slice(5_000, 2),
            })
            .collect();
        let times = &mut run.record.answered.total;
        times.clear();
        times.record_many(2_000_000, 150_000);
        times.record_many(took_ms * 1_000_000, 10_000 / took_ms);
        run
    }

    #[test]
    fn requests_that_are_slow_in_step_are_no_stalls() {
        assert_eq!(on_run(&in_step(200)), None);
        assert_eq!(on_run(&in_step(500)), None);
    }

    /// Each response sleeps, at first for 200 ms, and for less and less: a server that warms up.
    #[test]
    fn responses_that_become_faster_one_by_one_are_no_stall() {
        let warming = |before_ms: u64| {
            let mut run = in_step(150);
            let slices = &mut run.record.slices.slices;
            slices.fill(slice(300, 3));
            slices[..2].fill(Slice::default());
            slices[2..5].fill(slice(10, before_ms));
            slices[5] = Slice::default();
            slices[6..10].fill(slice(20, 3));
            run
        };
        assert_eq!(on_run(&warming(130)), None);
        assert!(on_run(&warming(3)).is_some());
    }

    /// An open loop at 200/s whose requests take 800 ms each from some moment on.
    #[test]
    fn a_response_time_that_steps_up_is_no_stall() {
        let stepped = |later_ms: u64| {
            let mut run = sample::run();
            sample::open_loop(&mut run, 200.0);
            let slices = &mut run.record.slices.slices;
            slices.fill(slice(20, 5));
            slices[50..57].fill(Slice::default());
            slices[57..].fill(slice(20, later_ms));
            let times = &mut run.record.answered.total;
            times.clear();
            times.record_many(5_000_000, 1_000);
            times.record_many(800_000_000, 140);
            run
        };
        assert_eq!(on_run(&stepped(800)), None);
        assert!(on_run(&stepped(5)).is_some());
    }

    /// A server that stands still for 300 ms every two seconds, at 100/s and at 20/s.
    #[test]
    fn a_stall_is_found_at_a_low_rate_and_has_no_cause() {
        let with = |per_slice: u64, took_ms: u64, pause: bool| {
            let mut run = sample::run();
            sample::open_loop(&mut run, 100.0);
            let users = Users { pause, ..Users::default() };
            run.plan.journey = Some(PlannedJourney {
                name: "a".to_owned(),
                steps: Vec::new(),
                any_status: Vec::new(),
                users,
                route: None,
            });
            let slices = &mut run.record.slices.slices;
            slices.fill(slice(per_slice, 5));
            let times = &mut run.record.answered.total;
            times.clear();
            times.record_many(5_000_000, 90 * per_slice);
            for at in [20, 40, 60, 80] {
                slices[at..at + 2].fill(Slice::default());
                times.record_many(took_ms * 1_000_000, 2 * per_slice);
            }
            run.record.responses = 100 * per_slice;
            run.record.in_flight_ns = u128::from(per_slice) * 5 * 1_000_000_000;
            on_run(&run)
        };
        let found = with(10, 250, false).unwrap();
        assert!(found.evidence.contains("at least 200 ms starting at 2.00 s"), "{found:?}");
        assert!(found.cause.contains("this run does not show"), "{found:?}");
        assert!(!found.fix.contains("garbage collection"), "{found:?}");
        assert_eq!(with(10, 20, false), None, "nobody waited");
        assert_eq!(with(10, 250, true), None, "users think together");
        assert_eq!(with(2, 250, false), None, "that few may not have come by chance");
    }

    /// Each takes a second one by one, and all are at it for half a second.
    #[test]
    fn what_takes_twice_as_long_as_a_stretch_has_another_reason() {
        let late = |took_ms: u64| {
            let mut run = sample::run();
            run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
            run.record.slices.slices[30..35].fill(Slice::default());
            run.record.answered.total.record_many(took_ms * 1_000_000, 100);
            run
        };
        assert!(on_run(&late(560)).is_some());
        assert_eq!(on_run(&late(1_000)), None);
    }
}
