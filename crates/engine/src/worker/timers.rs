//! Deadlines, found by looking through the connections when the earliest can have come.
//!
//! No timer structure is kept up on the hot path. An exchange begun after a look has a deadline
//! at least one timeout after it, so the next look is due at the earliest deadline seen, or one
//! timeout later; whoever sets a nearer deadline moves the look forward.

use ablaze_net::{Io, Slot};

use super::Worker;
use crate::connection::Stage;
use crate::protocol::Protocol;
use ablaze_model::failure::FailureKind;

/// Looks are at least this far apart, so that many staggered deadlines cost little.
const LOOK_NS_MIN: u64 = 1_000_000;

impl<P: Protocol> Worker<P> {
    /// Acts on every deadline that has passed, and sets the time of the next look.
    pub(crate) fn check_deadlines<I: Io>(&mut self, io: &mut I, now: u64) {
        let timeout_ns = self.plan.limits.timeout_ns;
        self.next_check_ns = if timeout_ns > 0 { now.saturating_add(timeout_ns) } else { u64::MAX };
        let mut earliest = self.next_check_ns;
        for slot in 0..self.connections.len() as Slot {
            let deadline = self.deadline(slot);
            if deadline <= now {
                self.deadline_passed(io, slot, now);
            }
            // Of several exchanges only some may have been late.
            earliest = earliest.min(self.deadline(slot));
        }
        self.give_up_on_earlier_connections(now);
        self.next_check_ns = self.next_check_ns.min(earliest).max(now + LOOK_NS_MIN);
        let at = io.now();
        P::flush(self, io, at);
        self.stamp(at);
    }

    /// When the slot must have moved on.
    fn deadline(&self, slot: Slot) -> u64 {
        let connection = &self.connections[slot as usize];
        let timeout_ns = match self.plan.limits.timeout_ns {
            0 => return connection.deadline_ns,
            timeout_ns => timeout_ns,
        };
        let since = match connection.stage {
            Stage::Opening | Stage::Open if connection.in_flight > 0 => P::oldest_ns(self, slot),
            Stage::Opening => connection.opening_ns,
            _ => 0,
        };
        match since {
            0 => connection.deadline_ns,
            since => connection.deadline_ns.min(since.saturating_add(timeout_ns)),
        }
    }

    fn deadline_passed<I: Io>(&mut self, io: &mut I, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        match connection.stage {
            Stage::Resting => {
                connection.stage = Stage::Free;
                connection.deadline_ns = u64::MAX;
                if self.in_setup {
                    self.open_empty(io, slot);
                } else {
                    P::open_next(self, io, slot);
                }
            }
            Stage::Closing => self.close_overdue(io, slot, now),
            Stage::Opening => {
                // Before the clock, one timeout of each address is waiting enough. Where others stand, the run
                // begins with these, and the place is tried again when its time counts.
                self.note_address(slot, Some(FailureKind::Timeout));
                if self.in_setup {
                    self.note_failed_for_no_request(FailureKind::Timeout);
                }
                match self.address_failed(slot) {
                    true if self.in_setup => {
                        let (kind, errno) = (FailureKind::Timeout, libc::ETIMEDOUT);
                        if !self.awaits_earlier_connections(slot, now, (kind, errno)) {
                            self.give_up_on_server(now, kind, errno);
                        }
                    }
                    false if self.in_setup => self.connections[slot as usize].tried_enough(),
                    _ => {}
                }
                P::overdue(self, io, slot, now);
            }
            Stage::Open => P::overdue(self, io, slot, now),
            Stage::Free => connection.deadline_ns = u64::MAX,
        }
    }
}
