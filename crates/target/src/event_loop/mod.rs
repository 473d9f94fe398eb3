//! A worker that waits for many descriptors at once: one thread, its way to wait
//! ([`readiness`]), its connections.
//!
//! Per small request on an open connection: its share of one wait, one read, one write. A new
//! connection is read before it is taken in: one that sends its request at once and is closed
//! behind the response never is.

pub mod connection;
pub mod epoll;
mod intake;
pub mod read_timeouts;
pub mod readiness;
pub mod slots;
pub mod timers;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::accepting::Intake;
use crate::handler::Handler;
use crate::models::Worker;
use crate::options::Options;
use crate::server::Stop;
use crate::service::Service;
use connection::{Connection, Outcome, Scratch};
use read_timeouts::ReadTimeouts;
use readiness::{Readiness, Wants};
use slots::Slots;
use timers::Timers;

/// Keys that are no connection; see [`Slots::remove`].
const INTAKE: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const SWEEP: u64 = u64::MAX - 2;

/// How long a connection that was closed with unread input may linger (RFC 9112, 9.6).
pub const LINGER_NS: u64 = 2_000_000_000;
/// How long responses under way may take when the server is stopped.
pub const DRAIN_NS: u64 = 1_000_000_000;

/// A worker's event loop before it runs.
#[derive(Debug)]
pub struct EventLoop<H, R> {
    readiness: R,
    /// Where connections come from; none while draining.
    intake: Option<Intake>,
    /// They are waited for; not in a pause.
    is_watching: bool,
    /// Connections that have just come.
    arrivals: VecDeque<OwnedFd>,
    service: Arc<Service<H>>,
    options: Arc<Options>,
    stop: Arc<Stop>,
    slots: Slots<Connection>,
    timers: Timers,
    read_timeouts: ReadTimeouts,
    scratch: Scratch,
    /// Connections that had their turn and want another; and last time's, to keep the memory.
    queue: Vec<u64>,
    queue_before: Vec<u64>,
    /// Something was left to do for the events of this wait.
    useful: bool,
    draining: bool,
}

impl<H: Handler, R: Readiness> EventLoop<H, R> {
    /// Sets it up.
    ///
    /// # Errors
    /// When the kernel has no descriptor or no memory for it.
    pub fn new(worker: Worker<H>) -> rustix::io::Result<Self> {
        let Worker { intake, service, options, counters, stop, .. } = worker;
        let mut event_loop = Self {
            readiness: R::new(options.max_events, counters.clone())?,
            intake: Some(intake),
            is_watching: false,
            arrivals: VecDeque::new(),
            service,
            read_timeouts: ReadTimeouts::new(&options),
            options,
            stop,
            slots: Slots::default(),
            timers: Timers::default(),
            scratch: Scratch::new(counters),
            queue: Vec::new(),
            queue_before: Vec::new(),
            useful: false,
            draining: false,
        };
        event_loop.watch_intake()?;
        event_loop.readiness.watch(event_loop.stop.as_fd(), STOP, false)?;
        if let Some(every_ns) = event_loop.read_timeouts.sweep_every_ns() {
            event_loop.add_timer(every_ns, SWEEP);
        }
        Ok(event_loop)
    }

