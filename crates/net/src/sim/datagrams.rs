//! Datagrams in the simulated network: each travels for itself, may be lost, doubled or overtaken, and what has
//! arrived together is handed over as a kernel does that joins it (`UDP_GRO`).

use std::collections::VecDeque;

use super::connection::Stage;
use super::peer::{ConnectReply, Link, SimPeer};
use super::timeline::{Happening, What};
use super::{SimDriver, SimIo};
use crate::driver::{DatagramCounts, Datagrams, Handler, OutDatagrams, Slot};

/// How datagrams travel between the client and a peer, in both directions. What happens to each is drawn from a
/// generator of the connection's own, which begins with the seed and the connection's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Path {
    /// How long one takes, ns.
    pub delay_ns: u64,
    /// How many of a million are lost.
    pub lost_ppm: u32,
    /// How many of a million arrive twice, the second time by [`Path::late_ns`] later.
    pub doubled_ppm: u32,
    /// How many of a million arrive by [`Path::late_ns`] later than the others, which may overtake them.
    pub late_ppm: u32,
    /// How much later, ns.
    pub late_ns: u64,
    /// Where the generator begins.
    pub seed: u64,
    /// Longer datagrams are lost; `None` none.
    pub bytes_max: Option<u16>,
    /// The longest datagram of the client's own network ([`Io::datagram_bytes_max`](crate::Io::datagram_bytes_max)), which the
    /// path behind it may not carry.
    pub device_bytes_max: Option<u16>,
}

/// One datagram.
#[derive(Debug, Clone, Default)]
struct Datagram {
    bytes: Vec<u8>,
    ecn: u8,
    toward: Toward,
    /// Counts those of a connection.
    order: u64,
}

/// Where a datagram goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Toward {
    #[default]
    Client,
    Peer,
}

/// The datagrams of one connection.
#[derive(Debug)]
pub(super) struct Exchange {
    path: Path,
    /// State of the generator.
    drawn: u64,
    /// Those under way, by number; `None` for those that have arrived.
    under_way: Vec<Option<Datagram>>,
    /// Numbers of those that have arrived, to be used again.
    free: Vec<u32>,
    /// What is in the client's receive buffer.
    arrived: VecDeque<Datagram>,
    counts: DatagramCounts,
    /// How many have been sent on their way.
    sent: u64,
}

impl Exchange {
    fn new(path: Path, number: u64) -> Self {
        Self {
            path,
            drawn: path.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            under_way: Vec::new(),
            free: Vec::new(),
            arrived: VecDeque::new(),
            counts: DatagramCounts::default(),
            sent: 0,
        }
    }

    /// Whether the client has something to read.
    pub(super) fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Sends a datagram on its way; `arrives` is told the number and how long it takes, for each time that it
    /// arrives.
    pub(super) fn travel(
        &mut self,
        toward: Toward,
        bytes: &[u8],
        ecn: u8,
        mut arrives: impl FnMut(u32, u64),
    ) {
        let Path { delay_ns, lost_ppm, doubled_ppm, late_ppm, late_ns, .. } = self.path;
        let (lost, doubled, late) =
            (self.draws(lost_ppm), self.draws(doubled_ppm), self.draws(late_ppm));
        if lost || self.path.bytes_max.is_some_and(|most| bytes.len() > usize::from(most)) {
            return;
        }
        let first_ns = if late { delay_ns + late_ns } else { delay_ns };
        let again = doubled.then_some(delay_ns + late_ns);
        for takes_ns in [Some(first_ns), again].into_iter().flatten() {
            self.sent += 1;
            let datagram = Some(Datagram { bytes: bytes.to_vec(), ecn, toward, order: self.sent });
            let number = if let Some(number) = self.free.pop() {
                self.under_way[number as usize] = datagram;
                number
            } else {
                self.under_way.push(datagram);
                (self.under_way.len() - 1) as u32
            };
            arrives(number, takes_ns);
        }
    }

