//! The handler of `ablaze serve`: `/` answers what the options say, `/echo` gives back what was
//! posted, everything else is 404. Or everything is as `/echo`.

use ablaze_wire::http1::request_head::Method;

use crate::conditions::Delay;
use crate::handler::{Answer, Body, Handler, Reply, Request};
use crate::http1::answer::{FixedAnswer, FixedBody};
use crate::options::Options;

/// What `/` answers when no size is asked for: 14 bytes.
pub const HELLO: &[u8] = b"hello, world!\n";

/// The routes of the built-in server.
#[derive(Debug)]
pub struct Routes {
    root: FixedAnswer,
    not_found: FixedAnswer,
    delay_ns: u64,
    echo_everywhere: bool,
}

impl Routes {
    /// Builds the answers.
    pub fn new(options: &Options) -> Self {
        let fixed = |status, body| {
            FixedAnswer::new(status, &options.server_name, "text/plain; charset=utf-8", body)
        };
        Self {
            root: fixed(
                options.status,
                options.body_bytes.map_or(FixedBody::Bytes(HELLO), FixedBody::Filler),
            ),
            not_found: fixed(
                404,
                FixedBody::Bytes(b"nothing here; this server answers / and /echo\n"),
            ),
            delay_ns: match options.delay {
                Delay::Constant(delay) => u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX),
                _ => 0,
            },
            echo_everywhere: options.echo_everywhere,
        }
    }
}

impl Handler for Routes {
    fn wants_body(&self, _method: Method, path: &[u8]) -> bool {
        self.echo_everywhere || path == b"/echo"
    }

    #[inline]
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let answer = match request.path {
            b"/" if !self.echo_everywhere => Answer::Fixed(&self.root),
            path if self.wants_body(request.method, path) => Answer::Made {
                status: 200,
                content_type: content_type_of(request),
                body: Body::OfRequest,
            },
            _ => Answer::Fixed(&self.not_found),
        };
        Reply { answer, delay_ns: self.delay_ns }
    }
}

/// The request's Content-Type, or that of unspecified bytes (RFC 9110, 8.3). One folded over
/// several lines is not given back: answers must not fold (RFC 9112, 5.2).
fn content_type_of<'a>(request: &Request<'a>) -> &'a [u8] {
    match request.field("Content-Type") {
        Some(value) if !value.contains(&b'\n') => value,
        _ => b"application/octet-stream",
    }
}