    /// Serves until told to stop, then lets responses under way finish.
    ///
    /// # Errors
    /// When the wait itself fails, which the kernel does only for lack of memory.
    pub fn run(mut self) -> rustix::io::Result<()> {
        // Waits of this thread may else end 50 µs late, to be spared wake-ups (prctl(2),
        // PR_SET_TIMERSLACK): too late for short delays. It is no loss if it cannot be had.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        loop {
            let timeout_ns = self.timeout_ns();
            let count = match self.readiness.wait(timeout_ns) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            self.scratch.date.update();
            // Those that were queued before this wait come after what it gave.
            std::mem::swap(&mut self.queue, &mut self.queue_before);
            self.useful = false;
            for at in 0..count {
                let (key, flags) = self.readiness.event(at);
                match key {
                    INTAKE => self.take_in()?,
                    STOP => self.begin_draining()?,
                    key => self.event(key, flags),
                }
            }
            if count > 0 && !self.useful {
                self.scratch.counters.empty_wakes.one();
            }
            self.run_timers()?;
            self.run_queue();
            self.welcome_arrivals();
            if self.draining && self.slots.is_empty() {
                return Ok(());
            }
        }
    }

    /// How long the next wait may take.
    #[inline]
    fn timeout_ns(&self) -> Option<u64> {
        if !self.queue.is_empty() {
            return Some(0);
        }
        let due_ns = match (self.timers.first_due_ns(), self.read_timeouts.first_due_ns()) {
            (None, None) => return None,
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
        };
        Some(due_ns.saturating_sub(monotonic_ns()))
    }

    #[inline]
    fn event(&mut self, key: u64, flags: EventFlags) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        self.useful = true;
        // Without a side of ours closed, a hang-up is the end of both, as an error is.
        let hung_up = flags.contains(EventFlags::HUP) && !connection.is_lingering();
        if hung_up || flags.contains(EventFlags::ERR) {
            self.close(key);
            return;
        }
        if flags == EventFlags::OUT && connection.wants() != Wants::Output {
            // Edge-triggered, a new connection is told at once to have room.
            return;
        }
        let half_closed = flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        if half_closed || flags.contains(EventFlags::IN) {
            connection.note_readable(half_closed);
        }
        // One that is queued had not filled its socket.
        let was_full = connection.wants() == Wants::Output && !connection.queued;
        if flags.contains(EventFlags::OUT) && was_full {
            self.scratch.counters.out_events.one();
        }
        if !connection.queued {
            self.turn(key);
        }
    }

    /// Gives a connection its turn and does what it then wants.
    #[inline]
    fn turn(&mut self, key: u64) {
        if self.act(key) == Then::Waits {
            self.settle(key);
        }
    }

    #[inline]
    fn act(&mut self, key: u64) -> Then {
        let Some(connection) = self.slots.get_mut(key) else { return Then::IsGone };
        self.read_timeouts.turn(&mut connection.waited, key);
        match connection.turn(&self.service, &mut self.scratch) {
            Outcome::Event if self.draining && connection.is_idle() => {
                self.close(key);
                Then::IsGone
            }
            Outcome::Event => Then::Waits,
            Outcome::EventFor(delay_ns) => {
                if connection.set_alarm(delay_ns) {
                    self.add_timer(delay_ns, key);
                }
                Then::Waits
            }
            Outcome::Wait(delay_ns) => {
                self.add_timer(delay_ns, key);
                Then::Waits
            }
            Outcome::Turn => {
                connection.queued = true;
                self.queue.push(key);
                Then::IsQueued
            }
            Outcome::Linger => {
                connection.queued = true;
                self.queue.push(key);
                self.add_timer(LINGER_NS, key);
                Then::IsQueued
            }
            Outcome::Closed => {
                self.close(key);
                Then::IsGone
            }
        }
    }

    /// A connection waits from now on.
    #[inline]
    fn settle(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let wants = connection.wants();
        let awaits_client = wants == Wants::Input && !connection.awaits_time();
        if awaits_client && self.read_timeouts.wait(&mut connection.waited, key) {
            self.scratch.counters.timers.one();
        }
        if self.readiness.settle(connection.socket().as_fd(), key, wants).is_err() {
            // It would never be heard of again.
            self.close(key);
        }
    }

    fn close(&mut self, key: u64) {
        if let Some(connection) = self.slots.remove(key) {
            self.readiness.forget(key);
            self.read_timeouts.forget(connection.waited, key);
        }
    }

    /// Those that want another turn without an event.
    #[inline]
    fn run_queue(&mut self) {
        for at in 0..self.queue_before.len() {
            let key = self.queue_before[at];
            if let Some(connection) = self.slots.get_mut(key) {
                connection.queued = false;
                self.turn(key);
            }
        }
        self.queue_before.clear();
    }

    fn add_timer(&mut self, delay_ns: u64, key: u64) {
        self.scratch.counters.timers.one();
        self.timers.add(delay_ns, key);
    }

    #[inline]
    fn run_timers(&mut self) -> rustix::io::Result<()> {
        if self.timers.first_due_ns().or(self.read_timeouts.first_due_ns()).is_none() {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        while let Some(key) = self.timers.pop(now_ns) {
            match key {
                INTAKE => self.watch_intake()?,
                STOP => self.slots.keys().into_iter().for_each(|key| self.close(key)),
                SWEEP => self.sweep(),
                key => self.connection_due(key),
            }
        }
        while let Some(key) = self.read_timeouts.pop(now_ns) {
            self.close(key);
        }
        Ok(())
    }

    fn connection_due(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if connection.is_lingering() {
            self.close(key);
            return;
        }
        connection.resume();
        if !connection.queued {
            self.turn(key);
        }
    }

    /// Closes the connections that have waited for input for too long.
    fn sweep(&mut self) {
        self.read_timeouts.begin_sweep();
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get_mut(key) else { continue };
            let awaits_client = connection.wants() == Wants::Input && !connection.awaits_time();
            if awaits_client && self.read_timeouts.is_over(connection.waited) {
                self.close(key);
            }
        }
        if let Some(every_ns) = self.read_timeouts.sweep_every_ns() {
            self.add_timer(every_ns, SWEEP);
        }
    }

    /// No new connections; idle ones are closed, the others behind their present response.
    fn begin_draining(&mut self) -> rustix::io::Result<()> {
        self.useful = true;
        if !self.stop.is_set() || self.draining {
            return Ok(());
        }
        self.draining = true;
        self.readiness.unwatch(self.stop.as_fd(), STOP)?;
        self.give_up_intake()?;
        self.add_timer(DRAIN_NS, STOP);
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get_mut(key) else { continue };
            connection.finish();
            if connection.is_idle() && connection.say_goodbye(&mut self.scratch) {
                if !connection.queued {
                    self.turn(key);
                }
                continue;
            }
            if connection.is_idle() || connection.is_lingering() {
                self.close(key);
            }
        }
        Ok(())
    }
}

/// What a connection does behind its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Waits,
    IsQueued,
    IsGone,
}
