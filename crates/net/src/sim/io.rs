//! The simulated driver's verbs, and the simulated kernel behind them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::connection::{Connection, Stage};
use super::peer::{ConnectReply, FarEnd, Link, Reading, SimPeer};
use super::timeline::{Happening, Timeline, What};
use crate::driver::{
    CloseHow, CloseReason, DatagramCounts, Io, OutBuffer, OutDatagrams, Outgoing, Receive, Slot,
};
use crate::leases::Leases;
use crate::outbox::{Outbox, Queue, Queued};

/// The verbs of the simulated driver.
#[derive(Debug)]
pub struct SimIo<P, const SENDS_AT_ONCE: bool> {
    pub(super) connections: Box<[Connection<P>]>,
    /// Slots to visit without anything happening in the network, each at most once.
    pub(super) listed: VecDeque<Slot>,
    pub(super) timeline: Timeline,
    pub(super) now: u64,
    outbox: Outbox,
    /// Slots with sends that leave after the batch; only where sends do not leave at once.
    submitted: Vec<Slot>,
    peers: Vec<P>,
    connects: u64,
    constant_bytes: Arc<[u8]>,
    leases: Leases,
}

impl<P: SimPeer, const SENDS_AT_ONCE: bool> SimIo<P, SENDS_AT_ONCE> {
    pub(super) fn new(slots: u32, peers: Vec<P>, constant_bytes: Arc<[u8]>, now: u64) -> Self {
        Self {
            connections: (0..slots).map(|_| Connection::new()).collect(),
            listed: VecDeque::with_capacity(slots as usize),
            timeline: Timeline::with_capacity(2 * slots as usize),
            now,
            outbox: Outbox::new(slots as usize),
            submitted: Vec::with_capacity(slots as usize),
            peers,
            connects: 0,
            constant_bytes,
            leases: Leases::default(),
        }
    }

    pub(super) fn connection(&mut self, slot: Slot) -> &mut Connection<P> {
        &mut self.connections[slot as usize]
    }

    /// Has the slot visited later in the turn, if there is something to tell.
    pub(super) fn list(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if !connection.listed && connection.has_news() {
            connection.listed = true;
            self.listed.push_back(slot);
        }
    }

    /// Whether this happens to the connection the slot has now.
    pub(super) fn is_current(&self, happening: &Happening) -> bool {
        let connection = &self.connections[happening.slot as usize];
        connection.generation == happening.generation
            && !matches!(connection.stage, Stage::Free | Stage::Ended(_))
    }

