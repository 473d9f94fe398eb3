//! One quantity measured many times, in nanoseconds: an HDR histogram for its shape, and exact
//! sums for what a histogram only approximates (mean, standard deviation, minimum, maximum).

use hdrhistogram::Histogram;

use crate::buckets::Buckets;
use crate::order;
use crate::saved::Exact;

/// The distribution of one quantity in nanoseconds.
#[derive(Debug, Clone)]
pub struct Latency {
    buckets: Buckets,
    count: u64,
    sum_ns: u128,
    sum_of_squares: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Latency {
    /// An empty distribution whose histogram keeps `digits` significant decimal digits (3 or 4).
    /// Memory is reserved at once but touched only where values fall.
    pub fn new(digits: u8) -> Self {
        Self {
            buckets: Buckets::new(digits),
            count: 0,
            sum_ns: 0,
            sum_of_squares: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// A distribution put together again from its histogram and its exact figures.
    pub(crate) fn from_parts(histogram: &Histogram<u64>, exact: Exact) -> Self {
        Self {
            count: histogram.len(),
            buckets: Buckets::from_histogram(histogram),
            sum_ns: exact.sum_ns,
            sum_of_squares: exact.sum_of_squares,
            min_ns: exact.min_ns.unwrap_or(u64::MAX),
            max_ns: exact.max_ns.unwrap_or(0),
        }
    }

    /// Counts one value. Values beyond the range are counted in the last bucket.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_many(value_ns, 1);
    }

    /// Counts the same value `times` times.
    #[inline]
    pub fn record_many(&mut self, value_ns: u64, times: u64) {
        self.buckets.add(value_ns.max(1), times);
        self.count += times;
        self.sum_ns += u128::from(value_ns) * u128::from(times);
        self.sum_of_squares += u128::from(value_ns) * u128::from(value_ns) * u128::from(times);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Adds all values of `other`; lossless when both keep the same digits.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.buckets.merge(&other.buckets);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.sum_of_squares += other.sum_of_squares;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        // Zero is counted as 1 ns.
        self.buckets.clear(self.max_ns.max(1));
        self.count = 0;
        self.sum_ns = 0;
        self.sum_of_squares = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all values, ns. Exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Sum of the squares of all values, ns². Exact.
    pub fn sum_of_squares(&self) -> u128 {
        self.sum_of_squares
    }

    /// Smallest value, exact; `None` when empty.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Largest value, exact; `None` when empty.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Arithmetic mean, exact; `None` when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Sample standard deviation (n - 1), from exact sums; 0 for a single value, `None` when
    /// empty.
    pub fn deviation_ns(&self) -> Option<f64> {
        if self.count < 2 {
            return (self.count == 1).then_some(0.0);
        }
        // n·Σx² - (Σx)² in integers, so that nothing cancels; both fit u128 up to some 10^12
        // values of a second each.
        let n = u128::from(self.count);
        let spread =
            match (n.checked_mul(self.sum_of_squares), self.sum_ns.checked_mul(self.sum_ns)) {
                (Some(left), Some(right)) => left.saturating_sub(right) as f64,
                _ => {
                    (n as f64 * self.sum_of_squares as f64 - (self.sum_ns as f64).powi(2)).max(0.0)
                }
            };
        Some((spread / (self.count as f64 * (self.count - 1) as f64)).sqrt())
    }

    /// The value at quantile `q` (0 to 1), to the histogram's digits and within [min, max];
    /// `None` when empty.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        self.value_at_rank_ns(order::rank(self.count, q))
    }

    /// The value of this rank among all values in ascending order, from 1; to the histogram's
    /// digits and within [min, max]. `None` when there is no such rank.
    pub fn value_at_rank_ns(&self, rank: u64) -> Option<u64> {
        if rank == 0 || rank > self.count {
            return None;
        }
        Some(self.buckets.at_rank(rank).clamp(self.min_ns, self.max_ns))
    }

    /// The two values between which the true quantile `q` lies with 95 % confidence, whatever the
    /// distribution (see [`order`]); widened to the edges of the histogram's steps. `None` when
    /// there are too few values to say: see [`order::count_needed`].
    pub fn quantile_interval_ns(&self, q: f64) -> Option<(u64, u64)> {
        let (low, high) = order::interval_ranks(self.count, q, order::CONFIDENCE)?;
        let (low, high) = (self.value_at_rank_ns(low)?, self.value_at_rank_ns(high)?);
        Some((self.buckets.lowest_equivalent(low).max(self.min_ns), high))
    }

    /// The value at quantile `q` where there are enough values to say anything about it: both ends
    /// of its interval exist.
    pub fn supported_quantile_ns(&self, q: f64) -> Option<u64> {
        order::interval_ranks(self.count, q, order::CONFIDENCE).and(self.quantile_ns(q))
    }

    /// How many values are at most `value_ns`, to the histogram's digits.
    pub fn count_at_most(&self, value_ns: u64) -> u64 {
        if value_ns >= self.max_ns {
            return self.count;
        }
        self.buckets.count_at_most(value_ns)
    }

    /// The lowest value of each bucket that is not empty, ns, and its count, in ascending order.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.recorded()
    }

    /// Its histogram, for exporters that speak HDR.
    pub fn histogram(&self) -> Histogram<u64> {
        self.buckets.to_histogram()
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        let mut latency = Latency::new(3);
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            latency.record(value);
        }
        assert_eq!(latency.mean_ns(), Some(5.0));
        // Sum of squared differences is 32; 32 / 7.
        assert!((latency.deviation_ns().unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((latency.min_ns(), latency.max_ns()), (Some(2), Some(9)));
        assert_eq!(latency.quantile_ns(0.5), Some(4));
    }

    #[test]
    fn cleared_it_has_nothing_even_of_a_time_of_zero() {
        // Zero is counted in the bucket of 1 ns, while the largest value is 0.
        for value in [0, 1, 5_000, u64::MAX] {
            let mut latency = Latency::new(2);
            latency.record(value);
            latency.clear();
            assert_eq!(latency.count_at_most(u64::MAX), 0, "{value} ns");
        }
    }

    #[test]
    fn an_empty_distribution_has_no_figures() {
        let latency = Latency::new(3);
        assert_eq!(latency.mean_ns(), None);
        assert_eq!(latency.quantile_ns(0.99), None);
        assert_eq!(latency.min_ns(), None);
    }

    #[test]
    fn percentiles_are_values_of_their_rank() {
        let mut latency = Latency::new(3);
        for value in 1..=100 {
            latency.record(value);
        }
        for percent in 1..=100u64 {
            assert_eq!(latency.quantile_ns(percent as f64 / 100.0), Some(percent));
            assert_eq!(latency.value_at_rank_ns(percent), Some(percent));
        }
        assert_eq!((latency.value_at_rank_ns(0), latency.value_at_rank_ns(101)), (None, None));
    }

    #[test]
    fn an_interval_is_made_of_the_values_at_its_ranks() {
        let mut latency = Latency::new(3);
        for value in 1..=100 {
            latency.record(value);
        }
        // Ranks 40 and 61 of 100 for the median: the published 95 % table.
        assert_eq!(latency.quantile_interval_ns(0.5), Some((40, 61)));
        assert_eq!(latency.quantile_interval_ns(0.99), None);
        assert_eq!(latency.supported_quantile_ns(0.99), None);
        assert_eq!(latency.supported_quantile_ns(0.9), Some(90));
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut left, mut right, mut both) = (Latency::new(3), Latency::new(3), Latency::new(3));
        for value in 1..2000u64 {
            let target = if value % 3 == 0 { &mut left } else { &mut right };
            target.record(value * 977);
            both.record(value * 977);
        }
        left.merge(&right);
        assert_eq!(left.count(), both.count());
        assert_eq!(left.deviation_ns(), both.deviation_ns());
        for q in [0.0, 0.1, 0.5, 0.99, 1.0] {
            assert_eq!(left.quantile_ns(q), both.quantile_ns(q));
        }
    }
}
