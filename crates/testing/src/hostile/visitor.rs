//! A connection of the misbehaving server: reads requests one after the other and has each dealt
//! with as the script says.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::Duration;

use ablaze_sys::clock::monotonic_ns;
use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::request_head::{self, RequestFraming, RequestHead, RequestScan};
use rustix::net::sockopt::set_socket_linger;

use super::{Behaviour, Shared, perform};

/// Whether the connection goes on behind a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The next request is awaited if the client asked for the connection to be kept, otherwise
    /// as `Fin`.
    Open,
    /// The next request is awaited, whatever the client asked for.
    Kept,
    /// FIN; then everything is read until the client closes, so that no reset follows.
    Fin,
    /// RST.
    Reset,
    /// Closed just so: the kernel sends RST if something was not read.
    Drop,
    /// Left open: read until the client closes, say nothing.
    Silence,
}

/// A connection and what has been read of it.
pub struct Visitor<'a> {
    pub stream: TcpStream,
    pub shared: &'a Shared,
    /// Requests read on this connection.
    pub requests: u64,
    /// When the last read returned.
    pub read_ns: u64,
    unused: Vec<u8>,
}

/// Deals with a connection to its end.
pub fn receive(stream: &TcpStream, number: u64, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut visitor = Visitor {
        stream: stream.try_clone()?,
        shared,
        requests: 0,
        read_ns: 0,
        unused: Vec::new(),
    };
    let first = shared.script.behaviour(number, shared.turns.load(Ordering::Relaxed));
    let at_once = match first {
        Behaviour::CloseAtOnce => Some(After::Fin),
        Behaviour::ResetAtOnce => Some(After::Reset),
        _ => None,
    };
    let after = match at_once {
        Some(after) => {
            shared.turns.fetch_add(1, Ordering::Relaxed);
            after
        }
        None => visitor.serve(number)?,
    };
    visitor.part(after)
}

impl Visitor<'_> {
    fn serve(&mut self, number: u64) -> io::Result<After> {
        while let Some(head) = self.read_head()? {
            self.count();
            let turn = self.shared.turns.fetch_add(1, Ordering::Relaxed);
            let behaviour = self.shared.script.behaviour(number, turn);
            if !perform::responses_before_body(behaviour) {
                self.read_body(&head)?;
            }
            match perform::perform(self, behaviour, &head)? {
                After::Open if head.keep_alive => {}
                After::Open => return Ok(After::Fin),
                After::Kept => {}
                after => return Ok(after),
            }
        }
        Ok(After::Drop)
    }

    /// Reads the next head; none when the client has closed.
    pub fn read_head(&mut self) -> io::Result<Option<RequestHead>> {
        loop {
            let scan = request_head::scan(&self.unused)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            if let RequestScan::Complete(head) = scan {
                self.unused.drain(..head.len);
                return Ok(Some(head));
            }
            if self.read_more()? == 0 {
                return Ok(None);
            }
        }
    }

    /// Reads the body that belongs to a head, and drops it.
    pub fn read_body(&mut self, head: &RequestHead) -> io::Result<()> {
        let mut chunked = Chunked::new();
        let mut left = match head.framing {
            RequestFraming::Length(bytes) => bytes,
            _ => 0,
        };
        loop {
            match head.framing {
                RequestFraming::None => return Ok(()),
                RequestFraming::Length(_) => {
                    let here = left.min(self.unused.len() as u64);
                    self.unused.drain(..here as usize);
                    left -= here;
                    if left == 0 {
                        return Ok(());
                    }
                }
                RequestFraming::Chunked => {
                    let step = chunked.feed(&self.unused).map_err(io::Error::other)?;
                    self.unused.drain(..step.consumed);
                    if step.done {
                        return Ok(());
                    }
                }
            }
            if self.read_more()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads a second request if it comes within this time, and counts it.
    pub fn second_request(&mut self, within: Duration) -> io::Result<Option<RequestHead>> {
        self.stream.set_read_timeout(Some(within))?;
        let head = match self.read_head() {
            Ok(head) => head,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(error) => return Err(error),
        };
        self.stream.set_read_timeout(None)?;
        if let Some(head) = &head {
            self.count();
            self.read_body(head)?;
        }
        Ok(head)
    }

    fn count(&mut self) {
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        self.requests += 1;
    }

    fn read_more(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let bytes = self.stream.read(&mut buffer)?;
        self.read_ns = monotonic_ns();
        self.unused.extend_from_slice(&buffer[..bytes]);
        Ok(bytes)
    }

    /// Ends the connection.
    fn part(mut self, how: After) -> io::Result<()> {
        match how {
            // With a linger time of 0, closing sends RST (socket(7), SO_LINGER). It is sent when
            // the last handle of the connection is dropped, which is right behind this.
            After::Reset => {
                set_socket_linger(&self.stream, Some(Duration::ZERO)).map_err(io::Error::from)?;
                Ok(())
            }
            After::Drop | After::Open | After::Kept => Ok(()),
            After::Fin => {
                self.stream.shutdown(Shutdown::Write)?;
                self.drain()
            }
            After::Silence => self.drain(),
        }
    }

    /// Reads and drops until the client closes.
    fn drain(&mut self) -> io::Result<()> {
        let mut dropped = [0; 16 * 1024];
        while self.stream.read(&mut dropped)? > 0 {}
        Ok(())
    }
}
