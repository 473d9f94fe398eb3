//! A worker on the ring: one thread, one ring, one ring of buffers, its connections.
//!
//! A round: enter the ring (what was queued is submitted, completions are waited for), take a
//! batch of completions, and do what each asks for, which queues the next requests.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use ablaze_net::uring::ring::{BufferRing, RingCompletion};
use ablaze_sys::clock::monotonic_ns;

use super::accepting::{Accepting, Table};
use super::connection::{Connection, Sending, Stage};
use super::operations::{self as op, File};
use super::outgoing::Pool;
use super::queue::Queue;
use crate::accepting::Intake;
use crate::counters::Counters;
use crate::event_loop::DRAIN_NS;
use crate::event_loop::read_timeouts::ReadTimeouts;
use crate::event_loop::slots::{Slots, place};
use crate::event_loop::timers::Timers;
use crate::handler::Handler;
use crate::http1::date::Date;
use crate::models::Worker;
use crate::options::Options;
use crate::protocol::{Next, Protocol};
use crate::server::Stop;
use crate::service::Service;

/// Buffers that receives take theirs from, and what each has room for. A request takes one for
/// as long as it is looked at.
const BUFFERS: u16 = 256;
const BUFFER_BYTES: u32 = 16 * 1024;

// Keys of timers that belong to no connection; see [`Slots::remove`].
/// Accepting goes on after a pause.
pub const INTAKE: u64 = u64::MAX;
/// What still runs is ended.
const STOP: u64 = u64::MAX - 1;
/// Read timeouts are looked at.
const SWEEP: u64 = u64::MAX - 2;

/// A worker before it runs.
#[derive(Debug)]
pub struct RingWorker<H> {
    // The order matters: dropped first, so that the kernel touches no memory of the others.
    pub(super) queue: Queue,
    pub(super) buffers: BufferRing,
    pub(super) slots: Slots<Connection>,
    pub(super) pool: Pool,
    /// Where connections come from; none while draining.
    pub(super) intake: Option<Intake>,
    pub(super) accepting: Accepting,
    pub(super) table: Table,
    pub(super) service: Arc<Service<H>>,
    pub(super) options: Arc<Options>,
    pub(super) counters: Arc<Counters>,
    pub(super) stop: Arc<Stop>,
    pub(super) timers: Timers,
    pub(super) date: Date,
    /// A connection goes on when its silent send is done: that is not to wait for an event.
    pub(super) prompt: bool,
    pub(super) draining: bool,
    /// A connection has gone while there was no room for others.
    pub(super) has_left: bool,
    pub(super) read_timeouts: ReadTimeouts,
}

impl<H: Handler> RingWorker<H> {
    /// Sets it up, for the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses the ring or memory.
    pub fn new(worker: Worker<H>) -> io::Result<Self> {
        let table = Table::new(&worker.intake, &worker.options);
        let queue = Queue::new(table.places, worker.counters.clone())?;
        // SAFETY: the ring is in `queue`, which is dropped before the buffers.
        let buffers =
            unsafe { BufferRing::new(queue.ring(), op::BUFFER_GROUP, BUFFERS, BUFFER_BYTES)? };
        let read_timeouts = ReadTimeouts::new(&worker.options);
        let mut this = Self {
            queue,
            buffers,
            slots: Slots::default(),
            pool: Pool::default(),
            intake: Some(worker.intake),
            accepting: Accepting::Nothing,
            table,
            service: worker.service,
            options: worker.options,
            counters: worker.counters,
            stop: worker.stop,
            timers: Timers::default(),
            date: Date::now(),
            prompt: false,
            draining: false,
            has_left: false,
            read_timeouts,
        };
        this.watch_intake();
        if let Some(every_ns) = this.read_timeouts.sweep_every_ns() {
            this.add_timer(every_ns, SWEEP);
        }
        let stop = op::watch(this.stop.as_fd().as_raw_fd(), op::STOP);
        // SAFETY: it points at nothing.
        unsafe { this.queue.push(&stop) };
        Ok(this)
    }

