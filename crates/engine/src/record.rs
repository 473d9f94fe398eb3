//! What is kept of a run's exchanges: counters, statuses, sizes, and one distribution per phase,
//! apart for answers and for failures. Fixed size, whatever the number of requests.

mod http2;

use std::collections::BTreeMap;

use ablaze_stats::Latency;

use crate::connection::Exchange;
use crate::failure::FailureKind;
use crate::plan::tls::TlsVersion;
pub use http2::{Codes, Http2Facts, ServerSettings, WindowWaits};

/// Times of one outcome (answers, or failures), by phase.
#[derive(Debug, Clone)]
pub struct Phases {
    /// From the first SYN to the connection standing, for exchanges that had to connect.
    pub connect: Latency,
    /// From the request's sending to the first byte of the answer.
    pub wait: Latency,
    /// From the first to the last byte of the answer.
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

/// Times of TLS handshakes, for exchanges that had to connect.
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
    pub(crate) fn record(&mut self, connect_ns: u64, tls_ns: u64) {
        self.handshake.record(tls_ns);
        self.connected.record(connect_ns + tls_ns);
    }

    /// Adds all values of `other`.
    fn merge(&mut self, other: &Self) {
        self.handshake.merge(&other.handshake);
        self.connected.merge(&other.connected);
    }
}

/// Times from the moment at which a request was due, which are what a user waits for when users
/// do not wait for each other.
#[derive(Debug, Clone)]
pub struct Intended {
    /// From when it was due to the last byte of its answer.
    pub response: Latency,
    /// From when it was due to when it began (to be sent, or to connect for it): how late the
    /// tester was, or how long a free connection was waited for.
    pub lag: Latency,
}

impl Default for Intended {
    fn default() -> Self {
        Self { response: Latency::new(4), lag: Latency::new(3) }
    }
}

impl Intended {
    /// Adds an exchange that ended; returns its response time, ns.
    #[inline]
    pub(crate) fn record(&mut self, exchange: &Exchange, at: u64) -> u64 {
        let response_ns = at.saturating_sub(exchange.intended_ns);
        self.response.record(response_ns);
        self.lag.record(exchange.started_ns.saturating_sub(exchange.intended_ns));
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

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.connect.merge(&other.connect);
        self.wait.merge(&other.wait);
        self.receive.merge(&other.receive);
        self.total.merge(&other.total);
        self.processing.merge(&other.processing);
        if let Some(theirs) = &other.intended {
            let mine = self.intended.get_or_insert_default();
            mine.response.merge(&theirs.response);
            mine.lag.merge(&theirs.lag);
        }
        if let Some(theirs) = &other.tls {
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

/// What is kept of a run's exchanges.
#[derive(Debug, Clone)]
pub struct Record {
    /// Complete answers of any status.
    pub answers: u64,
    /// Those of them outside the expected statuses.
    pub unexpected: u64,
    /// Exchanges that ended without a valid answer, by kind, in the order of
    /// [`FailureKind::ALL`].
    pub failures: [u64; FailureKind::ALL.len()],
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Answers by length of their body; at most [`Record::BODY_LENGTHS_KEPT`] lengths.
    pub body_lengths: BTreeMap<u64, u64>,
    /// Answers whose length found no place in `body_lengths`.
    pub body_lengths_other: u64,
    /// Body length of the answer that was complete first.
    pub first_body_bytes: Option<u64>,
    /// When it was complete, driver's clock: decides between workers.
    pub first_answer_at_ns: u64,
    /// Head of the answer that was complete first.
    pub first_head: Vec<u8>,
    /// Answers on connections that stayed open for another request.
    pub kept_alive: u64,
    /// Requests sent again because a reused connection was closed before any answer byte.
    pub repeated: u64,
    /// Exchanges in flight when the run ended: neither success nor failure.
    pub unfinished: u64,
    /// Those of them that were due and had not been sent: no connection was free.
    pub never_sent: u64,
    /// Age of the oldest of them.
    pub unfinished_oldest_ns: u64,
    /// Connections opened (successfully).
    pub connections_opened: u64,
    /// Bytes received, everything on the wire above TCP, of failed and unfinished exchanges too.
    pub received_bytes: u64,
    /// Of these, bytes of bodies, without chunked coding.
    pub body_bytes: u64,
    /// Bytes of requests handed to the kernel.
    pub sent_bytes: u64,
    /// Times of exchanges that were answered.
    pub answered: Phases,
    /// Times of exchanges that failed.
    pub failed: Phases,
    /// Connects made before the clock started.
    pub setup_connect: Latency,
    /// The TLS handshakes behind them.
    pub setup_tls: Option<Box<Latency>>,
    /// What is known of TLS; `None` on plain connections.
    pub tls: Option<Box<TlsFacts>>,
    /// What is known of HTTP/2; `None` with HTTP/1.
    pub http2: Option<Box<Http2Facts>>,
    /// What is known of tunnels through a proxy; `None` where none were asked for.
    pub proxy: Option<Box<ProxyFacts>>,
    /// The client's own delay: how old an event was, at most, when its batch had been handled.
    pub event_age: Latency,
    /// Integral of the number of exchanges in flight over the measured time, in exchange-ns.
    pub in_flight_ns: u128,
    /// How long, at the end, fewer than 95 % of a worker's places in a closed loop were in use,
    /// because there were no requests left for them; `None` where the time ended the run.
    pub drain_ns: Option<u64>,
    /// The first failure's errno by kind, for messages and exit statuses.
    pub first_failure: Option<FirstFailure>,
    /// How the first malformed answer of a worker began; at most [`Record::MALFORMED_KEPT`] bytes.
    pub first_malformed: Vec<u8>,
    /// Answers that stopped in the middle.
    pub stopped: Stopped,
    /// Count, errors and latency over time.
    pub slices: Slices,
    /// One line per request, if asked for.
    pub every_request: Vec<RequestLine>,
}

/// What is known of a run's TLS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsFacts {
    /// Connections that stood, whatever came of their handshake.
    pub connected: u64,
    /// Full handshakes.
    pub handshakes_full: u64,
    /// Those of them in which the server asked for another group, a round trip more.
    pub handshakes_retried: u64,
    /// Sessions resumed.
    pub handshakes_resumed: u64,
    /// What was agreed on, and how often.
    pub agreed: Vec<(Agreed, u64)>,
    /// The server's certificate, DER; empty where none was shown.
    pub certificate: Vec<u8>,
    /// What went wrong first: its kind, and in words.
    pub first_failure: Option<(FailureKind, String)>,
    /// What was said on the first connection beside application data, in its order; empty unless the
    /// Plan asks for it. It is shown and not kept: a saved run has none.
    pub spoken: Vec<Spoken>,
}

/// One of the two that speak TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsParty {
    /// We.
    Client,
    /// The far end.
    Server,
}

/// A message of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Who sent it.
    pub from: TlsParty,
    /// Its name in the RFCs; of an alert, level and description.
    pub message: String,
    /// Bytes of it, without its header; of one that could not be opened, those of its record.
    pub bytes: usize,
}

