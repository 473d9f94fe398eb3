//! Responses that came before their requests had been sent whole, and what that cost connections of HTTP/1.

/// A server may respond before it has the request (RFC 9110, section 7.5). Over HTTP/2 and 3 the rest of the request is
/// not sent; over HTTP/1 the connection is of no use until it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnsweredEarly {
    /// Such responses. Over HTTP/1 those behind which the connection waited for the rest to leave.
    pub count: u64,
    /// Of these connections, how many were closed because the rest had not left within a second.
    pub closed: u64,
    /// For how long the connections waited, all together, up to the end of the run. No request was in flight on them.
    pub waited_ns: u64,
}

impl AnsweredEarly {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.closed += other.closed;
        self.waited_ns += other.waited_ns;
    }
}
