//! A built-in server as it was asked for: everything that `ablaze serve` can be told, typed. The command line and
//! experiments produce it; the machine that runs the server resolves it. What is `None`, or empty, is left to the
//! measured system that `like` names, and otherwise to the server's own defaults.
//!
//! `words` makes the words that start `ablaze serve`.

pub mod values;
mod words;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::requests::Body;
use super::wishes::HttpVersion;
use crate::experiment::Speaks;
use crate::plan::tls::TlsVersion;
use values::{
    AcceptBatch, AcceptMode, App, Arm, Delay, FaultShare, PerAccept, ResponseKind, Scheduler,
    Share, Threads, WriteMode,
};

/// A built-in server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// The measured system whose options it has where it says nothing itself.
    pub like: Option<String>,
    /// Its I/O model, by name: which there are is known where it is started.
    pub model: Option<String>,
    /// How connections come to the workers.
    pub accept: Option<AcceptMode>,
    /// Worker threads.
    pub threads: Option<Threads>,
    /// CPUs that the workers are pinned to, in turn.
    pub cpus: Vec<u32>,
    /// How fibers are kept and scheduled.
    #[serde(skip_serializing_if = "says_nothing")]
    pub fibers: FibersSpec,
    /// What it sends back.
    #[serde(skip_serializing_if = "says_nothing")]
    pub responses: ResponsesSpec,
    /// What is spoken, connections and their sockets.
    #[serde(skip_serializing_if = "says_nothing")]
    pub connections: ServedConnectionsSpec,
    /// How TLS is spoken.
    #[serde(skip_serializing_if = "says_nothing")]
    pub tls: ServedTlsSpec,
    /// What is slow or goes wrong.
    #[serde(skip_serializing_if = "says_nothing")]
    pub trouble: TroubleSpec,
    /// Where its counters are written as JSON when it stops.
    pub stats: Option<PathBuf>,
}

/// How fibers are kept and scheduled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FibersSpec {
    /// Size of a stack.
    pub stack_bytes: Option<u64>,
    /// Stacks kept for reuse, per worker.
    pub stack_pool: Option<u32>,
    /// Who runs a fiber.
    pub scheduler: Option<Scheduler>,
    /// How a fiber waits for its socket.
    pub arm: Option<Arm>,
}

/// What the server sends back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponsesSpec {
    /// Length of the body of `/`.
    pub body_bytes: Option<u64>,
    /// Status of `/`.
    pub status: Option<u16>,
    /// Length that heads are padded to.
    pub head_bytes: Option<u64>,
    /// Responses by path.
    pub routes: Vec<RouteSpec>,
    /// Every path sends back the request's body.
    pub echo: bool,
    /// An application beside the other paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<App>,
    /// What kind of server it is.
    pub kind: Option<ResponseKind>,
    /// Value of the field Server; empty leaves it out.
    pub server_name: Option<String>,
    /// Longest body that is accepted.
    pub max_body_bytes: Option<u64>,
    /// CPU time burnt for each request, ns.
    pub work_ns: Option<u64>,
    /// Requests served at a time; 0 is no limit.
    pub in_service: Option<u32>,
    /// How a response is written.
    pub write: Option<WriteMode>,
}

/// A response for a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteSpec {
    /// The path; `*` stands for any characters, `?` for one.
    pub path: String,
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Body,
}

