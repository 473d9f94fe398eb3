//! The measured time in equal pieces, each with its counts, its latencies and the buckets of its
//! histogram: what live views draw, and what threads and machines add up.

use ablaze_stats::Latency;
use ablaze_stats::touched::{self, Touched};

/// A piece of the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    /// Responses completed in it.
    pub responses: u64,
    /// Exchanges failed in it.
    pub failures: u64,
    /// Median of the total time of its responses, ns; 0 when there are none.
    pub p50_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// Longest, ns.
    pub max_ns: u64,
}

/// The measured time in equal pieces.
#[derive(Debug, Clone)]
pub struct Slices {
    /// Length of a slice.
    pub slice_ns: u64,
    /// In order of time.
    pub slices: Vec<Slice>,
    histograms: Histograms,
}

/// The buckets that each slice touched, one behind the other.
#[derive(Debug, Clone, Default)]
struct Histograms {
    touched: Vec<Touched>,
    /// Where those of each slice end. Slices without an entry have none: in files of before.
    ends: Vec<u32>,
}

impl Slices {
    /// Length of a slice at the start of a run.
    pub const SLICE_NS: u64 = 100_000_000;

    /// None yet.
    pub fn new() -> Self {
        Self { slice_ns: Self::SLICE_NS, slices: Vec::new(), histograms: Histograms::default() }
    }

    /// Memory for this many slices, so that pushing them allocates nothing.
    pub fn reserve(&mut self, slices: usize) {
        const USUALLY_TOUCHED: usize = 64;
        self.slices.reserve(slices);
        self.histograms.ends.reserve(slices);
        self.histograms.touched.reserve(slices * USUALLY_TOUCHED);
    }

    /// The buckets that the responses of a slice fell in, in ascending order: their total time in closed
    /// loop, their response time in open loop. Empty where a file of before has none.
    pub fn touched(&self, slice: usize) -> &[Touched] {
        self.histograms.of(slice)
    }

    /// Appends a slice with its distribution; when `kept` are there, pairs are joined first.
    pub fn push(&mut self, failures: u64, times: &Latency, kept: usize) -> Slice {
        let slice = Slice {
            responses: times.count(),
            failures,
            p50_ns: times.quantile_ns(0.5).unwrap_or(0),
            p99_ns: times.quantile_ns(0.99).unwrap_or(0),
            max_ns: times.max_ns().unwrap_or(0),
        };
        self.slices.push(slice);
        touched::append(times, &mut self.histograms.touched);
        self.histograms.end();
        if self.slices.len() >= kept {
            self.halve();
        }
        slice
    }

    /// Appends a slice as it was saved.
    pub fn restore(&mut self, slice: Slice, touched: &[Touched]) {
        self.slices.push(slice);
        self.histograms.touched.extend_from_slice(touched);
        self.histograms.end();
    }

    /// Puts `slices` empty slices before the others: another part of the run began earlier.
    pub fn delay(&mut self, slices: usize) {
        self.slices.splice(0..0, std::iter::repeat_n(Slice::default(), slices));
        self.histograms.ends.splice(0..0, std::iter::repeat_n(0, slices));
    }

    fn halve(&mut self) {
        let mut halved = Self::new();
        halved.slice_ns = self.slice_ns * 2;
        halved.reserve(self.slices.len());
        for first in (0..self.slices.len()).step_by(2) {
            halved.add_joined(
                (self.slices[first], self.touched(first)),
                self.slices.get(first + 1).map(|second| (*second, self.touched(first + 1))),
            );
        }
        *self = halved;
    }

    /// Adds another worker's slices of the same window.
    pub fn merge(&mut self, mut other: Self) {
        while self.slice_ns < other.slice_ns && !self.slices.is_empty() {
            self.halve();
        }
        while other.slice_ns < self.slice_ns && !other.slices.is_empty() {
            other.halve();
        }
        let mut merged = Self::new();
        merged.slice_ns = self.slice_ns.max(other.slice_ns);
        let slices = self.slices.len().max(other.slices.len());
        merged.reserve(slices);
        for at in 0..slices {
            let mine = self.slices.get(at).copied().unwrap_or_default();
            let theirs = other.slices.get(at).map(|slice| (*slice, other.touched(at)));
            merged.add_joined((mine, self.touched(at)), theirs);
        }
        *self = merged;
    }

