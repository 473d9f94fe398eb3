//! The Plan: everything a run will do, resolved and immutable. Front ends produce one; nothing
//! behind them reads a command line.

pub mod alternative;
mod check;
pub mod checks;
pub mod data;
pub mod groups;
pub mod journey;
pub mod origins;
pub mod proxy;
mod requests;
mod statuses;
pub mod tls;
pub mod tls_names;
pub mod users;

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use ablaze_wire::http1::request::Template;
use ablaze_wire::http2::request::{Request, RequestError, RequestSet};
pub use check::PlanError;
pub use requests::{Http2, Http3, Requests};
use serde::{Deserialize, Serialize};
pub use statuses::statuses_in_words;

use crate::spec::Part;

/// Everything a run will do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Where the load goes.
    pub target: Target,
    /// TLS on every connection; `None` is plain.
    pub tls: Option<tls::Tls>,
    /// HTTP/2 on every connection; `None` is HTTP/1, or HTTP/3.
    pub http2: Option<Http2>,
    /// HTTP/3, if it is spoken; then there is no [`Plan::http2`], and [`Plan::tls`] says whom to trust.
    pub http3: Option<Http3>,
    /// What is sent.
    pub requests: Requests,
    /// The journey whose steps the requests are.
    #[serde(skip)]
    pub journey: Option<journey::PlannedJourney>,
    /// The shape of the load.
    pub load: Load,
    /// When it ends, and what is too much.
    pub limits: Limits,
    /// How connections are made, used and ended.
    pub connections: Connections,
    /// Threads, CPUs and the I/O backend.
    pub workers: Workers,
    /// Statuses that count as expected.
    pub expect: Vec<RangeInclusive<u16>>,
    /// What every response is checked for.
    #[serde(skip)]
    pub checks: Option<std::sync::Arc<checks::PlannedChecks>>,
    /// Keep a line of every request (ab's `-g`); memory then grows with their number.
    pub keep_every_request: bool,
    /// Which part of a larger load this is: its arrivals are those of one schedule, dealt in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Of a part: how many requests all parts have together, where there is a number. The schedule that they share ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_of_all: Option<u64>,
    /// Of a part: the seed of the schedule that all parts share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_of_all: Option<u64>,
}

/// Where the load goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    /// The URL as reports show it.
    pub url: String,
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Every address the name resolved to, in the resolver's order; with a proxy, those of its
    /// name. Each is tried until one accepts a connection.
    pub addresses: Vec<SocketAddr>,
    /// Where it has HTTP/3 by its own word; then the addresses are those of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<alternative::Alternative>,
    /// Connect to this Unix socket instead.
    pub unix_socket: Option<PathBuf>,
    /// The proxy that is connected to instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<proxy::Proxy>,
    /// Where steps of a journey, or lines of a list, go beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<origins::Origin>,
}

/// The shape of the load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// A fixed number of exchanges always in flight: each waits for its response.
    Closed {
        /// Connections.
        connections: u32,
        /// Exchanges in flight on each: the depth of the pipeline of HTTP/1, the streams of HTTP/2 and HTTP/3.
        pipeline: u32,
    },
    /// Requests on a schedule, whether or not responses come.
    Open {
        /// How many arrive, over time.
        rate: RateProfile,
        /// How they are spaced.
        arrivals: Arrivals,
        /// Most connections. An arrival that finds all of them busy waits, and its waiting is
        /// part of its response time.
        connections: u32,
        /// Whether that bound was asked for; otherwise it is what this machine permits.
        bounded: bool,
    },
}

/// A rate over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateProfile {
    /// Arrivals per second at the start.
    pub from_per_s: f64,
    /// Arrivals per second at the end of the duration; the same for a constant rate.
    pub to_per_s: f64,
    /// Steps between the two, of equal length; 0 or 1 for a rate that changes evenly.
    pub steps: u32,
}

impl RateProfile {
    /// The same rate all the time.
    pub fn constant(per_s: f64) -> Self {
        Self { from_per_s: per_s, to_per_s: per_s, steps: 0 }
    }

    /// Whether it never changes.
    pub fn is_constant(&self) -> bool {
        self.from_per_s == self.to_per_s
    }
}

/// How arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly.
    Constant,
    /// As independent users arrive: exponentially distributed gaps.
    Poisson,
}

impl Load {
    /// Connections of all workers together, at most.
    pub fn connections(&self) -> u32 {
        match *self {
            Self::Closed { connections, .. } | Self::Open { connections, .. } => connections,
        }
    }

    /// Connections opened before the clock starts. In open loop as many as would be busy with
    /// responses that take a millisecond, at most 100: the others are opened when they are needed.
    pub fn connections_at_start(&self) -> u32 {
        match *self {
            Self::Closed { connections, .. } => connections,
            Self::Open { rate, connections, .. } => {
                let highest_per_s = rate.from_per_s.max(rate.to_per_s);
                ((highest_per_s / 1000.0).ceil() as u32).clamp(1, 100).min(connections)
            }
        }
    }

    /// Exchanges in flight on each connection.
    pub fn pipeline(&self) -> u32 {
        match *self {
            Self::Closed { pipeline, .. } => pipeline,
            Self::Open { .. } => 1,
        }
    }

    /// Whether requests come on a schedule.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }
}

