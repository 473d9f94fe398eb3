//! What a request is answered with: the one place where a server's own code goes. A handler
//! knows nothing of sockets or threads, so the same handler serves under every I/O model.

use std::fmt;

pub use ablaze_wire::http1::request_head::Method;
use ablaze_wire::http1::response;

pub use crate::http1::chunks::Chunks;
use crate::http1::response::FixedResponse;

/// A complete request. Everything is lent for the duration of the call.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// Path, without the query.
    pub path: &'a [u8],
    /// What stands behind `?`; empty if there is none.
    pub query: &'a [u8],
    /// The head as it arrived.
    pub head: &'a [u8],
    /// The body, without chunked coding; empty if the handler did not ask for it.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// Value of the first field of this name.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        response::field(self.head, name)
    }
}

/// A response and when to give it.
#[derive(Debug)]
pub struct Reply<'a> {
    /// The response to send.
    pub response: Response<'a>,
    /// Time to wait before the response leaves; 0 for none. No thread waits meanwhile.
    pub delay_ns: u64,
}

impl<'a> From<Response<'a>> for Reply<'a> {
    /// A reply that is sent at once.
    fn from(response: Response<'a>) -> Self {
        Self { response, delay_ns: 0 }
    }
}

/// What is answered.
#[derive(Debug)]
#[non_exhaustive]
pub enum Response<'a> {
    /// A response built before: the fastest.
    Fixed(&'a FixedResponse),
    /// A response made for this request.
    Made {
        /// Status code.
        status: u16,
        /// Content-Type.
        content_type: &'a [u8],
        /// Further fields.
        fields: Fields,
        /// The body.
        body: Body<'a>,
    },
}

impl<'a> Response<'a> {
    /// A response of this content type without further fields.
    pub fn new(status: u16, content_type: &'a str, body: Body<'a>) -> Self {
        let content_type = content_type.as_bytes();
        Self::Made { status, content_type, fields: Fields::default(), body }
    }

    /// Plain text.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        let body = Body::Owned(text.into().into_bytes());
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    /// The same with a field more; a response that was built before stays as it is.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: &str) -> Self {
        if let Self::Made { fields, .. } = &mut self {
            fields.add(name, value);
        }
        self
    }

    /// Whether its body is made as it leaves.
    #[inline]
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::Made { body: Body::Stream(_), .. })
    }
}

/// Fields of a response besides those that every response has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fields(Vec<u8>);

impl Fields {
    /// Adds a field. Bytes of the value that would end its line, or that no value may have (RFC 9110, 5.5),
    /// become spaces, bytes that no name may have (5.6.2) `-`. Fields that the server itself writes, and that a response
    /// must not have twice, are left out: Content-Length, Content-Type, Transfer-Encoding, Connection and Date.
    pub fn add(&mut self, name: &str, value: &str) {
        const OF_THE_SERVER: [&str; 5] =
            ["content-length", "content-type", "transfer-encoding", "connection", "date"];
        if name.is_empty() || OF_THE_SERVER.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return;
        }
        let clean = |byte: u8| if matches!(byte, b'\r' | b'\n' | 0) { b' ' } else { byte };
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        self.0.extend(name.bytes().map(|byte| if token(byte) { byte } else { b'-' }));
        self.0.extend_from_slice(b": ");
        self.0.extend(value.bytes().map(clean));
        self.0.extend_from_slice(b"\r\n");
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Body of a response that was made for its request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Body<'a> {
    /// The body of the request, given back without a copy where possible.
    OfRequest,
    /// Borrowed bytes; they are copied.
    Borrowed(&'a [u8]),
    /// Bytes handed over.
    Owned(Vec<u8>),
    /// This many bytes of [`crate::http1::filler`]; they take no memory.
    Filler(u64),
    /// A body whose length is not known, or that takes its time: it goes in chunks, to a client of
    /// HTTP/1.0 up to the end of the connection.
    Stream(Box<dyn Stream>),
}

/// A body that is made as it leaves.
pub trait Stream: fmt::Debug + Send {
    /// Adds the next pieces, at least one unless the body is complete or nothing is ready, and
    /// says how it goes on. It must not block: it runs on the thread that serves others too.
    fn next(&mut self, pieces: &mut Chunks<'_>) -> Flow;
}

/// How a stream goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flow {
    /// It is asked again this many nanoseconds after the pieces have left; with 0 at once.
    After(u64),
    /// The body is complete.
    End,
}

/// Responds to requests. Shared by all threads of a server.
///
/// A panic in it is not caught for it: with an event loop (`epoll-et`, `uring` and the like) it ends the worker and the
/// connections on it, and [`Running::stop`](crate::Running::stop) says so; with a thread or task per connection
/// (`blocking`, `async`) it ends that connection alone.
pub trait Handler: Send + Sync + 'static {
    /// Whether the body of a request for this path is wanted. If not, it is read and dropped.
    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        false
    }

    /// The response to a request. Responses that are always the same ([`Response::Fixed`]) are built with
    /// [`FixedResponse::new`] beforehand.
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a>;
}

/// Splits a request target into path and query. Of an absolute form (RFC 9112, 3.2.2) the path
/// begins behind the authority.
#[inline]
pub(crate) fn path_and_query(target: &[u8]) -> (&[u8], &[u8]) {
    let origin = match target {
        [b'/', ..] => target,
        _ => origin_form(target),
    };
    match origin.iter().position(|&byte| byte == b'?') {
        // An absolute form may have a query and no path.
        Some(0) => (b"/", &origin[1..]),
        Some(at) => (&origin[..at], &origin[at + 1..]),
        None => (origin, b""),
    }
}

#[cold]
fn origin_form(target: &[u8]) -> &[u8] {
    let Some(scheme) = target.windows(3).position(|three| three == b"://") else { return target };
    let authority = &target[scheme + 3..];
    match authority.iter().position(|&byte| byte == b'/' || byte == b'?') {
        Some(at) => &authority[at..],
        None => b"/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_every_form_have_a_path() {
        // RFC 9112, 3.2: origin form, absolute form, authority form, asterisk form.
        let known: [(&str, &str, &str); 8] = [
            ("/", "/", ""),
            ("/a/b?c=d?e", "/a/b", "c=d?e"),
            ("http://host/a?b", "/a", "b"),
            ("http://host", "/", ""),
            ("http://host?a=/b", "/", "a=/b"),
            ("host:80", "host:80", ""),
            ("*", "*", ""),
            ("/a://b", "/a://b", ""),
        ];
        for (target, path, query) in known {
            let split = path_and_query(target.as_bytes());
            assert_eq!(split, (path.as_bytes(), query.as_bytes()), "{target}");
        }
    }

    #[test]
    fn a_field_stays_on_its_line() {
        let mut fields = Fields::default();
        fields.add("X-One", "1");
        fields.add("X-Two", "2\r\nSet-Cookie: a");
        assert_eq!(fields.as_bytes(), b"X-One: 1\r\nX-Two: 2  Set-Cookie: a\r\n");
    }

    #[test]
    fn what_the_server_writes_is_not_written_twice_and_names_are_tokens() {
        let mut fields = Fields::default();
        for own in
            ["Content-Length", "content-length", "Transfer-Encoding", "Connection", "Date", ""]
        {
            fields.add(own, "9");
        }
        fields.add("X Y:", "1");
        assert_eq!(fields.as_bytes(), b"X-Y-: 1\r\n");
    }
}
