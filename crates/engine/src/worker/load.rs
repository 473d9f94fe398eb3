//! The load begins, runs dry and ends; what leaves with a batch gets its time.

use ablaze_net::{Io, Slot};

use super::Worker;
use crate::connection::Stage;
use crate::protocol::Protocol;

impl<P: Protocol> Worker<P> {
    /// Begins the load on every connection.
    pub(crate) fn start_all<I: Io>(&mut self, io: &mut I, now: u64, end_ns: u64) {
        if let Some(open) = &mut self.open_loop {
            open.start(now, end_ns);
            self.now_ns = now;
        }
        let ramp_ns = if self.connects_first() { 0 } else { self.plan.connections.ramp_ns };
        for slot in 0..self.connections.len() as Slot {
            let connection = &self.connections[slot as usize];
            if connection.is_spare || connection.is_left {
                continue;
            }
            let due = now.saturating_add(ramp_ns.saturating_mul(u64::from(slot)));
            match self.connections[slot as usize].stage {
                Stage::Open => P::start(self, io, slot),
                Stage::Free if due > now => self.rest(slot, due),
                Stage::Free => P::open_next(self, io, slot),
                _ => {}
            }
        }
        let at = io.now();
        P::flush(self, io, at);
        self.stamp(at);
    }

    /// The clock starts. What is in flight belongs to the warm-up, wholly: what began at this very
    /// moment too, what still waits for a connection or a stream (and has no time yet), and whatever is received for it.
    pub(crate) fn open_window(&mut self, at: u64, end_ns: u64) {
        let before = at.saturating_sub(1);
        for exchange in &mut self.exchanges {
            exchange.started_ns = match exchange.started_ns {
                0 => before,
                started_ns => started_ns.min(before),
            };
        }
        P::window_opens(self, at);
        self.recorder.open_window(at, end_ns, self.in_flight);
    }

    /// Takes the next request of the run: its number, and when it was due (0 in closed loop).
    #[inline]
    pub(crate) fn take_request(&mut self) -> Option<(u64, u64)> {
        let next = if self.open_loop.is_some() {
            self.take_arrival()
        } else {
            self.schedule.take().map(|number| (number, 0))
        };
        if next.is_none() {
            self.closed_for_new = self.open_loop.is_none();
        }
        next
    }

    /// No request is left for a place of a closed loop: from when on fewer than 95 % of them are
    /// in use is kept.
    pub(crate) fn note_draining(&mut self) {
        let few = u64::from(self.in_flight) * 100 < self.places * 95;
        if self.closed_for_new && few && self.draining_since_ns.is_none() {
            self.draining_since_ns = Some(self.now_ns);
        }
    }

    /// What is in flight on the slot leaves now, or with the current batch: "sent" is the time
    /// just before the system call that submits it.
    #[inline]
    pub(crate) fn note_leaving<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if I::SENDS_AT_ONCE {
            self.stamp_slot(slot, io.now());
        } else {
            self.unstamped.push(slot);
        }
    }

    /// Gives everything that left with this batch its time.
    pub(crate) fn stamp(&mut self, at: u64) {
        for index in 0..self.unstamped.len() {
            self.stamp_slot(self.unstamped[index], at);
        }
        self.unstamped.clear();
    }

    #[inline]
    fn stamp_slot(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        let opening = connection.stage == Stage::Opening;
        if opening && connection.opening_ns == 0 {
            connection.opening_ns = at;
            let deadline = at.saturating_add(self.plan.limits.timeout_ns.max(1));
            if self.plan.limits.timeout_ns > 0 && deadline < self.next_check_ns {
                self.next_check_ns = deadline;
            }
        }
        P::stamp(self, slot, at);
    }

    /// What is in flight when the run ends.
    pub(crate) fn note_unfinished(&mut self, at: u64) {
        for slot in 0..self.connections.len() as Slot {
            P::unfinished(self, slot, at);
            let connection = &self.connections[slot as usize];
            if connection.stage == Stage::Opening && connection.opening_ns > 0 {
                self.recorder.unopened(connection.opening_ns, at);
            }
            self.note_end_of_connection(slot, at);
        }
        self.note_never_sent(at);
    }
}
