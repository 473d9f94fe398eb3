//! Responses that stopped in the middle: noted when their exchange times out, or when the run ends.

use ablaze_net::Slot;

use super::{Http1, Reading};
use crate::recorder::BodyEnd;
use crate::walk::Walk;
use crate::worker::Worker;
use ablaze_model::record::StoppedResponse;

impl<S: Walk> Worker<Http1<S>> {
    /// The oldest exchange of a connection gets no further: notes for how long already, if a part
    /// of its response came.
    pub(super) fn note_stopped(&mut self, slot: Slot, at: u64, timed_out: bool) {
        let connection = &self.connections[slot as usize];
        let in_response =
            connection.state.reading != Reading::Head || connection.state.spill.is_some();
        if connection.in_flight == 0 || !connection.state.response_began || !in_response {
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
