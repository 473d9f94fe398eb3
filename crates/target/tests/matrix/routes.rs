//! The paths that the tests ask for, as an author of a server would write them.

use ablaze_target::answer::{FixedAnswer, FixedBody};
use ablaze_target::handler::{Answer, Body, Fields, Handler, Reply, Request};
use ablaze_target::{Options, Running, Server, StartError};
use ablaze_wire::http1::request_head::Method;

use crate::client::HELLO;

/// Starts a server to judge.
pub fn start(options: Options) -> Result<Running, StartError> {
    let fixed = |status, body| FixedAnswer::new(status, "ablaze", "text/plain", body);
    let paths = Paths {
        hello: fixed(200, FixedBody::Bytes(HELLO)),
        missing: fixed(404, FixedBody::Bytes(b"missing\n")),
        large: fixed(200, FixedBody::Filler(8_388_608)),
    };
    Server::start_with(options, paths)
}

struct Paths {
    hello: FixedAnswer,
    missing: FixedAnswer,
    large: FixedAnswer,
}

impl Handler for Paths {
    fn wants_body(&self, _: Method, path: &[u8]) -> bool {
        path == b"/echo"
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let delay_ms = request.path.strip_prefix(b"/delay/").map(|text| {
            std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok()).unwrap()
        });
        let answer = match request.path {
            b"/hello" => Answer::Fixed(&self.hello),
            b"/bytes/8388608" => Answer::Fixed(&self.large),
            b"/echo" => Answer::Made {
                status: 200,
                content_type: request.field("Content-Type").unwrap_or(b"text/plain"),
                fields: Fields::default(),
                body: Body::OfRequest,
            },
            _ if delay_ms.is_some() => Answer::Fixed(&self.hello),
            _ => Answer::Fixed(&self.missing),
        };
        Reply { answer, delay_ns: delay_ms.unwrap_or(0) * 1_000_000 }
    }
}