    /// Serves until told to stop, then lets responses under way finish.
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
            if std::mem::take(&mut self.has_left) {
                self.watch_intake();
            }
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
        let left_ns = if prompt { Some(0) } else { self.left_ns() };
        if wait && left_ns != Some(0) {
            self.queue.enter(true, left_ns)?;
        } else {
            self.queue.enter(false, None)?;
        }
        self.date.update();
        Ok(())
    }

    /// How long until something is due; nothing if there is nothing.
    #[inline]
    fn left_ns(&self) -> Option<u64> {
        let due_ns = match (self.timers.first_due_ns(), self.read_timeouts.first_due_ns()) {
            (None, None) => return None,
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
        };
        Some(due_ns.saturating_sub(monotonic_ns()))
    }

    /// A request completed.
    #[inline]
    fn complete(&mut self, done: RingCompletion) {
        let (operation, key) = op::untag(done.tag);
        match operation {
            op::RECEIVE | op::RECEIVE_MANY => self.received(key, done),
            op::SEND_NOW => self.not_all_sent(key, done.result),
            op::WRITABLE => self.became_writable(key, done),
            op::INSTALL => self.installed(key, done.result),
            op::ACCEPT => self.accepted(done),
            op::HANDED => self.handed(done),
            op::STOP => self.begin_draining(),
            _ => {}
        }
    }

    /// Does what a connection's stage asks for, until it has to wait for something.
    #[inline]
    pub(super) fn advance(&mut self, key: u64) {
        loop {
            let Some(connection) = self.slots.get_mut(key) else { return };
            if connection.sending != Sending::Nothing {
                // It goes on when the send is known to be done.
                self.prompt |= connection.sending == Sending::Now;
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
                Stage::Next(Next::Read | Next::ReadFor(_)) if !connection.held.is_empty() => {
                    outgoing = self.pool.take();
                    let held = std::mem::take(&mut connection.held);
                    let out = &mut outgoing.output;
                    connection.protocol.receive(&held, &self.service, &self.date, out)
                }
                Stage::Next(Next::Read) => return self.read_on(key),
                Stage::Next(Next::ReadFor(delay_ns)) => return self.read_on_for(key, delay_ns),
            };
            connection.protocol.count_into(&self.counters);
            connection.stage = Stage::Next(next);
            connection.answered = !outgoing.output.is_empty();
            if connection.answered {
                return self.send(key, outgoing);
            }
            self.pool.give_back(outgoing);
        }
    }

    /// The connection's response waits for its time.
    pub(super) fn wait(&mut self, key: u64, delay_ns: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        connection.stage = Stage::Waiting;
        // What comes meanwhile nobody sees; the next receive says how it is.
        connection.more_there = true;
        // Besides room, the kernel tells by it that the connection broke.
        self.watch_room(key);
        self.add_timer(delay_ns, key);
    }

    /// The connection waits for the client, or for a time.
    fn read_on_for(&mut self, key: u64, delay_ns: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if connection.at_end {
            return self.close(key);
        }
        let due_ns = monotonic_ns().saturating_add(delay_ns);
        // One timer is enough; called too early, the protocol says how long it still wants.
        if connection.alarm_ns == 0 || due_ns < connection.alarm_ns {
            connection.alarm_ns = due_ns;
            self.add_timer(delay_ns, key);
        }
        self.arm(key);
    }

    /// The connection waits for the client.
    fn read_on(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if connection.at_end || (self.draining && connection.is_idle()) {
            self.close(key);
        } else {
            self.await_input(key);
        }
    }

    /// The connection waits for input: a receive is begun, if none is under way.
    #[inline]
    pub(super) fn await_input(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if self.read_timeouts.wait(&mut connection.waited, key) {
            self.counters.timers.one();
        }
        self.arm(key);
    }

    pub(super) fn add_timer(&mut self, delay_ns: u64, key: u64) {
        self.counters.timers.one();
        self.timers.add(delay_ns, key);
    }

    #[inline]
    fn run_timers(&mut self) {
        if self.timers.first_due_ns().or(self.read_timeouts.first_due_ns()).is_none() {
            return;
        }
        let now_ns = monotonic_ns();
        while let Some(key) = self.timers.pop(now_ns) {
            match key {
                INTAKE => self.accept_again(),
                STOP => self.slots.keys().into_iter().for_each(|key| self.close(key)),
                SWEEP => self.sweep(),
                key => self.connection_due(key),
            }
        }
        while let Some(key) = self.read_timeouts.pop(now_ns) {
            self.close(key);
        }
    }

    fn connection_due(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        // Whatever it does at present: who waits for a time later on needs a timer again.
        connection.alarm_ns = 0;
        match connection.stage {
            Stage::Lingering => self.close(key),
            Stage::Waiting | Stage::Next(Next::ReadFor(_)) => {
                // It was not the client that took its time.
                self.read_timeouts.turn(&mut connection.waited, key);
                connection.stage = Stage::Next(Next::Proceed);
                self.advance(key);
            }
            _ => {}
        }
    }

    /// Closes the connections that have waited for input for too long.
    fn sweep(&mut self) {
        self.read_timeouts.begin_sweep();
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get_mut(key) else { continue };
            let awaits_client = connection.stage == Stage::Next(Next::Read);
            if awaits_client
                && connection.can_use_bytes()
                && self.read_timeouts.is_over(connection.waited)
            {
                self.close(key);
            }
        }
        if let Some(every_ns) = self.read_timeouts.sweep_every_ns() {
            self.add_timer(every_ns, SWEEP);
        }
    }

    /// No new connections; idle ones are closed, the others behind their present response.
    fn begin_draining(&mut self) {
        if !self.stop.is_set() || self.draining {
            return;
        }
        self.draining = true;
        self.unwatch_intake();
        self.add_timer(DRAIN_NS, STOP);
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get_mut(key) else { continue };
            connection.protocol.finish();
            if connection.is_idle() && self.say_goodbye(key) {
                continue;
            }
            let Some(connection) = self.slots.get_mut(key) else { continue };
            if connection.is_idle() || connection.stage == Stage::Lingering {
                self.close(key);
            }
        }
    }

    /// Says what is said on a connection that is closed though nothing is wrong with it, and lets
    /// the client close first; whether there was anything to say.
    fn say_goodbye(&mut self, key: u64) -> bool {
        let Some(connection) = self.slots.get_mut(key) else { return false };
        let mut outgoing = self.pool.take();
        connection.protocol.say_goodbye(&mut outgoing.output);
        if outgoing.output.is_empty() {
            self.pool.give_back(outgoing);
            return false;
        }
        // What the client had on its way would turn a close into a reset, which destroys the words.
        connection.stage = Stage::Next(Next::Close { unread: true });
        self.send(key, outgoing);
        true
    }

    /// A new connection, from wherever it came.
    #[inline]
    pub(super) fn begin(&mut self, file: File) {
        self.counters.connections.one();
        let key = self.slots.insert(Connection::new(file, Protocol::new(&self.service)));
        if place(key) >= op::PLACES {
            // Its requests could not be told from those of others.
            return self.close(key);
        }
        if let Some(connection) = self.slots.get_mut(key) {
            self.read_timeouts.turn(&mut connection.waited, key);
        }
        self.await_input(key);
    }
}
