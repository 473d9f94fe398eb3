//! Datagrams come and go, and timers expire.

use ablaze_net::{Datagrams, Io, OutDatagrams, Slot};

use ablaze_quic::client::Connection;
use ablaze_quic::datagrams::Received;

use super::Http3;
use crate::connection::Stage;
use crate::protocol::streams::{Seen, Streams};
use crate::walk::Walk;
use crate::worker::Worker;

impl<S: Walk> Worker<Streams<Http3, S>> {
    /// Reads datagrams, and sends what they gave room for.
    pub(super) fn read_datagrams<I: Io>(
        &mut self,
        io: &mut I,
        slot: Slot,
        datagrams: Datagrams<'_>,
        at: u64,
    ) {
        self.protocol.multiplexer.received_ns = at;
        let quic = &mut self.connections[slot as usize].state.multiplexer;
        let Some(mut connection) = quic.connection.take() else { return };
        let Datagrams { bytes, segment_bytes, ecn } = datagrams;
        let ((), seen) = self.reading(slot, at, |responses| {
            connection.receive(Received { bytes, segment_bytes, ecn }, at, responses);
        });
        self.after_reading(io, slot, at, connection, seen);
    }

    /// The timers of connections whose time has come.
    pub(super) fn timers_expired<I: Io>(&mut self, io: &mut I, now: u64) {
        while let Some(slot) = self.protocol.multiplexer.timers.due(now) {
            let quic = &mut self.connections[slot as usize].state.multiplexer;
            let Some(mut connection) = quic.connection.take() else { continue };
            if connection.deadline_ns().is_some_and(|deadline_ns| deadline_ns <= now) {
                let ((), seen) =
                    self.reading(slot, now, |responses| connection.expired(now, responses));
                self.after_reading(io, slot, now, connection, seen);
                // There may be no batch whose end would flush it.
                self.flush_datagrams(io, slot, now);
            } else {
                let deadline_ns = connection.deadline_ns();
                quic.connection = Some(connection);
                self.protocol.multiplexer.timers.set(slot, deadline_ns);
            }
        }
    }

    /// Goes on behind what a connection was told.
    fn after_reading<I: Io>(
        &mut self,
        io: &mut I,
        slot: Slot,
        at: u64,
        mut connection: Box<Connection>,
        seen: Seen,
    ) {
        let deadline_ns = connection.deadline_ns();
        let session = &mut self.connections[slot as usize].state;
        session.multiplexer.connection = Some(connection);
        session.look_at_windows(at, &mut self.protocol.multiplexer.facts.waits);
        self.protocol.multiplexer.timers.set(slot, deadline_ns);
        if self.look_at_end(io, slot, at) {
            return;
        }
        match self.connections[slot as usize].stage {
            Stage::Opening => {
                self.look_at_handshake(io, slot, at);
                if self.connections[slot as usize].stage == Stage::Opening {
                    self.flush_datagrams(io, slot, at);
                }
            }
            Stage::Open => {
                // Acknowledgements and windows leave with the batch, requests or not.
                self.list_to_flush(slot);
                self.go_on_behind(io, slot, seen);
            }
            _ => {}
        }
    }

    /// Sends what a connection has to send: requests, acknowledgements, what was lost.
    pub(super) fn flush_datagrams<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let at = if I::SENDS_AT_ONCE { io.now() } else { at };
        let multiplexer = &mut self.protocol.multiplexer;
        let session = &mut self.connections[slot as usize].state;
        let Some(connection) = &mut session.multiplexer.connection else { return };
        let mut bytes = 0;
        loop {
            multiplexer.out.clear();
            let Some(transmit) = connection.transmit(at, &mut multiplexer.out) else { break };
            bytes += multiplexer.out.len();
            let (segment_bytes, ecn) = (transmit.segment_bytes, transmit.ecn);
            io.send_datagrams(slot, OutDatagrams { bytes: &multiplexer.out, segment_bytes, ecn });
        }
        multiplexer.timers.set(slot, connection.deadline_ns());
        session.look_at_windows(at, &mut multiplexer.facts.waits);
        self.recorder.record().sent_bytes += bytes as u64;
        self.stamp_unsent(slot, at, bytes > 0);
    }

    /// The connection is ended from here: the server is told (RFC 9114, 5.2).
    pub(super) fn close_connection<I: Io>(&mut self, io: &mut I, slot: Slot) {
        let at = io.now();
        let quic = &mut self.connections[slot as usize].state.multiplexer;
        let Some(connection) = &mut quic.connection else { return };
        if !std::mem::replace(&mut quic.is_over, true) {
            connection.close(at);
        }
        self.flush_datagrams(io, slot, at);
        self.count(io, slot, true);
    }

    /// Looks at what went through the slot's socket, until the window has closed.
    pub(super) fn count<I: Io>(&mut self, io: &mut I, slot: Slot, is_over: bool) {
        if self.recorder.window_has_closed() {
            return;
        }
        let quic = &mut self.connections[slot as usize].state.multiplexer;
        let counts = quic.counts();
        let socket = io.datagram_counts(slot);
        let Http3 { facts, streams, .. } = &mut self.protocol.multiplexer;
        if quic.counted.add(socket, counts, is_over, &mut facts.quic) {
            quic.note_limit(*streams, facts);
        }
    }

    /// The same of all slots.
    pub(super) fn count_all<I: Io>(&mut self, io: &mut I, is_over: bool) {
        for slot in 0..self.connections.len() as Slot {
            self.count(io, slot, is_over);
        }
    }
}
