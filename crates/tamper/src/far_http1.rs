//! A peer that speaks HTTP/1: it finds requests in what it reads, and responds as an input says.

use super::worker::Acts;

/// The usual response.
pub(crate) const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Every kind of framing, and what is none. The first is the usual one.
const RESPONSES: [&[u8]; 14] = [
    HELLO,
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: t\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 204 Nothing\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 70\r\n\r\n",
    b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nwords",
    b"HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\nnot so many",
    b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nnot so many",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\nnot so many",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"nonsense\r\n\r\n",
];

/// One connection's peer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Http1 {
    /// The last bytes that came, at most three.
    last: Vec<u8>,
}

impl Http1 {
    /// Responds to each request whose head ends in these bytes. Bodies have no empty line in them.
    pub(crate) fn received(&mut self, acts: &mut Acts<'_, '_>, bytes: &[u8]) {
        self.last.extend(bytes);
        while let Some(end) = self.last.windows(4).position(|four| four == b"\r\n\r\n") {
            self.last.drain(..end + 4);
            let response = acts.choices.one_of(&RESPONSES);
            acts.respond(response);
        }
        let behind = self.last.len().saturating_sub(3);
        self.last.drain(..behind);
    }
}
