//! A server of HTTP/2 that answers all requests of a write at once, their DATA interleaved and padded. Its
//! frames are made by hand, from RFC 9113, so that the codec under test is not its own oracle.

use super::checking::{Body, Sent, bytes_of};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;

#[derive(Clone)]
pub struct Http2Server {
    sent: Sent,
    /// Number of its connection.
    pub connection: u64,
    kept: Vec<u8>,
    greeted: bool,
}

/// A response under way.
struct Response {
    stream: u32,
    content: Vec<u8>,
    at: usize,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
}

impl Http2Server {
    pub fn new(sent: &Sent) -> Self {
        Self { sent: sent.clone(), connection: 0, kept: Vec::new(), greeted: false }
    }

    /// The head; a response with a body comes back.
    fn begin(&mut self, stream: u32, out: &mut Vec<u8>) -> Option<Response> {
        let note = |body| self.sent.lock().unwrap().push(body);
        if stream % 14 == 5 {
            // `:status: 103`, a literal (RFC 7541, 6.2.2).
            frame(1, END_HEADERS, stream, b"\x08\x03103", out);
        }
        if stream % 10 == 3 {
            // `:status: 204` and, below, `200` are entries 9 and 8 of the static table.
            frame(1, END_HEADERS | END_STREAM, stream, &[0x89], out);
            note(Body::new(204));
            return None;
        }
        frame(1, END_HEADERS, stream, &[0x88], out);
        let length = [3, 70_000, 0, 1, 20_000][stream as usize / 2 % 5];
        let content = bytes_of(self.connection << 32 | u64::from(stream), length);
        let mut body = Body::new(200);
        body.add(&content);
        note(body);
        Some(Response { stream, content, at: 0 })
    }

    fn respond(&mut self, streams: &[u32], out: &mut Vec<u8>) {
        let mut responses: Vec<Response> =
            streams.iter().filter_map(|stream| self.begin(*stream, out)).collect();
        let mut turn = 0;
        while !responses.is_empty() {
            responses.retain_mut(|response| {
                turn += 1;
                let most = [1, 999, 16_000, 4_096][turn % 4];
                !response.go_on(most, turn % 3 == 0, out)
            });
        }
    }
}

impl Response {
    /// The next DATA; whether it was the last.
    fn go_on(&mut self, most: usize, padded: bool, out: &mut Vec<u8>) -> bool {
        let bytes = most.min(self.content.len() - self.at);
        let piece = &self.content[self.at..][..bytes];
        self.at += bytes;
        let over = self.at == self.content.len();
        // The end may be a frame of its own: of trailers (`etag: `, entry 34), or empty.
        let with_trailers = over && self.stream.is_multiple_of(3);
        let end = if over && !with_trailers { END_STREAM } else { 0 };
        if padded {
            let padding = (self.at % 200) as u8;
            let mut payload = vec![padding];
            payload.extend(piece);
            payload.resize(payload.len() + usize::from(padding), 0);
            frame(0, end | PADDED, self.stream, &payload, out);
        } else {
            frame(0, end, self.stream, piece, out);
        }
        if with_trailers {
            frame(1, END_HEADERS | END_STREAM, self.stream, &[0x80 | 34], out);
        }
        over
    }
}

impl Http2Server {
    /// As [`Server::response`](super::far_ends::Server::response).
    pub fn response(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.kept.extend(bytes);
        if !self.greeted {
            if self.kept.len() < PREFACE.len() {
                return false;
            }
            assert_eq!(&self.kept[..PREFACE.len()], PREFACE);
            self.kept.drain(..PREFACE.len());
            self.greeted = true;
            frame(4, 0, 0, &[], out);
        }
        let kept = std::mem::take(&mut self.kept);
        let mut rest = &kept[..];
        let mut asked = Vec::new();
        while let Some((head, behind)) = rest.split_at_checked(9) {
            let bytes = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let Some((_, behind)) = behind.split_at_checked(bytes) else { break };
            rest = behind;
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            match (head[3], head[4]) {
                (1, flags) => {
                    assert!(flags & END_STREAM != 0, "requests have no bodies here");
                    asked.push(stream);
                }
                (4, 0) => frame(4, 0x1, 0, &[], out),
                _ => {}
            }
        }
        self.kept = rest.to_vec();
        self.respond(&asked, out);
        false
    }
}