    /// Appends two slices as one. Percentiles come from the buckets of both; where one has none (in
    /// files of before), the larger is kept for p99, the mean weighted by responses for the median.
    fn add_joined(&mut self, one: (Slice, &[Touched]), other: Option<(Slice, &[Touched])>) {
        let Some(other) = other else { return self.restore(one.0, one.1) };
        let touched = touched::added(one.1, other.1);
        let mut slice = one.0.join(other.0);
        if touched::count(&touched) == slice.responses {
            let quantile = |q| touched::quantile_ns(&touched, q).unwrap_or(0).min(slice.max_ns);
            (slice.p50_ns, slice.p99_ns) = (quantile(0.5), quantile(0.99));
        }
        self.restore(slice, &touched);
    }
}

impl PartialEq for Slices {
    fn eq(&self, other: &Self) -> bool {
        let same_touched = |at| self.touched(at) == other.touched(at);
        self.slice_ns == other.slice_ns
            && self.slices == other.slices
            && (0..self.slices.len()).all(same_touched)
    }
}

impl Eq for Slices {}

impl Default for Slices {
    fn default() -> Self {
        Self::new()
    }
}

impl Slice {
    fn join(self, other: Self) -> Self {
        let responses = self.responses + other.responses;
        let weighted = u128::from(self.p50_ns) * u128::from(self.responses)
            + u128::from(other.p50_ns) * u128::from(other.responses);
        Self {
            responses,
            failures: self.failures + other.failures,
            p50_ns: weighted.checked_div(u128::from(responses)).unwrap_or(0) as u64,
            p99_ns: self.p99_ns.max(other.p99_ns),
            max_ns: self.max_ns.max(other.max_ns),
        }
    }
}

impl Histograms {
    fn of(&self, slice: usize) -> &[Touched] {
        let Some(&end) = self.ends.get(slice) else { return &[] };
        let start = slice.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.touched[start as usize..end as usize]
    }

    /// What was appended last belongs to the next slice.
    fn end(&mut self) {
        self.ends.push(self.touched.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(slices: &[&[u64]]) -> Slices {
        let mut all = Slices::new();
        for times in slices {
            let mut latency = Latency::new(touched::DIGITS);
            times.iter().for_each(|time_ns| latency.record(*time_ns));
            all.push(0, &latency, usize::MAX);
        }
        all
    }

    #[test]
    fn a_percentile_of_two_workers_is_that_of_all_their_responses() {
        // 98 quick responses on one worker, 2 slow ones on the other: the larger p99 of the two
        // workers would be 9 ms, and so would be the p99 of 2 of 1,000.
        let quick = vec![1_000; 998];
        let mut all = worker(&[&quick]);
        all.merge(worker(&[&[9_000_000, 9_000_000]]));
        let slice = all.slices[0];
        assert_eq!((slice.responses, slice.max_ns), (1_000, 9_000_000));
        assert!((1_000..1_010).contains(&slice.p99_ns), "{slice:?}");
        assert!((1_000..1_010).contains(&slice.p50_ns), "{slice:?}");
        assert_eq!(touched::count(all.touched(0)), 1_000);
    }

    #[test]
    fn workers_of_different_length_and_an_earlier_start_are_added_slice_by_slice() {
        let mut all = worker(&[&[10], &[20]]);
        all.delay(1);
        all.merge(worker(&[&[30, 30]]));
        let responses: Vec<u64> = all.slices.iter().map(|slice| slice.responses).collect();
        assert_eq!(responses, [2, 1, 1]);
        let counts: Vec<u64> = (0..3).map(|at| touched::count(all.touched(at))).collect();
        assert_eq!(counts, [2, 1, 1]);
        assert_eq!(touched::quantile_ns(all.touched(2), 0.5), Some(20));
    }

    #[test]
    fn joined_pairs_keep_every_response() {
        let mut all = worker(&[&[10, 11], &[20], &[30]]);
        all.halve();
        assert_eq!(all.slice_ns, 2 * Slices::SLICE_NS);
        let kept: Vec<_> = all.slices.iter().map(|slice| (slice.responses, slice.p50_ns)).collect();
        assert_eq!(kept, [(3, 11), (1, 30)]);
        assert_eq!(touched::count(all.touched(0)), 3);
    }

    #[test]
    fn slices_of_a_file_without_buckets_are_joined_as_well_as_they_can_be() {
        let slice = Slice { responses: 4, failures: 1, p50_ns: 10, p99_ns: 50, max_ns: 60 };
        let mut all = Slices::new();
        all.slices.push(slice);
        all.merge(worker(&[&[20, 20, 20, 20]]));
        let expected = Slice { responses: 8, failures: 1, p50_ns: 15, p99_ns: 50, max_ns: 60 };
        assert_eq!(all.slices, [expected]);
    }
}
