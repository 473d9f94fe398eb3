//! A server of HTTP/1 whose responses have every framing, one after the other.

use super::checking::{Body, Sent, bytes_of};

/// How responses are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Length,
    Chunked,
    /// The connection's end is the body's.
    ToEnd,
    /// Length and chunks, with responses among them that have no body, and interim ones before.
    Mixed,
}

#[derive(Clone)]
pub struct Http1Server {
    framing: Framing,
    sent: Sent,
    /// Number of its connection.
    pub connection: u64,
    requests: u64,
    asked: Vec<u8>,
    closed: bool,
}

/// Lengths of bodies: none, within a buffer, over several, more than is discarded at once elsewhere.
const LENGTHS: [usize; 8] = [5, 0, 1, 300, 16 * 1024, 9_000, 70_001, 2];

impl Http1Server {
    pub fn new(framing: Framing, sent: &Sent) -> Self {
        Self {
            framing,
            sent: sent.clone(),
            connection: 0,
            requests: 0,
            asked: Vec::new(),
            closed: false,
        }
    }

    fn respond(&mut self, is_head: bool, out: &mut Vec<u8>) {
        let number = self.requests;
        self.requests += 1;
        let seed = self.connection << 32 | number;
        let length = LENGTHS[(self.connection + number) as usize % LENGTHS.len()];
        let content = bytes_of(seed, length);
        let mixed = self.framing == Framing::Mixed;
        if mixed && number % 4 == 1 {
            out.extend(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
        }
        let bodiless = match number % 5 {
            2 if mixed => Some((204, "No Content")),
            4 if mixed => Some((304, "Not Modified\r\nContent-Length: 7")),
            _ if is_head => Some((200, "OK\r\nContent-Length: 7")),
            _ => None,
        };
        if let Some((status, rest)) = bodiless {
            out.extend(format!("HTTP/1.1 {status} {rest}\r\n\r\n").into_bytes());
            return self.sent.lock().unwrap().push(Body::new(status));
        }
        match self.framing {
            Framing::Length => with_length(&content, out),
            Framing::Mixed if number.is_multiple_of(2) => with_length(&content, out),
            Framing::Mixed | Framing::Chunked => in_chunks(&content, seed, out),
            Framing::ToEnd => {
                out.extend(b"HTTP/1.1 200 OK\r\n\r\n");
                out.extend(&content);
                self.closed = true;
            }
        }
        let mut body = Body::new(200);
        body.add(&content);
        self.sent.lock().unwrap().push(body);
    }
}

fn with_length(content: &[u8], out: &mut Vec<u8>) {
    out.extend(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len()).bytes());
    out.extend(content);
}

/// Chunks of many sizes, with extensions and trailers here and there.
fn in_chunks(content: &[u8], seed: u64, out: &mut Vec<u8>) {
    out.extend(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut rest = content;
    for bytes in [1, 2, 15, 16, 4_000, 1, 66_000, usize::MAX] {
        let (chunk, behind) = rest.split_at(bytes.min(rest.len()));
        rest = behind;
        if !chunk.is_empty() {
            let extension = if bytes == 15 { ";a=\"b\"" } else { "" };
            out.extend(format!("{:X}{extension}\r\n", chunk.len()).bytes());
            out.extend(chunk);
            out.extend(b"\r\n");
        }
    }
    out.extend(if seed.is_multiple_of(3) { &b"0\r\nX-Sum: 1\r\n\r\n"[..] } else { b"0\r\n\r\n" });
}

impl Http1Server {
    /// As [`Server::response`](super::far_ends::Server::response).
    pub fn response(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        for byte in bytes {
            self.asked.push(*byte);
            if self.asked.ends_with(b"\r\n\r\n") && !self.closed {
                let asked = std::mem::take(&mut self.asked);
                self.respond(asked.starts_with(b"HEAD "), out);
            }
        }
        self.closed
    }
}
