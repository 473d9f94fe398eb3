//! A rate of journeys, held against what came of it: an arrival is a journey then, of several requests and pauses.

use ablaze_model::Run;
use ablaze_model::record::Journeys;
use ablaze_report::number::grouped;

/// A rate that is kept up with leaves the rate times the mean time under way at the end, one that is not twice that or more.
const KEPT_UP: f64 = 1.5;

/// Journeys that users took up, per second. Those whose turn never came are missing.
pub(super) fn begun_per_s(run: &Run) -> Option<f64> {
    let journeys = run.record.journeys.as_ref()?;
    (run.elapsed_ns > 0).then(|| journeys.begun as f64 / (run.elapsed_ns as f64 / 1e9))
}

/// Whether more are under way at the end than ever are at this rate, by more than `spare`.
pub(super) fn piled_up(journeys: &Journeys, asked_per_s: f64, spare: f64) -> Option<String> {
    let mean_ns = journeys.duration.mean_ns().unwrap_or(0.0);
    let under_way = asked_per_s * mean_ns / 1e9;
    let permitted = KEPT_UP * under_way + 3.0 * under_way.sqrt() + spare;
    (journeys.unfinished() as f64 > permitted).then(|| {
        let (unfinished, begun) = (grouped(journeys.unfinished()), grouped(journeys.begun));
        format!("{unfinished} of {begun} journeys were under way at the end: they pile up")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journeys_pile_up_where_more_are_under_way_than_the_rate_explains() {
        let mut journeys = Journeys::new(&[]);
        (journeys.begun, journeys.whole) = (10_000, 9_900);
        journeys.duration.record_many(100_000_000, 9_900);
        // 1,000/s of 100 ms each: 100 are under way.
        assert_eq!(piled_up(&journeys, 1_000.0, 2.0), None);
        journeys.whole = 9_700;
        assert!(piled_up(&journeys, 1_000.0, 2.0).unwrap().starts_with("300 of 10,000 journeys"));
        assert_eq!(piled_up(&journeys, 1_000.0, 200.0), None);
    }
}
