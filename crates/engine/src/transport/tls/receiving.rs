//! Records that arrive: opened where they lie, and what is in them told to who is above.

use ablaze_net::{Io, Slot};
use rustls::{AlertDescription, ProtocolVersion};

use super::TlsIo;
use super::protection::{Damage, HEADER_BYTES, Header, Protection, record_type};
use super::session::{Farewell, Keys, Phase};
use super::trouble::Trouble;
use crate::transport::Above;
use ablaze_model::record::TlsParty;

/// Handshake messages that may come at any time (RFC 8446, 4).
const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
/// The same in TLS 1.2: may we begin again? It is answered by silence (RFC 5246, 7.4.1.1).
const HELLO_REQUEST: u8 = 0;

/// Alerts (RFC 8446, 6).
const CLOSE_NOTIFY: u8 = 0;
const USER_CANCELED: u8 = 90;
const WARNING: u8 = 1;

/// How many spills are kept for use again.
const SPARES: usize = 64;

impl<I: Io> TlsIo<'_, I> {
    /// Bytes came on a connection.
    #[inline]
    pub(super) fn arrived(
        &mut self,
        above: &mut impl Above,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
        more: bool,
    ) {
        let session = self.session(slot);
        match session.phase {
            _ if session.ended => {}
            Phase::Data(_) => self.read_records(above, slot, bytes, at, more),
            Phase::Handshake(_) => self.shake(above, slot, bytes, at, more),
            Phase::Plain => above.received(self, slot, bytes, at, more),
            Phase::Free => {}
        }
    }

    /// Reads all records that are whole now, and keeps the beginning of the next.
    #[inline]
    pub(super) fn read_records(
        &mut self,
        above: &mut impl Above,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
        more: bool,
    ) {
        let mut rest = bytes;
        if !self.session(slot).spill.is_empty() {
            match self.read_spilled(above, slot, rest, at, more) {
                Some(used) => rest = &mut rest[used..],
                None => return,
            }
        }
        loop {
            match Header::read(rest) {
                Err(damage) => {
                    return self.damaged(above, slot, at, damage);
                }
                Ok(Some(header)) if rest.len() >= header.record_bytes() => {
                    let (record, behind) = rest.split_at_mut(header.record_bytes());
                    rest = behind;
                    if !self.read_record(above, slot, header, record, at, more) {
                        return;
                    }
                }
                Ok(header) => {
                    if !rest.is_empty() {
                        self.spill(slot, rest, header);
                    }
                    return;
                }
            }
        }
    }

    /// Completes the record that began before. Returns how many bytes that took; `None` when the
    /// connection is over.
    fn read_spilled(
        &mut self,
        above: &mut impl Above,
        slot: Slot,
        bytes: &[u8],
        at: u64,
        more: bool,
    ) -> Option<usize> {
        let mut used = 0;
        loop {
            let spill = &mut self.tls.sessions[slot as usize].spill;
            let header = match Header::read(spill) {
                Ok(header) => header,
                Err(damage) => {
                    self.damaged(above, slot, at, damage);
                    return None;
                }
            };
            let wanted = header.map_or(HEADER_BYTES, |header| header.record_bytes());
            let taken = (wanted - spill.len()).min(bytes.len() - used);
            spill.reserve_exact(wanted - spill.len());
            spill.extend_from_slice(&bytes[used..used + taken]);
            used += taken;
            match header {
                Some(header) if spill.len() == wanted => {
                    let mut record = std::mem::take(spill);
                    let goes_on = self.read_record(above, slot, header, &mut record, at, more);
                    self.keep_spare(record);
                    return goes_on.then_some(used);
                }
                _ if used == bytes.len() => return Some(used),
                _ => {}
            }
        }
    }

    /// Keeps the beginning of a record.
    fn spill(&mut self, slot: Slot, bytes: &[u8], header: Option<Header>) {
        let mut spill = self.tls.spare.pop().unwrap_or_default();
        spill.reserve_exact(header.map_or(HEADER_BYTES, |header| header.record_bytes()));
        spill.extend_from_slice(bytes);
        self.session(slot).spill = spill;
    }

    /// Keeps the memory of a spill.
    pub(super) fn keep_spare(&mut self, mut spill: Vec<u8>) {
        if spill.capacity() > 0 && self.tls.spare.len() < SPARES {
            spill.clear();
            self.tls.spare.push(spill);
        }
    }

    /// Opens a record and does what it says; whether the connection goes on.
    #[inline]
    fn read_record(
        &mut self,
        above: &mut impl Above,
        slot: Slot,
        header: Header,
        record: &mut [u8],
        at: u64,
        more: bool,
    ) -> bool {
        let Phase::Data(keys) = &mut self.session(slot).phase else { return false };
        match keys.read.open(header, record) {
            Ok((record_type::APPLICATION_DATA, plain)) => {
                if !plain.is_empty() {
                    above.received(self, slot, plain, at, more);
                }
            }
            Ok((record_type::HANDSHAKE, plain)) => {
                if let Err(damage) = self.read_messages(slot, plain) {
                    self.damaged(above, slot, at, damage);
                }
            }
            Ok((record_type::ALERT, plain)) => {
                let plain = [plain.first().copied(), plain.get(1).copied()];
                self.read_alert(above, slot, plain, at);
            }
            Ok(_) => self.damaged(above, slot, at, Damage::Unexpected),
            Err(damage) => self.damaged(above, slot, at, damage),
        }
        !self.session(slot).ended
    }

    /// Handshake messages behind the handshake: tickets, new keys.
    #[cold]
    fn read_messages(&mut self, slot: Slot, plain: &[u8]) -> Result<(), Damage> {
        let resumes = self.tls.resumes;
        let Phase::Data(keys) = &mut self.tls.sessions[slot as usize].phase else {
            return Ok(());
        };
        let mut messages = std::mem::take(&mut keys.messages);
        let read = messages.read(plain, |kind, payload, is_last| {
            if let Some(trace) = &mut self.tls.trace {
                trace.message(slot, TlsParty::Server, kind, payload.len());
            }
            keys.read_message(kind, payload, is_last, resumes)
        });
        keys.messages = messages;
        read
    }

    #[cold]
    fn read_alert(&mut self, above: &mut impl Above, slot: Slot, plain: [Option<u8>; 2], at: u64) {
        let [Some(level), Some(alert)] = plain else {
            return self.damaged(above, slot, at, Damage::Unexpected);
        };
        if let Some(trace) = &mut self.tls.trace {
            trace.alert(slot, TlsParty::Server, [level, alert]);
        }
        let Phase::Data(keys) = &self.session(slot).phase else { return };
        let is_1_2 = keys.rustls.protocol_version() == ProtocolVersion::TLSv1_2;
        match alert {
            CLOSE_NOTIFY => {
                self.session(slot).got_close_notify = true;
                above.nothing_more(self, slot, at);
            }
            USER_CANCELED => {}
            _ if is_1_2 && level == WARNING => {}
            _ => {
                let request = self.session(slot).asked_certificate;
                let trouble = Trouble::of_late_alert(AlertDescription::from(alert), request);
                self.session(slot).farewell = Farewell::Nothing;
                self.break_off(above, slot, at, trouble);
            }
        }
    }

    /// The server broke the rules of TLS, and is told so.
    #[cold]
    fn damaged(&mut self, above: &mut impl Above, slot: Slot, at: u64, damage: Damage) {
        self.session(slot).farewell = Farewell::Fatal(damage.alert());
        self.break_off(above, slot, at, Trouble::of_record(damage));
    }

    /// The connection cannot go on.
    #[cold]
    pub(super) fn break_off(
        &mut self,
        above: &mut impl Above,
        slot: Slot,
        at: u64,
        trouble: Trouble,
    ) {
        above.broke_off(self, slot, at, trouble.kind);
        self.note(trouble);
    }
}

impl Keys {
    fn read_message(
        &mut self,
        kind: u8,
        payload: &[u8],
        is_last: bool,
        resumes: bool,
    ) -> Result<(), Damage> {
        let version = self.rustls.protocol_version();
        match (version, kind) {
            (ProtocolVersion::TLSv1_3, NEW_SESSION_TICKET) => {
                if resumes {
                    // A ticket that cannot be read is no loss.
                    let _ = self.rustls.handle_new_session_ticket(payload);
                }
                Ok(())
            }
            // The key changes with the record (RFC 8446, 5.1), so nothing may follow in it.
            (ProtocolVersion::TLSv1_3, KEY_UPDATE) if is_last && matches!(payload, [0 | 1]) => {
                self.owes_update |= payload == [1];
                let (sequence, secrets) =
                    self.rustls.update_rx_secret().map_err(|_| Damage::Unexpected)?;
                self.read =
                    Protection::new(version, sequence, &secrets).ok_or(Damage::Unexpected)?;
                Ok(())
            }
            (ProtocolVersion::TLSv1_2, HELLO_REQUEST) if payload.is_empty() => Ok(()),
            _ => Err(Damage::Unexpected),
        }
    }
}
