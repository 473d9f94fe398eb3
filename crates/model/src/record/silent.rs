//! Requests in flight when the run ended of which no byte of a response had come for a second or longer.

use super::Stopped;

/// Requests that had waited for a first byte for [`Stopped::SILENCE_NS`] or longer when the run ended, those
/// of the warm-up among them: they hold a place of the load that is in no figure of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Silent {
    /// All of them.
    pub count: u64,
    /// Of them, those sent in the warm-up: in no other count.
    pub of_warmup: u64,
    /// The longest that one of them had waited since it was sent.
    pub longest_ns: u64,
}

impl Silent {
    /// Counts a request that was sent so long ago, if that is long enough.
    pub fn note(&mut self, waited_ns: u64, of_warmup: bool) {
        if waited_ns >= Stopped::SILENCE_NS {
            self.count += 1;
            self.of_warmup += u64::from(of_warmup);
            self.longest_ns = self.longest_ns.max(waited_ns);
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { count, of_warmup, longest_ns } = other;
        self.count += count;
        self.of_warmup += of_warmup;
        self.longest_ns = self.longest_ns.max(longest_ns);
    }
}
