//! Begins connections, and tells when they stand, or that they will not.

use ablaze_model::failure::FailureKind;
use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::record::{Agreed, QuicHandshakes, Spread};
use ablaze_net::{CloseHow, Io, Slot};
use ablaze_quic::client::{Connection, Ended, Handshake, Why};

use super::Http3;
use super::trouble;
use crate::connection::Stage;
use crate::protocol::streams::{Multiplexer, Streams};
use crate::transport::tls::Trouble;
use crate::walk::Walk;
use crate::worker::Worker;

impl<S: Walk> Worker<Streams<Http3, S>> {
    /// The driver has a socket for a slot: the handshake's first flight leaves.
    pub(super) fn begin_handshake<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let (_, endpoint) = self.endpoint(slot);
        let origins = &mut self.protocol.multiplexer.origins;
        let (connector, remote, server_name) =
            origins.endpoint(endpoint, || io.datagram_bytes_max(slot));
        match Connection::new(connector, remote, server_name, at) {
            Ok(connection) => {
                let quic = &mut self.connections[slot as usize].state.multiplexer;
                quic.connection = Some(Box::new(connection));
                self.flush_datagrams(io, slot, at);
            }
            Err(error) => self.handshake_fails(io, slot, trouble::of_start(&error)),
        }
    }

    /// Something came while the connection is being made: it may stand now.
    pub(super) fn look_at_handshake<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        let Some(quic) = connection.state.multiplexer.connection.as_ref() else { return };
        if quic.ended().is_some() || !quic.stands() {
            return;
        }
        let Some(handshake) = quic.handshake().cloned() else { return };
        let multiplexer = &mut self.protocol.multiplexer;
        let asked = self.plan.places_per_connection();
        multiplexer.note_handshake(&handshake, asked);
        // Connecting is the handshake: a socket for datagrams is there at once.
        let tls_ns = at.saturating_sub(connection.opening_ns).saturating_sub(1);
        connection.tls_ns = tls_ns.max(1);
        self.stands(io, slot, at);
    }

    /// The connection is over: the server ended it, it was silent for too long, or what it sent cannot be used.
    pub(super) fn look_at_end<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) -> bool {
        let connection = &mut self.connections[slot as usize];
        let quic = &mut connection.state.multiplexer;
        let Some(ended) = quic.connection.as_ref().and_then(|connection| connection.ended()) else {
            return false;
        };
        if std::mem::replace(&mut quic.is_over, true) {
            return true;
        }
        let ended = ended.clone();
        self.protocol.multiplexer.note_end(&ended);
        // Nothing was said because there was nothing to say: it is made again when it is needed.
        let idles = connection.in_flight == 0 && ended.why == Why::IdleTimeout;
        let idles = idles && connection.stage == Stage::Open;
        let trouble = if idles { None } else { trouble::of_ended(&ended) };
        match (connection.stage, trouble) {
            (Stage::Opening, trouble) => {
                let detail = || format!("{ended}, during the handshake");
                let closed = || Trouble::new(FailureKind::QuicClosed, detail());
                self.handshake_fails(io, slot, trouble.unwrap_or_else(closed));
            }
            (Stage::Open, Some(trouble)) => {
                let kind = trouble.kind;
                if trouble.alert.is_some() {
                    self.note_tls(trouble.clone());
                }
                self.protocol.multiplexer.note_failure(kind, || trouble.detail);
                self.fails_with(io, slot, at, kind);
            }
            // It has nothing against us, and is gone.
            (Stage::Open, None) => self.end_connection(io, slot, CloseHow::Fin),
            _ => {}
        }
        true
    }

    /// Keeps the first trouble with TLS for reports.
    fn note_tls(&mut self, trouble: Trouble) {
        let facts = &mut self.protocol.multiplexer.tls;
        if facts.first_failure.is_none() {
            facts.first_failure = Some((trouble.kind, trouble.detail));
            facts.first_alert = trouble.alert;
        }
    }

    /// There will be no connection: what it was is kept, and the slot tried again as others are.
    fn handshake_fails<I: Io>(&mut self, io: &mut I, slot: Slot, trouble: Trouble) {
        let kind = trouble.kind;
        if kind.is_of_tls() {
            self.note_tls(trouble);
        } else {
            self.protocol.multiplexer.note_failure(kind, || trouble.detail);
        }
        let at = io.now();
        self.flush_datagrams(io, slot, at);
        // The socket's counts go with it.
        self.count(io, slot, true);
        self.connections[slot as usize].given_up = Some(kind);
        io.close(slot, CloseHow::Fin);
    }
}

impl Http3 {
    /// Keeps what a handshake agreed on, and what it took.
    fn note_handshake(&mut self, handshake: &Handshake, streams_asked: u32) {
        self.facts.quic.handshakes += 1;
        self.facts.quic.retries += u64::from(handshake.retried_ns.is_some());
        let since = |ns: u64| Spread::of(ns.saturating_sub(handshake.began_ns));
        let limited = handshake.limited;
        self.facts.quic.all_handshakes.merge(QuicHandshakes {
            version: Some(handshake.version),
            protocol: Some(String::from_utf8_lossy(&handshake.alpn).into_owned()),
            whole_ns: Some(since(handshake.done_ns)),
            retry_ns: handshake.retried_ns.map(since),
            limited_ns: limited.map(|limited| Spread::of(limited.pause_ns)),
            limited_at: limited.map(|limited| (limited.sent_bytes, limited.received_bytes)),
            incomplete_received: 0,
        });
        let permitted = handshake.streams_permitted;
        if permitted < streams_asked.into() {
            let least = self.facts.streams_permitted.unwrap_or(u64::MAX);
            self.facts.streams_permitted = Some(least.min(permitted));
        }
        self.tls.handshakes_full += 1;
        let protocol = Some(String::from_utf8_lossy(&handshake.alpn).into_owned());
        let version = TlsVersion::V1_3;
        let agreed = Agreed { version, suite: handshake.suite, group: handshake.group, protocol };
        match self.tls.agreed.iter_mut().find(|(known, _)| *known == agreed) {
            Some((_, times)) => *times += 1,
            None => self.tls.agreed.push((agreed, 1)),
        }
    }

    /// Keeps how a server ended a connection.
    fn note_end(&mut self, ended: &Ended) {
        let Some(code) = ended.code_name() else { return };
        self.facts.closes.add(&code, 1);
        if trouble::of_ended(ended).is_some() {
            self.facts.first_close.get_or_insert_with(|| ended.to_string());
        }
    }
}
