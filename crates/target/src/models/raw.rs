//! The least a server can do: one response, built before, for every request whatever it asks. A
//! baseline beside the other models, not a real HTTP server: methods, paths and bodies are not
//! looked at. Per small request: its share of one wait, one read, one comparison, one write.

mod connection;
mod responses;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use super::{IoModel, Run, Worker};
use crate::accepting::{
    ACCEPT_PAUSE_NS, AcceptMode, Accepted, Intake, accept_one, accepts_per_event, welcome,
};
use crate::conditions::{Delay, ResponseKind, WriteMode};
use crate::event_loop::epoll::Epoll;
use crate::event_loop::slots::Slots;
use crate::handler::Handler;
use crate::options::Options;
use connection::{RawConnection, Then, Usual};
use responses::{Form, Responses};

/// The model.
#[derive(Debug)]
pub struct Raw;

/// The response is held as a whole, with its body.
const BODY_BYTES_MAX: u64 = 64 * 1024;

impl IoModel for Raw {
    const NAME: &'static str = "raw";
    const ABOUT: &'static str =
        "baseline: one fixed response to everything, not a real HTTP server";
    const EXEMPT: bool = true;
    type Shared = ();

    fn refuses(accept: AcceptMode) -> Option<&'static str> {
        let why = "it is a baseline for one worker with one listener; use --accept reuseport";
        (accept != AcceptMode::ReusePort).then_some(why)
    }

    fn check(options: &Options) -> Result<(), String> {
        let meaningless = [
            (options.tls.is_some(), "TLS"),
            (options.http2, "HTTP/2"),
            (options.delay != Delay::default(), "a delay"),
            (options.work_ns > 0, "work per request"),
            (options.in_service.is_some(), "a limit on requests in service"),
            (!options.faults.is_empty(), "a fault"),
            (!options.routes.is_empty(), "a route"),
            (
                options.echo_everywhere || options.response != ResponseKind::Http,
                "another kind of response",
            ),
            (options.max_requests.is_some(), "a limit on requests per connection"),
            (options.read_timeout.is_some(), "a read timeout"),
            (options.write != WriteMode::Whole, "a split response"),
            (options.body_bytes > Some(BODY_BYTES_MAX), "a body of more than 64 KiB"),
        ];
        match meaningless.into_iter().find(|(asked, _)| *asked) {
            Some((_, what)) => Err(format!(
                "model raw sends one small fixed response and does not support {what}; \
                 use --model epoll-et"
            )),
            None => Ok(()),
        }
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let server = RawLoop::new(worker)?;
        Ok(Box::new(move || Ok(server.run()?)))
    }
}

/// Keys that are no connection; see [`Slots::remove`].
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

/// What every connection is registered for.
const INPUT: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);

/// Bytes read at once.
const INPUT_BYTES: usize = 16 * 1024;

/// A worker.
struct RawLoop<H> {
    epoll: Epoll,
    worker: Worker<H>,
    slots: Slots<RawConnection>,
    responses: Responses,
    usual: Usual,
    input: Box<[u8]>,
    /// Accepting pauses for lack of descriptors or memory.
    paused: bool,
}

impl<H: Handler> RawLoop<H> {
    fn new(worker: Worker<H>) -> rustix::io::Result<Self> {
        let epoll = Epoll::new(worker.options.max_events, worker.counters.clone())?;
        epoll.watch(worker.stop.as_fd(), STOP, false)?;
        let server = Self {
            epoll,
            slots: Slots::default(),
            responses: Responses::new(&worker.service),
            worker,
            usual: Usual { bytes: Vec::new(), form: Form::Implied },
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            paused: false,
        };
        server.watch_listener()?;
        Ok(server)
    }

    fn watch_listener(&self) -> rustix::io::Result<()> {
        match &self.worker.intake {
            Intake::Listener { socket, .. } => self.epoll.watch(socket.as_fd(), LISTENER, false),
            // Refused before: connections come by listeners of the workers' own.
            Intake::Handed(_) => Ok(()),
        }
    }

    /// Serves until told to stop. Responses are never under way for long, so nothing is waited for.
    fn run(mut self) -> rustix::io::Result<()> {
        loop {
            let count = match self.epoll.wait(self.paused.then_some(ACCEPT_PAUSE_NS)) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            self.responses.update(&self.worker.service);
            if std::mem::take(&mut self.paused) {
                self.watch_listener()?;
            }
            let mut useful = false;
            for at in 0..count {
                let (key, flags) = self.epoll.event(at);
                match key {
                    LISTENER => useful |= self.accept()?,
                    STOP => return Ok(()),
                    key => useful |= self.event(key, flags),
                }
            }
            if count > 0 && !useful {
                self.worker.counters.empty_wakes.one();
            }
        }
    }