/// What is known of a run's tunnels through a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProxyFacts {
    /// Connections to the proxy that stood, whatever it said then.
    pub connected: u64,
    /// Tunnels that it made.
    pub tunnels: u64,
    /// What went wrong first: its kind, and in words.
    pub first_failure: Option<(FailureKind, String)>,
}

impl ProxyFacts {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.connected += other.connected;
        self.tunnels += other.tunnels;
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }
}

/// What a handshake agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// The version of TLS.
    pub version: TlsVersion,
    /// The cipher suite, by IANA's number.
    pub suite: u16,
    /// The group keys were exchanged in, by IANA's number; `None` in a resumed session of TLS 1.2.
    pub group: Option<u16>,
    /// The application protocol (ALPN).
    pub protocol: Option<String>,
}

impl TlsFacts {
    /// Handshakes of all kinds.
    pub fn handshakes(&self) -> u64 {
        self.handshakes_full + self.handshakes_resumed
    }

    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.connected += other.connected;
        self.handshakes_full += other.handshakes_full;
        self.handshakes_retried += other.handshakes_retried;
        self.handshakes_resumed += other.handshakes_resumed;
        for (agreed, times) in other.agreed {
            match self.agreed.iter_mut().find(|(mine, _)| *mine == agreed) {
                Some((_, mine)) => *mine += times,
                None => self.agreed.push((agreed, times)),
            }
        }
        if self.certificate.is_empty() {
            self.certificate = other.certificate;
        }
        if self.spoken.is_empty() {
            self.spoken = other.spoken;
        }
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }
}

/// The failure that came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstFailure {
    /// When, driver's clock.
    pub at_ns: u64,
    /// What.
    pub kind: FailureKind,
    /// The errno behind it; 0 where there is none.
    pub errno: i32,
    /// Whether it happened while connecting.
    pub connecting: bool,
}

/// Exchanges of which a part of the answer came, and then not a byte for [`Stopped::SILENCE_NS`] or
/// longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stopped {
    /// Ended by the timeout.
    pub timed_out: u64,
    /// In flight when the run ended.
    pub unfinished: u64,
    /// The one that waited longest for its next byte.
    pub longest: Option<StoppedAnswer>,
}

/// An answer that stopped in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedAnswer {
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
    pub(crate) fn merge(&mut self, other: Self) {
        self.timed_out += other.timed_out;
        self.unfinished += other.unfinished;
        self.note(other.longest);
    }

    pub(crate) fn note(&mut self, answer: Option<StoppedAnswer>) {
        let both = [self.longest, answer].into_iter().flatten();
        self.longest = both.max_by_key(|answer| answer.silent_ns);
    }
}

/// One finished exchange, kept only for the file of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLine {
    /// Begin, ns since the clock started.
    pub started_ns: u64,
    /// Connect time, with the handshake of TLS; 0 on a reused connection.
    pub connect_ns: u64,
    /// Total time, connect included.
    pub total_ns: u64,
    /// Wait for the first byte.
    pub wait_ns: u64,
    /// Whether it was answered.
    pub answered: bool,
}

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
}

impl Record {
    /// How many different body lengths are told apart.
    pub const BODY_LENGTHS_KEPT: usize = 64;

    /// How many bytes of a malformed answer are kept.
    pub const MALFORMED_KEPT: usize = 256;

    /// Number of failures of one kind.
    pub fn failures_of(&self, kind: FailureKind) -> u64 {
        self.failures[kind as usize]
    }

    /// Number of failures of all kinds.
    pub fn failures_total(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Exchanges finished: answers and failures.
    pub fn finished(&self) -> u64 {
        self.answers + self.failures_total()
    }

    /// Answers with an expected status.
    pub fn succeeded(&self) -> u64 {
        self.answers - self.unexpected
    }
}
