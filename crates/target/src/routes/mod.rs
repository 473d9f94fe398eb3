//! The handler of `ablaze serve`.
//!
//! | path | response |
//! |---|---|
//! | `/` | status and size that the options say; without a size `hello, world!` |
//! | `/hello` | 200, `text/plain`, the 14 bytes `hello, world!\n` |
//! | `/bytes/N` | N bytes of [`crate::http1::filler`]; `/bytes/8MiB`, `/bytes/64KB` |
//! | `/status/N` | a response of this status, 200 to 999 |
//! | `/delay/TIME` | as `/hello`, after this many milliseconds, or `5us`, `100ms`, `2s` |
//! | `/echo` | the body of the request, with its Content-Type |
//! | `/chunked/N?chunk=SIZE` | N bytes in chunks, of 8 KiB if nothing is said |
//! | `/stream?lines=10&every=100ms` | numbered lines, a chunk each, with a pause before each but the first |
//!
//! Routes of [`Options::routes`] come before all of these: first those without wildcards, then the
//! others in their order. With [`Options::app`], the paths of [`shop`] come next. Everything else is 404. With [`Options::echo_everywhere`], every path is
//! as `/echo`. HEAD is answered as GET is, without the body; all other methods as GET.
//!
//! `/_/status` and `/_/config` are no routes: every server has them, see [`crate::own_pages`].

mod glob;
pub mod shop;
mod streams;
mod values;

use std::collections::HashMap;
use std::sync::Arc;

use crate::handler::{Body, Handler, Method, Reply, Request, Response};
use crate::http1::reason::reason;
use crate::http1::response::{FixedBody, FixedResponse};
use crate::options::{App, Options};
use shop::Shop;
use shop::counts::RouteCounts;
use streams::{FillerChunks, Lines};
use values::{parameter, size_bytes, time_ns, whole};

/// What `/hello` responses, and `/` when no size is asked for: 14 bytes.
pub const HELLO: &[u8] = b"hello, world!\n";

const PLAIN: &str = "text/plain; charset=utf-8";

/// Length of the chunks of `/chunked/N` when nothing is said.
const CHUNK_BYTES: u64 = 8 * 1024;

/// The routes of the built-in server.
#[derive(Debug)]
pub struct Routes {
    root: FixedResponse,
    hello: FixedResponse,
    exact: HashMap<Vec<u8>, FixedResponse>,
    patterns: Vec<(Vec<u8>, FixedResponse)>,
    not_found: FixedResponse,
    not_understood: FixedResponse,
    echo_everywhere: bool,
    shop: Option<Box<Shop>>,
}

impl Routes {
    /// Builds the responses.
    pub fn new(options: &Options) -> Self {
        let fixed =
            |status, content_type, body| FixedResponse::under(options, status, content_type, body);
        let mut exact = HashMap::new();
        let mut patterns = Vec::new();
        for route in &options.routes {
            let path = route.path.clone().into_bytes();
            let response = fixed(route.status, PLAIN, FixedBody::Bytes(&route.body));
            if glob::is_exact(&path) {
                exact.entry(path).or_insert(response);
            } else {
                patterns.push((path, response));
            }
        }
        let body = options.body_bytes.map_or(FixedBody::Bytes(HELLO), FixedBody::Filler);
        let mut routes = Self {
            root: fixed(options.status, PLAIN, body),
            hello: fixed(200, "text/plain", FixedBody::Bytes(HELLO)),
            exact,
            patterns,
            not_found: fixed(
                404,
                PLAIN,
                FixedBody::Bytes(
                    b"not found; there are / /hello /bytes/N /status/N /delay/MS /echo \
                    /chunked/N /stream /_/status /_/config\n",
                ),
            ),
            not_understood: fixed(
                400,
                PLAIN,
                FixedBody::Bytes(
                    b"invalid value in the path or query; write /bytes/8MiB /status/200 to \
                    /status/999 /delay/100ms /chunked/1MiB?chunk=64KiB \
                    /stream?lines=10&every=100ms\n",
                ),
            ),
            echo_everywhere: options.echo_everywhere,
            shop: options.app.map(|App::Shop(shop)| Box::new(Shop::new(shop, options.seed))),
        };
        // The two that have to be fast are looked up now, so that they need not be then.
        let own = |path: &[u8]| routes.asked_for(path).cloned();
        let (root, hello) = (own(b"/"), own(b"/hello"));
        routes.root = root.unwrap_or(routes.root);
        routes.hello = hello.unwrap_or(routes.hello);
        routes
    }

