//! A worker of the epoll model: one thread, one epoll, one listener, its connections.
//!
//! Per small request on an open connection: its share of one wait, one read, one write.
//! Connections are registered once, edge-triggered for both directions, so that a blocked write
//! costs no epoll_ctl either. A new connection is read before it is registered: one that sends
//! its request at once and is closed behind the answer never is.

mod connection;
mod slots;
mod timers;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use crate::accepting::Intake;
use crate::handler::Handler;
use crate::models::Worker;
use crate::server::Stop;
use crate::service::Service;
use connection::{Connection, Outcome, Scratch};
use slots::Slots;
use timers::Timers;

/// Keys that are no connection; see [`Slots::remove`].
const LISTENER: u64 = u64::MAX;
const WAKER: u64 = u64::MAX - 1;
const TIMER: u64 = u64::MAX - 2;

/// Events taken from one wait.
const EVENTS: usize = 256;
/// Connections accepted before the others have their turn.
const ACCEPTS_PER_TURN: usize = 64;
/// How long accepting pauses when descriptors or memory ran out.
const ACCEPT_PAUSE_NS: u64 = 50_000_000;
/// How long a connection that was closed with unread input may linger (RFC 9112, 9.6).
const LINGER_NS: u64 = 2_000_000_000;
/// How long answers under way may take when the server is stopped.
const DRAIN_NS: u64 = 1_000_000_000;

/// A worker's event loop before it runs.
#[derive(Debug)]
pub struct EventLoop<H> {
    epoll: OwnedFd,
    /// Where connections come from; none while draining.
    intake: Option<Intake>,
    service: Arc<Service<H>>,
    stop: Arc<Stop>,
    slots: Slots,
    timers: Timers,
    scratch: Scratch,
    /// Connections that had their turn and want another.
    ready: Vec<u64>,
    draining: bool,
}