/// When a run ends, and what is too much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Number of exchanges; exact.
    pub requests: Option<u64>,
    /// Length of the measured window.
    pub duration_ns: Option<u64>,
    /// Load sent before the window, not counted.
    pub warmup_ns: u64,
    /// From the intended time to the last byte, connecting included; 0 for none.
    pub timeout_ns: u64,
    /// Longest head of a response.
    pub max_head_bytes: usize,
    /// Give up when this many connections in a row were refused and none ever stood.
    pub unreachable_after: u32,
}

/// How connections are made, used and ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Connections {
    /// Use a connection for more than one exchange when the server permits.
    pub keep_alive: bool,
    /// Close after this many exchanges.
    pub requests_per_connection: Option<u64>,
    /// How a connection is closed that is not needed any more.
    pub close: Close,
    /// Send a request again, once, when a reused connection was closed before any response byte.
    pub repeat: bool,
    /// When the clock starts: before the first connect (as ab does) or when all connections stand.
    pub clock_starts: ClockStarts,
    /// Time between the opening of two connections at the start; 0 opens all at once.
    pub ramp_ns: u64,
    /// Local addresses to bind to, in turn.
    pub local_addresses: Vec<IpAddr>,
    /// Local ports to bind to, in turn.
    pub local_ports: Option<RangeInclusive<u16>>,
    /// `SO_SNDBUF` and `SO_RCVBUF`, if given.
    pub socket_buffer_bytes: Option<u32>,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
}

/// How a connection is closed that is not needed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Close {
    /// Wait for the server's FIN up to a second if it announced one, then FIN.
    Await,
    /// FIN at once.
    Fin,
    /// RST.
    Reset,
}

/// When the clock starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockStarts {
    /// Before the first connect.
    BeforeConnecting,
    /// When all connections stand; setting them up is timed apart.
    AfterConnecting,
}

/// Threads, CPUs and the I/O backend.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Workers {
    /// Number of threads.
    pub count: u32,
    /// Why this many, for the report.
    pub count_reason: String,
    /// CPUs the threads are pinned to, in turn; empty leaves them to the scheduler.
    pub cpus: Vec<u32>,
    /// The backend asked for.
    pub io: IoChoice,
    /// Active waiting.
    pub spin: Spin,
    /// There are CPUs that neither the workers nor a target on this host need.
    pub cpus_to_spare: bool,
}

/// The I/O backend asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IoChoice {
    /// io_uring if the kernel permits, else epoll, and the report says why.
    Auto,
    /// io_uring or nothing.
    Uring,
    /// epoll.
    Epoll,
}

/// Active waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spin {
    /// Only with few exchanges in flight and CPUs to spare, and bounded.
    Auto,
    /// Never.
    Off,
    /// Always up to this many nanoseconds.
    For(u64),
}

impl Plan {
    /// Whether requests may be sent before the clock starts: those of a warm-up, or of what users walk first. No figure has them.
    pub fn sends_before_clock(&self) -> bool {
        let users = self.journey.as_ref().map(|journey| &journey.users);
        self.limits.warmup_ns > 0 || users.is_some_and(|users| users.setup.is_some())
    }

    /// Exchanges in flight on each connection, at most.
    pub fn places_per_connection(&self) -> u32 {
        self.streams().unwrap_or(self.load.pipeline()).max(1)
    }

    /// Exchanges in flight on each connection as streams of its own, at most; `None` where it carries one after the other.
    pub fn streams(&self) -> Option<u32> {
        self.http3.map(|http3| http3.streams).or(self.http2.map(|http2| http2.streams))
    }

    /// Version of HTTP that is spoken: `1.0`, `1.1`, `2` or `3`.
    pub fn http_version(&self) -> String {
        match (self.http3, self.http2) {
            (Some(_), _) => "3".to_owned(),
            (None, Some(_)) => "2".to_owned(),
            (None, None) => format!("1.{}", self.requests.minor_version),
        }
    }

    /// Scheme of the target's URL.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The requests as HTTP/2 has them; `None` when they are sent over HTTP/1.
    ///
    /// # Errors
    /// When one of them cannot be sent over HTTP/2; the text names the fix.
    pub fn http2_requests(&self) -> Result<Option<RequestSet>, PlanError> {
        if self.http2.is_none() {
            return Ok(None);
        }
        Ok(Some(RequestSet::of(self.requests_of_streams()?)))
    }

    /// The requests as fields and bodies, for protocols that have streams.
    ///
    /// # Errors
    /// When one of them cannot be sent over such a protocol; the text names the fix.
    pub fn requests_of_streams(&self) -> Result<Vec<Request>, PlanError> {
        self.translated(Request::from_template)
    }

    /// Whether they can be sent over such a protocol.
    ///
    /// # Errors
    /// When one of them cannot; the text names the fix.
    pub fn check_streams(&self) -> Result<(), PlanError> {
        self.translated(Request::head_of_template).map(drop)
    }

    fn translated(&self, translate: Translate) -> Result<Vec<Request>, PlanError> {
        let (scheme, authority) = (self.scheme(), &self.target.host);
        let one = |template: &Template| match template.is_variable() {
            false => translate(template, scheme, authority),
            // Those are written anew each time: this one says whether they can be, and is never sent.
            true => translate(&template.filled(), scheme, authority),
        };
        let requests = self.requests.templates.iter().map(one);
        requests.collect::<Result<_, _>>().map_err(|error| PlanError::Invalid(error.to_string()))
    }
}

/// How a request of HTTP/1 becomes one of a scheme and an authority.
type Translate = fn(&Template, &str, &str) -> Result<Request, RequestError>;