    /// Returns whether there was anything to accept.
    fn accept(&mut self) -> rustix::io::Result<bool> {
        let mut found = false;
        for _ in 0..accepts_per_event(self.worker.options.accept_batch) {
            let Intake::Listener { socket: listener, .. } = &self.worker.intake else { break };
            match accept_one(listener, &self.worker.counters) {
                Accepted::Connection(socket) => {
                    found = true;
                    self.welcome(socket);
                }
                Accepted::Nothing => break,
                Accepted::NoRoom => {
                    self.epoll.delete(listener.as_fd())?;
                    self.paused = true;
                    return Ok(true);
                }
                Accepted::Lost => {}
            }
        }
        Ok(found)
    }

    /// By now, its request has often arrived.
    fn welcome(&mut self, socket: OwnedFd) {
        self.worker.counters.connections.one();
        welcome(&socket, self.worker.options.per_accept);
        let key = self.slots.insert(RawConnection::new(socket));
        if self.turn(key) == Then::Goes {
            self.slots.remove(key);
            return;
        }
        let Some(connection) = self.slots.get_mut(key) else { return };
        // Output is waited for only once it blocks: else, its first edge would be an event for
        // nothing.
        connection.with_output = !connection.unsent.is_empty();
        let flags = if connection.with_output { INPUT | EventFlags::OUT } else { INPUT };
        if self.epoll.add(connection.socket.as_fd(), key, flags).is_err() {
            self.slots.remove(key);
        }
    }

    /// Returns whether the connection was still there.
    #[inline]
    fn event(&mut self, key: u64, flags: EventFlags) -> bool {
        let Some(connection) = self.slots.get_mut(key) else { return false };
        connection.half_closed |= flags.contains(EventFlags::RDHUP);
        let failed = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        if flags.contains(EventFlags::OUT) && !connection.unsent.is_empty() {
            self.worker.counters.out_events.one();
        }
        if failed || self.turn(key) == Then::Goes || self.arm(key).is_err() {
            self.slots.remove(key);
        }
        true
    }

    /// A connection whose output has blocked is told of room from now on.
    #[inline]
    fn arm(&mut self, key: u64) -> rustix::io::Result<()> {
        match self.slots.get_mut(key) {
            Some(connection) if !connection.unsent.is_empty() && !connection.with_output => {
                connection.with_output = true;
                let both = INPUT | EventFlags::OUT;
                self.epoll.modify(connection.socket.as_fd(), key, both)
            }
            _ => Ok(()),
        }
    }

    /// Sends what is left, then reads and answers as far as it goes.
    #[inline]
    fn turn(&mut self, key: u64) -> Then {
        let Self { worker, slots, responses, usual, input, .. } = self;
        let Some(connection) = slots.get_mut(key) else { return Then::Goes };
        let counters = &*worker.counters;
        if connection.send_unsent(counters) == Then::Goes {
            return Then::Goes;
        }
        while connection.unsent.is_empty() {
            if connection.has_more {
                if connection.response(responses, usual, &worker.service, counters) == Then::Goes {
                    return Then::Goes;
                }
                continue;
            }
            let bytes = match connection.read(input, counters) {
                Ok(0) => return Then::Goes,
                Ok(bytes) => bytes,
                Err(Errno::AGAIN) => return Then::Stays,
                Err(Errno::INTR) => continue,
                Err(_) => return Then::Goes,
            };
            let then = if connection.rest.is_empty() && input[..bytes] == *usual.bytes {
                // The same bytes mean the same: no other look is cheaper.
                counters.requests.one();
                connection.closing = usual.form == Form::Close;
                connection.send(responses.of(usual.form), counters)
            } else {
                connection.rest.extend_from_slice(&input[..bytes]);
                connection.response(responses, usual, &worker.service, counters)
            };
            // A read that does not fill the buffer has emptied the socket.
            let is_empty = bytes < input.len() && !connection.half_closed;
            if then == Then::Goes || is_empty && !connection.has_more {
                return then;
            }
        }
        Then::Stays
    }
}

#[cfg(test)]
mod tests;
