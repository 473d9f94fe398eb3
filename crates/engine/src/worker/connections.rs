//! Connections begin and end: opened, given up, ended, tried again.

use ablaze_net::{CloseHow, CloseReason, Io, Outgoing, Slot};

use super::{Worker, close_at_once};
use crate::connection::Stage;
use crate::protocol::{Failure, Protocol, State};
use crate::walk::Walk;
use ablaze_model::failure::FailureKind;

/// Attempts to connect a slot before the clock starts; after that it is tried again when the
/// load runs, where its failures count.
pub(crate) const SETUP_ATTEMPTS: u32 = 3;

impl<P: Protocol> Worker<P> {
    /// Opens a connection before the load, or plans to, as the ramp wants it.
    pub(crate) fn set_up<I: Io>(&mut self, io: &mut I, slot: Slot, begun: u64, now: u64) {
        let ramp_ns = self.plan.connections.ramp_ns.saturating_mul(u64::from(slot));
        let due = begun.saturating_add(ramp_ns);
        if due > now {
            self.rest(slot, due);
        } else {
            self.open_empty(io, slot);
            self.stamp(io.now());
        }
    }

    /// Opens a free slot for requests to come.
    pub(crate) fn open_empty<I: Io>(&mut self, io: &mut I, slot: Slot) {
        self.open(io, slot, None);
    }

    pub(crate) fn open<I: Io>(&mut self, io: &mut I, slot: Slot, first: Option<Outgoing>) {
        let mode = self.expected_mode;
        let (address, endpoint) = match P::Sink::WALKS {
            false => (self.address, self.address as u16),
            true => self.endpoint(slot),
        };
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Opening;
        connection.address = address;
        connection.opening_ns = 0;
        connection.mode = mode;
        connection.deadline_ns = u64::MAX;
        P::begin(self, io, slot);
        self.note_leaving(io, slot);
        io.open(slot, endpoint, first, mode);
    }

