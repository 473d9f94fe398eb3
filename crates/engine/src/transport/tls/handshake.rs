//! The handshake: rustls says what to send and reads what comes, until both sides have their keys.

use std::sync::Arc;

use ablaze_net::{CloseHow, Io, Outgoing, Slot};
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{Error, HandshakeKind, ProtocolVersion};

use super::asked::was_asked;
use super::gathering::Messages;
use super::incoming::Incoming;
use super::protection::{Protection, record_type};
use super::session::{Keys, Out, Phase, Session, Waiting};
use super::trouble::Trouble;
use super::{HTTP2, TlsIo};
use crate::transport::Above;
use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::record::{Agreed, TlsFacts, TlsParty};

/// How far a handshake got with what came.
enum Got {
    /// More has to come.
    Further,
    /// The handshake is complete.
    There,
    /// It failed.
    Nowhere(Trouble),
}

impl<I: Io> TlsIo<'_, I> {
    /// Begins a connection's TLS: the ClientHello, which leaves as its first bytes. `first` waits.
    pub(super) fn begin(
        &mut self,
        slot: Slot,
        endpoint: u16,
        first: Option<Outgoing>,
    ) -> Option<Outgoing> {
        let offered = self.tls.of_endpoints[usize::from(endpoint)];
        let connection = offered.map(|number| {
            // The list of messages is that of the first offer.
            let trace = self.tls.trace.as_mut().filter(|_| number == 0);
            let traced = trace.and_then(|trace| trace.begin(slot));
            let offer = &self.tls.offers[usize::from(number)];
            let config = traced.unwrap_or_else(|| Arc::clone(&offer.config));
            UnbufferedClientConnection::new(config, offer.server_name.clone())
        });
        let session = self.session(slot);
        debug_assert!(matches!(session.phase, Phase::Free), "slot {slot} is opened while in use");
        if let Some(bytes) = first {
            session.waiting.push_back(Waiting { bytes, sealed: 0, notify: false });
        }
        let Some(connection) = connection else {
            session.phase = Phase::Plain;
            return None;
        };
        // Made before the run with the same configuration, it can only fail for lack of randomness:
        // the connection then has no ClientHello to send, and times out.
        session.phase = Phase::Handshake(Box::new(connection.ok()?));
        self.advance(slot, &mut Incoming::new(&mut [], 0));
        self.session(slot).out.hand_over()
    }

    /// Something came while the handshake is under way.
    pub(super) fn shake(
        &mut self,
        above: &mut impl Above,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
        more: bool,
    ) {
        if let Some(trace) = &mut self.tls.trace {
            trace.heard(slot, TlsParty::Server, bytes);
        }
        let session = self.session(slot);
        if !session.heard && !bytes.first().copied().is_none_or(record_type::is_one) {
            let trouble = Trouble::of_first_bytes(bytes);
            return self.fail(above, slot, trouble);
        }
        session.heard = true;
        let mut gathered = std::mem::take(&mut session.spill);
        let shown = std::mem::take(&mut session.shown);
        let came: &mut [u8] = if gathered.is_empty() {
            bytes
        } else {
            gathered.extend_from_slice(bytes);
            &mut gathered
        };
        let mut incoming = Incoming::new(came, shown);
        match self.advance(slot, &mut incoming) {
            Got::Further => {
                let (used, shown) = incoming.progress();
                // What was kept stays where it lies: of a message in many pieces it is not copied for each of them.
                match gathered.is_empty() {
                    true => gathered.extend_from_slice(&bytes[used..]),
                    false => drop(gathered.drain(..used)),
                }
                self.list(slot);
                let session = self.session(slot);
                (session.spill, session.shown) = (gathered, shown);
            }
            Got::Nowhere(trouble) => self.fail(above, slot, trouble),
            Got::There => match self.take_keys(slot) {
                Err(trouble) => self.fail(above, slot, trouble),
                Ok(()) => {
                    self.stand(above, slot);
                    if !self.session(slot).ended {
                        self.read_records(above, slot, incoming.unseen(), at, more);
                    }
                }
            },
        }
    }

    /// The connection stands, keys and all.
    fn stand(&mut self, above: &mut impl Above, slot: Slot) {
        let now = self.io.now();
        above.handshake_took(slot, now.saturating_sub(self.session(slot).stood_ns));
        self.stand_plain(above, slot, now);
    }

    /// The connection stands, and nothing is left to be agreed on.
    pub(super) fn stand_plain(&mut self, above: &mut impl Above, slot: Slot, now: u64) {
        let session = self.session(slot);
        if session.wanted != session.told
            && let Some(mode) = session.wanted
        {
            session.told = Some(mode);
            self.io.receive(slot, mode);
        }
        self.list(slot);
        above.opened(self, slot, now);
    }

    /// Lets rustls read and write as far as it can. Returns how far it got.
    fn advance(&mut self, slot: Slot, incoming: &mut Incoming<'_>) -> Got {
        loop {
            let Session { phase: Phase::Handshake(connection), out, .. } =
                &mut self.tls.sessions[slot as usize]
            else {
                return Got::Further;
            };
            let UnbufferedStatus { discard, state } =
                connection.process_tls_records(incoming.visible());
            let got = match state {
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    let wrote = write(out, &mut self.io, |to| data.encode(to));
                    if let Some(trace) = &mut self.tls.trace {
                        trace.heard(slot, TlsParty::Client, wrote);
                    }
                    None
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    None
                }
                Ok(ConnectionState::WriteTraffic(_)) => Some(Got::There),
                Ok(ConnectionState::BlockedHandshake) => Some(Got::Further),
                // No record behind the handshake is shown: there is nothing to be read.
                Ok(_) => Some(Got::Nowhere(Trouble::of_close_notify())),
                Err(error) => Some(Got::Nowhere(Trouble::of(&error))),
            };
            incoming.discard(discard);
            if let Some(asked) = was_asked() {
                self.tls.sessions[slot as usize].asked_certificate = asked;
            }
            match got {
                None => {}
                Some(Got::Further) if incoming.show_next() => {}
                Some(Got::Nowhere(trouble)) => {
                    let trouble = self.placed(slot, trouble);
                    self.explain(slot, incoming);
                    let is_hello = begins_with_long_hello(incoming.visible());
                    return Got::Nowhere(if is_hello { trouble.of_hello() } else { trouble });
                }
                Some(got) => return got,
            }
        }
    }

    /// The trouble, by how far the handshake was.
    fn placed(&self, slot: Slot, trouble: Trouble) -> Trouble {
        let session = &self.tls.sessions[slot as usize];
        match &session.phase {
            Phase::Handshake(connection) if connection.protocol_version().is_some() => {
                trouble.behind_the_hello(session.asked_certificate)
            }
            _ => trouble,
        }
    }

    /// Writes the alert that says why, if rustls has one.
    fn explain(&mut self, slot: Slot, incoming: &mut Incoming<'_>) {
        let session = &mut self.tls.sessions[slot as usize];
        let Session { phase: Phase::Handshake(connection), out, .. } = session else { return };
        // As long as there is something to send, rustls reads no record; without, it would read on.
        while connection.wants_write() {
            let state = connection.process_tls_records(incoming.visible()).state;
            let Ok(ConnectionState::EncodeTlsData(mut data)) = state else { return };
            let wrote = write(out, &mut self.io, |to| data.encode(to));
            if let Some(trace) = &mut self.tls.trace {
                trace.heard(slot, TlsParty::Client, wrote);
            }
        }
    }

    /// The handshake failed: what it was is told, to the server too, and the connection
    /// closed.
    pub(super) fn fail(&mut self, above: &mut impl Above, slot: Slot, trouble: Trouble) {
        let trouble = if self.tls.needs_http2 { trouble.with_http2_alone() } else { trouble };
        self.flush(slot);
        above.handshake_failed(slot, trouble.kind);
        self.note(trouble);
        self.session(slot).ended = true;
        self.io.close(slot, CloseHow::Fin);
    }

    /// Keeps the first trouble for reports.
    pub(super) fn note(&mut self, trouble: Trouble) {
        let facts = &mut self.tls.facts;
        if facts.first_failure.is_none() {
            facts.first_failure = Some((trouble.kind, trouble.detail));
            facts.first_alert = trouble.alert;
        }
    }

    /// Takes the keys out of a handshake that is over.
    fn take_keys(&mut self, slot: Slot) -> Result<(), Trouble> {
        let phase = std::mem::take(&mut self.session(slot).phase);
        let Phase::Handshake(connection) = phase else { return Ok(()) };
        note_agreed(&mut self.tls.facts, &connection);
        if self.tls.needs_http2 && connection.alpn_protocol() != Some(HTTP2) {
            return Err(Trouble::of_no_http2());
        }
        let (secrets, rustls) =
            connection.dangerous_into_kernel_connection().map_err(|error| Trouble::of(&error))?;
        let version = rustls.protocol_version();
        let keys = || {
            let write = Protection::new(version, secrets.tx.0, &secrets.tx.1)?;
            let read = Protection::new(version, secrets.rx.0, &secrets.rx.1)?;
            Some((write, read))
        };
        let (write, read) = keys().ok_or_else(|| Trouble::of(&Error::EncryptError))?;
        let keys = Keys { write, read, rustls, owes_update: false, messages: Messages::default() };
        self.session(slot).phase = Phase::Data(Box::new(keys));
        Ok(())
    }
}

