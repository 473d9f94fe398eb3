//! Users that wait between two requests: who goes on next, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ablaze_net::{Io, Slot};

use super::Worker;
use crate::protocol::Protocol;

/// The places of users that pause, by when they go on: as exchanges are numbered, and users have one at a time. A user may
/// have moved on before its time: whoever comes up is asked again what to do.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    until: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Pauses {
    /// When the next goes on; `u64::MAX` if nobody pauses.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.until.peek().map_or(u64::MAX, |Reverse((until_ns, _))| *until_ns)
    }

    /// Nobody pauses any more.
    pub fn clear(&mut self) {
        self.until.clear();
    }

    fn take_due(&mut self, now: u64) -> Option<u32> {
        let &Reverse((until_ns, place)) = self.until.peek()?;
        if until_ns > now {
            return None;
        }
        self.until.pop();
        Some(place)
    }
}

impl<P: Protocol> Worker<P> {
    /// The user of a place has nothing to send until then.
    pub(crate) fn pause(&mut self, place: u32, until_ns: u64) {
        self.pauses.until.push(Reverse((until_ns, place)));
    }

    /// Users whose pause is over go on.
    pub(super) fn resume_due<I: Io>(&mut self, io: &mut I, now: u64) {
        if self.pauses.next_ns() > now || self.in_setup || self.unreachable {
            return;
        }
        self.now_ns = now;
        while let Some(place) = self.pauses.take_due(now) {
            P::go_on_after_pause(self, io, place);
        }
        let at = io.now();
        P::flush(self, io, at);
        self.stamp(at);
    }

    /// A slot is over, and another takes its place in the load, for the same user.
    pub(super) fn hand_user_over(&mut self, from: Slot, to: Slot) {
        self.hand_origin_over(from, to);
        let user = self.connections[from as usize].user;
        self.connections[from as usize].user = self.connections[to as usize].user;
        self.connections[from as usize].pauses = false;
        self.connections[to as usize].user = user;
        self.connections[to as usize].pauses = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_least_goes_on_first() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.next_ns(), u64::MAX);
        for (until_ns, place) in [(300, 1), (100, 2), (200, 3), (100, 0)] {
            pauses.until.push(Reverse((until_ns, place)));
        }
        assert_eq!(pauses.next_ns(), 100);
        let due = |pauses: &mut Pauses, now| {
            std::iter::from_fn(|| pauses.take_due(now)).collect::<Vec<_>>()
        };
        assert!(due(&mut pauses, 99).is_empty());
        assert_eq!(due(&mut pauses, 200), [0, 2, 3]);
        assert_eq!(due(&mut pauses, 1_000), [1]);
        assert_eq!(pauses.next_ns(), u64::MAX);
    }
}
