//! Things due later, for one worker: a heap of times. The worker's wait ends at the earliest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ablaze_sys::clock::monotonic_ns;

/// Keys with the times at which they are due.
#[derive(Debug, Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Timers {
    /// `key` is due in this many nanoseconds. What was added cannot be taken back: whoever is due
    /// has to know whether it still matters.
    pub fn add(&mut self, delay_ns: u64, key: u64) {
        let due_ns = monotonic_ns().saturating_add(delay_ns);
        self.heap.push(Reverse((due_ns, key)));
    }

    /// When the first is due.
    #[inline]
    pub fn first_due_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((due_ns, _))| *due_ns)
    }

    /// The next key that is due at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<u64> {
        if self.first_due_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse((_, key))| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_first_comes_first_and_not_before_its_time() {
        let began_ns = monotonic_ns();
        let mut timers = Timers::default();
        for (delay_ns, key) in [(3_000_000, 3), (1_000_000, 1), (2_000_000, 2)] {
            timers.add(delay_ns, key);
        }
        let first_ns = timers.first_due_ns().unwrap();
        assert!(first_ns >= began_ns + 1_000_000);
        assert_eq!(timers.pop(first_ns - 1), None);
        assert_eq!(timers.pop(first_ns), Some(1));
        let far_ns = first_ns + 1_000_000_000;
        assert_eq!((timers.pop(far_ns), timers.pop(far_ns)), (Some(2), Some(3)));
        assert_eq!((timers.pop(far_ns), timers.first_due_ns()), (None, None));
    }
}
