//! The io_uring driver: one ring per worker, one system call per batch of sends and arrivals.
//!
//! The ring is single-issuer with deferred task run, so completions appear only inside our own
//! `io_uring_enter` and the kernel says by a flag when there are any. Small answers come through
//! a multishot receive into a small ring of buffers; large bodies nobody wants are gathered by the
//! socket (`SO_RCVLOWAT`) and dropped (`MSG_TRUNC`); a short connection is one chain of linked
//! requests on a direct descriptor. `slots` holds the state of the sockets, `ring` the ring and its buffers.

pub mod ring;
mod slots;

use std::io;

use ablaze_sys::clock::monotonic_ns;

use self::ring::{BufferRing, RingCompletion};
pub use self::slots::UringIo;
use self::slots::{BULK_GROUP, Dropped, HEAD_GROUP, Recognised};
use crate::driver::{CloseHow, CloseReason, Driver, Handler, Io, Receive, Setup, Slot, Turn, Wait};
use crate::waker::Waker;

/// Buffers for heads and small answers: a page each, few, so that they stay in the cache.
const HEAD_BUFFER_BYTES: u32 = 4096;
/// Buffers for bodies that are wanted. Large: what they end in the middle of, such as a record of TLS,
/// is copied.
const BULK_BUFFER_BYTES: u32 = 128 * 1024;
const BULK_BUFFERS: u16 = 16;
/// A turn ends after so many events even if there are more: connects on loopback complete while
/// they are submitted, so that there might always be.
const TURN_EVENTS_MAX: u32 = 4096;
/// Looks at the ring between two looks at the clock while watching actively.
const LOOKS_PER_CLOCK: u32 = 16;

/// Moves bytes through io_uring.
pub struct UringDriver {
    // Dropped first: without the ring the kernel does not touch the buffers any more.
    io: UringIo,
    heads: BufferRing,
    bulk: BufferRing,
    batch: Vec<RingCompletion>,
    /// Closes being told that needed nothing from the kernel; empty between turns.
    local: Vec<(Slot, u32, CloseReason)>,
}

impl UringDriver {
    /// Makes a ring for the calling thread, which is the only one that may use it.
    ///
    /// # Errors
    /// The kernel has no io_uring, forbids it, or lacks a feature used here.
    pub fn new(setup: Setup) -> io::Result<Self> {
        let head_buffers = setup.slots.clamp(8, 4096).next_power_of_two() as u16;
        let batch_cap = setup.batch_cap.max(1) as usize;
        let io = UringIo::new(setup)?;
        // SAFETY: of the driver's fields the ring (in `io`) is dropped first.
        let (heads, bulk) = unsafe {
            (
                BufferRing::new(&io.ring, HEAD_GROUP, head_buffers, HEAD_BUFFER_BYTES)?,
                BufferRing::new(&io.ring, BULK_GROUP, BULK_BUFFERS, BULK_BUFFER_BYTES)?,
            )
        };
        Ok(Self { io, heads, bulk, batch: Vec::with_capacity(batch_cap), local: Vec::new() })
    }

