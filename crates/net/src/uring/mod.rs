//! The io_uring driver: one ring per worker, one system call per batch of sends and arrivals.
//!
//! The ring is single-issuer with deferred task run, so completions appear only inside our own
//! `io_uring_enter` and the kernel says by a flag when there are any. Small responses come through
//! a multishot receive into a small ring of buffers; large bodies nobody wants are gathered by the
//! socket (`SO_RCVLOWAT`) and dropped (`MSG_TRUNC`); a short connection is one chain of linked
//! requests on a direct descriptor. `slots` holds the
//! state of the sockets, `ring` the ring and its buffers, `delivering` and `datagrams` tell the handler what completed.

mod datagrams;
mod delivering;
pub mod ring;
mod slots;

use std::io;

use ablaze_sys::clock::monotonic_ns;

use self::ring::{BufferRing, RingCompletion};
pub use self::slots::UringIo;
use self::slots::{BULK_GROUP, DATAGRAM_GROUP, HEAD_GROUP};
use crate::driver::{CloseReason, Driver, Handler, Io, Receive, Setup, Slot, Turn, Wait};
use crate::waker::Waker;
use crate::watch::Watch;

/// Buffers for heads and small responses: a page each, few, so that they stay in the cache.
const HEAD_BUFFER_BYTES: u32 = 4096;
/// Buffers for bodies that are wanted. Large: what they end in the middle of, such as a record of TLS,
/// is copied.
const BULK_BUFFER_BYTES: u32 = 128 * 1024;
const BULK_BUFFERS: u16 = 16;
/// A turn ends after this many events even if there are more: connects on loopback complete while
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
    /// Where any endpoint is one of datagrams.
    datagrams: Option<BufferRing>,
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
        let head_buffers =
            (setup.slots - setup.spares.min(setup.slots)).clamp(8, 4096).next_power_of_two() as u16;
        let batch_cap = setup.batch_cap.max(1) as usize;
        let head_bytes = setup.head_bytes.unwrap_or(HEAD_BUFFER_BYTES).max(HEAD_BUFFER_BYTES);
        let io = UringIo::new(setup)?;
        // SAFETY: of the driver's fields the ring (in `io`) is dropped first.
        let (heads, bulk, datagrams) = unsafe {
            (
                BufferRing::new(&io.ring, HEAD_GROUP, head_buffers, head_bytes)?,
                BufferRing::new(&io.ring, BULK_GROUP, BULK_BUFFERS, BULK_BUFFER_BYTES)?,
                match io.has_datagrams() {
                    true => Some(BufferRing::new(
                        &io.ring,
                        DATAGRAM_GROUP,
                        datagrams::BUFFERS,
                        datagrams::BUFFER_BYTES,
                    )?),
                    false => None,
                },
            )
        };
        let batch = Vec::with_capacity(batch_cap);
        Ok(Self { io, heads, bulk, datagrams, batch, local: Vec::new() })
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

    /// Submits and waits as asked; afterwards there may be completions.
    fn wait(&mut self, wait: Wait, turn: &mut Turn) -> io::Result<()> {
        if self.io.waits_for_submission() {
            return self.io.submit(turn);
        }
        let mut now = monotonic_ns();
        // Before active waiting too, which may find something each time.
        let mut until_ns = wait.until_ns.min(self.io.look_again(now));
        if wait.spin_ns > 0 && until_ns > now {
            let mut watch = Watch::new(now);
            let found = self.spin(until_ns, wait.spin_ns, &mut watch, turn)?;
            now = monotonic_ns();
            turn.spun_ns += watch.spent_ns(now);
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

    /// Submits, then watches the ring until something completed, `spin_ns` have passed or it is `until_ns`.
    fn spin(
        &mut self,
        mut until_ns: u64,
        spin_ns: u64,
        watch: &mut Watch,
        turn: &mut Turn,
    ) -> io::Result<bool> {
        self.io.submit(turn)?;
        watch.worked();
        let mut is_first_look = true;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if !self.io.ring.completion().is_empty() {
                    return Ok(true);
                }
                // Deferred completions are waiting for us to fetch them.
                if self.io.ring.submission().taskrun() {
                    self.io.fetch(turn)?;
                    watch.worked();
                } else {
                    std::hint::spin_loop();
                }
            }
            let now = monotonic_ns();
            watch.looked(now);
            if std::mem::take(&mut is_first_look) {
                until_ns = until_ns.min(now.saturating_add(spin_ns));
            }
            if now >= until_ns {
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
            self.io.seen_all();
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
    fn send_datagrams(&mut self, slot: Slot, datagrams: crate::driver::OutDatagrams<'_>) {
        self.send_together(slot, datagrams);
    }

    fn datagram_counts(&mut self, slot: Slot) -> crate::driver::DatagramCounts {
        self.counts(slot)
    }

    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16> {
        self.longest_datagram(slot)
    }

    fn unsent(&mut self, slot: Slot) -> bool {
        self.is_unsent(slot)
    }

    #[inline]
    fn receive(&mut self, slot: Slot, mode: Receive) {
        self.receive_on(slot, mode);
    }

    fn close(&mut self, slot: Slot, how: crate::driver::CloseHow) {
        self.close_slot(slot, how);
    }
}