    /// Lets the peer act; `None` if the slot has none.
    pub(super) fn at_far_end<R>(
        &mut self,
        slot: Slot,
        act: impl FnOnce(&mut P, &mut FarEnd<'_>, &mut VecDeque<u8>) -> R,
    ) -> Option<R> {
        let connection = &mut self.connections[slot as usize];
        let mut far = FarEnd {
            link: &mut connection.link,
            timeline: &mut self.timeline,
            now: self.now,
            slot,
            generation: connection.generation,
        };
        let peer = connection.peer.as_mut()?;
        Some(act(peer, &mut far, &mut connection.window))
    }

    /// Something that only the peer notices.
    pub(super) fn happen_far(&mut self, happening: Happening) {
        let slot = happening.slot;
        match happening.what {
            What::FarTimer(token) => {
                self.at_far_end(slot, |peer, far, _| peer.woken(far, token));
                return;
            }
            What::FarDatagram(_) | What::Datagram(_) => return self.datagram_arrives(happening),
            _ => {}
        }
        self.at_far_end(slot, |peer, far, window| {
            far.link.read_scheduled = false;
            let bytes = match far.link.reading {
                Reading::AtOnce => window.len(),
                Reading::Stopped => 0,
                Reading::Slowly { bytes, .. } => bytes.min(window.len()),
            };
            if bytes > 0 {
                peer.received(far, &window.make_contiguous()[..bytes]);
                window.drain(..bytes);
            }
            if let (Reading::Slowly { every_ns, .. }, false) = (far.link.reading, window.is_empty())
            {
                far.schedule_read(every_ns);
            }
        });
        self.flush(slot);
        self.list(slot);
    }

    /// Something that arrived at the client: notes it, to be told by a visit.
    #[inline(always)]
    pub(super) fn happen(&mut self, happening: Happening) {
        let connection = &mut self.connections[happening.slot as usize];
        match happening.what {
            What::Arrives { start, len } if connection.end.is_none() => {
                connection.inbox.push_back((start, len));
            }
            What::Fin | What::FarClose => {
                connection.link.is_gone |= happening.what == What::FarClose;
                connection.end.get_or_insert(CloseReason::Eof);
            }
            What::Reset => {
                connection.link.is_gone = true;
                let reason = CloseReason::Transfer(libc::ECONNRESET);
                connection.end.get_or_insert(reason);
            }
            _ => {}
        }
    }

    /// Hands queued bytes to the simulated kernel until none are left or it takes no more.
    pub(super) fn flush(&mut self, slot: Slot) {
        while let Some(queued) = self.outbox.first_mut(&self.connections[slot as usize].queue) {
            let Queued { bytes, accepted, notify } = *queued;
            let took = self.accept(slot, bytes, accepted);
            let connection = &mut self.connections[slot as usize];
            if connection.failed {
                return self.outbox.clear(&mut connection.queue);
            }
            if accepted + took < bytes.len() {
                if let Some(queued) = self.outbox.first_mut(&connection.queue) {
                    queued.accepted += took;
                }
                return;
            }
            self.outbox.pop(&mut connection.queue);
            connection.notices += u32::from(notify);
        }
    }

    /// The simulated kernel's `send`: how many bytes it accepts of those not yet accepted.
    fn accept(&mut self, slot: Slot, bytes: Outgoing, accepted: u32) -> u32 {
        let connection = &mut self.connections[slot as usize];
        let left = (bytes.len() - accepted) as usize;
        if connection.link.is_gone {
            // The first one provokes an RST, which makes the next one fail (EPIPE).
            connection.failed = connection.end == Some(CloseReason::Transfer(libc::ECONNRESET));
            self.at_far_end(slot, |_, far, _| far.reset_after(0));
            return left as u32;
        }
        let bytes = match bytes {
            Outgoing::Constant { start, len } => {
                &self.constant_bytes[(start + accepted) as usize..(start + len) as usize]
            }
            Outgoing::Leased { buffer, len } => {
                &self.leases.bytes(buffer)[accepted as usize..len as usize]
            }
        };
        let mut far = FarEnd {
            link: &mut connection.link,
            timeline: &mut self.timeline,
            now: self.now,
            slot,
            generation: connection.generation,
        };
        let Some(peer) = connection.peer.as_mut() else { return left as u32 };
        if far.link.reading == Reading::AtOnce && connection.window.is_empty() {
            peer.received(&mut far, bytes);
            return left as u32;
        }
        let took = left.min(far.link.window_bytes.saturating_sub(connection.window.len()));
        connection.window.extend(&bytes[..took]);
        if let Reading::Slowly { every_ns, .. } = far.link.reading {
            far.schedule_read(every_ns);
        }
        took as u32
    }

    /// Lets the sends leave that waited for the end of the batch.
    pub(super) fn submit(&mut self) {
        for index in 0..self.submitted.len() {
            let slot = self.submitted[index];
            if matches!(self.connection(slot).stage, Stage::Open | Stage::AwaitingPeer) {
                self.flush(slot);
                self.list(slot);
            }
        }
        self.submitted.clear();
    }

    /// Ends the client's side; what is under way to it is stale from now on. What the simulated kernel
    /// accepted still reaches a peer that is there, in front of a FIN.
    pub(super) fn hang_up(&mut self, slot: Slot, how: CloseHow) {
        if how != CloseHow::Reset && !self.connections[slot as usize].link.is_gone {
            self.at_far_end(slot, |peer, far, window| {
                if !window.is_empty() {
                    peer.received(far, window.make_contiguous());
                }
            });
        }
        let connection = &mut self.connections[slot as usize];
        if let Some(mut peer) = connection.peer.take() {
            peer.closed(how);
        }
        self.outbox.clear(&mut connection.queue);
        connection.inbox.clear();
        connection.window.clear();
        connection.end = None;
    }
}

impl<P: SimPeer, const SENDS_AT_ONCE: bool> Io for SimIo<P, SENDS_AT_ONCE> {
    const SENDS_AT_ONCE: bool = SENDS_AT_ONCE;