    /// Whether a driver can be made on this machine.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn probe() -> io::Result<()> {
        ring::probe(slots::OPERATIONS)
    }

    /// Ends this driver's waits from another thread.
    pub fn waker(&self) -> Waker {
        self.io.waker()
    }

    /// Takes up to a batch of completions off the ring; returns whether there are more.
    fn take_batch(&mut self) -> bool {
        self.batch.clear();
        let mut completions = self.io.ring.completion();
        while self.batch.len() < self.batch.capacity() {
            let Some(entry) = completions.next() else { return false };
            self.batch.push(RingCompletion::from(entry));
        }
        !completions.is_empty()
    }

    /// Delivers one completion; returns whether it belongs to a connection that still stands.
    #[inline]
    fn deliver<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        done: RingCompletion,
        at: u64,
    ) -> bool {
        let (slot, operation) = match self.io.recognise(&done) {
            Recognised::Standing(slot, operation) => (slot, operation),
            Recognised::Ending(slot) => return self.deliver_ending(handler, slot, &done, at),
            Recognised::Nobody => {
                self.give_back_unseen(&done);
                return false;
            }
        };
        match operation {
            slots::STREAM | slots::HEAD => self.deliver_bytes(handler, slot, done, at),
            slots::BULK => self.deliver_bytes(handler, slot, done, at),
            slots::DISCARD => self.deliver_discard(handler, slot, done, at),
            slots::CONNECT => self.deliver_connect(handler, slot, done.result, at),
            slots::SOCKET => {
                self.io.chain_broken(slot);
                self.finish(handler, slot, CloseReason::Here("socket", -done.result), at);
            }
            slots::SEND | slots::SILENT_SEND | slots::QUEUED_SEND
                if self.io.send_done(slot, done.result, operation) =>
            {
                handler.sent(&mut self.io, slot, at);
            }
            _ => {}
        }
        true
    }

    #[inline]
    fn deliver_bytes<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: RingCompletion,
        at: u64,
    ) {
        if !done.more_to_come() {
            self.io.receive_ended(slot);
        }
        if done.result <= 0 {
            self.give_back_unseen(&done);
            return self.deliver_end(handler, slot, done.result, at);
        }
        if let Some(buffer) = done.buffer() {
            self.io.heard(slot);
            if self.io.listens(slot) {
                let buffers =
                    if done.operation() == slots::BULK { &mut self.bulk } else { &mut self.heads };
                let bytes = buffers.bytes_mut(buffer, done.result as usize);
                self.io.delivering(slot);
                handler.received(&mut self.io, slot, bytes, at, done.socket_nonempty());
                self.io.delivered();
                if done.more_to_come() {
                    self.io.suspect(slot, at);
                }
            }
            self.give_back_unseen(&done);
        }
        if self.io.is_current(slot, done.generation()) {
            self.drop_body(handler, slot, at);
        }
        self.io.arm_again(slot, done.generation());
    }

    /// Drops the body behind a head that was just delivered, as far as it has come.
    #[inline]
    fn drop_body<H: Handler<UringIo>>(&mut self, handler: &mut H, slot: Slot, at: u64) {
        match self.io.drop_here(slot) {
            None => {}
            Some(Dropped::Bytes(bytes)) => {
                self.io.discarded_some(slot, bytes);
                handler.discarded(&mut self.io, slot, bytes, at);
            }
            Some(Dropped::Closed(reason)) => self.finish(handler, slot, reason, at),
        }
    }

    fn deliver_discard<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: RingCompletion,
        at: u64,
    ) {
        self.io.receive_ended(slot);
        // Where the kernel cannot drop bytes they were read into a buffer.
        self.give_back_unseen(&done);
        if done.result <= 0 {
            return self.deliver_end(handler, slot, done.result, at);
        }
        let bytes = done.result as u64;
        self.io.heard(slot);
        if self.io.listens(slot) {
            self.io.discarded_some(slot, bytes);
            handler.discarded(&mut self.io, slot, bytes, at);
        }
        self.io.arm_again(slot, done.generation());
    }

    /// A receive ended without bytes: end of stream, an error, or something to try again.
    fn deliver_end<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        result: i32,
        at: u64,
    ) {
        match self.io.why_ended(slot, result) {
            Some(reason) => self.finish(handler, slot, reason, at),
            None => self.io.arm(slot),
        }
    }

    fn deliver_connect<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        result: i32,
        at: u64,
    ) {
        match self.io.connect_done(slot, result) {
            slots::Connected::Yes => {
                handler.opened(&mut self.io, slot, at);
                self.io.arm_if_open(slot);
            }
            slots::Connected::TryAgain | slots::Connected::Ending => {}
            slots::Connected::No(reason) => self.free(handler, slot, reason, at),
        }
    }

    /// The slot's connection is over: tells the handler, at once or when the kernel has let go of it.
    fn finish<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        reason: CloseReason,
        at: u64,
    ) {
        if self.io.end(slot, CloseHow::Fin, reason) {
            self.free(handler, slot, reason, at);
        }
    }

    /// Something completed on a slot whose connection is over; returns whether that was the last.
    #[inline(never)]
    fn deliver_ending<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: &RingCompletion,
        at: u64,
    ) -> bool {
        self.give_back_unseen(done);
        let Some(reason) = self.io.released(slot, done) else { return false };
        self.free(handler, slot, reason, at);
        true
    }

    /// Frees the slot and tells the handler.
    fn free<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        reason: CloseReason,
        at: u64,
    ) {
        self.io.free(slot);
        handler.closed(&mut self.io, slot, reason, at);
    }

    /// A buffer whose bytes are used up, or whose connection is gone, returns to the kernel.
    #[inline]
    fn give_back_unseen(&mut self, done: &RingCompletion) {
        if let Some(buffer) = done.buffer() {
            if matches!(done.operation(), slots::BULK | slots::DISCARD) {
                self.bulk.give_back(buffer);
            } else {
                self.heads.give_back(buffer);
            }
        }
    }

    /// Submits and waits as asked; afterwards there may be completions.
    fn wait(&mut self, wait: Wait, turn: &mut Turn) -> io::Result<()> {
        if self.io.waits_for_submission() {
            return self.io.submit(turn);
        }
        let mut now = monotonic_ns();
        // Before active waiting too, which may find something each time.
        let mut until_ns = wait.until_ns.min(self.io.look_again(now));
        if wait.spin_ns > 0 && until_ns > now {
            let begun = now;
            let found = self.spin(until_ns.min(begun + wait.spin_ns), turn)?;
            now = monotonic_ns();
            turn.spun_ns += now - begun;
            if found {
                return Ok(());
            }
            until_ns = wait.until_ns.min(self.io.look_again(now));
        }
        let left_ns = until_ns.saturating_sub(now);
        if left_ns == 0 {
            return self.io.submit(turn);
        }
        self.io.submit_and_wait(wait.at_least, wait.gather_ns, left_ns, turn)?;
        turn.waited_ns = monotonic_ns().saturating_sub(now);
        Ok(())
    }

    /// Submits, then watches the ring until something completed or time is up.
    fn spin(&mut self, until_ns: u64, turn: &mut Turn) -> io::Result<bool> {
        self.io.submit(turn)?;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if !self.io.ring.completion().is_empty() {
                    return Ok(true);
                }
                // Deferred completions are waiting for us to fetch them.
                if self.io.ring.submission().taskrun() {
                    self.io.fetch(turn)?;
                } else {
                    std::hint::spin_loop();
                }
            }
            if monotonic_ns() >= until_ns {
                return Ok(false);
            }
        }
    }
}

