//! One connection of an event loop: a non-blocking socket, its protocol state, and what could not
//! be written yet. Under edge-triggered epoll nothing is told twice, so it remembers whether there
//! may be something to read.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};

use crate::accepting::reset_on_close;
use crate::conversation::has_input;
use crate::counters::Counters;
use crate::event_loop::readiness::Wants;
use crate::handler::Handler;
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::protocol::{Next, Protocol};
use crate::sending::{Sent, send_all};
use crate::service::Service;

/// Bytes read at once.
pub const INPUT_BYTES: usize = 64 * 1024;

/// Rounds of one connection before the others have their turn.
const ROUNDS_PER_TURN: usize = 16;

/// What a worker lends to the connection it is busy with.
#[derive(Debug)]
pub struct Scratch {
    /// Where bytes are read to.
    pub input: Box<[u8]>,
    /// Where responses are put together; empty between two turns.
    pub out: Output,
    /// The date of responses.
    pub date: Date,
    /// What this worker has done.
    pub counters: Arc<Counters>,
}

impl Scratch {
    /// Made once per worker.
    pub fn new(counters: Arc<Counters>) -> Self {
        Self {
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            out: Output::default(),
            date: Date::now(),
            counters,
        }
    }
}

/// What a connection wants after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// An event.
    Event,
    /// Another turn, after the others.
    Turn,
    /// An event, or [`Connection::resume`] after this many nanoseconds.
    EventFor(u64),
    /// [`Connection::resume`] after this many nanoseconds.
    Wait(u64),
    /// Another turn, and to be closed after a while: it lets the client close first.
    Linger,
    /// Nothing: it is over.
    Closed,
}

/// A socket and its state.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    protocol: Protocol,
    /// What the socket did not take.
    pending: Option<Box<Output>>,
    stage: Stage,
    /// There may be bytes, or the end of the stream, to read.
    readable: bool,
    /// The client has closed its sending side: reading goes on to the end.
    half_closed: bool,
    /// It will have a turn anyway, after the others.
    pub queued: bool,
    /// When [`Self::resume`] is called while it waits for events; 0 if it will not be.
    alarm_ns: u64,
    /// For [`crate::event_loop::read_timeouts::ReadTimeouts`].
    pub waited: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// As the protocol said.
    Next(Next),
    /// A response waits for its time.
    Waiting,
    /// Our side is closed; what comes is dropped.
    Lingering,
}

/// How far writing got.
enum Written {
    All,
    /// The socket is full.
    Part,
    /// The turn is over.
    Enough,
    Failed,
}

impl Connection {
    /// Around a socket that was just accepted; its request may be there already.
    pub fn new(socket: OwnedFd, protocol: Protocol) -> Self {
        Self {
            socket,
            protocol,
            pending: None,
            stage: Stage::Next(Next::Read),
            readable: true,
            half_closed: false,
            queued: false,
            alarm_ns: 0,
            waited: 0,
        }
    }

    /// The socket, for registering it.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// There is something to read, or the end of it.
    pub fn note_readable(&mut self, half_closed: bool) {
        self.readable = true;
        self.half_closed |= half_closed;
    }

    /// What it waits for, when its turn ended without anything else to do.
    #[inline]
    pub fn wants(&self) -> Wants {
        match self.stage {
            _ if self.pending.is_some() => Wants::Output,
            Stage::Waiting => Wants::Time { input: self.readable },
            _ => Wants::Input,
        }
    }

    /// The time of a delayed response has come.
    pub fn resume(&mut self) {
        self.alarm_ns = 0;
        if self.stage == Stage::Waiting {
            // Where nobody watched for it, what came meanwhile was not seen.
            self.readable |= has_input(&self.socket);
        }
        if matches!(self.stage, Stage::Waiting | Stage::Next(Next::ReadFor(_))) {
            self.stage = Stage::Next(Next::Proceed);
        }
    }

    /// Whether a timer is needed for a call this many nanoseconds later: not if there is one for
    /// before.
    pub fn set_alarm(&mut self, delay_ns: u64) -> bool {
        let due_ns = monotonic_ns().saturating_add(delay_ns);
        let is_needed = self.alarm_ns == 0 || due_ns < self.alarm_ns;
        if is_needed {
            self.alarm_ns = due_ns;
        }
        is_needed
    }

    /// Whether it is the server that takes its time.
    pub fn awaits_time(&self) -> bool {
        matches!(self.stage, Stage::Next(Next::ReadFor(_)))
    }

    /// Says what is said on a connection that is closed though nothing is wrong with it; whether
    /// that was anything. Then it wants a turn, to let the client close first: what that had on
    /// its way would turn a close into a reset, which destroys the words.
    pub fn say_goodbye(&mut self, scratch: &mut Scratch) -> bool {
        self.protocol.say_goodbye(&mut scratch.out);
        if scratch.out.is_empty() {
            return false;
        }
        let _ = write(&self.socket, &mut scratch.out, &scratch.counters);
        scratch.out.clear();
        self.stage = Stage::Next(Next::Close { unread: true });
        true
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.pending.is_none() && self.stage == Stage::Next(Next::Read) && self.protocol.is_idle()
    }

