//! When the timers of QUIC connections expire: those of lost packets, delayed acknowledgements and silence (RFC 9002,
//! 6.2; RFC 9000, 10.1).
//!
//! A connection's nearest deadline changes with every packet, and mostly to a later time. So a slot is put into the heap
//! again only when its deadline comes before the one it is there with; what comes up too early is put back with the
//! deadline it has by then. No connection is looked at unless a time of its own has come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ablaze_net::Slot;

/// The deadlines of all connections of a worker.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(u64, Slot)>>,
    /// By slot: the earliest time that it is in the heap with; `u64::MAX` if it is not.
    armed_ns: Vec<u64>,
}

impl Timers {
    /// For this many slots.
    pub fn new(slots: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(2 * slots), armed_ns: vec![u64::MAX; slots] }
    }

    /// A connection has this deadline now, if it has one.
    #[inline]
    pub fn set(&mut self, slot: Slot, deadline_ns: Option<u64>) {
        if let Some(deadline_ns) = deadline_ns
            && deadline_ns < self.armed_ns[slot as usize]
        {
            self.armed_ns[slot as usize] = deadline_ns;
            self.heap.push(Reverse((deadline_ns, slot)));
        }
    }

    /// The earliest time at which a connection may have to be looked at.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |&Reverse((deadline_ns, _))| deadline_ns)
    }

    /// A slot to look at now, if there is one: its deadline may be later by now, and is to be set again.
    pub fn due(&mut self, now_ns: u64) -> Option<Slot> {
        while let Some(&Reverse((deadline_ns, slot))) = self.heap.peek() {
            if deadline_ns > now_ns {
                return None;
            }
            self.heap.pop();
            // Otherwise it is also there with an earlier time, which came up before.
            if self.armed_ns[slot as usize] == deadline_ns {
                self.armed_ns[slot as usize] = u64::MAX;
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_up_at_their_times_and_once() {
        let mut timers = Timers::new(3);
        timers.set(0, Some(30));
        timers.set(1, Some(10));
        timers.set(2, None);
        assert_eq!(timers.next_ns(), 10);
        assert_eq!(timers.due(9), None);
        // Earlier than before: the time that it was there with is passed over.
        timers.set(0, Some(5));
        assert_eq!((timers.due(40), timers.due(40), timers.due(40)), (Some(0), Some(1), None));
        assert_eq!(timers.next_ns(), u64::MAX);
    }

    #[test]
    fn a_deadline_that_moves_back_costs_no_place() {
        let mut timers = Timers::new(1);
        (0..1_000).for_each(|later| timers.set(0, Some(100 + later)));
        assert_eq!(timers.heap.len(), 1);
        assert_eq!(timers.due(100), Some(0));
        timers.set(0, Some(1_099));
        assert_eq!(timers.due(1_098), None);
        assert_eq!(timers.due(1_099), Some(0));
    }
}
