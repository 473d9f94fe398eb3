//! Times by phase: one distribution each, apart for responses and for failures.

use ablaze_stats::Latency;

/// Times of one outcome (responses, or failures), by phase.
#[derive(Debug, Clone)]
pub struct Phases {
    /// From the first SYN to the connection standing, once for each connection that exchanges had to wait for. Nothing over
    /// HTTP/3, where there is only a handshake.
    pub connect: Latency,
    /// From the request's sending to the first byte of the response.
    pub wait: Latency,
    /// From the first to the last byte of the response.
    pub receive: Latency,
    /// From sending, connecting included where the exchange had to, to the last byte.
    pub total: Latency,
    /// Total less connect, exchange by exchange: ab's "Processing".
    pub processing: Latency,
    /// Times from when a request was due; in open loop only.
    pub intended: Option<Box<Intended>>,
    /// The handshakes of TLS; where there were any.
    pub tls: Option<Box<Handshakes>>,
}

impl Phases {
    /// The times that users see: from when a request was due in open loop, from its sending in closed loop.
    pub fn as_users_see(&self) -> &Latency {
        self.intended.as_ref().map_or(&self.total, |intended| &intended.response)
    }
}

/// Times of TLS handshakes, one for each connection that exchanges had to wait for.
#[derive(Debug, Clone)]
pub struct Handshakes {
    /// From the connection standing to the keys being there.
    pub handshake: Latency,
    /// From the first SYN to the keys being there: ab's "Connect".
    pub connected: Latency,
}

impl Default for Handshakes {
    fn default() -> Self {
        Self { handshake: Latency::new(3), connected: Latency::new(3) }
    }
}

impl Handshakes {
    /// Adds a handshake, and the connect before it.
    pub fn record(&mut self, connect_ns: u64, tls_ns: u64) {
        self.handshake.record(tls_ns);
        self.connected.record(connect_ns + tls_ns);
    }

    /// Adds all values of `other`.
    fn merge(&mut self, other: &Self) {
        let Self { handshake, connected } = other;
        self.handshake.merge(handshake);
        self.connected.merge(connected);
    }
}

/// Times from the moment at which a request was due, which are what a user waits for when users
/// do not wait for each other.
#[derive(Debug, Clone)]
pub struct Intended {
    /// From when it was due to the last byte of its response.
    pub response: Latency,
    /// From when it was due to when it began (to be sent, or to connect for it): how late the
    /// client was, or how long a free connection was waited for.
    pub lag: Latency,
}

impl Default for Intended {
    fn default() -> Self {
        Self { response: Latency::new(4), lag: Latency::new(3) }
    }
}

impl Intended {
    /// Adds an exchange that was due at `intended_ns`, began at `started_ns` and ended at `at`;
    /// returns its response time, ns.
    #[inline]
    pub fn record(&mut self, intended_ns: u64, started_ns: u64, at: u64) -> u64 {
        let response_ns = at.saturating_sub(intended_ns);
        self.response.record(response_ns);
        self.lag.record(started_ns.saturating_sub(intended_ns));
        response_ns
    }
}

impl Phases {
    /// Empty distributions.
    pub fn new() -> Self {
        Self {
            connect: Latency::new(3),
            wait: Latency::new(3),
            receive: Latency::new(3),
            total: Latency::new(4),
            processing: Latency::new(3),
            intended: None,
            tls: None,
        }
    }

    /// The time that a user waits: the response in open loop, the total in closed loop.
    pub fn latency(&self) -> &Latency {
        self.intended.as_ref().map_or(&self.total, |intended| &intended.response)
    }

    /// Connections that exchanges had to wait for.
    pub fn connections(&self) -> u64 {
        let handshakes = self.tls.as_ref().map_or(0, |tls| tls.handshake.count());
        self.connect.count().max(handshakes)
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        let Self { connect, wait, receive, total, processing, intended, tls } = other;
        self.connect.merge(connect);
        self.wait.merge(wait);
        self.receive.merge(receive);
        self.total.merge(total);
        self.processing.merge(processing);
        if let Some(theirs) = intended {
            let Intended { response, lag } = &**theirs;
            let mine = self.intended.get_or_insert_default();
            mine.response.merge(response);
            mine.lag.merge(lag);
        }
        if let Some(theirs) = tls {
            self.tls.get_or_insert_default().merge(theirs);
        }
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        for phase in [
            &mut self.connect,
            &mut self.wait,
            &mut self.receive,
            &mut self.total,
            &mut self.processing,
        ] {
            phase.clear();
        }
        if let Some(intended) = &mut self.intended {
            intended.response.clear();
            intended.lag.clear();
        }
        if let Some(tls) = &mut self.tls {
            tls.handshake.clear();
            tls.connected.clear();
        }
    }
}

impl Default for Phases {
    fn default() -> Self {
        Self::new()
    }
}