    /// Whether it only waits for the client to close.
    pub fn is_lingering(&self) -> bool {
        self.stage == Stage::Lingering
    }

    /// The next response is the last.
    pub fn finish(&mut self) {
        self.protocol.finish();
    }

    /// Reads, responses and writes as far as it goes without waiting.
    #[inline]
    pub fn turn<H: Handler>(&mut self, service: &Service<H>, scratch: &mut Scratch) -> Outcome {
        for _ in 0..ROUNDS_PER_TURN {
            match self.round(service, scratch) {
                None => {}
                Some(outcome) => {
                    // What a failed connection still had to say is said to no one.
                    scratch.out.clear();
                    return outcome;
                }
            }
        }
        Outcome::Turn
    }

    /// One write of what is left, or one read with its responses; nothing if it can go on.
    #[inline]
    fn round<H: Handler>(
        &mut self,
        service: &Service<H>,
        scratch: &mut Scratch,
    ) -> Option<Outcome> {
        if let Some(pending) = &mut self.pending {
            match write(&self.socket, pending, &scratch.counters) {
                Written::All => self.pending = None,
                Written::Part => return Some(Outcome::Event),
                Written::Enough => return Some(Outcome::Turn),
                Written::Failed => return Some(Outcome::Closed),
            }
        }
        let next = match self.stage {
            Stage::Waiting => return Some(Outcome::Event),
            Stage::Next(Next::Wait(delay_ns)) => {
                self.stage = Stage::Waiting;
                return Some(Outcome::Wait(delay_ns));
            }
            Stage::Next(Next::Close { unread }) => return Some(self.close(unread)),
            Stage::Next(Next::Reset) => {
                reset_on_close(&self.socket);
                return Some(Outcome::Closed);
            }
            Stage::Next(Next::Proceed) => {
                self.protocol.proceed(service, &scratch.date, &mut scratch.out)
            }
            Stage::Next(Next::Read | Next::ReadFor(_)) | Stage::Lingering => {
                if !self.readable {
                    return Some(match self.stage {
                        Stage::Next(Next::ReadFor(delay_ns)) => Outcome::EventFor(delay_ns),
                        _ => Outcome::Event,
                    });
                }
                let bytes = match self.read(&mut scratch.input, &scratch.counters) {
                    Ok(bytes) => bytes,
                    Err(outcome) => return outcome,
                };
                if self.stage == Stage::Lingering {
                    return None;
                }
                self.protocol.receive(bytes, service, &scratch.date, &mut scratch.out)
            }
        };
        // Before the response leaves: who has it finds it counted.
        self.protocol.count_into(&scratch.counters);
        self.stage = Stage::Next(next);
        if scratch.out.is_empty() {
            return None;
        }
        match write(&self.socket, &mut scratch.out, &scratch.counters) {
            Written::All => None,
            Written::Enough => {
                self.pending = Some(Box::new(std::mem::take(&mut scratch.out)));
                Some(Outcome::Turn)
            }
            Written::Part => {
                self.pending = Some(Box::new(std::mem::take(&mut scratch.out)));
                // A response that waits does so from now on, not from when the client reads.
                match self.stage {
                    Stage::Next(Next::Wait(delay_ns)) => {
                        self.stage = Stage::Waiting;
                        Some(Outcome::Wait(delay_ns))
                    }
                    _ => Some(Outcome::Event),
                }
            }
            Written::Failed => Some(Outcome::Closed),
        }
    }

    /// Reads once. A read that does not fill the buffer has emptied the socket (epoll(7), under
    /// "Questions and answers", 9), so that a small request costs one read.
    fn read<'a>(
        &mut self,
        input: &'a mut [u8],
        counters: &Counters,
    ) -> Result<&'a [u8], Option<Outcome>> {
        counters.reads.one();
        match recv(&self.socket, &mut input[..], RecvFlags::empty()) {
            Ok((0, _)) => Err(Some(Outcome::Closed)),
            Ok((bytes, _)) => {
                counters.read_bytes.add(bytes as u64);
                self.readable = bytes == input.len() || self.half_closed;
                Ok(&input[..bytes])
            }
            Err(Errno::AGAIN) => {
                counters.read_eagains.one();
                self.readable = false;
                // What it waits for besides is looked at with nothing to read.
                Err(None)
            }
            Err(Errno::INTR) => Err(None),
            Err(_) => Err(Some(Outcome::Closed)),
        }
    }

    /// Everything is written; see [`Next::Close`] for why not to close at once.
    fn close(&mut self, unread: bool) -> Outcome {
        if !unread && !self.readable {
            return Outcome::Closed;
        }
        match shutdown(&self.socket, Shutdown::Write) {
            Ok(()) => {
                self.stage = Stage::Lingering;
                self.readable = true;
                Outcome::Linger
            }
            Err(_) => Outcome::Closed,
        }
    }
}

/// Writes as much as the socket takes.
#[inline]
fn write(socket: &OwnedFd, out: &mut Output, counters: &Counters) -> Written {
    match send_all(socket, out, counters) {
        Ok(Sent::All) => Written::All,
        Ok(Sent::Part) => Written::Enough,
        Err(Errno::AGAIN) => Written::Part,
        Err(_) => Written::Failed,
    }
}
