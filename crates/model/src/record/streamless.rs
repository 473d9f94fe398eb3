//! Requests that the server let nobody send: they waited for a stream on a connection that stood and permitted none.

/// Requests that waited for a stream (RFC 9113, section 5.1.2; RFC 9000, section 4.6) while the server permitted none at
/// all, and were never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streamless {
    /// Ended by the timeout; among the failures.
    pub timed_out: u64,
    /// Still waiting when the run ended; among the unfinished.
    pub unfinished: u64,
}

impl Streamless {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.timed_out + self.unfinished
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { timed_out, unfinished } = other;
        self.timed_out += timed_out;
        self.unfinished += unfinished;
    }
}
