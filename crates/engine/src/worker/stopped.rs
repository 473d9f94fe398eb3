//! Answers that stopped in the middle: noted when their exchange times out, or when the run ends.

use ablaze_net::Slot;

use super::Worker;
use crate::connection::Reading;
use ablaze_model::record::StoppedAnswer;

impl Worker {
    /// The oldest exchange of a connection gets no further: notes for how long already, if a part
    /// of its answer came.
    pub(super) fn note_stopped(&mut self, slot: Slot, at: u64, timed_out: bool) {
        let connection = &self.connections[slot as usize];
        let in_answer = connection.reading != Reading::Head || connection.spill.is_some();
        if connection.in_flight == 0 || !connection.answer_began || !in_answer {
            return;
        }
        let exchange = self.exchanges[self.place(slot, connection.oldest)];
        let last_ns = connection.progress_ns.max(exchange.first_byte_ns);
        let answer = StoppedAnswer {
            silent_ns: at.saturating_sub(last_ns),
            body_bytes: connection.body_bytes,
            missing_bytes: match connection.reading {
                Reading::Length(missing) => Some(missing),
                Reading::Head | Reading::Chunked(_) | Reading::ToEnd | Reading::Frames => None,
            },
        };
        self.recorder.stopped(&exchange, answer, timed_out);
    }
}