    /// The connection is of no use any more: fails the oldest exchange and asks the driver to
    /// close. What else is in flight on it is repeated or fails when it is closed.
    pub(crate) fn give_up<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        let connecting = self.connections[slot as usize].stage == Stage::Opening;
        self.connections[slot as usize].given_up = Some(kind);
        if self.connections[slot as usize].in_flight > 0 {
            P::fail_oldest(self, slot, at, Failure { kind, errno: 0, connecting });
        }
        self.end_connection(io, slot, close_at_once(&self.plan));
    }

    /// Asks the driver to close; [`Worker::after_close`] follows when it has.
    pub(crate) fn end_connection<I: Io>(&mut self, io: &mut I, slot: Slot, how: CloseHow) {
        P::take_leave(self, io, slot);
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Closing;
        connection.state.ending();
        connection.deadline_ns = u64::MAX;
        if how == CloseHow::AwaitPeer {
            self.await_close(slot);
        }
        io.close(slot, how);
    }

    /// A slot's socket is gone. Settles what was in flight and goes on.
    pub(crate) fn after_close<I: Io>(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        if let CloseReason::Connect(_) = why {
            self.note_never_stood(slot);
        }
        match self.connections[slot as usize].stage {
            Stage::Opening => self.connect_failed(slot, why, at),
            _ if P::Sink::WALKS => self.closed_with_user(slot, why, at),
            _ => P::closed(self, slot, why, at),
        }
        self.note_end_of_connection(slot, at);
        self.note_ended_in_vain(slot, at);
        self.note_who_closed(slot);
        self.connections[slot as usize].socket_gone();
        match self.connections[slot as usize].is_spare {
            true => self.spares.push(slot),
            false => self.go_on(io, slot, at),
        }
    }

    /// A connection that was told to stand did not ([`CloseReason::Connect`]).
    #[cold]
    fn note_never_stood(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Opening;
        if std::mem::take(&mut connection.stood) {
            let record = self.recorder.record();
            // It may have been counted before the window.
            record.connections_opened = record.connections_opened.saturating_sub(1);
            self.setup_left += u32::from(self.in_setup);
        }
    }

    /// What a connection that stood came to, once.
    pub(crate) fn note_end_of_connection(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.stood {
            self.recorder.connection_ended(connection, at);
            connection.opening_ns = 0;
        }
    }

    /// A connection stood, and ended before it took any of the requests that wait. The next attempt rests as behind one that
    /// failed; and after as many in a row as make a server unreachable, what waits fails: else it would be tried for ever.
    fn note_ended_in_vain(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        if !connection.stood || connection.requests > 0 || connection.in_flight == 0 {
            if connection.requests > 0 {
                connection.ended_in_vain = 0;
            }
            return;
        }
        connection.ended_in_vain += 1;
        let limit = self.plan.limits.unreachable_after.max(1);
        if P::Sink::WALKS || !connection.ended_in_vain.is_multiple_of(limit) {
            return;
        }
        let kind = match std::mem::take(&mut connection.was_sent_away) {
            true => FailureKind::GoAway,
            false => FailureKind::ClosedWithoutResponse,
        };
        for _ in 0..self.connections[slot as usize].in_flight {
            P::fail_oldest(self, slot, at, Failure::of((kind, 0)));
        }
    }

    /// What waits for a connection that is closed was never sent on it.
    fn closed_with_user(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let connection = &mut self.connections[slot as usize];
        let awaits = std::mem::take(&mut connection.is_awaited);
        connection.in_flight -= u32::from(awaits);
        P::closed(self, slot, why, at);
        self.connections[slot as usize].in_flight += u32::from(awaits);
    }

    /// What a slot without a socket does next.
    pub(super) fn go_on<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        if self.unreachable {
            return;
        }
        let connection = &self.connections[slot as usize];
        let failed_attempts = connection.failed_attempts.max(connection.ended_in_vain);
        if self.in_setup {
            if failed_attempts >= SETUP_ATTEMPTS {
                self.setup_left -= 1;
            } else if failed_attempts > 0 {
                self.rest(slot, at + rest_ns(failed_attempts));
            } else {
                // It stood, and was closed before the load began; it is opened when needed.
            }
        } else if failed_attempts > 1 {
            self.rest(slot, at + rest_ns(failed_attempts));
        } else {
            P::open_next(self, io, slot);
        }
    }

    pub(crate) fn rest(&mut self, slot: Slot, until: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Resting;
        connection.deadline_ns = until;
        self.next_check_ns = self.next_check_ns.min(until);
    }

    fn connect_failed(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let (kind, errno) = match self.connections[slot as usize].given_up {
            Some(kind) if kind.is_of_setup() || P::KNOWS_WHY_NONE_STANDS => (kind, 0),
            _ => failure_of(why),
        };
        self.note_address(slot, Some(kind));
        if self.in_setup {
            self.note_failed_for_no_request(kind);
        }
        if kind == FailureKind::Reset && !self.in_setup {
            // Only a connection that stood can be reset: somebody is there.
            while self.connections[slot as usize].in_flight > 0 {
                P::fail_oldest(self, slot, at, Failure::of((kind, errno)));
            }
            return;
        }
        let nothing_stood = self.address_failed(slot);
        let addresses = self.addresses_of(slot);
        let connection = &self.connections[slot as usize];
        // A request is lost only when no address of the name took a connection for it.
        let tried_all =
            !nothing_stood || (connection.failed_attempts as usize).is_multiple_of(addresses);
        let is_of_target = connection.origin == 0;
        if !self.in_setup && !tried_all {
            self.note_failed_for_no_request(kind);
        }
        while !self.in_setup && tried_all && self.connections[slot as usize].in_flight > 0 {
            P::fail_oldest(self, slot, at, Failure { kind, errno, connecting: true });
        }
        // Of another origin the requests fail, and the run goes on.
        if nothing_stood && is_of_target {
            let limit =
                self.plan.limits.unreachable_after.max(1).saturating_mul(self.addresses as u32);
            if self.refused_in_a_row >= limit
                && !self.awaits_earlier_connections(slot, at, (kind, errno))
            {
                self.give_up_on_server(at, kind, errno);
            }
        } else if is_of_target && self.is_away_for_good(at) {
            self.untried_addresses = 0;
            self.give_up_on_server(at, kind, errno);
        }
    }
}

/// How long a slot rests after this many failed attempts to connect: 1 ms, doubling, at most 100 ms.
fn rest_ns(failed_attempts: u32) -> u64 {
    (1_000_000 << (failed_attempts - 1).min(7)).min(100_000_000)
}

/// The kind and errno behind a close.
pub(crate) fn failure_of(why: CloseReason) -> (FailureKind, i32) {
    match why {
        // Closed here although something was in flight: the server had announced its close.
        CloseReason::Local | CloseReason::Eof => (FailureKind::ClosedWithoutResponse, 0),
        CloseReason::Connect(errno) | CloseReason::Transfer(errno) => {
            (FailureKind::from_errno(errno), errno)
        }
        CloseReason::Here(_, errno) => (FailureKind::from_errno(errno), errno),
    }
}