    /// What the application counts, if there is one.
    pub fn counts(&self) -> Option<&Arc<RouteCounts>> {
        self.shop.as_ref().map(|shop| shop.counts())
    }

    /// The response of a route from the options.
    fn asked_for(&self, path: &[u8]) -> Option<&FixedResponse> {
        self.exact.get(path).or_else(|| {
            let mut patterns = self.patterns.iter();
            patterns.find(|(pattern, _)| glob::matches(pattern, path)).map(|(_, response)| response)
        })
    }

    /// Every path but the two fast ones.
    #[inline(never)]
    fn reply_to_others<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        if self.echo_everywhere {
            return echo(request).into();
        }
        if let Some(response) = self.asked_for(request.path) {
            return Response::Fixed(response).into();
        }
        if let Some(reply) = self.shop.as_ref().and_then(|shop| shop.reply(request)) {
            return reply;
        }
        match request.path {
            b"/echo" => return echo(request).into(),
            b"/stream" => return self.understood(stream(request.query).map(Reply::from)),
            _ => {}
        }
        let (route, value) = match request.path.iter().skip(1).position(|byte| *byte == b'/') {
            Some(slash) => request.path.split_at(slash + 2),
            None => return Response::Fixed(&self.not_found).into(),
        };
        let reply = match route {
            b"/bytes/" => size_bytes(value).map(|bytes| filler(bytes).into()),
            b"/status/" => status(value).map(Reply::from),
            b"/delay/" => time_ns(value)
                .map(|delay_ns| Reply { response: Response::Fixed(&self.hello), delay_ns }),
            b"/chunked/" => chunked(value, request.query).map(Reply::from),
            _ => return Response::Fixed(&self.not_found).into(),
        };
        self.understood(reply)
    }

    /// The reply, or what is to be written instead.
    fn understood<'a>(&'a self, reply: Option<Reply<'a>>) -> Reply<'a> {
        reply.unwrap_or_else(|| Response::Fixed(&self.not_understood).into())
    }
}

impl Handler for Routes {
    fn wants_body(&self, _method: Method, path: &[u8]) -> bool {
        if self.echo_everywhere {
            return true;
        }
        let wanted =
            path == b"/echo" || self.shop.as_ref().is_some_and(|shop| shop.wants_body(path));
        wanted && self.asked_for(path).is_none()
    }

    #[inline]
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        match request.path {
            b"/" if !self.echo_everywhere => Response::Fixed(&self.root).into(),
            b"/hello" if !self.echo_everywhere => Response::Fixed(&self.hello).into(),
            _ => self.reply_to_others(request),
        }
    }
}

fn echo<'a>(request: &Request<'a>) -> Response<'a> {
    Response::Made {
        status: 200,
        content_type: content_type_of(request),
        fields: Default::default(),
        body: Body::OfRequest,
    }
}

fn filler<'a>(bytes: u64) -> Response<'a> {
    Response::new(200, PLAIN, Body::Filler(bytes))
}

/// 205 has no content, unlike others that have a body (RFC 9110, 15.3.6).
fn status<'a>(value: &[u8]) -> Option<Response<'a>> {
    let status = whole(value).filter(|status| (200..=999).contains(status))? as u16;
    let text = match status {
        205 => String::new(),
        _ => format!("{status} {}\n", reason(status)),
    };
    Some(Response::text(status, text))
}

fn chunked<'a>(value: &[u8], query: &[u8]) -> Option<Response<'a>> {
    let chunk_bytes = match parameter(query, "chunk") {
        Some(size) => size_bytes(size).filter(|bytes| *bytes > 0)?,
        None => CHUNK_BYTES,
    };
    let stream = FillerChunks::new(size_bytes(value)?, chunk_bytes);
    Some(Response::new(200, PLAIN, Body::Stream(Box::new(stream))))
}

fn stream<'a>(query: &[u8]) -> Option<Response<'a>> {
    let lines = parameter(query, "lines").map_or(Some(10), whole)?;
    let every_ns = parameter(query, "every").map_or(Some(100_000_000), time_ns)?;
    Some(Response::new(200, PLAIN, Body::Stream(Box::new(Lines::new(lines, every_ns)))))
}

/// The request's Content-Type, or that of unspecified bytes (RFC 9110, 8.3). One folded over
/// several lines is not given back: responses must not fold (RFC 9112, 5.2).
fn content_type_of<'a>(request: &Request<'a>) -> &'a [u8] {
    match request.field("Content-Type") {
        Some(value) if !value.contains(&b'\n') => value,
        _ => b"application/octet-stream",
    }
}
