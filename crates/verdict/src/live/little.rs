//! Little's law as a check of the figures: in any system the mean number in flight is the rate
//! times the mean time (J. D. C. Little, Operations Research 9, 1961). Over a finite window that
//! holds up to the requests still open at its end.

use ablaze_model::Run;
use ablaze_model::finding::LittleGap;

use super::figures::{asked_in_flight, in_flight};

/// A smaller difference is not worth a word.
const TOLERANCE: f64 = 0.05;

/// Whether they contradict each other; `None` when they agree, or there is nothing to compare.
pub(crate) fn gap(run: &Run) -> Option<LittleGap> {
    let record = &run.record;
    if run.elapsed_ns == 0 || record.finished() == 0 || record.in_flight_ns == 0 {
        return None;
    }
    let recorded_ns = (record.answered.total.sum_ns() + record.failed.total.sum_ns()) as f64;
    let open_ns = record.unfinished as f64 * record.unfinished_oldest_ns as f64;
    let in_flight_ns = record.in_flight_ns as f64;
    let least = recorded_ns * (1.0 - TOLERANCE);
    let most = (recorded_ns + open_ns) * (1.0 + TOLERANCE);
    let elapsed = run.elapsed_ns as f64;
    (in_flight_ns < least || in_flight_ns > most)
        .then_some(LittleGap { measured: in_flight_ns / elapsed, expected: recorded_ns / elapsed })
}

/// More in flight than there are places for, in a closed loop: then the times are too long, or the
/// window too short. How many, and for how many there are places.
pub(crate) fn more_than_fit(run: &Run) -> Option<(f64, u64)> {
    let (asked, reached) = (asked_in_flight(run)?, in_flight(run)?);
    // The last request of each place may end behind the window, all of them if the client was held
    // up there, and their times have that in them.
    let longest_ns = [&run.record.answered, &run.record.failed]
        .into_iter()
        .filter_map(|phases| phases.total.max_ns())
        .max()?;
    let beyond = longest_ns as f64 / run.elapsed_ns as f64;
    (reached > asked as f64 * (1.0 + TOLERANCE + beyond)).then_some((reached, asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn figures_that_agree_are_not_mentioned_and_others_are() {
        let mut run = sample::run();
        assert_eq!((gap(&run), more_than_fit(&run)), (None, None));
        let times_ns = run.record.answered.total.sum_ns();
        run.record.in_flight_ns = times_ns * 2;
        let found = gap(&run).unwrap();
        assert!((found.measured / found.expected - 2.0).abs() < 1e-9);
        // Requests open at the end explain as much as they are old.
        run.record.unfinished = 100;
        run.record.unfinished_oldest_ns = times_ns as u64 / 100;
        assert_eq!(gap(&run), None);
        // Times that are missing, or were halved.
        run.record.in_flight_ns = times_ns * 9 / 10;
        assert!(gap(&run).is_some());
    }

    #[test]
    fn no_more_can_be_in_flight_than_there_are_places() {
        let mut run = sample::run();
        run.record.in_flight_ns = 106 * u128::from(run.elapsed_ns);
        assert_eq!(more_than_fit(&run), Some((106.0, 100)));
        // The client was held up for a second as the window ended.
        run.record.answered.total.record_many(1_000_000_000, 100);
        run.record.in_flight_ns = 110 * u128::from(run.elapsed_ns);
        assert_eq!(more_than_fit(&run), None);
        sample::open_loop(&mut run, 2_000.0);
        assert_eq!(more_than_fit(&run), None);
    }
}
