//! One connection, served from the first byte to the last in straight lines, as one writes it
//! when calls may block. Written once: what a [`Line`] blocks is a thread in
//! [`crate::models`]' `blocking`, a fiber in [`crate::fibers`].

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};

use crate::accepting::reset_on_close;
use crate::counters::Counters;
use crate::handler::Handler;
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::options::Options;
use crate::protocol::{Next, Protocol};
use crate::sending::{Sent, send_all};
use crate::service::Service;

/// How long a connection that was closed with unread input may linger (RFC 9112, 9.6).
const LINGER_NS: u64 = 2_000_000_000;

/// What cannot be said in straight lines.
///
/// # Errors
/// One sentence with the reason and the fix.
pub fn check(options: &Options) -> Result<(), String> {
    match options.http2 {
        true => Err(format!(
            "model {} handles one request at a time on each connection and cannot serve HTTP/2; \
             use --model epoll-et, epoll-lt, poll, uring or async",
            options.model
        )),
        false => Ok(()),
    }
}

/// A connection whose calls return when they have done what they were asked for.
pub trait Line {
    /// Where input arrives and responses are put together. It belongs to whoever runs at the
    /// moment: what stands there is gone after any call that may wait.
    fn buffers(&mut self) -> &mut Buffers;

    /// Reads once, at least a byte, to the buffers's input; waits for it if there is none.
    ///
    /// # Errors
    /// When none will come: closed, failed, waited too long, or the server stops.
    fn read(&mut self, timeout: WaitLimit) -> Result<(), Over>;

    /// Writes all of the buffers's output; waits as often as the client makes it.
    ///
    /// # Errors
    /// When the connection failed, or the server stops and the client took too long.
    fn write(&mut self) -> Result<(), Over>;

    /// Waits for a time of CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// When the server stops and it takes too long.
    fn sleep_until(&mut self, due_ns: u64) -> Result<(), Over>;

    /// Whether the last read may have left something behind.
    fn has_more(&self) -> bool;

    /// Whether the server stops: no connection is kept behind its present response.
    fn is_stopping(&self) -> bool;

    /// The socket, for what never waits.
    fn socket(&self) -> BorrowedFd<'_>;
}

/// How long a read may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitLimit {
    /// For the next request: as long as an idle connection is kept, or until the server stops.
    Idle,
    /// For the rest of a request: as long as an idle connection is kept.
    UnderWay,
    /// Until this time, or until the server stops.
    Until(u64),
}

/// A connection has ended; there is nothing more to do than to close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over;

/// What a thread lends to the connection that it serves at the moment.
#[derive(Debug)]
pub struct Buffers {
    /// What was read last. Memory that no read has reached is not touched.
    pub input: Vec<u8>,
    /// Responses to be written.
    pub out: Output,
    /// The date of responses.
    pub date: Date,
    /// What this thread has done.
    pub counters: Arc<Counters>,
}

impl Buffers {
    /// Bytes read at once.
    pub const INPUT_BYTES: usize = 64 * 1024;

    /// A buffers for one thread.
    pub fn new(counters: Arc<Counters>) -> Self {
        let input = Vec::with_capacity(Self::INPUT_BYTES);
        Self { input, out: Output::default(), date: Date::now(), counters }
    }

    /// One call of recv.
    ///
    /// # Errors
    /// Those of recv(2).
    #[inline]
    pub fn receive(&mut self, socket: impl AsFd) -> Result<usize, Errno> {
        self.input.clear();
        self.counters.reads.one();
        let received = recv(socket, spare_capacity(&mut self.input), RecvFlags::empty());
        match received {
            Ok((bytes, _)) => {
                self.counters.read_bytes.add(bytes as u64);
                Ok(bytes)
            }
            Err(errno) => {
                if errno == Errno::AGAIN {
                    self.counters.read_eagains.one();
                }
                Err(errno)
            }
        }
    }

    /// Whether the last read filled its buffer; if not, it emptied the socket.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.input.len() == self.input.capacity()
    }

    /// Writes the output as far as it goes without waiting, for one turn.
    ///
    /// # Errors
    /// Those of sendmsg(2), EAGAIN among them.
    #[inline]
    pub fn send(&mut self, socket: impl AsFd) -> Result<Sent, Errno> {
        send_all(socket, &mut self.out, &self.counters)
    }
}

/// Serves a connection until nothing more is to be done than to close it. The buffers's output may
/// then hold what a failed connection still had to say.
///
/// # Errors
/// When the connection ended by itself or by the end of the server; there is no one to tell.
pub fn converse<H: Handler, L: Line>(line: &mut L, service: &Service<H>) -> Result<(), Over> {
    let mut protocol = Protocol::new(service);
    let mut next = Next::Read;
    let mut due_ns = 0;
    // Since the last read: what a client sent meanwhile nobody has seen.
    let mut waited = false;
    loop {
        match next {
            Next::Read if protocol.is_idle() => {
                if let Err(over) = line.read(WaitLimit::Idle) {
                    if line.is_stopping() {
                        protocol.say_goodbye(&mut line.buffers().out);
                        line.write()?;
                    }
                    return Err(over);
                }
            }
            // No protocol that these models speak asks to be called while it reads.
            Next::Read | Next::ReadFor(_) => line.read(WaitLimit::UnderWay)?,
            Next::Proceed => {}
            Next::Wait(_) => {
                line.sleep_until(due_ns)?;
                waited = true;
            }
            Next::Close { unread } => {
                return close(line, unread || (waited && has_input(line.socket())));
            }
            Next::Reset => {
                reset_on_close(line.socket());
                return Ok(());
            }
        }
        if line.is_stopping() {
            protocol.finish();
        }
        let Buffers { input, out, date, counters } = line.buffers();
        next = match next {
            Next::Read | Next::ReadFor(_) => {
                waited = false;
                protocol.receive(input, service, date, out)
            }
            _ => protocol.proceed(service, date, out),
        };
        // Before the response leaves: who has it finds it counted.
        protocol.count_into(counters);
        // A response that waits does so from now on, not from when the client reads.
        if let Next::Wait(delay_ns) = next {
            due_ns = monotonic_ns().saturating_add(delay_ns);
        }
        line.write()?;
    }
}

/// Whether there is something to read that was not seen.
pub(crate) fn has_input(socket: impl AsFd) -> bool {
    rustix::io::ioctl_fionread(socket).is_ok_and(|bytes| bytes > 0)
}

/// Everything is written; see [`Next::Close`] for why not to close at once.
fn close<L: Line>(line: &mut L, unread: bool) -> Result<(), Over> {
    if !unread && !line.has_more() {
        return Ok(());
    }
    shutdown(line.socket(), Shutdown::Write).map_err(|_| Over)?;
    let until_ns = monotonic_ns().saturating_add(LINGER_NS);
    while monotonic_ns() < until_ns {
        line.read(WaitLimit::Until(until_ns))?;
    }
    Ok(())
}
