//! Exponential histograms: buckets that grow by a constant factor of 2^(2^-schema), numbered from 1 s, as Prometheus' native
//! histograms and OpenTelemetry's exponential ones have them.

use std::collections::BTreeMap;

use ablaze_stats::touched::Touched;

use super::middle_s;

/// 16 buckets for every doubling, each 4.4 % wide: wider than those that the run was counted in.
pub(super) const SCHEMA: i32 = 4;

/// The numbers of values by bucket: bucket `i` holds those above factor^(i-1) and up to factor^i, in seconds (as in
/// Prometheus; OpenTelemetry counts from one below). Each value counts as the middle of the bucket it was recorded in, and
/// so one at the edge of a bucket can be in its neighbour.
pub(super) fn buckets(times: &[Touched]) -> BTreeMap<i32, u64> {
    let mut buckets = BTreeMap::new();
    for touched in times {
        let number = (middle_s(touched).log2() * f64::from(1 << SCHEMA)).ceil() as i32;
        *buckets.entry(number).or_insert(0) += u64::from(touched.count);
    }
    buckets
}
