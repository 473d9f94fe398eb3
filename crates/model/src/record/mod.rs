//! What is kept of a run's exchanges: counters, statuses, sizes, and one distribution per phase,
//! apart for responses and for failures. Fixed size, whatever the number of requests.

mod address;
mod checks;
mod circumstances;
mod each_connection;
mod early;
mod fault;
mod group;
mod http2;
mod http3;
mod idle;
mod journeys;
mod malformed;
mod merge;
mod not_kept;
mod phases;
mod proxy;
mod samples;
mod silent;
mod slices;
mod stopped;
mod streamless;
mod tally;
mod tls;
mod tls_alert;

use std::collections::{BTreeMap, BTreeSet};

use ablaze_stats::Latency;

use crate::failure::FailureKind;
pub use address::AddressRecord;
pub use checks::{CheckRecord, Checks};
pub use circumstances::Circumstances;
pub use each_connection::EachConnection;
pub use early::AnsweredEarly;
pub use fault::Fault;
pub use group::{GroupRecord, GroupTimes};
pub use http2::{Codes, Http2Facts, ServerSettings, WindowWaits};
pub use http3::{DatagramTraffic, Http3Facts, NamedCounts, QuicFacts, QuicHandshakes, Spread};
pub use idle::{EndedIdle, IdleTimes};
pub use journeys::{FirstMessage, JourneyStep, Journeys, OneJourney, Setup};
pub use malformed::MalformedBy;
pub use not_kept::NotKeptBy;
pub use phases::{Handshakes, Intended, Phases};
pub use proxy::ProxyFacts;
pub use samples::{
    Message, Sample, Samples, add_credential, basic_credentials_in, credentials_in, longest_first,
    masked,
};
pub use silent::Silent;
pub use slices::{Slice, Slices};
pub use stopped::{Stopped, StoppedResponse};
pub use streamless::Streamless;
pub use tally::{Reason, Tally};
pub use tls::{Agreed, Spoken, TlsFacts, TlsParty};
pub use tls_alert::TlsAlert;

