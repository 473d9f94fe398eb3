//! What all connections of a server share: the handler, the limits, and the answers that the
//! protocol gives by itself.

use std::sync::Arc;

use crate::handler::Handler;
use crate::http1::answer::{FixedAnswer, FixedBody};
use crate::options::Options;
use crate::registry::Registry;

/// A handler and everything around it that does not change while the server runs.
#[derive(Debug)]
pub struct Service<H> {
    /// Answers the requests.
    pub handler: H,
    /// The Server field of answers made for their request.
    pub server_name: String,
    /// Whether connections may be kept.
    pub keep_alive: bool,
    /// Longest head of a request.
    pub max_head_bytes: usize,
    /// Longest body that is taken in for a handler.
    pub max_body_bytes: u64,
    /// Who works here, for `/_/status`.
    pub registry: Arc<Registry>,
    malformed: FixedAnswer,
    head_too_long: FixedAnswer,
    body_too_long: FixedAnswer,
}

/// Why a request is refused by the protocol; the connection is closed after the answer, because
/// where the next request would begin is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Not HTTP/1, or contradicting itself.
    Malformed,
    /// The head is longer than allowed.
    HeadTooLong,
    /// The body is longer than allowed.
    BodyTooLong,
}

impl<H: Handler> Service<H> {
    /// Puts a handler under these options.
    pub fn new(handler: H, options: &Options, registry: Arc<Registry>) -> Self {
        let refusal = |status, text: &str| {
            let body = FixedBody::Bytes(text.as_bytes());
            FixedAnswer::new(status, &options.server_name, "text/plain; charset=utf-8", body)
        };
        Self {
            handler,
            server_name: options.server_name.clone(),
            keep_alive: options.keep_alive,
            max_head_bytes: options.max_head_bytes,
            max_body_bytes: options.max_body_bytes,
            registry,
            malformed: refusal(400, "this is no HTTP/1 request, or it contradicts itself\n"),
            head_too_long: refusal(
                431,
                &format!("the head is longer than {} bytes\n", options.max_head_bytes),
            ),
            body_too_long: refusal(
                413,
                &format!("the body is longer than {} bytes\n", options.max_body_bytes),
            ),
        }
    }

    /// The answer to a refused request.
    pub fn refusal(&self, why: Refused) -> &FixedAnswer {
        match why {
            Refused::Malformed => &self.malformed,
            Refused::HeadTooLong => &self.head_too_long,
            Refused::BodyTooLong => &self.body_too_long,
        }
    }
}
