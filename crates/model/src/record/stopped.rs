//! Responses that stopped in the middle: a part came, and then not a byte for a second or longer.

/// Exchanges of which a part of the response came, and then not a byte for [`Stopped::SILENCE_NS`] or
/// longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stopped {
    /// Ended by the timeout.
    pub timed_out: u64,
    /// In flight when the run ended.
    pub unfinished: u64,
    /// Ended by the timeout after a part of the response, however long the silence was: those of
    /// `timed_out` among them.
    pub partway: u64,
    /// Those of `partway` whose body has no other end than the connection's, and stays open.
    pub endless: u64,
    /// In flight when the run ended with a part of the response, however long the silence was: those of
    /// `unfinished` among them.
    pub begun: u64,
    /// Those of `begun` whose body has no announced length.
    pub begun_without_length: u64,
    /// The one that waited longest for its next byte.
    pub longest: Option<StoppedResponse>,
}

/// A response that stopped in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedResponse {
    /// Time since its last byte.
    pub silent_ns: u64,
    /// Bytes of its body that came.
    pub body_bytes: u64,
    /// Bytes of its body that did not, where their number was announced.
    pub missing_bytes: Option<u64>,
}

impl Stopped {
    /// Shorter silences are pauses.
    pub const SILENCE_NS: u64 = 1_000_000_000;

    /// All of them.
    pub fn total(&self) -> u64 {
        self.timed_out + self.unfinished
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { timed_out, unfinished, partway, endless, begun, begun_without_length, longest } =
            other;
        self.timed_out += timed_out;
        self.unfinished += unfinished;
        self.partway += partway;
        self.endless += endless;
        self.begun += begun;
        self.begun_without_length += begun_without_length;
        self.note(longest);
    }

    /// Keeps the one that was silent longest.
    pub fn note(&mut self, response: Option<StoppedResponse>) {
        let both = [self.longest, response].into_iter().flatten();
        self.longest = both.max_by_key(|response| response.silent_ns);
    }
}
