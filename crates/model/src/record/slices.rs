//! The measured time in equal pieces, each with its counts and latencies.

/// A piece of the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    /// Answers completed in it.
    pub answers: u64,
    /// Exchanges failed in it.
    pub failures: u64,
    /// Median of the total time of its answers, ns; 0 when there are none.
    pub p50_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// Longest, ns.
    pub max_ns: u64,
}

/// The measured time in equal pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slices {
    /// Length of a slice.
    pub slice_ns: u64,
    /// In order of time.
    pub slices: Vec<Slice>,
}

impl Slices {
    /// Length of a slice at the start of a run.
    pub const SLICE_NS: u64 = 100_000_000;

    /// None yet.
    pub fn new() -> Self {
        Self { slice_ns: Self::SLICE_NS, slices: Vec::new() }
    }
}

impl Default for Slices {
    fn default() -> Self {
        Self::new()
    }
}

impl Slice {
    /// Two slices as one. Percentiles of workers or neighbours cannot be merged exactly; the
    /// larger is kept for p99 and max, the mean weighted by answers for p50.
    fn join(self, other: Self) -> Self {
        let answers = self.answers + other.answers;
        let weighted = u128::from(self.p50_ns) * u128::from(self.answers)
            + u128::from(other.p50_ns) * u128::from(other.answers);
        Self {
            answers,
            failures: self.failures + other.failures,
            p50_ns: weighted.checked_div(u128::from(answers)).unwrap_or(0) as u64,
            p99_ns: self.p99_ns.max(other.p99_ns),
            max_ns: self.max_ns.max(other.max_ns),
        }
    }
}

impl Slices {
    /// Appends a slice; when `kept` are there, pairs are joined first.
    pub fn push(&mut self, slice: Slice, kept: usize) {
        self.slices.push(slice);
        if self.slices.len() >= kept {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let joined = self.slices.chunks(2).map(|pair| match *pair {
            [one, two] => one.join(two),
            ref rest => rest[0],
        });
        self.slices = joined.collect();
        self.slice_ns *= 2;
    }

    /// Adds another worker's slices of the same window.
    pub fn merge(&mut self, mut other: Self) {
        while self.slice_ns < other.slice_ns && !self.slices.is_empty() {
            self.halve();
        }
        while other.slice_ns < self.slice_ns && !other.slices.is_empty() {
            other.halve();
        }
        self.slice_ns = self.slice_ns.max(other.slice_ns);
        if self.slices.len() < other.slices.len() {
            self.slices.resize(other.slices.len(), Slice::default());
        }
        for (mine, theirs) in self.slices.iter_mut().zip(other.slices) {
            *mine = mine.join(theirs);
        }
    }
}