/// Whether a record begins with a ServerHello that is longer than rustls reads: its certificates come behind that.
fn begins_with_long_hello(records: &[u8]) -> bool {
    const SERVER_HELLO: u8 = 2;
    matches!(*records, [record_type::HANDSHAKE, _, _, _, _, SERVER_HELLO, long, ..] if long > 0)
}

/// Encodes behind what waits for the flush, in as much room as it takes. Returns what it wrote.
fn write<'b, I: Io>(
    out: &mut Out,
    io: &'b mut I,
    mut encode: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> &'b [u8] {
    out.reserve(io, 0);
    let mut wrote = encode(out.free(io));
    if let Err(EncodeError::InsufficientSize(missing)) = &wrote {
        let bytes = missing.required_size;
        wrote = encode(out.reserve(io, bytes).free(io));
    }
    let wrote = wrote.unwrap_or(0);
    let before = out.unsent();
    out.wrote(wrote);
    out.written(io, before)
}

/// Keeps what a handshake agreed on, and what it took.
fn note_agreed(facts: &mut TlsFacts, connection: &UnbufferedClientConnection) {
    match connection.handshake_kind() {
        Some(HandshakeKind::Resumed) => facts.handshakes_resumed += 1,
        Some(HandshakeKind::FullWithHelloRetryRequest) => {
            facts.handshakes_full += 1;
            facts.handshakes_retried += 1;
        }
        _ => facts.handshakes_full += 1,
    }
    let version = match connection.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => TlsVersion::V1_2,
        _ => TlsVersion::V1_3,
    };
    let suite = connection.negotiated_cipher_suite().map_or(0, |suite| suite.suite().into());
    let group = connection.negotiated_key_exchange_group().map(|group| group.name().into());
    let is_known = |(agreed, _): &&mut (Agreed, u64)| {
        (agreed.version, agreed.suite, agreed.group) == (version, suite, group)
            && agreed.protocol.as_deref().map(str::as_bytes) == connection.alpn_protocol()
    };
    match facts.agreed.iter_mut().find(is_known) {
        Some((_, times)) => *times += 1,
        None => {
            let protocol = connection
                .alpn_protocol()
                .map(|protocol| String::from_utf8_lossy(protocol).into_owned());
            facts.agreed.push((Agreed { version, suite, group, protocol }, 1));
        }
    }
    if facts.certificate.is_empty()
        && let Some([leaf, ..]) = connection.peer_certificates()
    {
        facts.certificate = leaf.to_vec();
    }
}