/// What is kept of a run's exchanges.
#[derive(Debug, Clone)]
pub struct Record {
    /// Complete responses of any status.
    pub responses: u64,
    /// Those of them outside the expected statuses.
    pub unexpected: u64,
    /// Exchanges that ended without a valid response, by kind, in the order of
    /// [`FailureKind::ALL`].
    pub failures: [u64; FailureKind::ALL.len()],
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Responses by length of their body; at most [`Record::BODY_LENGTHS_KEPT`] lengths.
    pub body_lengths: BTreeMap<u64, u64>,
    /// Responses whose length found no place in `body_lengths`.
    pub body_lengths_other: u64,
    /// Body length of the response that was complete first.
    pub first_body_bytes: Option<u64>,
    /// When it was complete, driver's clock: decides between workers.
    pub first_response_at_ns: u64,
    /// Head of the response that was complete first.
    pub first_head: Vec<u8>,
    /// The values of Content-Encoding that came, in lower case, `identity` where there was none; at most
    /// [`Record::CODINGS_KEPT`]. Empty where no request said which codings it takes. With HTTP/2, that of a worker's first
    /// response.
    pub content_codings: BTreeSet<String>,
    /// Responses on connections that stayed open for another request.
    pub reused: u64,
    /// Of the others, why their connection was not kept; of HTTP/1.
    pub not_kept: Tally<NotKeptBy>,
    /// Requests sent again because a reused connection ended before any response byte.
    pub repeated: u64,
    /// Those of them whose connection this program gave up, because a request before them failed.
    pub repeated_after_failure: u64,
    /// Those of them that had been pipelined behind a response that announced the close: the server processes
    /// none of these.
    pub repeated_after_announced: u64,
    /// Those of them whose connection the far end reset (ECONNRESET, EPIPE) instead of closing it.
    pub repeated_after_reset: u64,
    /// Those of them whose connection this program closed because of surplus bytes.
    pub repeated_after_surplus: u64,
    /// Reused connections that the far end ended, where the request was not sent again or there was none.
    pub ended_idle: EndedIdle,
    /// Connections that were given up because bytes came that belonged to no response.
    pub surplus: u64,
    /// Those of them whose bytes began as another response does: the server sends more of them than were asked for.
    pub surplus_responses: u64,
    /// Connections that the server was to close after a response and that were left to it to close; only so
    /// many at a time are.
    pub awaited_close: u64,
    /// Those of them that it did not close within a second, in which no request waited for them.
    pub left_open: u64,
    /// Those of them that the client closed before that, because nothing came on any connection while it
    /// waited: a server that serves one connection at a time waits for the client's FIN.
    pub closed_early: u64,
    /// Responses that were complete before their requests had been sent whole.
    pub answered_early: AnsweredEarly,
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
    /// Bytes of requests, and of what carries them, handed to the kernel from the start of the clock until each thread saw
    /// its time over: what its last turn sent is in it, what ends connections behind that is not. Above TCP and TLS, or UDP.
    pub sent_bytes: u64,
    /// Times of exchanges that were answered.
    pub answered: Phases,
    /// Times of exchanges that failed.
    pub failed: Phases,
    /// Connects made before the clock started.
    pub setup_connect: Latency,
    /// The TLS handshakes behind them.
    pub setup_tls: Option<Box<Latency>>,
    /// Attempts to connect that failed and for which no request did, by kind, those of handshakes and tunnels included: made
    /// before the clock started, or where the next address of a name was tried. The one at which the server was given up
    /// before the clock is among `failures` as well.
    pub setup_failures: [u64; FailureKind::ALL.len()],
    /// What attempts to connect came to at each address of the target, where its name has several.
    pub by_address: Vec<AddressRecord>,
    /// How long requests waited because all streams were in use, those that did; with streams only.
    pub stream_wait: Option<Box<Latency>>,
    /// What is known of TLS; `None` on plain connections.
    pub tls: Option<Box<TlsFacts>>,
    /// What is known of HTTP/2; `None` with HTTP/1.
    pub http2: Option<Box<Http2Facts>>,
    /// What is known of HTTP/3, where it was spoken.
    pub http3: Option<Box<Http3Facts>>,
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
    /// How the first malformed response of a worker began; at most [`Record::MALFORMED_KEPT`] bytes.
    pub first_malformed: Vec<u8>,
    /// What the malformed responses are. Requests that were pipelined behind one fail with it, and are not in it.
    pub malformed: Tally<MalformedBy>,
    /// Responses that stopped in the middle.
    pub stopped: Stopped,
    /// Requests in flight at the end to which nothing had come for long.
    pub silent: Silent,
    /// Requests that were never sent, because the server permitted no stream.
    pub streamless: Streamless,
    /// What more is known of some failures than their kinds say.
    pub circumstances: Circumstances,
    /// Count, errors and latency over time.
    pub slices: Slices,
    /// Responses per second of each worker in each of its slices that had any, with the slices without a response before it: a
    /// distribution of rates. Only wrk's report has it, and no file keeps it.
    pub worker_rates: Latency,
    /// What is kept of each group of requests, beside the whole; empty where the run has none.
    pub groups: Vec<GroupRecord>,
    /// What is kept of journeys; `None` where requests are none's steps.
    pub journeys: Option<Box<Journeys>>,
    /// How checks went; `None` where none were asked for.
    pub checks: Option<Box<Checks>>,
    /// Requests and responses that failed a check, or an assert or a capture of a journey; `None` where none did.
    pub samples: Option<Box<Samples>>,
    /// What each connection came to; `None` where connections are made before the clock or for one request each. Only
    /// h2load's report has it, and no file keeps it.
    pub each_connection: Option<Box<EachConnection>>,
    /// One line per request, if asked for.
    pub every_request: Vec<RequestLine>,
    /// Workers that ended before their run, by a fault of this program: the record has what they did until
    /// then.
    pub faults: Vec<Fault>,
}

