//! A response as it arrives: its head found, its body taken out of its framing, by the codecs that the engine reads with.

use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::response::{self, Framing, Scan};

/// Longest head that is read.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// A part of a response.
#[derive(Debug)]
pub enum Piece<'a> {
    /// The head of the final response.
    Head(Head<'a>),
    /// The next bytes of its body; never none.
    Body(&'a [u8]),
}

/// The head of a final response.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// Status code.
    pub status: u16,
    /// The bytes, with the empty line.
    pub bytes: &'a [u8],
    /// The head of the request that it responds to, with the empty line.
    pub request: &'a [u8],
}

/// Hears of the parts of a response; `false` wants no more of it.
pub type Deliver<'d> = &'d mut dyn FnMut(Piece<'_>) -> bool;

/// One response.
pub struct Incoming<'r> {
    request_head: &'r [u8],
    has_no_body: bool,
    /// What of the head has come.
    head: Vec<u8>,
    resume: usize,
    state: State,
    keep_alive: bool,
    received: bool,
}

enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
    Done,
    /// More came than belongs to it.
    Surplus,
    /// Nobody wants the rest.
    Unwanted,
}

impl<'r> Incoming<'r> {
    /// The response to a request with this head.
    pub fn to(request_head: &'r [u8]) -> Self {
        Self {
            request_head,
            has_no_body: request_head.starts_with(b"HEAD "),
            head: Vec::new(),
            resume: 0,
            state: State::Head,
            keep_alive: false,
            received: false,
        }
    }

    /// Whether anything has come.
    pub fn has_begun(&self) -> bool {
        self.received
    }

    /// Whether there is nothing more to read.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Done | State::Surplus | State::Unwanted)
    }

    /// Whether the connection can carry another request.
    pub fn leaves_connection(&self) -> bool {
        self.keep_alive && matches!(self.state, State::Done)
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// What is wrong with the response.
    pub fn feed(&mut self, bytes: &[u8], deliver: Deliver<'_>) -> Result<(), String> {
        self.received |= !bytes.is_empty();
        if !matches!(self.state, State::Head) {
            return self.body(bytes, deliver);
        }
        self.head.extend_from_slice(bytes);
        loop {
            let scan = response::scan(&self.head, self.resume, self.has_no_body, HEAD_BYTES_MAX)
                .map_err(|error| format!("the response is malformed: {error}"))?;
            let head = match scan {
                Scan::Incomplete { resume } => {
                    self.resume = resume;
                    return Ok(());
                }
                Scan::Complete(head) => head,
            };
            let behind = self.head.split_off(head.len);
            // Interim responses announce another; 101 ends HTTP, which nobody asked for.
            if (100..200).contains(&head.status) && head.status != 101 {
                (self.head, self.resume) = (behind, 0);
                continue;
            }
            self.keep_alive = head.keep_alive && head.status != 101;
            self.state = match head.framing {
                Framing::None | Framing::Length(0) => State::Done,
                Framing::Length(bytes) => State::Length(bytes),
                Framing::Chunked => State::Chunked(Chunked::new()),
                Framing::UntilClose => State::UntilClose,
            };
            let whole = Head { status: head.status, bytes: &self.head, request: self.request_head };
            if !deliver(Piece::Head(whole)) {
                self.state = State::Unwanted;
            }
            return self.body(&behind, deliver);
        }
    }

    fn body(&mut self, bytes: &[u8], deliver: Deliver<'_>) -> Result<(), String> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut wanted = true;
        match &mut self.state {
            State::Head | State::Surplus | State::Unwanted => {}
            State::Done => self.state = State::Surplus,
            State::UntilClose => wanted = deliver(Piece::Body(bytes)),
            State::Length(left) => {
                let here = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= here as u64;
                wanted = deliver(Piece::Body(&bytes[..here]));
                if *left == 0 {
                    self.state = if here < bytes.len() { State::Surplus } else { State::Done };
                }
            }
            State::Chunked(chunked) => {
                let told = |piece: &[u8]| {
                    wanted = wanted && (piece.is_empty() || deliver(Piece::Body(piece)));
                };
                let step = chunked
                    .feed_to(bytes, told)
                    .map_err(|error| format!("the response's chunks are malformed: {error}"))?;
                if step.done {
                    let surplus = step.consumed < bytes.len();
                    self.state = if surplus { State::Surplus } else { State::Done };
                }
            }
        }
        if !wanted && !self.is_over() {
            self.state = State::Unwanted;
        }
        Ok(())
    }

    /// The server has closed the connection.
    ///
    /// # Errors
    /// When the response is not complete.
    pub fn closed(&mut self) -> Result<(), String> {
        self.keep_alive = false;
        match &self.state {
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Done | State::Surplus | State::Unwanted => Ok(()),
            State::Head if !self.received => {
                Err("the server closed the connection without a response".to_owned())
            }
            State::Head => Err("the server closed the connection in the head".to_owned()),
            State::Length(left) => Err(format!(
                "the server closed the connection {left} bytes before the end of the body"
            )),
            State::Chunked(_) => {
                Err("the server closed the connection before the last chunk".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status and body of a response that arrives in pieces of so many bytes, and whether the connection is left.
    fn read(request: &[u8], bytes: &[u8], piece: usize) -> Result<(u16, Vec<u8>, bool), String> {
        let (mut status, mut body) = (0, Vec::new());
        let mut incoming = Incoming::to(request);
        let mut deliver = |piece: Piece<'_>| {
            match piece {
                Piece::Head(head) => status = head.status,
                Piece::Body(bytes) => body.extend_from_slice(bytes),
            }
            true
        };
        for piece in bytes.chunks(piece) {
            incoming.feed(piece, &mut deliver)?;
        }
        if !incoming.is_over() {
            incoming.closed()?;
        }
        let left = incoming.leaves_connection();
        Ok((status, body, left))
    }

    #[test]
    fn bodies_come_out_of_every_framing_however_they_are_cut() {
        let get: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
        for (request, bytes, expected, left) in [
            (get, &b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"[..], &b"abc"[..], true),
            (get, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", b"abc", false),
            (get, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", b"abc", true),
            (get, b"HTTP/1.1 200 OK\r\n\r\nabc", b"abc", false),
            (get, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", b"a", true),
            (get, b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", b"a", false),
            (b"HEAD / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", b"", true),
        ] {
            for piece in [1, 2, 7, 1000] {
                let read = read(request, bytes, piece);
                let text = String::from_utf8_lossy(bytes);
                assert_eq!(read, Ok((200, expected.to_vec(), left)), "{piece}: {text}");
            }
        }
    }

    #[test]
    fn what_is_cut_short_or_malformed_is_named() {
        for (bytes, needle) in [
            (&b""[..], "without a response"),
            (b"HTTP/1.1 200", "in the head"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na", "2 bytes before the end"),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab",
                "before the last chunk",
            ),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx", "chunks are malformed"),
            (b"SSH-2.0-x\r\n\r\n", "malformed"),
        ] {
            let error = read(b"GET / HTTP/1.1\r\n\r\n", bytes, 1000).unwrap_err();
            assert!(error.contains(needle), "{error}");
        }
    }
}
