//! What TLS and tunnels tell the worker, beside the driver's own events.

use ablaze_net::{CloseHow, Io, Slot};

use super::Worker;
use crate::connection::Reading;
use ablaze_model::failure::FailureKind;

impl Worker {
    /// The connection that is about to be reported as open needed so long for its handshake.
    pub(crate) fn handshake_took(&mut self, slot: Slot, tls_ns: u64) {
        self.connections[slot as usize].tls_ns = tls_ns.max(1);
    }

    /// The connection is about to be reported as closed, because its handshake came to nothing, or
    /// the tunnel for it.
    pub(crate) fn handshake_failed(&mut self, slot: Slot, kind: FailureKind) {
        self.connections[slot as usize].given_up = Some(kind);
    }

    /// The server says that it will send nothing more: what it sent last is complete. Its FIN is
    /// waited for, so that it is the server who keeps the memory of the connection.
    pub(crate) fn nothing_more<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.now_ns = at;
        let connection = self.connections[slot as usize];
        if connection.in_flight > 0 && connection.reading == Reading::ToEnd {
            self.answered(slot, at, connection.body_bytes, false);
        } else if connection.in_flight > 0 && connection.answer_began {
            self.fail_oldest(slot, at, FailureKind::ShortBody, 0, false);
        }
        self.end_connection(io, slot, CloseHow::AwaitPeer);
    }

    /// The connection is about to be reported as ended, and the server did not say that it would: an
    /// answer that has no other end may be short (RFC 9112, 9.8).
    pub(crate) fn cut_off(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.in_flight > 0 && connection.reading == Reading::ToEnd {
            // No byte came for those behind it in a pipeline.
            connection.reading = Reading::Head;
            connection.answer_began = false;
            self.fail_oldest(slot, at, FailureKind::TlsTruncated, 0, false);
        }
    }

    /// What came cannot be read, or says that the server will not go on.
    pub(crate) fn broke_off<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        self.now_ns = at;
        self.note_turned_away(at, kind);
        self.give_up(io, slot, at, kind);
    }

    /// A connection stood and is of no use: when no answer ever came, so many of them are enough.
    pub(super) fn note_turned_away(&mut self, at: u64, kind: FailureKind) {
        if self.recorder.record().answers == 0 && !self.window_had_answers() {
            self.turned_away += 1;
            if self.turned_away >= self.plan.limits.hopeless_after.max(1) {
                self.untried_addresses = 0;
                self.lose_hope(at, kind, 0);
            }
        }
    }

    /// Whether an answer came before the window opened.
    fn window_had_answers(&self) -> bool {
        self.recorder.median_ns() > 0
    }
}
