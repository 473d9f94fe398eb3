//! What is going to happen in the simulated network, in the order of time.
//!
//! Most scripts schedule things later than everything scheduled before (a fixed delay), so the
//! timeline is a plain queue with a heap beside it for whatever comes out of order. The usual
//! event then costs the same however many are waiting.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::driver::Slot;

/// Something that will happen to one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Happening {
    /// When, ns.
    pub(super) at: u64,
    /// Counts happenings, so that those of the same moment keep their order.
    order: u64,
    pub(super) slot: Slot,
    /// Of which connection of the slot.
    pub(super) generation: u32,
    pub(super) what: What,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// The connection stands.
    Connected,
    /// The connection could not be made: this errno.
    Refused(i32),
    /// Bytes of the peer arrive: a range of its [`super::SimPeer::bytes`].
    Arrives { start: u32, len: u32 },
    /// The peer's FIN arrives; it goes on reading.
    Fin,
    /// The peer's FIN arrives, and it reads no more.
    FarClose,
    /// RST arrives.
    Reset,
    /// The peer takes bytes out of the window.
    FarReads,
    /// The peer's own timer.
    FarTimer(u32),
    /// A datagram of the client reaches the peer: its number.
    FarDatagram(u32),
    /// A datagram of the peer comes into the client's socket.
    Datagram(u32),
    /// A socket for datagrams is there.
    Bound,
    /// The network says that nobody is there for datagrams: this errno.
    Nobody(i32),
}

impl What {
    /// Whether the client is not told of it, or not at once.
    pub(super) fn is_far(self) -> bool {
        matches!(
            self,
            Self::FarReads | Self::FarTimer(_) | Self::FarDatagram(_) | Self::Datagram(_)
        )
    }
}

/// All that will happen.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    in_order: VecDeque<Happening>,
    out_of_order: BinaryHeap<Reverse<Happening>>,
    scheduled: u64,
    /// Until then the client has no processor.
    pub(super) client_held_until: u64,
}

impl Timeline {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            in_order: VecDeque::with_capacity(capacity),
            out_of_order: BinaryHeap::with_capacity(capacity),
            scheduled: 0,
            client_held_until: 0,
        }
    }

    #[inline(always)]
    pub(super) fn schedule(&mut self, at: u64, slot: Slot, generation: u32, what: What) {
        self.scheduled += 1;
        let happening = Happening { at, order: self.scheduled, slot, generation, what };
        if self.in_order.back().is_none_or(|last| last.at <= at) {
            self.in_order.push_back(happening);
        } else {
            self.out_of_order.push(Reverse(happening));
        }
    }

    /// When the next thing happens.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Option<u64> {
        match (self.in_order.front(), self.out_of_order.peek()) {
            (Some(queued), Some(Reverse(heaped))) => Some(queued.at.min(heaped.at)),
            (Some(queued), None) => Some(queued.at),
            (None, heaped) => heaped.map(|Reverse(heaped)| heaped.at),
        }
    }

    /// Takes the next thing.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Happening> {
        let heaped_first = match (self.in_order.front(), self.out_of_order.peek()) {
            (Some(queued), Some(Reverse(heaped))) => {
                (heaped.at, heaped.order) < (queued.at, queued.order)
            }
            (queued, _) => queued.is_none(),
        };
        if heaped_first {
            self.out_of_order.pop().map(|Reverse(happening)| happening)
        } else {
            self.in_order.pop_front()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_happen_by_time_and_then_in_the_order_they_were_scheduled() {
        let mut timeline = Timeline::default();
        let times = [5, 9, 9, 3, 9, 7, 3, 12, 5];
        for (slot, at) in times.into_iter().enumerate() {
            timeline.schedule(at, slot as u32, 0, What::Connected);
        }
        let mut expected: Vec<(u64, u32)> =
            times.into_iter().enumerate().map(|(slot, at)| (at, slot as u32)).collect();
        expected.sort();
        let mut seen = Vec::new();
        while let Some(next_at) = timeline.next_at() {
            let happening = timeline.pop().unwrap();
            assert_eq!(happening.at, next_at);
            seen.push((happening.at, happening.slot));
        }
        assert_eq!(seen, expected);
    }
}
