//! A simulated network with a simulated clock, for tests and for counting instructions.
//!
//! No socket, no sleep, no chance: time jumps to whatever happens next, and the peers are
//! scripts ([`SimPeer`], one per endpoint, cloned per connection). The client itself takes no
//! simulated time. An event costs the same however many connections there are, and allocates
//! nothing once the queues have grown, so that an engine's own instructions can be counted on top.
//!
//! What a script sends after no delay arrives at the very moment it was asked for: two sides
//! without any delay play for ever in one instant.

mod any_peer;
mod connection;
mod datagrams;
mod io;
mod peer;
mod peers;
mod timeline;

use std::io as std_io;

use self::connection::Stage;
use self::timeline::{Happening, What};
use crate::driver::{CloseHow, CloseReason, Driver, Handler, Receive, Setup, Slot, Turn, Wait};

pub use self::any_peer::AnyPeer;
pub use self::datagrams::Path;
pub use self::io::SimIo;
pub use self::peer::{ConnectReply, FarEnd, Pieces, SimPeer};
pub use self::peers::{FixedResponse, Misbehave, Prepared, Silent};

/// Simulated time begins here, ns: not at 0, so that a forgotten time stands out.
pub const START_NS: u64 = 1_000_000_000;

/// One read while a head is expected, while small messages are, and while much is: as the epoll
/// driver's.
const HEAD_BYTES: usize = 4 * 1024;
const STREAM_BYTES: usize = 16 * 1024;
const BULK_BYTES: usize = 256 * 1024;
const READS_PER_VISIT: u32 = 8;

/// Moves bytes between a handler and scripts. `SENDS_AT_ONCE` chooses which of the two kinds of
/// driver it plays (see [`crate::Io::SENDS_AT_ONCE`]).
#[derive(Debug)]
pub struct SimDriver<P, const SENDS_AT_ONCE: bool = true> {
    io: SimIo<P, SENDS_AT_ONCE>,
    due: Vec<Happening>,
    buffer: Box<[u8]>,
    batch_cap: u32,
    batch_events: u32,
    turn_events: u32,
}

impl<P: SimPeer, const SENDS_AT_ONCE: bool> SimDriver<P, SENDS_AT_ONCE> {
    /// A driver whose endpoints are these peers, by number. Of the set-up it uses the slots, the
    /// constant bytes and the batch cap.
    pub fn new(setup: &Setup, peers: Vec<P>) -> Self {
        let batch_cap = setup.batch_cap.max(1);
        Self {
            io: SimIo::new(setup.slots, peers, setup.constant_bytes.clone(), START_NS),
            due: Vec::with_capacity(batch_cap as usize),
            buffer: vec![0; BULK_BYTES].into_boxed_slice(),
            batch_cap,
            batch_events: 0,
            turn_events: 0,
        }
    }

    /// Moves the clock as told and collects what happened to the client by then.
    // There is a loop for each kind of handler; each is to cost what a single one would.
    #[inline(always)]
    fn collect(&mut self, wait: Wait, turn: &mut Turn) -> std_io::Result<()> {
        let start = self.io.now;
        let until = wait.until_ns.max(start);
        let gather_end = start.saturating_add(wait.gather_ns).min(until);
        let enough = (wait.at_least.min(self.batch_cap)) as usize;
        let has_listed = !self.io.listed.is_empty();
        let limit = loop {
            let limit = match self.due.len() {
                0 if !has_listed && self.io.listed.is_empty() => until,
                0 => self.io.now,
                some if some < enough && !has_listed => gather_end.max(self.io.now),
                _ => self.io.now,
            };
            let next_at = self.io.timeline.next_at().unwrap_or(u64::MAX);
            if next_at > limit || self.due.len() >= self.batch_cap as usize {
                break limit;
            }
            let Some(happening) = self.io.timeline.pop() else { break limit };
            self.io.now = self.io.now.max(happening.at);
            if !self.io.is_current(&happening) {
                continue;
            }
            if happening.what.is_far() {
                self.io.happen_far(happening);
            } else {
                self.due.push(happening);
            }
        };
        if limit == u64::MAX && self.due.is_empty() {
            return Err(std_io::Error::other(
                "nothing is left to happen in the simulated network, and the wait has no end",
            ));
        }
        if limit < u64::MAX && self.due.len() < self.batch_cap as usize {
            self.io.now = self.io.now.max(limit);
        }
        self.io.now = self.io.now.max(self.io.timeline.client_held_until);
        let passed = self.io.now - start;
        turn.spun_ns = passed.min(wait.spin_ns);
        turn.waited_ns = passed - turn.spun_ns;
        Ok(())
    }

