//! What a request is answered with: the one place where a server's own code goes. A handler
//! knows nothing of sockets or threads, so the same handler serves under every I/O model.

use ablaze_wire::http1::request_head::Method;
use ablaze_wire::http1::response;

use crate::http1::answer::FixedAnswer;

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

/// An answer and when to give it.
#[derive(Debug)]
pub struct Reply<'a> {
    /// What is answered.
    pub answer: Answer<'a>,
    /// Time to wait before the answer leaves; 0 for none.
    pub delay_ns: u64,
}

/// What is answered.
#[derive(Debug)]
pub enum Answer<'a> {
    /// An answer built before: the fastest.
    Fixed(&'a FixedAnswer),
    /// An answer made for this request.
    Made {
        /// Status code.
        status: u16,
        /// Content-Type.
        content_type: &'a [u8],
        /// The body.
        body: Body<'a>,
    },
}

/// Body of an answer that was made for its request.
#[derive(Debug)]
pub enum Body<'a> {
    /// The body of the request, given back without a copy where possible.
    OfRequest,
    /// Borrowed bytes; they are copied.
    Borrowed(&'a [u8]),
    /// Bytes handed over.
    Owned(Vec<u8>),
}

/// Answers requests. Shared by all threads of a server.
pub trait Handler: Send + Sync + 'static {
    /// Whether the body of a request for this path is wanted. If not, it is read and dropped.
    fn wants_body(&self, method: Method, path: &[u8]) -> bool;

    /// The answer to a request. `fixed` answers are built with [`FixedAnswer::new`] beforehand.
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
}
