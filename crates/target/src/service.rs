//! What all connections of a server share: the handler, the limits and conditions, and the responses
//! that no handler is asked for.

use std::sync::Arc;

use rustls::ServerConfig;

use crate::conditions::circumstances::Circumstances;
use crate::conditions::{ResponseKind, WriteMode};
use crate::handler::{Body, Handler, Method, Reply, Response};
use crate::http1::response::{FixedBody, FixedResponse};
use crate::options::Options;
use crate::own_pages;
use crate::registry::Registry;

/// A handler and everything around it that does not change while the server runs.
#[derive(Debug)]
pub struct Service<H> {
    /// Answers the requests.
    pub handler: H,
    /// Fields that responses made for their request begin with, each with its line end.
    pub server_fields: Vec<u8>,
    /// What kind of server it is.
    pub response: ResponseKind,
    /// Length that heads are padded to.
    pub head_bytes: usize,
    /// Head and body are written by different calls.
    pub split: bool,
    /// Whether connections may be kept.
    pub keep_alive: bool,
    /// A client of HTTP/1.0 is told that its connection will be closed.
    pub tells_http10_of_close: bool,
    /// Requests after which a connection is closed.
    pub max_requests: u64,
    /// Delays, faults and limits that responses are subject to.
    pub circumstances: Circumstances,
    /// Longest head of a request.
    pub max_head_bytes: usize,
    /// Longest body that is taken in for a handler.
    pub max_body_bytes: u64,
    /// What connections speak TLS with; nothing if they speak none.
    pub tls: Option<Arc<ServerConfig>>,
    /// Whether HTTP/2 is spoken with clients that begin with it.
    pub http2: bool,
    /// Streams that a client may have open at a time.
    pub max_streams: u32,
    /// Who works here, for `/_/status`.
    pub registry: Arc<Registry>,
    malformed: FixedResponse,
    head_too_long: FixedResponse,
    body_too_long: FixedResponse,
    plain_http: FixedResponse,
    no_own_page: FixedResponse,
    options: Options,
}

/// Why a request is refused by the protocol; the connection is closed after the response, because
/// where the next request would begin is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Not HTTP/1, or contradicting itself.
    Malformed,
    /// The head is longer than allowed.
    HeadTooLong,
    /// The body is longer than allowed.
    BodyTooLong,
    /// HTTP came where TLS is spoken.
    PlainHttp,
}

impl<H: Handler> Service<H> {
    /// Puts a handler under these options.
    pub fn new(
        handler: H,
        options: &Options,
        tls: Option<Arc<ServerConfig>>,
        registry: Arc<Registry>,
    ) -> Self {
        let refusal = |status, text: &str| {
            let body = FixedBody::Bytes(text.as_bytes());
            FixedResponse::under(options, status, "text/plain; charset=utf-8", body)
        };
        Self {
            handler,
            server_fields: options.server_fields(),
            response: options.response,
            head_bytes: options.head_bytes.unwrap_or(0),
            split: options.write == WriteMode::Split,
            keep_alive: options.keep_alive,
            tells_http10_of_close: options.tells_http10_of_close,
            max_requests: options.max_requests.unwrap_or(u64::MAX),
            circumstances: Circumstances::new(options),
            max_head_bytes: options.max_head_bytes,
            max_body_bytes: options.max_body_bytes,
            tls,
            http2: options.http2,
            max_streams: options.max_streams,
            registry,
            malformed: refusal(400, "not a valid HTTP/1 request\n"),
            head_too_long: refusal(
                431,
                &format!("the request head is longer than {} bytes\n", options.max_head_bytes),
            ),
            body_too_long: refusal(
                413,
                &format!("the request body is longer than {} bytes\n", options.max_body_bytes),
            ),
            plain_http: refusal(
                400,
                "plain HTTP was sent to a TLS port: use https:// instead of http://\n",
            ),
            no_own_page: refusal(404, "not found; try /_/status or /_/config\n"),
            options: options.clone(),
        }
    }

    /// Whether the body of a request for this path is wanted.
    #[inline]
    pub fn wants_body(&self, method: Method, path: &[u8]) -> bool {
        !path.starts_with(own_pages::PREFIX) && self.handler.wants_body(method, path)
    }

    /// The response to a request for one of the server's own pages, whatever the handler; they wait
    /// for nothing and nothing goes wrong with them. Nothing for any other path.
    #[inline]
    pub fn own_page(&self, path: &[u8]) -> Option<Reply<'_>> {
        let page = path.strip_prefix(own_pages::PREFIX)?;
        Some(self.reply_with_own_page(page))
    }

    #[cold]
    fn reply_with_own_page(&self, page: &[u8]) -> Reply<'_> {
        let page = match page {
            b"status" => own_pages::status(&self.options, &self.registry),
            b"config" => own_pages::config(&self.options),
            _ => return Response::Fixed(&self.no_own_page).into(),
        };
        let body = format!("{page:#}\n").into_bytes();
        Response::new(200, "application/json", Body::Owned(body))
            .with_field("Cache-Control", "no-store")
            .into()
    }

    /// The response to a refused request.
    pub fn refusal(&self, why: Refused) -> &FixedResponse {
        match why {
            Refused::Malformed => &self.malformed,
            Refused::HeadTooLong => &self.head_too_long,
            Refused::BodyTooLong => &self.body_too_long,
            Refused::PlainHttp => &self.plain_http,
        }
    }
}
