//! Whether requests that are each left without an answer hold all places when the run ends: nothing stands still then, and
//! whatever else was asked would be answered.

use ablaze_model::{FailureKind, Run};

use super::chance;

/// Whether requests had timed out one by one before, so often that all places are in such a one most of the time, or by chance;
/// the run ended with so many `slices` without a response.
pub(super) fn as_ever(run: &Run, slices: usize) -> bool {
    let timeouts = run.record.failures_of(FailureKind::Timeout);
    let Some(places) = chance::places_in_use(run).filter(|_| timeouts > 0) else { return false };
    // For so long a place is in use until it meets such a request, and for so many times that until the last of them has.
    let each_ns = run.record.answered.total.sum_ns() as f64 / timeouts as f64;
    each_ns * harmonic(places) <= run.plan.limits.timeout_ns as f64
        || chance::explains(run, &[(0, slices)])
}

/// Whether it may be: a request that was due meanwhile waited for a place.
pub(super) fn perhaps(run: &Run) -> bool {
    chance::places_in_use(run).is_some()
}

/// 1 + 1/2 + … + 1/n.
fn harmonic(places: f64) -> f64 {
    (1..=places as u64).map(|number| 1.0 / number as f64).sum()
}
