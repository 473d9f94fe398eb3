//! The counts behind a distribution: the buckets of an HDR histogram, counted in a few
//! instructions.
//!
//! The layout is HdrHistogram's with a unit of 1: values below 2^k have a bucket each, and every
//! doubling above has 2^(k-1) of them, so that a bucket is never wider than 2^(1-k) of its value
//! (Gil Tene, hdrhistogram.org; k = 11 keeps 3 decimal digits, k = 15 keeps 4). Memory comes
//! zeroed from the system and is touched only where values fall.

use hdrhistogram::Histogram;

/// Lowest and highest value told apart: 1 ns to 1 h. Fixed, so that counts never move during a
/// run and any two can be added.
pub const RANGE_NS: (u64, u64) = (1, 3_600_000_000_000);

/// Counts by bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    counts: Vec<u64>,
    layout: Layout,
    digits: u8,
}

/// The buckets that are not empty. A type of its own, not adapters of the standard library: its loop over thousands of
/// empty buckets is compiled here, also for callers that are not optimised.
#[derive(Debug, Clone)]
pub struct Recorded<'a> {
    buckets: &'a Buckets,
    next: usize,
}

/// Which values share a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// k: values below 2^k have a bucket each.
    bits: u32,
}

impl Buckets {
    /// Empty counts that keep `digits` significant decimal digits (1 to 5).
    pub fn new(digits: u8) -> Self {
        let layout = Layout::new(digits);
        Self { counts: vec![0; layout.index(RANGE_NS.1) + 1], layout, digits }
    }

    /// Counts a value this many times; beyond the range in the last bucket.
    #[inline]
    pub fn add(&mut self, value: u64, times: u64) {
        let index = self.layout.index(value.min(RANGE_NS.1));
        self.counts[index] += times;
    }

    /// Adds all counts of `other`. Lossless unless `other` keeps more digits.
    pub fn merge(&mut self, other: &Self) {
        for (value, count) in other.recorded() {
            self.add(value, count);
        }
    }

    /// Forgets everything, keeps the memory; `max` is the largest value counted.
    pub fn clear(&mut self, max: u64) {
        let last = self.layout.index(max.min(RANGE_NS.1));
        self.counts[..=last].fill(0);
    }

    /// The largest value equal, at this resolution, to the one of this rank (from 1).
    pub fn at_rank(&self, rank: u64) -> u64 {
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return self.layout.highest(index);
            }
        }
        RANGE_NS.1
    }

    /// The smallest value that is equal to this one at this resolution.
    pub fn lowest_equivalent(&self, value: u64) -> u64 {
        self.layout.lowest(self.layout.index(value.min(RANGE_NS.1)))
    }

    /// How many values are at most this one, at this resolution.
    pub fn count_at_most(&self, value: u64) -> u64 {
        self.counts[..=self.layout.index(value.min(RANGE_NS.1))].iter().sum()
    }

    /// The lowest value of each bucket that is not empty, and its count, in ascending order.
    pub fn recorded(&self) -> Recorded<'_> {
        Recorded { buckets: self, next: 0 }
    }

    /// The same counts as a histogram that other tools understand.
    pub fn to_histogram(&self) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(RANGE_NS.0, RANGE_NS.1, self.digits)
            .expect("1 <= low, low * 2 <= high and digits <= 5 by construction");
        for (value, count) in self.recorded() {
            histogram
                .record_n(value.max(RANGE_NS.0), count)
                .expect("a value within the range is always recordable");
        }
        histogram
    }

    /// The counts of a histogram.
    pub fn from_histogram(histogram: &Histogram<u64>) -> Self {
        let mut buckets = Self::new(histogram.sigfig().clamp(1, 5));
        for step in histogram.iter_recorded() {
            buckets.add(
                histogram.lowest_equivalent(step.value_iterated_to()),
                step.count_since_last_iteration(),
            );
        }
        buckets
    }
}

impl Iterator for Recorded<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let empty = self.buckets.counts[self.next..].iter().position(|count| *count > 0)?;
        let index = self.next + empty;
        self.next = index + 1;
        Some((self.buckets.layout.lowest(index), self.buckets.counts[index]))
    }
}

impl Layout {
    /// That of `digits` significant decimal digits (1 to 5).
    pub const fn new(digits: u8) -> Self {
        // Twice 10^digits values must be told apart within one doubling.
        Self { bits: (2 * 10u64.pow(digits as u32)).next_power_of_two().trailing_zeros() }
    }

    /// The bucket of a value within the range.
    #[inline]
    pub const fn index(&self, value: u64) -> usize {
        // How often the value must be halved to fit k bits.
        let halvings = (63 - (value | 1).leading_zeros()).saturating_sub(self.bits - 1);
        let half = 1u64 << (self.bits - 1);
        (halvings as u64 * half + (value >> halvings)) as usize
    }

    /// The lowest value of a bucket: the inverse of `index`.
    pub fn lowest(&self, index: usize) -> u64 {
        let (index, half) = (index as u64, 1u64 << (self.bits - 1));
        let halvings = (index / half).saturating_sub(1);
        (index - halvings * half) << halvings
    }

    /// The highest value of a bucket.
    pub fn highest(&self, index: usize) -> u64 {
        self.lowest(index + 1) - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbouring_buckets_leave_no_gap() {
        let buckets = Buckets::new(3);
        for index in 0..buckets.counts.len() - 1 {
            assert_eq!(buckets.layout.index(buckets.layout.lowest(index)), index);
            assert_eq!(buckets.layout.index(buckets.layout.highest(index)), index);
            assert_eq!(buckets.layout.highest(index) + 1, buckets.layout.lowest(index + 1));
        }
    }

    proptest! {
        /// The oracle is the hdrhistogram crate: same buckets, same counts, same quantiles.
        #[test]
        fn buckets_are_those_of_hdrhistogram(
            values in prop::collection::vec(1..=RANGE_NS.1, 1..200),
            digits in 2u8..=4,
        ) {
            let mut buckets = Buckets::new(digits);
            let mut oracle =
                Histogram::<u64>::new_with_bounds(RANGE_NS.0, RANGE_NS.1, digits).unwrap();
            for &value in &values {
                // Spread over all magnitudes.
                let value = (value >> (value % 40)).max(1);
                buckets.add(value, 1);
                oracle.record(value).unwrap();
                prop_assert_eq!(buckets.lowest_equivalent(value), oracle.lowest_equivalent(value));
                prop_assert_eq!(
                    buckets.layout.highest(buckets.layout.index(value)),
                    oracle.highest_equivalent(value)
                );
            }
            prop_assert_eq!(&buckets.to_histogram(), &oracle);
            prop_assert_eq!(&Buckets::from_histogram(&oracle), &buckets);
        }

        #[test]
        fn fewer_digits_lose_only_digits(values in prop::collection::vec(1..=RANGE_NS.1, 1..100)) {
            let (mut fine, mut coarse) = (Buckets::new(4), Buckets::new(3));
            for &value in &values {
                fine.add(value, 1);
                coarse.add(value, 1);
            }
            let mut merged = Buckets::new(3);
            merged.merge(&fine);
            prop_assert_eq!(merged, coarse);
        }
    }
}
