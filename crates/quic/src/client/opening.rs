//! What a handshake takes besides itself: a Retry, and the pause of a server that may not send more yet. Both are what RFC
//! 9000 does against forged addresses (8.1), and both cost a round trip.

/// Until it knows the client's address to be real, a server sends at most so many times what it received (RFC 9000, 8.1).
const AMPLIFICATION: u64 = 3;

/// A server stopped at its limit in the middle of the handshake, and went on when more had come from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limited {
    /// Bytes of datagrams that it had been sent until then.
    pub sent_bytes: u64,
    /// Bytes that it had sent: three times as many, give or take less than a datagram.
    pub received_bytes: u64,
    /// For so long nothing came, ns.
    pub pause_ns: u64,
}

/// A server permitted more streams at once than in the handshake, by MAX_STREAMS (RFC 9000, 19.11), while fewer were permitted
/// than the options ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raised {
    /// So many, as far as they were asked for.
    pub streams: u32,
    /// So long after the handshake, ns.
    pub after_ns: u64,
}

/// Bytes and times of a handshake that is under way.
#[derive(Debug, Default)]
pub(super) struct Opening {
    sent_bytes: u64,
    received_bytes: u64,
    /// The largest datagram of the server: it fills them while it has more to say.
    datagram_bytes: u64,
    received_ns: u64,
    stopped: Option<Limited>,
    limited: Option<Limited>,
    /// When the server wanted the handshake repeated with a token.
    pub retried_ns: Option<u64>,
}

impl Opening {
    /// Datagrams came.
    pub fn received(&mut self, bytes: usize, datagram_bytes: usize, now_ns: u64) {
        if let Some(stopped) = self.stopped.take() {
            let pause_ns = now_ns.saturating_sub(self.received_ns);
            self.limited.get_or_insert(Limited { pause_ns, ..stopped });
        }
        self.received_bytes += bytes as u64;
        self.datagram_bytes = self.datagram_bytes.max(datagram_bytes.min(bytes) as u64);
        self.received_ns = now_ns;
    }

    /// Datagrams leave: if the server had come to its limit, these move it.
    pub fn sent(&mut self, bytes: usize) {
        let limit = AMPLIFICATION * self.sent_bytes;
        // Some servers send whole datagrams as long as a byte may be sent (quinn-proto does): the last goes beyond.
        let is_at_limit = self.received_bytes < limit + self.datagram_bytes
            && self.received_bytes + self.datagram_bytes > limit;
        // A token from a Retry has shown that the address is real.
        if self.received_bytes > 0 && is_at_limit && self.retried_ns.is_none() {
            self.stopped.get_or_insert(Limited {
                sent_bytes: self.sent_bytes,
                received_bytes: self.received_bytes,
                pause_ns: 0,
            });
        }
        self.sent_bytes += bytes as u64;
    }

    /// Whether the server stopped, and went on.
    pub fn limited(&self) -> Option<Limited> {
        self.limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_stopped_at_three_times_what_it_got_was_limited() {
        let mut opening = Opening::default();
        opening.sent(1200);
        opening.received(3600, 1200, 50);
        opening.sent(1240);
        assert_eq!(opening.limited(), None, "the rest has not come");
        opening.received(900, 900, 80);
        let expected = Limited { sent_bytes: 1200, received_bytes: 3600, pause_ns: 30 };
        assert_eq!(opening.limited(), Some(expected));
    }

    #[test]
    fn a_server_whose_last_datagram_goes_beyond_was_limited_too() {
        let mut opening = Opening::default();
        opening.sent(1200);
        opening.received(3 * 1452, 1452, 50);
        opening.sent(1240);
        opening.received(900, 900, 80);
        let expected = Limited { sent_bytes: 1200, received_bytes: 4356, pause_ns: 30 };
        assert_eq!(opening.limited(), Some(expected));
    }

    #[test]
    fn a_server_that_could_have_sent_more_was_not() {
        // It had room for one more datagram: whatever it waited for, it was not the limit.
        let mut opening = Opening::default();
        opening.sent(1200);
        opening.received(2400, 1200, 50);
        opening.sent(1240);
        opening.received(900, 900, 80);
        assert_eq!(opening.limited(), None);
        // One that sent a datagram more than it may does not keep to it.
        let mut opening = Opening::default();
        opening.sent(1200);
        opening.received(4800, 1200, 50);
        opening.sent(1240);
        opening.received(900, 900, 80);
        assert_eq!(opening.limited(), None);
        // Behind a Retry there is no limit.
        let mut opening = Opening { retried_ns: Some(10), ..Opening::default() };
        opening.sent(1200);
        opening.received(3600, 1200, 50);
        opening.sent(1240);
        opening.received(900, 900, 80);
        assert_eq!(opening.limited(), None);
    }
}
