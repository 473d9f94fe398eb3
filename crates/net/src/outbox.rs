//! What could not be sent at once: one queue per slot, all in one pool, so that a partial send
//! allocates nothing once the pool has grown to what the run needs.

use crate::driver::Outgoing;

const NONE: u32 = u32::MAX;

/// One slot's queue: the first and last entry in the pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    /// Nothing queued.
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE };

    pub(crate) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// Bytes queued for sending.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued {
    /// All bytes of the send.
    pub(crate) bytes: Outgoing,
    /// How many of them the kernel accepted already.
    pub(crate) accepted: u32,
    /// Whether the handler wants to know when the last one is accepted.
    pub(crate) notify: bool,
}

#[derive(Debug)]
struct Entry {
    queued: Queued,
    next: u32,
}

/// The entries of all queues.
#[derive(Debug)]
pub(crate) struct Outbox {
    entries: Vec<Entry>,
    free: u32,
}

impl Outbox {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), free: NONE }
    }

    /// Puts a send behind the others of its queue.
    pub(crate) fn push(&mut self, queue: &mut Queue, queued: Queued) {
        let entry = Entry { queued, next: NONE };
        let number = if self.free == NONE {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        } else {
            let number = self.free;
            self.free = self.entries[number as usize].next;
            self.entries[number as usize] = entry;
            number
        };
        if queue.is_empty() {
            queue.first = number;
        } else {
            self.entries[queue.last as usize].next = number;
        }
        queue.last = number;
    }

    /// The send whose turn it is.
    pub(crate) fn first_mut(&mut self, queue: &Queue) -> Option<&mut Queued> {
        self.entries.get_mut(queue.first as usize).map(|entry| &mut entry.queued)
    }

    /// Takes the first send off its queue.
    pub(crate) fn pop(&mut self, queue: &mut Queue) {
        if queue.is_empty() {
            return;
        }
        let number = queue.first;
        let entry = &mut self.entries[number as usize];
        queue.first = entry.next;
        entry.next = self.free;
        self.free = number;
    }

    /// Drops all sends of a queue.
    pub(crate) fn clear(&mut self, queue: &mut Queue) {
        while !queue.is_empty() {
            self.pop(queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(start: u32) -> Queued {
        Queued { bytes: Outgoing::Constant { start, len: 1 }, accepted: 0, notify: false }
    }

    fn take(outbox: &mut Outbox, queue: &mut Queue) -> Option<u32> {
        let start = outbox.first_mut(queue).map(|queued| match queued.bytes {
            Outgoing::Constant { start, .. } => start,
            Outgoing::Leased { .. } => unreachable!("the test queues constant bytes"),
        });
        outbox.pop(queue);
        start
    }

    #[test]
    fn two_queues_keep_their_own_order_and_share_freed_entries() {
        let mut outbox = Outbox::new(2);
        let (mut left, mut right) = (Queue::EMPTY, Queue::EMPTY);
        for round in 0..3 {
            outbox.push(&mut left, queued(round));
            outbox.push(&mut right, queued(100 + round));
            outbox.push(&mut left, queued(10 + round));
            assert_eq!(take(&mut outbox, &mut left), Some(round));
            outbox.push(&mut left, queued(20 + round));
            assert_eq!(take(&mut outbox, &mut left), Some(10 + round));
            assert_eq!(take(&mut outbox, &mut left), Some(20 + round));
            assert_eq!(take(&mut outbox, &mut left), None);
            assert_eq!(take(&mut outbox, &mut right), Some(100 + round));
            assert!(right.is_empty());
        }
        assert_eq!(outbox.entries.len(), 3);
    }
}
