//! What a server can be told, and what is refused before it starts (`validate`).

mod validate;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::accepting::AcceptMode;
use crate::conditions::{
    AcceptBatch, Delay, FaultShare, FiberOptions, PerAccept, ResponseKind, Route, SocketOptions,
    WriteMode,
};
use crate::models::Model;
use crate::tls::TlsOptions;

pub use crate::routes::shop::ShopOptions;
pub use validate::OptionsError;

/// How a server listens and responds. Fields may be added: end with `..Options::default()`.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Where to listen; port 0 picks a free one.
    pub address: SocketAddr,
    /// How TLS is spoken; nothing to speak none.
    pub tls: Option<TlsOptions>,
    /// HTTP/2 is spoken with clients that begin with it, or choose it by ALPN, beside HTTP/1.
    pub http2: bool,
    /// How HTTP/3 is spoken, on the UDP port of the same number; nothing to speak none. It needs TLS.
    pub http3: Option<Http3Options>,
    /// Streams that a client of HTTP/2 or HTTP/3 may have open at a time, on a connection.
    pub max_streams: u32,
    /// How workers wait, read and write.
    pub model: Model,
    /// How connections come to the workers.
    pub accept: AcceptMode,
    /// Workers; 0 for half of the CPUs this process may use.
    pub threads: usize,
    /// CPUs the workers are pinned to, in turn; empty for none in particular.
    pub cpus: Vec<u32>,
    /// Status of `/`.
    pub status: u16,
    /// Length of the body of `/`; without one it is a short greeting.
    pub body_bytes: Option<u64>,
    /// Length that heads of responses are padded to, where they are shorter, by a field
    /// `X-Padding`. Where fewer bytes are missing than the 12 of that field without a value, heads
    /// get that much longer.
    pub head_bytes: Option<usize>,
    /// Further responses by path, before those the server has: first the paths without wildcards,
    /// then the others in their order.
    pub routes: Vec<Route>,
    /// Every path gives back what was posted, as `/echo` does.
    pub echo_everywhere: bool,
    /// An application beside the other paths.
    pub app: Option<App>,
    /// What kind of server it is.
    pub response: ResponseKind,
    /// Keep connections open as the protocol says, or close each after its response.
    pub keep_alive: bool,
    /// A client of HTTP/1.0 is told that its connection will be closed. The protocol does not ask for it
    /// (RFC 9112, 9.3), and Go's servers do not say so.
    pub tells_http10_of_close: bool,
    /// Requests after which a connection is closed; the last response announces it.
    pub max_requests: Option<u64>,
    /// How long an idle connection is kept.
    pub read_timeout: Option<Duration>,
    /// How long each response waits.
    pub delay: Delay,
    /// CPU time burnt for each request, ns.
    pub work_ns: u64,
    /// Requests that are served at a time, over all workers; the others queue. A request is in
    /// service for its work and its delay, so the capacity is this by their sum.
    pub in_service: Option<u32>,
    /// What goes wrong, and how often: at most one fault for each response.
    pub faults: Vec<FaultShare>,
    /// Where the draws of delays and faults begin. The n-th response of a server gets the n-th draw.
    pub seed: u64,
    /// The Server field; empty leaves it out.
    pub server_name: String,
    /// Longest head of a request; a longer one is answered 431.
    pub max_head_bytes: usize,
    /// Longest body that `/echo`, or a handler that wants bodies, takes in; a longer one is answered 413. It is held
    /// in memory until it is complete, because a client may send all of it before it reads.
    pub max_body_bytes: u64,
    /// Connections the kernel keeps waiting to be accepted, per listener; it may allow less.
    pub backlog: i32,
    /// Options of the sockets.
    pub sockets: SocketOptions,
    /// Events taken from one wait.
    pub max_events: usize,
    /// Connections accepted per event.
    pub accept_batch: AcceptBatch,
    /// What is done with each accepted connection besides serving it.
    pub per_accept: PerAccept,
    /// How responses are written.
    pub write: WriteMode,
    /// How fibers are kept and scheduled; for the models that have some.
    pub fibers: FiberOptions,
}

/// How HTTP/3 is spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Http3Options {
    /// Every client has to show first that it receives at its address (Retry; RFC 9000, 8.1.2).
    pub retry: bool,
    /// Share of the received datagrams that are dropped, from 0 to 1.
    pub loss: f64,
}

/// An application that the built-in server can have: paths that keep state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum App {
    /// A shop: log in, list, item, basket, upload.
    Shop(ShopOptions),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            tls: None,
            http2: false,
            http3: None,
            max_streams: 128,
            model: Model::EpollEt,
            accept: AcceptMode::ReusePort,
            threads: 0,
            cpus: Vec::new(),
            status: 200,
            body_bytes: None,
            head_bytes: None,
            routes: Vec::new(),
            echo_everywhere: false,
            app: None,
            response: ResponseKind::Http,
            keep_alive: true,
            tells_http10_of_close: true,
            max_requests: None,
            read_timeout: None,
            delay: Delay::default(),
            work_ns: 0,
            in_service: None,
            faults: Vec::new(),
            seed: 1,
            server_name: "ablaze".into(),
            max_head_bytes: 64 * 1024,
            max_body_bytes: 1 << 30,
            backlog: 65_535,
            sockets: SocketOptions::default(),
            max_events: 256,
            accept_batch: AcceptBatch::Drain,
            per_accept: PerAccept::Nothing,
            write: WriteMode::Whole,
            fibers: FiberOptions::default(),
        }
    }
}

impl Options {
    /// Most threads a server can have.
    pub const THREADS_MAX: usize = 1024;

    /// The fields that every response begins with, each with its line end: Server, and where HTTP/3 is spoken
    /// (RFC 7838, 3). The port of the address must be the real one.
    pub(crate) fn server_fields(&self) -> Vec<u8> {
        let mut fields = server_field(&self.server_name);
        if self.http3.is_some() {
            let port = self.address.port();
            fields.extend_from_slice(format!("Alt-Svc: h3=\":{port}\"; ma=3600\r\n").as_bytes());
        }
        fields
    }

    /// Number of threads that will run.
    pub fn threads_resolved(&self) -> usize {
        match self.threads {
            // A client on the same machine takes the other half.
            0 => (std::thread::available_parallelism().map_or(1, |cpus| cpus.get()) / 2).max(1),
            threads => threads,
        }
    }
}

/// The field Server with its line end; nothing if the name is empty.
pub(crate) fn server_field(name: &str) -> Vec<u8> {
    match name {
        "" => Vec::new(),
        name => format!("Server: {name}\r\n").into_bytes(),
    }
}