impl<H: Handler> EventLoop<H> {
    /// Sets it up.
    ///
    /// # Errors
    /// When the kernel has no descriptor for it.
    pub fn new(worker: Worker<H>) -> rustix::io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timers = Timers::new()?;
        let counters = worker.counters;
        let stop = worker.stop;
        let event_loop = Self {
            epoll,
            intake: Some(worker.intake),
            service: worker.service,
            stop,
            slots: Slots::default(),
            timers,
            scratch: Scratch::new(counters),
            ready: Vec::new(),
            draining: false,
        };
        event_loop.watch_intake()?;
        let edge = EventFlags::IN | EventFlags::ET;
        event_loop.add(event_loop.stop.as_fd(), WAKER, EventFlags::IN)?;
        event_loop.add(event_loop.timers.descriptor().as_fd(), TIMER, edge)?;
        Ok(event_loop)
    }

    fn add(&self, fd: BorrowedFd<'_>, key: u64, flags: EventFlags) -> rustix::io::Result<()> {
        self.scratch.counters.epoll_adds.one();
        epoll::add(&self.epoll, fd, EventData::new_u64(key), flags)
    }

    /// Waits for connections.
    fn watch_intake(&self) -> rustix::io::Result<()> {
        match &self.intake {
            None => Ok(()),
            Some(Intake::Listener { socket, exclusive, .. }) => {
                let exclusive =
                    if *exclusive { EventFlags::EXCLUSIVE } else { EventFlags::empty() };
                self.add(socket.as_fd(), LISTENER, EventFlags::IN | exclusive)
            }
            Some(Intake::Handed(queue)) => self.add(queue.descriptor(), LISTENER, EventFlags::IN),
        }
    }

    /// Waits for connections no more.
    fn unwatch_intake(&self) -> rustix::io::Result<()> {
        self.scratch.counters.epoll_dels.one();
        match &self.intake {
            None => Ok(()),
            Some(Intake::Listener { socket, .. }) => epoll::delete(&self.epoll, socket),
            Some(Intake::Handed(queue)) => epoll::delete(&self.epoll, queue.descriptor()),
        }
    }

    /// Serves until told to stop, then lets answers under way finish.
    ///
    /// # Errors
    /// When the wait itself fails, which the kernel does only for lack of memory.
    pub fn run(mut self) -> rustix::io::Result<()> {
        let nothing = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [nothing; EVENTS];
        let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            self.timers.arm()?;
            let timeout = (!self.ready.is_empty()).then_some(&at_once);
            self.scratch.counters.waits.one();
            let count = match epoll::wait(&self.epoll, &mut events, timeout) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            self.scratch.counters.events.add(count as u64);
            self.scratch.date.update();
            let again = std::mem::take(&mut self.ready);
            for event in &events[..count] {
                let (key, flags) = (event.data.u64(), event.flags);
                match key {
                    LISTENER => self.accept()?,
                    WAKER => self.begin_draining()?,
                    TIMER => self.run_timers()?,
                    key => self.event(key, flags),
                }
            }
            for key in again {
                self.turn(key);
            }
            if self.draining && self.slots.is_empty() {
                return Ok(());
            }
        }
    }

    #[inline]
    fn event(&mut self, key: u64, flags: EventFlags) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if flags.contains(EventFlags::ERR) {
            self.slots.remove(key);
            return;
        }
        let half_closed = flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        if half_closed || flags.contains(EventFlags::IN) {
            connection.note_readable(half_closed);
        }
        self.turn(key);
    }

    /// Gives a connection its turn and does what it then wants.
    #[inline]
    fn turn(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        match connection.turn(&self.service, &mut self.scratch) {
            Outcome::Event if self.draining && connection.is_idle() => self.slots.remove(key),
            Outcome::Event => {}
            outcome => self.carry_out(key, outcome),
        }
    }

    fn carry_out(&mut self, key: u64, outcome: Outcome) {
        match outcome {
            Outcome::Event => {}
            Outcome::Turn => self.ready.push(key),
            Outcome::Wait(delay_ns) => self.timers.add(delay_ns, key),
            Outcome::Linger => {
                self.timers.add(LINGER_NS, key);
                self.ready.push(key);
            }
            Outcome::Closed => self.slots.remove(key),
        }
    }

    /// Takes the connections that are there, then reads each: by then, its request has often
    /// arrived.
    fn accept(&mut self) -> rustix::io::Result<()> {
        let mut accepted = Vec::new();
        match &self.intake {
            None => {}
            Some(Intake::Handed(queue)) => {
                for socket in queue.take() {
                    accepted.push(self.slots.insert(Connection::new(socket)));
                }
            }
            Some(Intake::Listener { socket: listener, .. }) => {
                while accepted.len() < ACCEPTS_PER_TURN {
                    self.scratch.counters.accepts.one();
                    match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                        Ok(socket) => accepted.push(self.slots.insert(Connection::new(socket))),
                        Err(Errno::AGAIN) => {
                            self.scratch.counters.accept_eagains.one();
                            break;
                        }
                        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                            // The listener stays readable: without a pause, this would be a busy
                            // loop.
                            self.unwatch_intake()?;
                            self.timers.add(ACCEPT_PAUSE_NS, LISTENER);
                            break;
                        }
                        // The client went away, or its network failed (accept(2), "Error
                        // handling").
                        Err(_) => {}
                    }
                }
            }
        }
        self.scratch.counters.connections.add(accepted.len() as u64);
        for key in accepted {
            self.welcome(key);
        }
        Ok(())
    }

    /// A new connection's first turn; it is registered if it lives longer than that.
    fn welcome(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let outcome = connection.turn(&self.service, &mut self.scratch);
        if outcome != Outcome::Closed {
            let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
            let data = EventData::new_u64(key);
            self.scratch.counters.epoll_adds.one();
            if epoll::add(&self.epoll, connection.socket(), data, both).is_err() {
                // No memory, or the limit of watches per user: it cannot be served.
                self.slots.remove(key);
                return;
            }
        }
        self.carry_out(key, outcome);
    }

    fn run_timers(&mut self) -> rustix::io::Result<()> {
        while let Some(key) = self.timers.pop() {
            match key {
                LISTENER => self.watch_intake()?,
                WAKER => {
                    for key in self.slots.keys() {
                        self.slots.remove(key);
                    }
                }
                key => self.connection_due(key),
            }
        }
        Ok(())
    }

    fn connection_due(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if connection.is_lingering() {
            self.slots.remove(key);
            return;
        }
        connection.resume();
        self.turn(key);
    }

    /// No new connections; idle ones are closed, the others behind their present answer.
    fn begin_draining(&mut self) -> rustix::io::Result<()> {
        if !self.stop.is_set() || self.draining {
            return Ok(());
        }
        self.draining = true;
        epoll::delete(&self.epoll, &*self.stop)?;
        self.intake = None;
        self.timers.add(DRAIN_NS, WAKER);
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get_mut(key) else { continue };
            connection.finish();
            if connection.is_idle() || connection.is_lingering() {
                self.slots.remove(key);
            }
        }
        Ok(())
    }
}
