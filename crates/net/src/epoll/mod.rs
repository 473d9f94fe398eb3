//! The driver that works everywhere on Linux: epoll, edge-triggered, one wait per batch and two
//! calls per request.
//!
//! `io` holds the verbs and what they need, `visit` delivers what happened to one slot, `datagrams`
//! does both for sockets of datagrams, `wait` sleeps; this file is the loop. Things that a verb finds out at once (a refused socket, a close,
//! an accepted send) are not delivered from inside the verb but from a list of slots to visit
//! later in the turn, so that a handler is never entered twice.

mod connection;
mod datagrams;
mod io;
mod visit;
mod wait;

use ablaze_sys::clock::monotonic_ns;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

pub use self::io::EpollIo;
use self::wait::{Timeout, Waiter};
use crate::driver::{Driver, Handler, Setup, Slot, Turn, Wait};
use crate::socket::Route;
use crate::waker::Waker;
use crate::watch::Watch;

/// The most kernel events one turn takes, however large the batch cap.
const EVENTS_PER_WAIT: u32 = 1024;

/// Marks the waker's event; no slot has this number and generation at once, because slots are
/// counted from 0 and there are fewer than 2^32 of them.
const WAKER: u64 = u64::MAX;

/// How soon a connect that met a full accept queue of a Unix socket is tried again.
const REFILL_NS: u64 = 1_000_000;

/// Moves bytes with epoll.
#[derive(Debug)]
pub struct EpollDriver {
    io: EpollIo,
    waiter: Waiter,
    waker: Waker,
    events: Box<[libc::epoll_event]>,
    buffer: Box<[u8]>,
    /// One read while a head is expected; at most `visit::BULK_BYTES`.
    head_bytes: usize,
    batch_cap: u32,
    batch: Batch,
}

/// The batch being handled.
#[derive(Debug, Default)]
struct Batch {
    /// Events delivered since the last `batch_end`.
    events: u32,
    /// Events delivered in the whole turn.
    events_in_turn: u32,
    /// When the kernel handed over what this turn delivers.
    seen_at: u64,
}