    fn now(&mut self) -> u64 {
        self.now
    }

    fn open(&mut self, slot: Slot, endpoint: u16, first: Option<Outgoing>, receive: Receive) {
        let number = self.connects;
        self.connects += 1;
        let connection = &mut self.connections[slot as usize];
        debug_assert_eq!(connection.stage, Stage::Free, "slot {slot} is opened while in use");
        connection.stage = Stage::Connecting;
        connection.generation = connection.generation.wrapping_add(1);
        connection.receive = receive;
        connection.notices = 0;
        connection.failed = false;
        connection.link = Link::new();
        connection.queue = Queue::EMPTY;
        let peer = self.peers[usize::from(endpoint)].clone();
        if let Some(path) = peer.path() {
            connection.peer = Some(peer);
            return self.open_datagrams(slot, path, number);
        }
        connection.peer = Some(peer);
        if let Some(bytes) = first {
            let queued = Queued { bytes, accepted: 0, notify: false };
            self.outbox.push(&mut connection.queue, queued);
        }
        let response = self.at_far_end(slot, |peer, far, _| peer.connect(far, number));
        let generation = self.connections[slot as usize].generation;
        let (delay_ns, what) = match response {
            Some(ConnectReply::AcceptAfter(delay_ns)) => (delay_ns, What::Connected),
            Some(ConnectReply::RefuseAfter(delay_ns, errno)) => (delay_ns, What::Refused(errno)),
            Some(ConnectReply::Never) | None => return,
        };
        self.timeline.schedule(self.now + delay_ns, slot, generation, what);
    }

    fn lease(&mut self, bytes: usize) -> OutBuffer {
        self.leases.lease(bytes)
    }

    fn leased(&mut self, buffer: OutBuffer) -> &mut [u8] {
        self.leases.bytes_mut(buffer)
    }

    fn release(&mut self, buffer: OutBuffer) {
        self.leases.release(buffer);
    }

    fn send(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        let connection = &mut self.connections[slot as usize];
        let is_first = connection.queue.is_empty();
        match connection.stage {
            Stage::Free | Stage::Ended(_) => return,
            Stage::Datagrams => return,
            _ if connection.failed => return,
            Stage::Connecting | Stage::Open | Stage::AwaitingPeer => {
                self.outbox.push(&mut connection.queue, Queued { bytes, accepted: 0, notify });
            }
        }
        // Behind others, it leaves when they have left.
        if !is_first || connection.stage == Stage::Connecting {
            return;
        }
        if SENDS_AT_ONCE {
            self.flush(slot);
            self.list(slot);
        } else {
            self.submitted.push(slot);
        }
    }

    fn send_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        self.send_together(slot, datagrams);
    }

    fn datagram_counts(&mut self, slot: Slot) -> DatagramCounts {
        self.connections[slot as usize].link.counts()
    }

    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16> {
        self.connections[slot as usize].link.longest_datagram()
    }

    fn unsent(&mut self, slot: Slot) -> bool {
        !self.connection(slot).queue.is_empty()
    }

    fn receive(&mut self, slot: Slot, mode: Receive) {
        let connection = &mut self.connections[slot as usize];
        if connection.stage != Stage::AwaitingPeer {
            connection.receive = mode;
            self.list(slot);
        }
    }

    fn close(&mut self, slot: Slot, how: CloseHow) {
        let connection = &mut self.connections[slot as usize];
        match (connection.stage, how) {
            (Stage::Free | Stage::Ended(_), _) => return,
            (Stage::Open | Stage::AwaitingPeer, CloseHow::AwaitPeer) => {
                connection.stage = Stage::AwaitingPeer;
                connection.receive = Receive::DiscardToEnd;
            }
            (Stage::Connecting | Stage::Datagrams, how) if connection.link.datagrams.is_some() => {
                self.deliver_under_way(slot);
                self.connection(slot).stage = Stage::Ended(CloseReason::Local);
                self.hang_up(slot, how);
            }
            (stage, how) => {
                if how != CloseHow::Reset && stage != Stage::Connecting {
                    // What waits for the end of the batch leaves before the FIN.
                    self.flush(slot);
                }
                self.connection(slot).stage = Stage::Ended(CloseReason::Local);
                self.hang_up(slot, how);
            }
        }
        self.list(slot);
    }
}