impl Driver for UringDriver {
    type Io = UringIo;

    fn io(&mut self) -> &mut UringIo {
        &mut self.io
    }

    fn turn<H: Handler<UringIo>>(&mut self, handler: &mut H, wait: Wait) -> io::Result<Turn> {
        let mut turn = Turn::default();
        let mut local = std::mem::take(&mut self.local);
        self.io.swap_local(&mut local);
        if local.is_empty() && self.io.ring.completion().is_empty() {
            self.wait(wait, &mut turn)?;
            self.io.now_ns = monotonic_ns();
        } else {
            self.io.now_ns = monotonic_ns();
        }
        let mut at = self.io.now_ns;
        // Events may have come at any time while a fuller batch was waited for.
        let oldest_at = at - turn.waited_ns.min(self.io.gathered_ns);
        loop {
            let more = self.take_batch();
            let mut events = 0;
            for index in 0..self.batch.len() {
                let done = self.batch[index];
                events += u32::from(self.deliver(handler, done, at));
            }
            // What this machine refused, and closes that needed nothing from the kernel.
            loop {
                for (slot, generation, reason) in local.drain(..) {
                    if self.io.is_current(slot, generation) {
                        events += 1;
                        self.free(handler, slot, reason, at);
                    }
                }
                self.io.swap_local(&mut local);
                if local.is_empty() {
                    break;
                }
            }
            self.heads.publish();
            self.bulk.publish();
            if events > 0 {
                turn.events += events;
                let now = monotonic_ns();
                self.io.now_ns = now;
                handler.batch_end(&mut self.io, events, oldest_at, now);
            }
            if !more || turn.events >= TURN_EVENTS_MAX {
                break;
            }
            self.io.submit(&mut turn)?;
            // Submitting may have completed requests that were not there before.
            at = monotonic_ns();
        }
        self.local = local;
        turn.system_calls += std::mem::take(&mut self.io.calls);
        Ok(turn)
    }
}

impl Io for UringIo {
    const SENDS_AT_ONCE: bool = false;

    fn now(&mut self) -> u64 {
        self.now_ns = monotonic_ns();
        self.now_ns
    }

    fn open(
        &mut self,
        slot: Slot,
        endpoint: u16,
        first: Option<crate::driver::Outgoing>,
        receive: Receive,
    ) {
        self.open_slot(slot, endpoint, first, receive);
    }

    fn lease(&mut self, bytes: usize) -> crate::driver::OutBuffer {
        self.leases.lease(bytes)
    }

    fn leased(&mut self, buffer: crate::driver::OutBuffer) -> &mut [u8] {
        self.leases.bytes_mut(buffer)
    }

    fn release(&mut self, buffer: crate::driver::OutBuffer) {
        self.leases.release(buffer);
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: crate::driver::Outgoing, notify: bool) {
        self.send_on(slot, bytes, notify);
    }

    #[inline]
    fn receive(&mut self, slot: Slot, mode: Receive) {
        self.receive_on(slot, mode);
    }

    fn close(&mut self, slot: Slot, how: crate::driver::CloseHow) {
        self.close_slot(slot, how);
    }
}
