//! One connection of the raw model: finds where requests end, and sends the response that is there.

use std::os::fd::OwnedFd;

use ablaze_wire::http1::request_head::{RequestFraming, RequestScan, scan};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::responses::{Form, Responses};
use crate::counters::Counters;
use crate::service::Service;

/// Responses are put together up to this length before they are sent.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Longest request that is remembered to be compared with the next.
const USUAL_BYTES_MAX: usize = 4 * 1024;

/// A connection.
#[derive(Debug)]
pub struct RawConnection {
    /// The socket, non-blocking.
    pub socket: OwnedFd,
    /// The beginning of a request.
    pub rest: Vec<u8>,
    /// There may be a whole request in it.
    pub has_more: bool,
    /// What the socket did not take.
    pub unsent: Vec<u8>,
    /// How much of it was sent since.
    sent: usize,
    /// It is to be closed when everything is sent.
    pub closing: bool,
    /// The client has closed its side: reading goes on to the end.
    pub half_closed: bool,
    /// It is registered for output, too.
    pub with_output: bool,
}

/// Whether a connection is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is.
    Stays,
    /// It is to be closed.
    Goes,
}

/// A request that came alone, to be compared with the next, and what it is answered with.
#[derive(Debug)]
pub struct Usual {
    /// The request.
    pub bytes: Vec<u8>,
    /// Its response.
    pub form: Form,
}

impl RawConnection {
    /// Around a socket that was just accepted.
    pub fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            rest: Vec::new(),
            has_more: false,
            unsent: Vec::new(),
            sent: 0,
            closing: false,
            half_closed: false,
            with_output: false,
        }
    }

    /// Reads once.
    #[inline]
    pub fn read(&self, input: &mut [u8], counters: &Counters) -> Result<usize, Errno> {
        counters.reads.one();
        let result = recv(&self.socket, &mut *input, RecvFlags::empty());
        match result {
            Ok((bytes, _)) => counters.read_bytes.add(bytes as u64),
            Err(Errno::AGAIN) => counters.read_eagains.one(),
            Err(_) => {}
        }
        result.map(|(bytes, _)| bytes)
    }

    /// Sends as much as the socket takes; keeps the rest. The connection goes behind its last
    /// response.
    #[inline]
    pub fn send(&mut self, bytes: &[u8], counters: &Counters) -> Then {
        match write(&self.socket, bytes, counters) {
            Ok(sent) if sent == bytes.len() => self.behind_response(),
            Ok(sent) => {
                self.unsent = bytes[sent..].to_vec();
                Then::Stays
            }
            Err(_) => Then::Goes,
        }
    }

    /// Goes on with what is left.
    #[inline]
    pub fn send_unsent(&mut self, counters: &Counters) -> Then {
        if self.unsent.is_empty() {
            return Then::Stays;
        }
        match write(&self.socket, &self.unsent[self.sent..], counters) {
            Ok(sent) => self.sent += sent,
            Err(_) => return Then::Goes,
        }
        if self.sent < self.unsent.len() {
            return Then::Stays;
        }
        self.sent = 0;
        self.unsent = Vec::new();
        self.behind_response()
    }

    #[inline]
    fn behind_response(&self) -> Then {
        if self.closing { Then::Goes } else { Then::Stays }
    }

    /// Finds the ends of requests and answers each, up to a limit; remembers one that came alone.
    #[cold]
    pub fn response<H>(
        &mut self,
        responses: &Responses,
        usual: &mut Usual,
        service: &Service<H>,
        counters: &Counters,
    ) -> Then {
        let mut out = Vec::new();
        let mut at = 0;
        self.has_more = false;
        while !self.closing {
            if out.len() >= OUTPUT_BYTES_MAX {
                self.has_more = true;
                break;
            }
            let left = &self.rest[at..];
            let head = match scan(left) {
                Ok(RequestScan::Complete(head)) => head,
                Ok(RequestScan::Incomplete) if left.len() <= service.max_head_bytes => break,
                Ok(RequestScan::Incomplete) | Err(_) => {
                    self.closing = true;
                    break;
                }
            };
            // Where the next request begins is not known behind a body.
            let keep = service.keep_alive && head.keep_alive;
            let form = match (keep && head.framing == RequestFraming::None, head.minor_version) {
                (false, _) => Form::Close,
                (true, 0) => Form::Announced,
                (true, _) => Form::Implied,
            };
            if head.len == self.rest.len() && head.len <= USUAL_BYTES_MAX {
                *usual = Usual { bytes: self.rest.clone(), form };
            }
            at += head.len;
            self.closing = form == Form::Close;
            counters.requests.one();
            out.extend_from_slice(responses.of(form));
        }
        self.rest.drain(..at);
        self.send(&out, counters)
    }
}

/// Writes as much as the socket takes; returns how much that was.
#[inline]
fn write(socket: &OwnedFd, bytes: &[u8], counters: &Counters) -> Result<usize, Errno> {
    let mut sent = 0;
    while sent < bytes.len() {
        counters.writes.one();
        match send(socket, &bytes[sent..], SendFlags::NOSIGNAL) {
            Ok(more) => {
                counters.written_bytes.add(more as u64);
                sent += more;
            }
            Err(Errno::AGAIN) => {
                counters.write_eagains.one();
                break;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(sent)
}
