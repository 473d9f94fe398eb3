//! When connections are to be looked at again. A connection has at most one place here that counts; a time that moves
//! back, as those of loss detection do with every packet, is noticed only when it comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The times of all connections of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(u64, usize)>>);

impl Timers {
    /// A connection is to be looked at then, ns.
    pub(super) fn add(&mut self, due_ns: u64, place: usize) {
        self.0.push(Reverse((due_ns, place)));
    }

    /// When the first is due, ns.
    pub(super) fn first_due_ns(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((due_ns, _))| *due_ns)
    }

    /// One whose time has come, with that time.
    pub(super) fn pop(&mut self, now_ns: u64) -> Option<(u64, usize)> {
        if self.first_due_ns()? > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse(due)| due)
    }
}
