//! A LoadSpec: what was asked for, by whatever command line or file, before anything depends on the
//! machine that will do it. Every front end and every experiment produces one; the machine that runs
//! it resolves it to a [`Plan`](crate::plan::Plan). It can be saved, compared and cut into shards.
//!
//! Two things are not in it: secrets, which it only refers to ([`secrets`]), and the bytes of the files
//! it names, of which it keeps name and SHA-256 ([`blob`]).

pub mod blob;
mod defaults;
mod form;
mod kept;
pub mod quic;
pub mod requests;
pub mod secrets;
pub mod server;
mod shards;
pub mod target;
pub mod users;
pub mod wishes;

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use ablaze_wire::url::{Scheme, Url, UrlError};
use serde::{Deserialize, Serialize};

use crate::plan::proxy::Way;
use crate::plan::{Arrivals, ClockStarts, Close, Limits, RateProfile};
pub use blob::{Blob, BlobError};
pub use form::FormField;
pub use kept::{FrontEnd, Given};
pub use quic::QuicSpec;
pub use requests::{
    Bodies, Body, Bytes, CookiesSpec, DataSpec, Feed, Head, JourneySpec, Line, Part, RequestsSpec,
};
pub use secrets::{Secret, SecretMissing, SecretRef, Secrets, is_secret_field};
pub use server::ModelSpec;
pub use shards::ShardError;
pub use target::TargetSpec;
pub use users::UsersSpec;
pub use wishes::{HttpVersion, TlsSpec, TrustSpec, WorkersSpec};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Where the load goes.
    pub destination: Destination,
    /// What is sent.
    pub requests: RequestsSpec,
    /// Version of HTTP; `None` is the usual one, 1.1.
    pub http: Option<HttpVersion>,
    /// The shape of the load.
    pub shape: Shape,
    /// Exchanges in flight on each connection: the depth of the pipeline of HTTP/1, the streams of
    /// HTTP/2 and HTTP/3.
    pub in_flight: u32,
    /// What is asked of HTTP/3.
    #[serde(default, skip_serializing_if = "QuicSpec::is_usual")]
    pub quic: QuicSpec,
    /// When it ends, and what is too much.
    pub limits: Limits,
    /// How connections are made, used and ended.
    pub connections: ConnectionsSpec,
    /// Threads, CPUs and the I/O backend.
    pub workers: WorkersSpec,
    /// TLS, for destinations that speak it.
    pub tls: TlsSpec,
    /// Statuses that count as expected.
    pub expect: Vec<RangeInclusive<u16>>,
    /// Whether these were asked for: if not, they are the usual ones.
    #[serde(default)]
    pub expect_asked: bool,
    /// What every response is checked for, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Keep a line of every request.
    pub keep_every_request: bool,
    /// Which part of a larger load this is, if it is one ([`LoadSpec::shard`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Of a part: how many requests all parts have together, where there is a number. The schedule that they share ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_of_all: Option<u64>,
    /// Of a part: the seed of the whole, by which the arrivals of the schedule are drawn that all parts share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_of_all: Option<u64>,
    /// Watch the kernel, the target's process and the connections beside the run.
    pub monitored: bool,
    /// Keep the whole command line of the measured server, which may have secrets in it.
    #[serde(default)]
    pub server_arguments: bool,
    /// Whose options it was described with.
    #[serde(default)]
    pub front_end: FrontEnd,
    /// The words it was made from, without secrets.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub words: Words,
}

/// Whether the operating system is watched beside a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Monitoring {
    /// It is not.
    Off,
    /// It is; of the server's command line, the program and its first words are kept.
    On,
    /// It is, and the server's whole command line is kept.
    WithServerArguments,
}

impl LoadSpec {
    /// Whether the operating system is watched beside it.
    pub fn monitoring(&self) -> Monitoring {
        match (self.monitored, self.server_arguments) {
            (false, _) => Monitoring::Off,
            (true, false) => Monitoring::On,
            (true, true) => Monitoring::WithServerArguments,
        }
    }
}

/// Words of a command line, for display only: two specs that differ in nothing else ask for the same
/// and are equal. They have no secrets in them; who makes them sees to that.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Words(pub Vec<String>);

impl Words {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Words {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// Where a load goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The URL; `None` in a load that is applied to several targets.
    pub url: Option<UrlSpec>,
    /// Which addresses of its name may be used.
    pub family: Family,
    /// Connect elsewhere than the URL says; the first that matches counts.
    pub connect_to: Vec<ConnectTo>,
    /// Connect to this Unix socket instead.
    pub unix_socket: Option<PathBuf>,
    /// Connect to this proxy instead.
    pub proxy: Option<ProxySpec>,
}

/// A URL without user and password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlSpec {
    /// As reports show it.
    pub shown: String,
    /// Whether TLS is spoken.
    pub https: bool,
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
}

/// Which addresses of a name may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// All.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// "Instead of this host and port, connect to that one." What is `None` matches everything, or
/// stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConnectTo {
    /// Host of the URL it applies to.
    pub from_host: Option<String>,
    /// Port of the URL it applies to.
    pub from_port: Option<u16>,
    /// Host or address to connect to.
    pub host: Option<String>,
    /// Port to connect to.
    pub port: Option<u16>,
}