    /// Whether one of so many in a million is drawn.
    fn draws(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.draw() % 1_000_000 < u64::from(ppm)
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.drawn ^ (self.drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn arrive(&mut self, number: u32) -> Option<Datagram> {
        let datagram = self.under_way.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(datagram)
    }

    /// Takes what one read gives: datagrams of one length and the same ECN bits, and a last one that may be shorter.
    /// Returns how long each is.
    fn read(&mut self, bytes: &mut Vec<u8>) -> Option<(usize, u8)> {
        let first = self.arrived.pop_front()?;
        let (segment_bytes, ecn) = (first.bytes.len(), first.ecn);
        bytes.clear();
        bytes.extend_from_slice(&first.bytes);
        let mut count = 1;
        while bytes.len() == count * segment_bytes && count < OutDatagrams::SEGMENTS_MAX {
            let fits = |next: &Datagram| {
                next.ecn == ecn
                    && (1..=segment_bytes).contains(&next.bytes.len())
                    && bytes.len() + next.bytes.len() <= usize::from(u16::MAX)
            };
            if !self.arrived.front().is_some_and(fits) {
                break;
            }
            let Some(next) = self.arrived.pop_front() else { break };
            bytes.extend_from_slice(&next.bytes);
            count += 1;
        }
        let received = &mut self.counts.received;
        received.calls += 1;
        received.datagrams += count as u64;
        received.bytes += bytes.len() as u64;
        Some((segment_bytes, ecn))
    }
}

impl Link {
    pub(super) fn counts(&self) -> DatagramCounts {
        self.datagrams.as_ref().map(|exchange| exchange.counts).unwrap_or_default()
    }

    pub(super) fn longest_datagram(&self) -> Option<u16> {
        self.datagrams.as_ref()?.path.device_bytes_max
    }
}

impl<P: SimPeer, const SENDS_AT_ONCE: bool> SimIo<P, SENDS_AT_ONCE> {
    /// A socket for datagrams is there at once; what the peer answers to the connect is what the network says later.
    pub(super) fn open_datagrams(&mut self, slot: Slot, path: Path, number: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.link.datagrams = Some(Box::new(Exchange::new(path, number)));
        let generation = connection.generation;
        self.timeline.schedule(self.now, slot, generation, What::Bound);
        match self.at_far_end(slot, |peer, far, _| peer.connect(far, number)) {
            Some(ConnectReply::RefuseAfter(delay_ns, errno)) => {
                self.connections[slot as usize].peer = None;
                let at = self.now + delay_ns;
                self.timeline.schedule(at, slot, generation, What::Nobody(errno));
            }
            Some(ConnectReply::Never) => self.connections[slot as usize].peer = None,
            Some(ConnectReply::AcceptAfter(_)) | None => {}
        }
    }

    pub(super) fn send_together(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        let connection = &mut self.connections[slot as usize];
        let stands = matches!(connection.stage, Stage::Connecting | Stage::Datagrams);
        let Some(exchange) = connection.link.datagrams.as_mut().filter(|_| stands) else { return };
        let sent = &mut exchange.counts.sent;
        sent.calls += 1;
        sent.datagrams += datagrams.count() as u64;
        sent.bytes += datagrams.bytes.len() as u64;
        for bytes in datagrams.bytes.chunks(datagrams.segment_bytes.max(1)) {
            exchange.travel(Toward::Peer, bytes, datagrams.ecn, |number, takes_ns| {
                let (at, what) = (self.now + takes_ns, What::FarDatagram(number));
                self.timeline.schedule(at, slot, connection.generation, what);
            });
        }
    }

    /// The client closes: what it sent before still comes to the peer, which is told of the close right behind it.
    pub(super) fn deliver_under_way(&mut self, slot: Slot) {
        let Some(exchange) = &mut self.connections[slot as usize].link.datagrams else { return };
        // With the places go their numbers.
        exchange.free.clear();
        let under_way = std::mem::take(&mut exchange.under_way).into_iter().flatten();
        let mut left: Vec<_> =
            under_way.filter(|datagram| datagram.toward == Toward::Peer).collect();
        left.sort_by_key(|datagram| datagram.order);
        for Datagram { bytes, ecn, .. } in left {
            self.at_far_end(slot, |peer, far, _| peer.datagram(far, &bytes, ecn));
        }
    }

    /// A datagram has come to the peer, or into the client's socket.
    pub(super) fn datagram_arrives(&mut self, happening: Happening) {
        let slot = happening.slot;
        let Some(exchange) = &mut self.connections[slot as usize].link.datagrams else { return };
        match happening.what {
            What::FarDatagram(number) => {
                if let Some(Datagram { bytes, ecn, .. }) = exchange.arrive(number) {
                    self.at_far_end(slot, |peer, far, _| peer.datagram(far, &bytes, ecn));
                }
            }
            What::Datagram(number) => {
                let arrived = exchange.arrive(number);
                exchange.arrived.extend(arrived);
                self.list(slot);
            }
            _ => {}
        }
    }
}

impl<P: SimPeer, const SENDS_AT_ONCE: bool> SimDriver<P, SENDS_AT_ONCE> {
    pub(super) fn tell_bound<H>(&mut self, handler: &mut H, slot: Slot)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        self.io.connection(slot).stage = Stage::Datagrams;
        self.batch_events += 1;
        let now = self.io.now;
        handler.opened(&mut self.io, slot, now);
    }

    /// Delivers what has arrived.
    pub(super) fn read_datagrams<H>(&mut self, handler: &mut H, slot: Slot)
    where
        H: Handler<SimIo<P, SENDS_AT_ONCE>>,
    {
        let mut bytes = Vec::new();
        for _ in 0..super::READS_PER_VISIT {
            let connection = self.io.connection(slot);
            let Some(exchange) = &mut connection.link.datagrams else { break };
            if connection.stage != Stage::Datagrams {
                break;
            }
            let Some((segment_bytes, ecn)) = exchange.read(&mut bytes) else { break };
            if segment_bytes == 0 {
                continue;
            }
            self.batch_events += 1;
            let now = self.io.now;
            let datagrams = Datagrams { bytes: &mut bytes, segment_bytes, ecn };
            handler.datagrams(&mut self.io, slot, datagrams, now);
        }
    }
}
