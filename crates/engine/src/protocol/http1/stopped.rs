//! Responses that stopped in the middle: noted when their exchange times out, or when the run ends.

use ablaze_net::Slot;

use super::{Http1, Reading};
use crate::connection::Stage;
use crate::recorder::BodyEnd;
use crate::walk::Walk;
use crate::worker::Worker;
use ablaze_model::record::StoppedResponse;

impl<S: Walk> Worker<Http1<S>> {
    /// Whether the oldest request in flight has not left whole, and nothing of its response came. Long ones only: of the
    /// others the driver says nothing.
    pub(super) fn is_unsent(&self, slot: Slot) -> bool {
        let connection = &self.connections[slot as usize];
        let state = &connection.state;
        connection.stage == Stage::Open
            && connection.in_flight > 0
            && !state.response_began
            && state.sends_under_way >= connection.in_flight
    }

    /// The oldest exchange of a connection times out: notes whether its request had left.
    pub(super) fn note_unsent(&mut self, slot: Slot) {
        if !self.is_unsent(slot) {
            return;
        }
        let oldest = self.connections[slot as usize].state.oldest;
        let exchange = self.exchanges[self.place(slot, oldest)];
        if let Some(known) = self.recorder.circumstance(&exchange) {
            known.unsent_timed_out += 1;
        }
    }

    /// The oldest exchange of a connection gets no further: notes for how long already, if a part
    /// of its response came.
    pub(super) fn note_stopped(&mut self, slot: Slot, at: u64, timed_out: bool) {
        let connection = &self.connections[slot as usize];
        let in_response =
            connection.state.reading != Reading::Head || connection.state.spill.is_some();
        if connection.in_flight == 0
            || !connection.state.response_began
            || !in_response
            || connection.state.only_interim
        {
            return;
        }
        let exchange = self.exchanges[self.place(slot, connection.state.oldest)];
        let last_ns = connection.state.progress_ns.max(exchange.first_byte_ns);
        let response = StoppedResponse {
            silent_ns: at.saturating_sub(last_ns),
            body_bytes: connection.state.body_bytes,
            missing_bytes: match connection.state.reading {
                Reading::Length(missing) => Some(missing),
                Reading::Head | Reading::Chunked(_) | Reading::ToEnd => None,
            },
        };
        let ends = match connection.state.reading {
            Reading::ToEnd => BodyEnd::Connection,
            Reading::Chunked(_) => BodyEnd::Marked,
            Reading::Length(_) | Reading::Head => BodyEnd::Length,
        };
        self.recorder.stopped(&exchange, response, timed_out, ends);
    }
}