impl EpollDriver {
    /// A driver with all its slots free.
    ///
    /// # Errors
    /// No descriptor is left, or an endpoint's Unix path is too long.
    pub fn new(setup: Setup) -> std::io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let waker = Waker::new()?;
        // Edge-triggered, every write to the eventfd is an event of its own; nothing need be read.
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &waker, EventData::new_u64(WAKER), flags)?;
        let routes = setup.endpoints.iter().map(Route::new).collect::<std::io::Result<_>>()?;
        let batch_cap = setup.batch_cap.max(1);
        let events = batch_cap.min(EVENTS_PER_WAIT) as usize;
        Ok(Self {
            io: EpollIo::new(epoll, setup.slots, routes, setup.constant_bytes),
            waiter: Waiter::new(),
            waker,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; events].into_boxed_slice(),
            buffer: vec![0; visit::BULK_BYTES].into_boxed_slice(),
            head_bytes: setup
                .head_bytes
                .map_or(visit::HEAD_BYTES, |bytes| (bytes as usize).clamp(1, visit::BULK_BYTES)),
            batch_cap,
            batch: Batch::default(),
        })
    }

    /// Something to end this driver's wait with, from any thread.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Waits as told and returns how many kernel events there are.
    fn gather(&mut self, wait: Wait, turn: &mut Turn) -> std::io::Result<usize> {
        let start = monotonic_ns();
        self.batch.seen_at = start;
        let mut end = wait.until_ns;
        if !self.io.refilling.is_empty() {
            end = end.min(start.saturating_add(REFILL_NS));
        }
        let mut count = 0;
        if !self.io.listed.is_empty() || start >= end {
            return self.wait(0, Timeout::None);
        }
        if wait.spin_ns > 0 {
            let mut watch = Watch::new(start);
            count = self.spin(end.min(start.saturating_add(wait.spin_ns)), &mut watch)?;
            turn.spun_ns = watch.spent_ns(self.batch.seen_at);
        }
        if count == 0 && self.batch.seen_at < end {
            count = self.sleep(0, end, turn)?;
        }
        let gather_end = end.min(start.saturating_add(wait.gather_ns));
        let enough = self.events.len().min(wait.at_least as usize);
        while count > 0 && count < enough && self.batch.seen_at < gather_end {
            let woken = self.events[..count].iter().any(|event| event.u64 == WAKER);
            let came = if woken { 0 } else { self.sleep(count, gather_end, turn)? };
            if came == 0 {
                break;
            }
            count += came;
        }
        Ok(count)
    }

    /// Looks again and again until there are events or the time is over.
    fn spin(&mut self, end: u64, watch: &mut Watch) -> std::io::Result<usize> {
        loop {
            let count = self.wait(0, Timeout::None)?;
            self.batch.seen_at = monotonic_ns();
            if count > 0 {
                // The call that brings events is made without watching, too.
                watch.worked();
            }
            watch.looked(self.batch.seen_at);
            if count > 0 || self.batch.seen_at >= end {
                return Ok(count);
            }
            // Leaves the core to its sibling for a moment; short against the system call.
            for _ in 0..4 {
                std::hint::spin_loop();
            }
        }
    }

    fn sleep(&mut self, have: usize, end: u64, turn: &mut Turn) -> std::io::Result<usize> {
        let before = self.batch.seen_at;
        let timeout = if end == u64::MAX {
            Timeout::Forever
        } else {
            Timeout::Ns(end.saturating_sub(before))
        };
        let count = self.wait(have, timeout)?;
        self.batch.seen_at = monotonic_ns();
        turn.waited_ns += self.batch.seen_at - before;
        Ok(count)
    }

    fn wait(&mut self, have: usize, timeout: Timeout) -> std::io::Result<usize> {
        let events = &mut self.events[have..];
        self.waiter.wait(&self.io.epoll, events, timeout, &mut self.io.system_calls)
    }

    /// Delivers kernel events; those of a connection that is gone are dropped.
    fn deliver<H: Handler<EpollIo>>(&mut self, handler: &mut H, count: usize) {
        for index in 0..count {
            let libc::epoll_event { events, u64: data } = self.events[index];
            let (slot, generation) = (data as Slot, (data >> 32) as u32);
            let is_current = data != WAKER
                && self.io.connections[slot as usize].generation == generation
                && self.io.connections[slot as usize].socket.is_some();
            if is_current {
                self.visit(handler, slot, events);
                self.end_full_batch(handler);
            }
        }
    }

    /// Visits the slots that have something to tell without a kernel event. Those that come onto
    /// the list meanwhile have their turn in the next turn.
    fn deliver_listed<H: Handler<EpollIo>>(&mut self, handler: &mut H) {
        for _ in 0..self.io.listed.len() {
            let Some(slot) = self.io.listed.pop_front() else { break };
            self.io.connection(slot).listed = false;
            self.visit(handler, slot, 0);
            self.end_full_batch(handler);
        }
    }

    fn end_full_batch<H: Handler<EpollIo>>(&mut self, handler: &mut H) {
        if self.batch.events >= self.batch_cap {
            self.end_batch(handler);
        }
    }

    fn end_batch<H: Handler<EpollIo>>(&mut self, handler: &mut H) {
        let events = std::mem::take(&mut self.batch.events);
        if events > 0 {
            self.batch.events_in_turn += events;
            handler.batch_end(&mut self.io, events, self.batch.seen_at, monotonic_ns());
        }
    }

    /// Tries again the connects that met a full accept queue, first come first served.
    fn refill(&mut self) {
        for _ in 0..self.io.refilling.len() {
            let Some(slot) = self.io.refilling.pop_front() else { break };
            self.io.connect(slot);
            if self.io.refilling.back() == Some(&slot) {
                // Still full: it keeps its place, and those behind it would fare no better.
                self.io.refilling.rotate_right(1);
                break;
            }
        }
    }
}

impl Driver for EpollDriver {
    type Io = EpollIo;

    fn io(&mut self) -> &mut EpollIo {
        &mut self.io
    }

    fn turn<H: Handler<EpollIo>>(&mut self, handler: &mut H, wait: Wait) -> std::io::Result<Turn> {
        let mut turn = Turn::default();
        self.refill();
        self.batch.events_in_turn = 0;
        let count = self.gather(wait, &mut turn)?;
        self.deliver(handler, count);
        self.deliver_listed(handler);
        self.end_batch(handler);
        turn.events = self.batch.events_in_turn;
        turn.system_calls = std::mem::take(&mut self.io.system_calls);
        Ok(turn)
    }
}
