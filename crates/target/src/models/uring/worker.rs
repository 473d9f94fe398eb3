//! A worker on the ring: one thread, one ring, one ring of buffers, its connections.
//!
//! A round: enter the ring (what was queued is submitted, completions are waited for), take a
//! batch of completions, and do what each asks for, which queues the next requests.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use ablaze_net::uring::ring::{BufferRing, RingCompletion, tag};
use ablaze_sys::clock::monotonic_ns;

use super::connection::{Connection, Sending, Stage};
use super::operations::{self as op, File};
use super::outgoing::Pool;
use super::queue::Queue;
use super::slots::{Key, Slots};
use super::timers::Timers;
use crate::accepting::Intake;
use crate::counters::Counters;
use crate::handler::Handler;
use crate::http1::date::Date;
use crate::http1::protocol::Next;
use crate::models::Worker;
use crate::options::Options;
use crate::server::Stop;
use crate::service::Service;

/// Buffers that receives take theirs from, and what each has room for. A request takes one for
/// as long as it is looked at.
const BUFFERS: u16 = 256;
const BUFFER_BYTES: u32 = 16 * 1024;
/// How long answers under way may take when the server is stopped.
const DRAIN_NS: u64 = 1_000_000_000;

// Timers, as carried by their keys.
/// A delayed answer is due.
pub const DELAY: u8 = 1;
/// A connection has lingered for long enough.
pub const LINGER: u8 = 2;
/// A connection may have been idle for too long.
pub const IDLE: u8 = 3;
/// Accepting goes on after a pause.
pub const ACCEPT_AGAIN: u8 = 4;
/// What still runs is ended.
pub const DRAIN: u8 = 5;

/// A worker before it runs.
#[derive(Debug)]
pub struct RingWorker<H> {
    // The order matters: dropped first, so that the kernel touches no memory of the others.
    pub(super) queue: Queue,
    pub(super) buffers: BufferRing,
    pub(super) slots: Slots,
    pub(super) pool: Pool,
    /// Where connections come from; none while draining.
    pub(super) intake: Option<Intake>,
    pub(super) service: Arc<Service<H>>,
    pub(super) options: Arc<Options>,
    pub(super) counters: Arc<Counters>,
    pub(super) stop: Arc<Stop>,
    pub(super) timers: Timers,
    pub(super) date: Date,
    /// A connection goes on when its silent send is done: that is not to wait for an event.
    pub(super) prompt: bool,
    pub(super) draining: bool,
    pub(super) read_timeout_ns: Option<u64>,
    /// The time of this round, where there is a read timeout.
    pub(super) now_ns: u64,
}

impl<H: Handler> RingWorker<H> {
    /// Sets it up, for the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses the ring or memory.
    pub fn new(worker: Worker<H>) -> io::Result<Self> {
        let direct = Self::direct_descriptors(&worker.intake, &worker.options);
        let queue = Queue::new(direct, worker.counters.clone())?;
        // SAFETY: the ring is in `queue`, which is dropped before the buffers.
        let buffers =
            unsafe { BufferRing::new(queue.ring(), op::BUFFER_GROUP, BUFFERS, BUFFER_BYTES)? };
        let read_timeout = worker.options.read_timeout;
        let mut this = Self {
            queue,
            buffers,
            slots: Slots::default(),
            pool: Pool::default(),
            intake: Some(worker.intake),
            service: worker.service,
            options: worker.options,
            counters: worker.counters,
            stop: worker.stop,
            timers: Timers::default(),
            date: Date::now(),
            prompt: false,
            draining: false,
            read_timeout_ns: read_timeout.map(|time| time.as_nanos() as u64),
            now_ns: monotonic_ns(),
        };
        this.watch_intake();
        let stop = op::watch(this.stop.as_fd().as_raw_fd(), op::STOP);
        // SAFETY: it points at nothing.
        unsafe { this.queue.push(&stop) };
        Ok(this)
    }

    /// Serves until told to stop, then lets answers under way finish.
    ///
    /// # Errors
    /// When entering the ring fails, which the kernel does only for lack of memory.
    pub fn run(mut self) -> io::Result<()> {
        let mut batch = Vec::with_capacity(self.options.max_events.min(4096));
        while !(self.draining && self.slots.is_empty()) {
            self.enter()?;
            self.queue.take(&mut batch, self.options.max_events);
            self.counters.events.add(batch.len() as u64);
            for &done in &batch {
                self.complete(done);
            }
            self.buffers.publish();
            while let Some((key, number)) = self.queue.next_done() {
                self.sent_silently(key, number);
            }
            self.run_timers();
        }
        // Closes and cancellations first, then what these completed: clients see the end now.
        self.queue.enter(false, None)?;
        self.queue.enter(false, None)
    }

    /// Submits, and waits unless there is something to do already.
    fn enter(&mut self) -> io::Result<()> {
        // A drained worker ends when its last connection is known to be closed.
        let ends = self.draining && self.queue.has_silent();
        let prompt = std::mem::take(&mut self.prompt) || ends;
        let wait = !self.queue.has_completions();
        let left_ns = if prompt { Some(0) } else { self.timers.left_ns() };
        if wait && left_ns != Some(0) {
            self.queue.enter(true, left_ns)?;
        } else {
            self.queue.enter(false, None)?;
        }
        self.date.update();
        if self.read_timeout_ns.is_some() {
            self.now_ns = monotonic_ns();
        }
        Ok(())
    }

