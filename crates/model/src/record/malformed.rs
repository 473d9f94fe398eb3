//! What malformed responses are.

use super::Record;
use super::tally::Reason;

/// What came instead of a response that is valid HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MalformedBy {
    /// Something that does not begin as a response of HTTP/1 does.
    NotHttp1,
    /// The first frame of a server that speaks HTTP/2.
    Http2,
    /// The first line of a request: what an echo sends.
    Request,
    /// A head that begins as one of HTTP/1 and is not valid.
    Head,
    /// A body that is not valid chunked coding.
    Chunks,
}

impl MalformedBy {
    /// What these bytes are, which came where a head should.
    pub fn of_head(bytes: &[u8]) -> Self {
        if Record::is_http2(bytes) {
            return Self::Http2;
        }
        // Empty lines before it are permitted (RFC 9112, 2.2).
        let bytes = bytes.trim_ascii_start();
        if bytes.starts_with(b"HTTP/1.") {
            return Self::Head;
        }
        let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        let mut words = line.split(|byte| *byte == b' ');
        let has_method = words.next().is_some_and(|word| {
            !word.is_empty() && word.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'-')
        });
        let has_version = words.nth(1).is_some_and(|word| word.starts_with(b"HTTP/1."));
        if has_method && has_version { Self::Request } else { Self::NotHttp1 }
    }
}

impl Reason for MalformedBy {
    const ALL: &'static [Self] =
        &[Self::NotHttp1, Self::Http2, Self::Request, Self::Head, Self::Chunks];

    fn index(self) -> usize {
        self as usize
    }

    fn key(self) -> &'static str {
        match self {
            Self::NotHttp1 => "not-http1",
            Self::Http2 => "http2",
            Self::Request => "request",
            Self::Head => "head",
            Self::Chunks => "chunks",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_tells_what_it_is() {
        for (bytes, by) in [
            (&b"SSH-2.0-OpenSSH_9.6\r\n"[..], MalformedBy::NotHttp1),
            (b"HTTP/2 200\r\n\r\n", MalformedBy::NotHttp1),
            (b"GET the manual\r\n", MalformedBy::NotHttp1),
            (b"", MalformedBy::NotHttp1),
            (b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64", MalformedBy::Http2),
            (b"GET / HTTP/1.1\r\nHost: here\r\n", MalformedBy::Request),
            (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", MalformedBy::Head),
        ] {
            assert_eq!(MalformedBy::of_head(bytes), by, "{bytes:?}");
        }
    }
}
