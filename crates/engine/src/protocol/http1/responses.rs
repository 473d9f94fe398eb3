//! Responses that are complete: recorded, and the connection fed, held or ended.

use ablaze_model::record::NotKeptBy;
use ablaze_net::{CloseHow, Io, Receive, Slot};

use super::{Http1, Reading};
use crate::connection::Stage;
use crate::walk::Walk;
use crate::worker::{BULKY_BYTES, Worker, close_at_once};

impl<S: Walk> Worker<Http1<S>> {
    /// The oldest exchange of the connection has its whole response.
    #[inline]
    pub(super) fn response_complete<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &self.connections[slot as usize];
        let body_bytes = connection.state.body_bytes;
        let server_keeps = connection.state.server_keeps;
        let used_up =
            connection.requests >= self.requests_per_connection && connection.in_flight == 1;
        let keeps = server_keeps && !used_up;
        match server_keeps {
            true => self.answered(slot, at, body_bytes, self.plan.connections.keep_alive),
            false => self.last_answered(slot, at),
        }
        if !keeps {
            // The request said so too when connections are not to be kept.
            let announced = !server_keeps || !self.plan.connections.keep_alive;
            // Behind 101 nobody closes: the client does not speak what the connection speaks then.
            let announced = announced && self.connections[slot as usize].state.status != 101;
            let how = if announced { self.announced_close() } else { close_at_once(&self.plan) };
            // A request still being sent keeps an announced close from being waited for.
            let unsent = self.connections[slot as usize].state.sends_under_way > 0;
            if unsent {
                self.note_answered_early(slot);
            }
            match how {
                CloseHow::AwaitPeer if !unsent => self.leave_to_server(io, slot),
                CloseHow::AwaitPeer => self.end_connection(io, slot, CloseHow::Fin),
                how => self.end_connection(io, slot, how),
            }
            return;
        }
        let mode = self.learn_mode(body_bytes);
        let connection = &mut self.connections[slot as usize];
        connection.state.reading = Reading::Head;
        connection.state.response_began = false;
        connection.state.body_bytes = 0;
        if connection.mode != mode || mode == Receive::Head {
            connection.mode = mode;
            io.receive(slot, mode);
        }
        if self.connections[slot as usize].state.sends_under_way > 0 && self.protocol.sends.wait {
            self.note_answered_early(slot);
            self.feed_while_sending(io, slot, at);
        } else if self.protocol.sends.are_quiet && io.unsent(slot) {
            self.end_connection(io, slot, close_at_once(&self.plan));
        } else {
            self.feed(io, slot);
        }
    }

    /// Records the oldest exchange as answered and frees its place.
    #[inline]
    pub(super) fn answered(&mut self, slot: Slot, at: u64, body_bytes: u64, reused: bool) {
        let connection = &mut self.connections[slot as usize];
        connection.responses += 1;
        let status = connection.state.status;
        let place = (slot * self.pipeline + connection.state.oldest) as usize;
        let before = if S::WALKS { self.recorder.so_far() } else { (0, 0) };
        self.recorder.answered(&self.exchanges[place], at, status, body_bytes, reused);
        self.protocol.bodies.end(place, true, at);
        if S::WALKS {
            match self.recorder.so_far() {
                (_, late) if late > before.1 => self.tell_late(slot, at),
                (responses, _) => self.tell_answered(slot, at, body_bytes, responses > before.0),
            }
        }
        self.connections[slot as usize].state.body_bytes = 0;
        self.connections[slot as usize].state.response_began = false;
        self.retire(slot);
    }

    /// Records the oldest exchange as answered, behind which the connection ends by what its head says.
    #[inline(never)]
    pub(super) fn last_answered(&mut self, slot: Slot, at: u64) {
        let ending = self.connections[slot as usize].state.ending;
        self.answered_and_ended(slot, at, NotKeptBy::of_head(ending));
    }

    fn answered_and_ended(&mut self, slot: Slot, at: u64, by: Option<NotKeptBy>) {
        let (before, _) = self.recorder.so_far();
        let body_bytes = self.connections[slot as usize].state.body_bytes;
        self.answered(slot, at, body_bytes, false);
        // One of the warm-up, or behind its time, is no response of the run.
        let counts = self.recorder.so_far().0 > before;
        if let Some(by) = by.filter(|_| counts) {
            self.recorder.record().not_kept.add(by, 1);
        }
    }

    /// More bytes came than the last response in flight has: nobody asked for them, and a next
    /// response could not be told apart from them. The connection is not used again.
    #[cold]
    pub(super) fn response_with_surplus<I: Io>(
        &mut self,
        io: &mut I,
        slot: Slot,
        at: u64,
        surplus: &[u8],
    ) {
        let is_chunked =
            matches!(self.connections[slot as usize].state.reading, Reading::Chunked(_));
        let by = match is_chunked {
            _ if surplus.starts_with(b"HTTP/1.") => NotKeptBy::SurplusResponse,
            true => NotKeptBy::SurplusChunked,
            false => NotKeptBy::Surplus,
        };
        self.answered_and_ended(slot, at, Some(by));
        self.surplus(io, slot, surplus, false);
    }

    /// Bytes came that belong to no response: whatever they are, the next one cannot be told apart.
    #[cold]
    pub(super) fn surplus<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], idle: bool) {
        self.recorder.surplus(bytes, idle);
        self.connections[slot as usize].state.surplus = true;
        self.end_connection(io, slot, close_at_once(&self.plan));
    }

    /// A request that asked for notice has left.
    pub(super) fn request_left<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.state.sends_under_way = connection.state.sends_under_way.saturating_sub(1);
        let has_place = connection.in_flight < self.pipeline && connection.stage == Stage::Open;
        if has_place && self.protocol.sends.wait {
            if std::mem::take(&mut connection.state.held) {
                self.held_until(slot, at);
            }
            self.feed_while_sending(io, slot, at);
        }
    }

    /// The oldest exchange of a connection is over; its place is free.
    #[inline]
    pub(super) fn retire(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.state.oldest = (connection.state.oldest + 1) % self.pipeline;
        connection.in_flight -= 1;
        self.in_flight -= 1;
    }

    /// Whether the response that is expected next is best received at once or with its body
    /// discarded, judged by the body before.
    #[inline]
    pub(super) fn learn_mode(&mut self, body_bytes: u64) -> Receive {
        self.expected_mode = match body_bytes > BULKY_BYTES {
            true if S::LISTENS => Receive::Bulk,
            true => Receive::Head,
            false => Receive::Stream,
        };
        self.expected_mode
    }
}