    /// A request completed.
    #[inline]
    fn complete(&mut self, done: RingCompletion) {
        let key = Key { slot: done.slot(), generation: done.generation() };
        match done.operation() {
            op::RECEIVE | op::RECEIVE_MANY => self.received(key, done),
            op::SEND_NOW => self.not_all_sent(key, done.result),
            op::SEND => self.sent(key, done.result),
            op::ACCEPT => self.accepted(done),
            op::HANDED => self.handed(done),
            op::STOP => self.begin_draining(),
            _ => {}
        }
    }

    /// Does what a connection's stage asks for, until it has to wait for something.
    #[inline]
    pub(super) fn advance(&mut self, key: Key) {
        loop {
            let Some(connection) = self.slots.get_mut(key) else { return };
            if connection.sending != Sending::Nothing {
                return;
            }
            let mut outgoing;
            let next = match connection.stage {
                Stage::Waiting | Stage::Lingering => return,
                Stage::Ending => return self.close(key),
                Stage::Next(Next::Wait(delay_ns)) => return self.wait(key, delay_ns),
                Stage::Next(Next::Close { unread }) => return self.close_or_linger(key, unread),
                Stage::Next(Next::Reset) => return self.reset(key),
                Stage::Next(Next::Proceed) => {
                    outgoing = self.pool.take();
                    let out = &mut outgoing.output;
                    connection.protocol.proceed(&self.service, &self.date, out)
                }
                Stage::Next(Next::Read) if !connection.held.is_empty() => {
                    outgoing = self.pool.take();
                    let held = std::mem::take(&mut connection.held);
                    let out = &mut outgoing.output;
                    connection.protocol.receive(&held, &self.service, &self.date, out)
                }
                Stage::Next(Next::Read) => return self.read_on(key),
            };
            self.counters.requests.add(connection.protocol.take_answered());
            connection.stage = Stage::Next(next);
            connection.answered = !outgoing.output.is_empty();
            if connection.answered {
                return self.send(key, outgoing);
            }
            self.pool.give_back(outgoing);
        }
    }

    /// The connection's answer waits for its time.
    pub(super) fn wait(&mut self, key: Key, delay_ns: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        connection.stage = Stage::Waiting;
        self.counters.timers.one();
        self.timers.add(delay_ns, timer(DELAY, key));
    }

    /// The connection waits for the client.
    fn read_on(&mut self, key: Key) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if connection.at_end || (self.draining && connection.is_idle()) {
            self.close(key);
        } else {
            self.arm(key);
        }
    }

    fn run_timers(&mut self) {
        while let Some(due) = self.timers.pop() {
            let (kind, key) = what_is_due(due);
            match kind {
                ACCEPT_AGAIN => self.watch_intake(),
                DRAIN => {
                    for key in self.slots.keys() {
                        self.close(key);
                    }
                }
                IDLE => self.maybe_idle(key),
                kind => self.connection_due(key, kind),
            }
        }
    }

    fn connection_due(&mut self, key: Key, kind: u8) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        match (kind, connection.stage) {
            (LINGER, Stage::Lingering) => self.close(key),
            (DELAY, Stage::Waiting) => {
                connection.stage = Stage::Next(Next::Proceed);
                self.advance(key);
            }
            _ => {}
        }
    }

    /// The read timeout of a connection may be over: it is looked at once per timeout, not set
    /// anew with each request.
    fn maybe_idle(&mut self, key: Key) {
        let (Some(connection), Some(timeout_ns)) = (self.slots.get_mut(key), self.read_timeout_ns)
        else {
            return;
        };
        let reads =
            connection.stage == Stage::Next(Next::Read) && connection.sending == Sending::Nothing;
        let since_ns = if reads { connection.active_ns } else { self.now_ns };
        let left_ns = (since_ns + timeout_ns).saturating_sub(monotonic_ns());
        if left_ns == 0 {
            self.close(key);
        } else {
            self.timers.add(left_ns, timer(IDLE, key));
        }
    }

    /// No new connections; idle ones are closed, the others behind their present answer.
    fn begin_draining(&mut self) {
        if !self.stop.is_set() || self.draining {
            return;
        }
        self.draining = true;
        self.unwatch_intake();
        self.timers.add(DRAIN_NS, timer(DRAIN, Key { slot: 0, generation: 0 }));
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get_mut(key) else { continue };
            connection.protocol.finish();
            if connection.is_idle() || connection.stage == Stage::Lingering {
                self.close(key);
            }
        }
    }

    /// A new connection, from wherever it came.
    #[inline]
    pub(super) fn begin(&mut self, file: File) {
        self.counters.connections.one();
        let key = self.slots.insert(Connection::new(file, self.now_ns));
        if let Some(timeout_ns) = self.read_timeout_ns {
            self.counters.timers.one();
            self.timers.add(timeout_ns, timer(IDLE, key));
        }
        self.arm(key);
    }
}

/// The key of a timer.
pub fn timer(kind: u8, key: Key) -> u64 {
    tag(kind, key.generation, key.slot)
}

fn what_is_due(timer: u64) -> (u8, Key) {
    let generation = (timer >> 32) as u32 & 0xff_ffff;
    ((timer >> 56) as u8, Key { slot: timer as u32, generation })
}