/// A proxy that every connection goes through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxySpec {
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// How requests get through it; `None` is by a tunnel for what it could not read.
    pub way: Option<Way>,
    /// The value of the field Proxy-Authorization.
    pub credentials: Option<SecretRef>,
}

/// The shape of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A fixed number of exchanges always in flight: each waits for its response.
    Closed {
        /// Connections; `None` is 50, or as many as there are requests.
        connections: Option<u32>,
    },
    /// Requests on a schedule, whether or not responses come.
    Open {
        /// How many arrive, over time.
        rate: RateProfile,
        /// How they are spaced.
        arrivals: Arrivals,
        /// Most connections; `None` is what the machine permits.
        connections: Option<u32>,
    },
}

/// How connections are made, used and ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsSpec {
    /// Use a connection for more than one exchange when the server permits.
    pub keep_alive: bool,
    /// Close after this many exchanges.
    pub requests_per_connection: Option<u64>,
    /// How a connection is closed that is not needed any more.
    pub close: Close,
    /// Send a request again, once, when a reused connection was closed before any response byte.
    pub repeat: bool,
    /// When the clock starts.
    pub clock_starts: ClockStarts,
    /// Time over which the connections are opened at the start, ns; 0 opens all at once.
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

impl UrlSpec {
    /// The URL as people type it, with the `user:password` that stood in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn parse(text: &str) -> Result<(Self, Option<String>), UrlError> {
        let url = Url::parse(text)?;
        let user = url.userinfo.clone();
        Ok((Self::from(&url), user))
    }

    /// The value of the field Host.
    pub fn host_field(&self) -> String {
        self.to_url().host_header()
    }

    /// The URL in parts.
    pub fn to_url(&self) -> Url {
        Url {
            scheme: if self.https { Scheme::Https } else { Scheme::Http },
            host: self.host.clone(),
            port: self.port,
            path_and_query: self.path.clone(),
            userinfo: None,
        }
    }
}

impl From<&Url> for UrlSpec {
    fn from(url: &Url) -> Self {
        Self {
            shown: url.to_string(),
            https: url.scheme == Scheme::Https,
            host: url.host.clone(),
            port: url.port,
            path: url.path_and_query.clone(),
        }
    }
}

impl Shape {
    /// The connections asked for, if any were.
    pub fn connections(&self) -> Option<u32> {
        match *self {
            Self::Closed { connections } | Self::Open { connections, .. } => connections,
        }
    }

    /// Whether requests come on a schedule.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }
}

impl LoadSpec {
    /// Whether HTTP/2 is spoken.
    pub fn is_http2(&self) -> bool {
        self.http == Some(HttpVersion::Http2)
    }

    /// Whether HTTP/3 is spoken.
    pub fn is_http3(&self) -> bool {
        self.http == Some(HttpVersion::Http3)
    }

    /// Whether requests in flight on a connection are streams of their own, which do not wait for each other.
    pub fn has_streams(&self) -> bool {
        self.is_http2() || self.is_http3()
    }

    /// Connections of a closed loop: those asked for, or the usual number, which gives way to few
    /// requests.
    pub fn closed_connections(&self) -> u32 {
        let few = self.limits.requests.unwrap_or(u64::MAX).max(1);
        let usual = CONNECTIONS.min(u32::try_from(few).unwrap_or(u32::MAX));
        self.shape.connections().unwrap_or(usual)
    }

    /// The files it names.
    pub fn blobs(&self) -> Vec<&Blob> {
        let data = self.requests.data.as_ref().map(|data| &data.feed);
        let feeds = [self.requests.urls.as_ref(), data];
        let feeds = feeds.into_iter().flatten().map(|feed| &feed.file);
        let journeys = self.requests.journey.iter().chain(self.requests.users.journeys());
        let of_journey = journeys.flat_map(JourneySpec::blobs);
        let of_list = self.requests.url_files.iter().map(|(_, file)| file);
        let of_bodies = self.requests.bodies.files().into_iter().chain(of_list);
        feeds.chain(of_journey).chain(of_bodies).chain(self.tls.trust.file()).collect()
    }

    /// The same, to put their bytes beside them.
    pub fn blobs_mut(&mut self) -> Vec<&mut Blob> {
        let mut blobs = Vec::new();
        blobs.extend(self.requests.urls.as_mut().map(|feed| &mut feed.file));
        blobs.extend(self.requests.bodies.files_mut());
        blobs.extend(self.requests.url_files.iter_mut().map(|(_, file)| file));
        blobs.extend(self.requests.data.as_mut().map(|data| &mut data.feed.file));
        let (first, users) = (&mut self.requests.journey, &mut self.requests.users);
        let journeys = first.iter_mut().chain(users.journeys_mut());
        blobs.extend(journeys.flat_map(JourneySpec::blobs_mut));
        if let TrustSpec::Issuers(file) = &mut self.tls.trust {
            blobs.push(file);
        }
        blobs
    }
}

/// Connections of a closed loop unless something else is asked for.
const CONNECTIONS: u32 = 50;

#[cfg(test)]
mod tests;
