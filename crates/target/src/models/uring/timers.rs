//! Timers of a worker on the ring. The wait itself takes the time until the first is due, so that
//! no request and no descriptor is needed for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ablaze_sys::clock::monotonic_ns;

/// What is due, and when.
#[derive(Debug, Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Timers {
    /// `key` is due in so many nanoseconds. What was added cannot be taken back: whoever is due
    /// has to know whether it still matters.
    pub fn add(&mut self, delay_ns: u64, key: u64) {
        self.heap.push(Reverse((monotonic_ns().saturating_add(delay_ns), key)));
    }

    /// The next key that is due.
    #[inline]
    pub fn pop(&mut self) -> Option<u64> {
        let Reverse((due_ns, _)) = self.heap.peek()?;
        if *due_ns > monotonic_ns() {
            return None;
        }
        self.heap.pop().map(|Reverse((_, key))| key)
    }

    /// How long until the first is due; nothing if there is none.
    #[inline]
    pub fn left_ns(&self) -> Option<u64> {
        let Reverse((due_ns, _)) = self.heap.peek()?;
        Some(due_ns.saturating_sub(monotonic_ns()))
    }
}