/// What is spoken, connections and their sockets, on the server's side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServedConnectionsSpec {
    /// HTTP/1.1; HTTP/2 as well; both and HTTP/3, which is under TLS.
    pub http: Option<HttpVersion>,
    /// Streams that a client of HTTP/2 or HTTP/3 may have open at a time.
    pub max_streams: Option<u32>,
    /// Clients of HTTP/3 show first that they receive at their address.
    #[serde(skip_serializing_if = "says_nothing")]
    pub retry: bool,
    /// Whether connections stay open as the protocol says, or are closed after their first response.
    pub keep_alive: Option<bool>,
    /// Requests after which a connection is closed; 0 is no limit.
    pub max_requests: Option<u64>,
    /// How long an idle connection is kept, ns; 0 is for ever.
    pub read_timeout_ns: Option<u64>,
    /// Connections waiting to be accepted, per listener.
    pub backlog: Option<i32>,
    /// Connections accepted per event.
    pub accept_batch: Option<AcceptBatch>,
    /// What is done with each accepted connection besides serving it.
    pub per_accept: Option<PerAccept>,
    /// Most events taken per wait.
    pub max_events: Option<u32>,
    /// `SO_SNDBUF`.
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF`.
    pub receive_buffer_bytes: Option<u32>,
    /// `TCP_NODELAY`.
    pub no_delay: Option<bool>,
}

/// How the server speaks TLS: it does if any of this is said. Files are those of the machine that starts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServedTlsSpec {
    /// With a certificate made for the run, unless one is named.
    pub on: bool,
    /// Where the certificate of who signed the one made for the run is written (PEM).
    pub authority_out: Option<PathBuf>,
    /// The certificate with its chain (PEM).
    pub certificate: Option<PathBuf>,
    /// Its key (PEM).
    pub key: Option<PathBuf>,
    /// Oldest version.
    pub oldest: Option<TlsVersion>,
    /// Newest version.
    pub newest: Option<TlsVersion>,
    /// Session tickets.
    pub tickets: Option<bool>,
    /// Clients show a certificate that one of these issued (PEM).
    pub client_authorities: Option<PathBuf>,
}

/// What is slow or goes wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TroubleSpec {
    /// How long each response waits.
    pub delay: Option<Delay>,
    /// What goes wrong, and how often.
    pub faults: Vec<FaultShare>,
    /// Share of received datagrams that are dropped, for HTTP/3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagram_loss: Option<Share>,
    /// Seed of random delays, faults and losses.
    pub seed: Option<u64>,
}

impl ModelSpec {
    /// Whether it speaks TLS by its own options.
    pub fn speaks_tls(&self) -> bool {
        !says_nothing(&self.tls) || self.speaks_http3()
    }

    /// Whether it speaks HTTP/3 by its own options, beside the others.
    pub fn speaks_http3(&self) -> bool {
        self.connections.http == Some(HttpVersion::Http3)
    }

    /// Whether clients are told otherwise which certificate to trust: it has one of its own, or says who signed it.
    pub fn has_certificate(&self) -> bool {
        self.tls.certificate.is_some() || self.tls.authority_out.is_some()
    }

    /// The same, speaking TLS, HTTP/2 and HTTP/3 too where it says nothing about them, with one thread where it says
    /// none.
    pub fn speaking(&self, speaks: Speaks) -> Self {
        let Speaks { https, http2, http3 } = speaks;
        let mut model = self.clone();
        model.tls.on |= https && !self.speaks_tls();
        let http = match (http2, http3) {
            (_, true) => Some(HttpVersion::Http3),
            (true, false) => Some(HttpVersion::Http2),
            (false, false) => None,
        };
        model.connections.http = model.connections.http.or(http);
        if model.like.is_none() {
            model.threads.get_or_insert(Threads::Exactly(1));
        }
        model
    }

    /// The files whose bytes travel with it.
    pub fn blobs(&self) -> Vec<&Blob> {
        let bodies = self.responses.routes.iter().map(|route| &route.body);
        bodies.filter_map(Body::file).collect()
    }

    /// The same, to put their bytes beside them.
    pub fn blobs_mut(&mut self) -> Vec<&mut Blob> {
        let bodies = self.responses.routes.iter_mut().map(|route| &mut route.body);
        bodies.filter_map(Body::file_mut).collect()
    }

    /// What this says, and where it says nothing, what `preset` says. Lists are not joined.
    pub fn over(self, preset: Self) -> Self {
        Self {
            like: self.like.or(preset.like),
            model: self.model.or(preset.model),
            accept: self.accept.or(preset.accept),
            threads: self.threads.or(preset.threads),
            cpus: first_list(self.cpus, preset.cpus),
            fibers: self.fibers.over(preset.fibers),
            responses: self.responses.over(preset.responses),
            connections: self.connections.over(preset.connections),
            tls: self.tls.over(preset.tls),
            trouble: self.trouble.over(preset.trouble),
            stats: self.stats.or(preset.stats),
        }
    }
}

impl FibersSpec {
    fn over(self, preset: Self) -> Self {
        Self {
            stack_bytes: self.stack_bytes.or(preset.stack_bytes),
            stack_pool: self.stack_pool.or(preset.stack_pool),
            scheduler: self.scheduler.or(preset.scheduler),
            arm: self.arm.or(preset.arm),
        }
    }
}

impl ResponsesSpec {
    fn over(self, preset: Self) -> Self {
        Self {
            body_bytes: self.body_bytes.or(preset.body_bytes),
            status: self.status.or(preset.status),
            head_bytes: self.head_bytes.or(preset.head_bytes),
            routes: first_list(self.routes, preset.routes),
            echo: self.echo || preset.echo,
            app: self.app.or(preset.app),
            kind: self.kind.or(preset.kind),
            server_name: self.server_name.or(preset.server_name),
            max_body_bytes: self.max_body_bytes.or(preset.max_body_bytes),
            work_ns: self.work_ns.or(preset.work_ns),
            in_service: self.in_service.or(preset.in_service),
            write: self.write.or(preset.write),
        }
    }
}

impl ServedConnectionsSpec {
    fn over(self, preset: Self) -> Self {
        Self {
            http: self.http.or(preset.http),
            max_streams: self.max_streams.or(preset.max_streams),
            retry: self.retry || preset.retry,
            keep_alive: self.keep_alive.or(preset.keep_alive),
            max_requests: self.max_requests.or(preset.max_requests),
            read_timeout_ns: self.read_timeout_ns.or(preset.read_timeout_ns),
            backlog: self.backlog.or(preset.backlog),
            accept_batch: self.accept_batch.or(preset.accept_batch),
            per_accept: self.per_accept.or(preset.per_accept),
            max_events: self.max_events.or(preset.max_events),
            send_buffer_bytes: self.send_buffer_bytes.or(preset.send_buffer_bytes),
            receive_buffer_bytes: self.receive_buffer_bytes.or(preset.receive_buffer_bytes),
            no_delay: self.no_delay.or(preset.no_delay),
        }
    }
}

impl ServedTlsSpec {
    fn over(self, preset: Self) -> Self {
        Self {
            on: self.on || preset.on,
            authority_out: self.authority_out.or(preset.authority_out),
            certificate: self.certificate.or(preset.certificate),
            key: self.key.or(preset.key),
            oldest: self.oldest.or(preset.oldest),
            newest: self.newest.or(preset.newest),
            tickets: self.tickets.or(preset.tickets),
            client_authorities: self.client_authorities.or(preset.client_authorities),
        }
    }
}

impl TroubleSpec {
    fn over(self, preset: Self) -> Self {
        Self {
            delay: self.delay.or(preset.delay),
            faults: first_list(self.faults, preset.faults),
            datagram_loss: self.datagram_loss.or(preset.datagram_loss),
            seed: self.seed.or(preset.seed),
        }
    }
}

fn first_list<T>(list: Vec<T>, otherwise: Vec<T>) -> Vec<T> {
    if list.is_empty() { otherwise } else { list }
}

fn says_nothing<T: Default + PartialEq>(part: &T) -> bool {
    *part == T::default()
}