    fn end_full_batch<H>(&mut self, handler: &mut H)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        if self.batch_events >= self.batch_cap {
            self.end_batch(handler);
        }
    }

    fn end_batch<H>(&mut self, handler: &mut H)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        let events = std::mem::take(&mut self.batch_events);
        if events > 0 {
            self.turn_events += events;
            let now = self.io.now;
            handler.batch_end(&mut self.io, events, now, now);
        }
        self.io.submit();
    }

    /// Delivers what there is for a slot.
    fn visit<H>(&mut self, handler: &mut H, slot: Slot, what: Option<What>)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        let was_listed = std::mem::replace(&mut self.io.connection(slot).listed, true);
        let now = self.io.now;
        match what {
            Some(What::Connected) => {
                self.io.connection(slot).stage = Stage::Open;
                self.io.flush(slot);
                self.batch_events += 1;
                handler.opened(&mut self.io, slot, now);
            }
            Some(What::Bound) => self.tell_bound(handler, slot),
            Some(What::Nobody(errno)) => {
                self.io.connection(slot).stage = Stage::Ended(CloseReason::Transfer(errno));
            }
            Some(What::Refused(errno)) => {
                self.io.connection(slot).peer = None;
                self.io.connection(slot).stage = Stage::Ended(CloseReason::Connect(errno));
            }
            Some(_) | None => {}
        }
        while self.io.connection(slot).notices > 0 && self.is_open(slot) {
            self.io.connection(slot).notices -= 1;
            self.batch_events += 1;
            handler.sent(&mut self.io, slot, now);
        }
        self.read(handler, slot);
        self.io.connection(slot).listed = was_listed;
        self.io.list(slot);
    }

    fn is_open(&mut self, slot: Slot) -> bool {
        matches!(self.io.connection(slot).stage, Stage::Open | Stage::AwaitingPeer)
    }

    fn read<H>(&mut self, handler: &mut H, slot: Slot)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        for _ in 0..READS_PER_VISIT {
            if !self.is_open(slot) || !self.io.connection(slot).can_read() {
                break;
            }
            let connection = self.io.connection(slot);
            if connection.inbox.is_empty() {
                let reason = connection.end.unwrap_or(CloseReason::Eof);
                let is_awaited = connection.stage == Stage::AwaitingPeer;
                let reason = if is_awaited { CloseReason::Local } else { reason };
                connection.stage = Stage::Ended(reason);
                self.io.hang_up(slot, CloseHow::Fin);
                break;
            }
            self.read_once(handler, slot);
        }
        if self.io.connection(slot).stage == Stage::Datagrams {
            self.read_datagrams(handler, slot);
        }
        if let Stage::Ended(reason) = self.io.connection(slot).stage {
            self.io.hang_up(slot, CloseHow::Fin);
            self.io.connection(slot).stage = Stage::Free;
            self.batch_events += 1;
            let now = self.io.now;
            handler.closed(&mut self.io, slot, reason, now);
        }
    }

    /// One read in the slot's mode, of an inbox that is not empty.
    fn read_once<H>(&mut self, handler: &mut H, slot: Slot)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        let now = self.io.now;
        let connection = self.io.connection(slot);
        let capacity = match connection.receive {
            Receive::Head => HEAD_BYTES,
            Receive::Bulk => BULK_BYTES,
            Receive::Stream | Receive::Pause => STREAM_BYTES,
            Receive::Discard(wanted) => {
                let came = self.take(slot, wanted, false);
                self.io.connection(slot).receive = match wanted - came as u64 {
                    0 => Receive::Pause,
                    left => Receive::Discard(left),
                };
                return self.tell_discarded(handler, slot, came as u64);
            }
            Receive::DiscardToEnd => {
                let came = self.take(slot, u64::MAX, false);
                return self.tell_discarded(handler, slot, came as u64);
            }
        };
        if connection.receive == Receive::Head {
            connection.receive = Receive::Pause;
        }
        let came = self.take(slot, capacity as u64, true);
        let more = !self.io.connection(slot).inbox.is_empty();
        self.batch_events += 1;
        handler.received(&mut self.io, slot, &mut self.buffer[..came], now, more);
    }

    fn tell_discarded<H>(&mut self, handler: &mut H, slot: Slot, bytes: u64)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        if bytes > 0 && self.io.connection(slot).stage == Stage::Open {
            self.batch_events += 1;
            let now = self.io.now;
            handler.discarded(&mut self.io, slot, bytes, now);
        }
    }

    /// Takes at most `wanted` bytes out of the inbox, into the buffer if they are to be copied.
    #[inline(always)]
    fn take(&mut self, slot: Slot, wanted: u64, copy: bool) -> usize {
        let connection = &mut self.io.connections[slot as usize];
        let mut taken = 0;
        while let Some((start, len)) = connection.inbox.front_mut() {
            let part = u64::from(*len).min(wanted - taken as u64) as usize;
            if part == 0 && *len > 0 {
                break;
            }
            if let (true, Some(peer)) = (copy, &connection.peer) {
                let bytes = &peer.bytes()[*start as usize..][..part];
                self.buffer[taken..taken + part].copy_from_slice(bytes);
            }
            taken += part;
            *start += part as u32;
            *len -= part as u32;
            if *len == 0 {
                connection.inbox.pop_front();
            }
        }
        taken
    }
}

impl<P: SimPeer, const SENDS_AT_ONCE: bool> Driver for SimDriver<P, SENDS_AT_ONCE> {
    type Io = SimIo<P, SENDS_AT_ONCE>;

    const IS_SIMULATED: bool = true;

    fn io(&mut self) -> &mut Self::Io {
        &mut self.io
    }

    /// # Errors
    /// Nothing will ever happen again and `wait` has no end: a script or its test is at fault.
    fn turn<H: Handler<Self::Io>>(&mut self, handler: &mut H, wait: Wait) -> std_io::Result<Turn> {
        let mut turn = Turn::default();
        self.turn_events = 0;
        self.io.submit();
        self.collect(wait, &mut turn)?;
        for index in 0..self.due.len() {
            let happening = self.due[index];
            if self.io.is_current(&happening) {
                self.io.happen(happening);
                self.visit(handler, happening.slot, Some(happening.what));
                self.end_full_batch(handler);
            }
        }
        self.due.clear();
        for _ in 0..self.io.listed.len() {
            let Some(slot) = self.io.listed.pop_front() else { break };
            self.io.connection(slot).listed = false;
            self.visit(handler, slot, None);
            self.end_full_batch(handler);
        }
        self.end_batch(handler);
        turn.events = self.turn_events;
        Ok(turn)
    }
}
