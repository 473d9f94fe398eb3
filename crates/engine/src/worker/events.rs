//! What the driver and the layers above it report, and what the worker does about it.

use ablaze_net::{CloseReason, Datagrams, Handler, Io, Slot};
use ablaze_stats::Latency;

use super::Worker;
use crate::connection::Stage;
use crate::protocol::{Made, Protocol};
use crate::transport::Above;
use crate::walk::Walk;
use ablaze_model::failure::FailureKind;

impl<P: Protocol> Above for Worker<P> {
    fn opened<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        P::slot_open(self, io, slot, at);
    }

    #[inline]
    fn received<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, _more: bool) {
        self.now_ns = at;
        let all = bytes.len() as u64;
        self.recorder.record().received_bytes += all;
        if self.recorder.warmup_goes_on() {
            self.piece_begins_beside_warmup(slot);
        }
        // In one place, or it is not compiled into the driver's loop.
        P::received(self, io, slot, bytes, at);
        if let Some(begins_with_it) = self.recorder.take_piece() {
            self.piece_ends_beside_warmup(slot, all, begins_with_it);
        }
    }

    fn discarded<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        self.now_ns = at;
        if !(self.recorder.warmup_goes_on() && P::answers_warmup(self, slot)) {
            self.recorder.record().received_bytes += bytes;
        }
        P::discarded(self, io, slot, bytes, at);
    }

    fn sent<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.now_ns = at;
        P::sent(self, io, slot, at);
    }

    fn closed<I: Io>(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        self.now_ns = at;
        P::socket_gone(self, io, slot);
        self.after_close(io, slot, why, at);
    }

    #[inline]
    fn batch_end<I: Io>(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64) {
        self.now_ns = at;
        self.recorder
            .record()
            .event_age
            .record_many(at.saturating_sub(oldest_at), u64::from(events));
        self.hand_out(io, at);
        P::flush(self, io, at);
        self.stamp(at);
    }

    fn handshake_took(&mut self, slot: Slot, tls_ns: u64) {
        self.connections[slot as usize].tls_ns = tls_ns.max(1);
    }

    fn handshake_failed(&mut self, slot: Slot, kind: FailureKind) {
        self.connections[slot as usize].given_up = Some(kind);
    }

    /// The server's FIN is waited for, so that it is the server who keeps the memory of the connection.
    fn nothing_more<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.now_ns = at;
        P::nothing_more(self, slot, at);
        self.leave_to_server(io, slot);
    }

    fn cut_off(&mut self, slot: Slot, at: u64) {
        P::cut_off(self, slot, at);
    }

    fn broke_off<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        self.now_ns = at;
        self.note_turned_away(slot, at, kind);
        self.give_up(io, slot, at, kind);
    }
}

/// A driver without a layer above it reports to the worker itself.
impl<I: Io, P: Protocol> Handler<I> for Worker<P> {
    fn opened(&mut self, io: &mut I, slot: Slot, at: u64) {
        Above::opened(self, io, slot, at);
    }

    #[inline]
    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool) {
        Above::received(self, io, slot, bytes, at, more);
    }

    #[inline]
    fn datagrams(&mut self, io: &mut I, slot: Slot, datagrams: Datagrams<'_>, at: u64) {
        self.now_ns = at;
        let all = datagrams.bytes.len() as u64;
        self.recorder.record().received_bytes += all;
        if self.recorder.warmup_goes_on() {
            self.piece_begins_beside_warmup(slot);
        }
        P::datagrams(self, io, slot, datagrams, at);
        if let Some(begins_with_it) = self.recorder.take_piece() {
            self.piece_ends_beside_warmup(slot, all, begins_with_it);
        }
    }

    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        Above::discarded(self, io, slot, bytes, at);
    }

    fn sent(&mut self, io: &mut I, slot: Slot, at: u64) {
        Above::sent(self, io, slot, at);
    }

    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        Above::closed(self, io, slot, why, at);
    }

    #[inline]
    fn batch_end(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64) {
        Above::batch_end(self, io, events, oldest_at, at);
    }
}

impl<P: Protocol> Worker<P> {
    /// Bytes arrived while exchanges of the warm-up are in flight.
    #[cold]
    #[inline(never)]
    fn piece_begins_beside_warmup(&mut self, slot: Slot) {
        let begins_with_it = P::answers_warmup(self, slot);
        self.recorder.piece_begins(begins_with_it);
    }

    /// They were read, and counted as received: what is the warm-up's belongs to no figure. Where responses come in any
    /// order, these are the bytes of their bodies.
    #[cold]
    #[inline(never)]
    fn piece_ends_beside_warmup(&mut self, slot: Slot, all: u64, begins_with_it: bool) {
        let of_warmup = match begins_with_it {
            true if P::answers_warmup(self, slot) => all,
            true => all.saturating_sub(self.recorder.behind_warmup()),
            false => self.recorder.warmup_body_bytes(),
        };
        let record = self.recorder.record();
        record.received_bytes = record.received_bytes.saturating_sub(of_warmup);
    }

    /// The connection of a slot stands: the protocol can be spoken.
    pub(crate) fn stands<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Open;
        connection.failed_attempts = 0;
        connection.stood = true;
        let tls_ns = connection.tls_ns;
        let connect_ns = at.saturating_sub(connection.opening_ns + tls_ns).max(1);
        self.recorder.record().connections_opened += 1;
        self.refused_in_a_row = 0;
        self.note_address(slot, None);
        if P::Sink::WALKS {
            self.origin_stands(slot);
        }
        if !self.in_setup {
            return P::stands(self, io, slot, Made { connect_ns, tls_ns }, at);
        }
        self.setup_left -= 1;
        let record = self.recorder.record();
        record.setup_connect.record(connect_ns);
        if tls_ns > 0 {
            let all = record.setup_tls.get_or_insert_with(|| Box::new(Latency::new(3)));
            all.record(tls_ns);
        }
        P::stands_early(self, slot);
    }

    /// Tells the driver how to receive, if that changes.
    #[inline]
    pub(crate) fn receive<I: Io>(&mut self, io: &mut I, slot: Slot, mode: ablaze_net::Receive) {
        let connection = &mut self.connections[slot as usize];
        if connection.mode != mode {
            connection.mode = mode;
            io.receive(slot, mode);
        }
    }

    /// The server broke the protocol: the exchange fails, the connection is not used again.
    pub(crate) fn broken<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        if kind.is_of_tls() {
            self.broke_off(io, slot, at, kind);
        } else {
            self.give_up(io, slot, at, kind);
        }
    }

    /// A connection stood and is of no use: when no response ever came, this many of them are enough. Whether the server is
    /// given up.
    pub(crate) fn note_turned_away(&mut self, slot: Slot, at: u64, kind: FailureKind) -> bool {
        if self.has_no_response() {
            self.turned_away += 1;
            let limit = self.plan.limits.unreachable_after.max(1);
            if self.turned_away >= limit && !self.awaits_earlier_connections(slot, at, (kind, 0)) {
                self.untried_addresses = 0;
                self.give_up_on_server(at, kind, 0);
            }
        }
        self.unreachable
    }

    /// Whether no response ever came, before the window opened or in it.
    pub(super) fn has_no_response(&mut self) -> bool {
        self.recorder.record().responses == 0 && self.recorder.median_ns() == 0
    }
}