/// The failure that came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstFailure {
    /// When, driver's clock.
    pub at_ns: u64,
    /// Its kind.
    pub kind: FailureKind,
    /// The errno behind it; 0 where there is none.
    pub errno: i32,
    /// Whether it happened while connecting.
    pub connecting: bool,
}

/// One finished exchange, kept only for reports that list every request.
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
    /// Which of the Plan's templates it sent.
    pub template: u32,
    /// Status of the response; 0 where there was none.
    pub status: u16,
    /// Why there was none.
    pub failure: Option<FailureKind>,
    /// Length of the body, without transfer coding.
    pub body_bytes: u64,
}

impl Record {
    /// How many different body lengths are told apart.
    pub const BODY_LENGTHS_KEPT: usize = 64;

    /// How many different content codings are kept.
    pub const CODINGS_KEPT: usize = 8;

    /// How many bytes of a malformed response are kept.
    pub const MALFORMED_KEPT: usize = 256;

    /// Whether the first response was a stream of events (`text/event-stream`, HTML standard, section 9.2): silent
    /// between two of them, and without an end.
    pub fn is_event_stream(&self) -> bool {
        let head = String::from_utf8_lossy(&self.first_head).to_ascii_lowercase();
        let types = head.lines().filter_map(|line| line.strip_prefix("content-type:"));
        types.into_iter().any(|value| value.trim_start().starts_with("text/event-stream"))
    }

    /// Whether the server let no request be sent at all: no stream is permitted (RFC 9113, section 6.5.2; RFC 9000,
    /// section 4.6).
    pub fn permitted_no_stream(&self) -> bool {
        self.responses == 0 && self.streams_permitted() == Some(0)
    }

    /// Of the failures and of the unfinished, those that were never sent because the server permitted no stream, from the
    /// first on or from some moment of the run on.
    pub fn without_stream(&self) -> Streamless {
        match self.permitted_no_stream() {
            true => Streamless {
                timed_out: self.failures_of(FailureKind::Timeout),
                unfinished: self.unfinished,
            },
            false => self.streamless,
        }
    }

    /// Whether the first malformed response is a server's first frame of HTTP/2, SETTINGS of stream 0 and not an
    /// acknowledgement (RFC 9113, sections 3.4 and 6.5): a server that speaks it without being asked.
    pub fn began_with_http2(&self) -> bool {
        Self::is_http2(&self.first_malformed)
    }

    /// Whether these first bytes of a server are such a frame.
    pub fn is_http2(bytes: &[u8]) -> bool {
        const SETTINGS: u8 = 4;
        match bytes {
            // Each setting has six bytes.
            [0, 0, length, SETTINGS, 0, 0, 0, 0, 0, ..] => length % 6 == 0,
            _ => false,
        }
    }

    /// The fewest streams at once that a server permitted in the end, where it began with fewer than were asked for.
    pub fn streams_permitted(&self) -> Option<u64> {
        let http3 = self.http3.as_ref();
        let http3 = http3.and_then(|facts| facts.streams_at_last.or(facts.streams_permitted));
        let http2 = self.http2.as_ref().and_then(|facts| facts.streams_permitted);
        http3.or(http2.map(u64::from))
    }

    /// Number of failures of one kind.
    pub fn failures_of(&self, kind: FailureKind) -> u64 {
        self.failures[kind as usize]
    }

    /// Number of failures of all kinds.
    pub fn failures_total(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Exchanges finished: responses and failures.
    pub fn finished(&self) -> u64 {
        self.responses + self.failures_total()
    }

    /// Bytes of the bodies of responses, without those of failed requests, which `body_bytes` has too. Where lengths found no place
    /// and requests failed, nobody knows them apart: then they are all.
    pub fn bytes_of_responses(&self) -> u64 {
        if self.failures_total() == 0 || self.body_lengths_other > 0 {
            return self.body_bytes;
        }
        self.body_lengths.iter().map(|(length, count)| length.saturating_mul(*count)).sum()
    }

    /// Responses with an expected status.
    pub fn succeeded(&self) -> u64 {
        self.responses - self.unexpected
    }
}
