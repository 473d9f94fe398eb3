//! What the driver reports, and what the worker does about it.

use ablaze_net::{CloseReason, Handler, Io, Slot};
use ablaze_stats::Latency;

use super::Worker;
use crate::connection::{Reading, Stage};
use ablaze_model::failure::FailureKind;

impl<I: Io> Handler<I> for Worker {
    fn opened(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Open;
        connection.failed_attempts = 0;
        let tls_ns = connection.tls_ns;
        let connect_ns = at.saturating_sub(connection.opening_ns + tls_ns).max(1);
        let (oldest, in_flight) = (connection.oldest, connection.in_flight);
        self.recorder.record().connections_opened += 1;
        self.refused_in_a_row = 0;
        if self.in_setup {
            self.setup_left -= 1;
            let record = self.recorder.record();
            record.setup_connect.record(connect_ns);
            if tls_ns > 0 {
                let all = record.setup_tls.get_or_insert_with(|| Box::new(Latency::new(3)));
                all.record(tls_ns);
            }
            self.begin_frames(slot);
            return;
        }
        if self.http2.is_spoken() {
            return self.streams_opened(io, slot, connect_ns, tls_ns);
        }
        if in_flight == 0 {
            self.feed(io, slot);
            return;
        }
        let sends_now = in_flight > 1 || self.sends.notify;
        for position in 0..in_flight {
            let place = self.place(slot, oldest + position);
            let exchange = &mut self.exchanges[place];
            exchange.connect_ns = connect_ns;
            exchange.tls_ns = tls_ns;
            exchange.sent_ns = if sends_now { 0 } else { at };
        }
        if sends_now {
            self.note_leaving(io, slot);
            self.send_places(io, slot, 0, in_flight);
        } else {
            let template = self.exchanges[self.place(slot, oldest)].template;
            self.recorder.record().sent_bytes += u64::from(self.outbox.request_bytes(template));
        }
    }

    #[inline]
    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, _more: bool) {
        self.now_ns = at;
        self.recorder.record().received_bytes += bytes.len() as u64;
        self.read_answers(io, slot, bytes, at);
    }

    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        self.now_ns = at;
        self.recorder.record().received_bytes += bytes;
        let connection = &mut self.connections[slot as usize];
        if connection.stage != Stage::Open || connection.in_flight == 0 {
            return;
        }
        connection.body_bytes += bytes;
        connection.progress_ns = at;
        match &mut connection.reading {
            Reading::Length(remaining) => {
                *remaining = remaining.saturating_sub(bytes);
                if *remaining == 0 {
                    self.answer_complete(io, slot, at);
                }
            }
            Reading::Chunked(chunked) => {
                chunked.skip(bytes);
                if chunked.remaining_in_chunk() == 0 {
                    self.receive(io, slot, ablaze_net::Receive::Bulk);
                }
            }
            Reading::ToEnd => {}
            Reading::Head | Reading::Frames => {
                debug_assert!(false, "nothing is discarded but bodies of HTTP/1")
            }
        }
    }

    fn sent(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.now_ns = at;
        let connection = &mut self.connections[slot as usize];
        connection.sends_under_way = connection.sends_under_way.saturating_sub(1);
        if connection.reading == Reading::Frames {
            return self.frames_left(slot);
        }
        let has_place = connection.in_flight < self.pipeline && connection.stage == Stage::Open;
        if has_place && self.sends.wait {
            if std::mem::take(&mut connection.held) {
                connection.deadline_ns = u64::MAX;
            }
            self.feed_while_sending(io, slot, at);
        }
    }

    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        self.now_ns = at;
        self.after_close(io, slot, why, at);
    }

    #[inline]
    fn batch_end(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64) {
        self.now_ns = at;
        self.recorder
            .record()
            .event_age
            .record_many(at.saturating_sub(oldest_at), u64::from(events));
        self.hand_out(io, at);
        self.flush_frames(io, at);
        self.stamp(at);
    }
}

impl Worker {
    /// Tells the driver how to receive, if that changes.
    #[inline]
    pub(super) fn receive<I: Io>(&mut self, io: &mut I, slot: Slot, mode: ablaze_net::Receive) {
        let connection = &mut self.connections[slot as usize];
        if connection.mode != mode {
            connection.mode = mode;
            io.receive(slot, mode);
        }
    }

    /// The server broke the protocol: the exchange fails, the connection is not used again.
    pub(super) fn broken<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        if kind.is_of_tls() {
            self.broke_off(io, slot, at, kind);
        } else {
            self.give_up(io, slot, at, kind);
        }
    }
}
