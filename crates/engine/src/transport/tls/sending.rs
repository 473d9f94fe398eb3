//! Sealing what the worker sends, and flushing it: what gathers on a connection between two flushes
//! leaves as one write.

use ablaze_net::{Io, Outgoing, Slot};
use rustls::ProtocolVersion;

use super::TlsIo;
use super::protection::{Damage, OVERHEAD_BYTES, PLAIN_BYTES_MAX, Protection, record_type};
use super::session::{Keys, Phase, Session, Waiting};
use crate::transport::Above;

/// Longer sends are sealed piece by piece, as the ones before leave: a connection never holds more
/// than this of them.
const AT_ONCE_BYTES: u32 = 4 * PLAIN_BYTES_MAX as u32;

/// `key_update`, and nothing asked in return (RFC 8446, 4.6.3).
const KEY_UPDATE: [u8; 5] = [24, 0, 0, 1, 0];
/// After this many records a key has done its work: half of what AES-GCM permits (RFC 8446, 5.5). TLS
/// 1.2 cannot change keys, and what a load test sends is no secret: there it goes on.
const RECORDS_PER_KEY: u64 = 1 << 23;

impl<I: Io> TlsIo<'_, I> {
    /// Seals a send at once, if it may be, or puts it behind those that wait.
    #[inline]
    pub(super) fn seal_or_wait(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        let session = &mut self.tls.sessions[slot as usize];
        if session.ended {
            return;
        }
        let waiting = Waiting { bytes, sealed: 0, notify };
        let at_once = session.phase.carries_data()
            && session.waiting.is_empty()
            && bytes.len() <= PLAIN_BYTES_MAX as u32;
        if at_once {
            self.seal(slot, waiting, bytes.len());
        } else {
            session.waiting.push_back(waiting);
        }
        self.list(slot);
    }

    /// Has the slot flushed.
    #[inline]
    pub(super) fn list(&mut self, slot: Slot) {
        let session = &mut self.tls.sessions[slot as usize];
        if !session.listed {
            session.listed = true;
            self.tls.listed.push(slot);
        }
    }

    /// Flushes every slot that has something to send.
    #[inline]
    pub(super) fn flush_all(&mut self) {
        while let Some(slot) = self.tls.listed.pop() {
            self.session(slot).listed = false;
            self.flush(slot);
        }
    }

    /// Sends what has gathered on a slot.
    #[inline]
    pub(super) fn flush(&mut self, slot: Slot) {
        let session = &mut self.tls.sessions[slot as usize];
        if session.ended {
            return;
        }
        if !session.waiting.is_empty() && session.phase.carries_data() {
            self.seal_waiting(slot);
        }
        let session = &mut self.tls.sessions[slot as usize];
        let Some(bytes) = session.out.hand_over() else { return };
        // Without a response to come, only the driver can say when the buffer may change. Such is the
        // end of a handshake that no request follows at once.
        let answered = session.out.asks || matches!(session.phase, Phase::Handshake(_));
        let notify = session.out.notices > 0 || !session.waiting.is_empty() || !answered;
        if notify && let Some(leaving) = session.out.let_go() {
            session.leaving.push_back(leaving);
        }
        self.io.send(slot, bytes, notify);
    }

    /// Seals of what waits as much as may leave at once, if nothing is leaving.
    #[cold]
    fn seal_waiting(&mut self, slot: Slot) {
        let mut left = AT_ONCE_BYTES;
        loop {
            let session = &mut self.tls.sessions[slot as usize];
            let Some(&waiting) = session.waiting.front() else { return };
            if left == 0 || !session.leaving.is_empty() {
                return;
            }
            let bytes = (waiting.bytes.len() - waiting.sealed).min(left);
            left -= bytes;
            self.seal(slot, waiting, bytes);
            let session = &mut self.tls.sessions[slot as usize];
            if let Some(front) = session.waiting.front_mut() {
                front.sealed += bytes;
                if front.sealed == front.bytes.len() {
                    session.waiting.pop_front();
                }
            }
        }
    }

    /// Seals the next `bytes` of a send.
    #[inline]
    fn seal(&mut self, slot: Slot, what: Waiting, bytes: u32) {
        let session = &mut self.tls.sessions[slot as usize];
        let Session { phase, out, .. } = session;
        if !phase.carries_data() {
            return;
        }
        let records = bytes as usize / PLAIN_BYTES_MAX + 2;
        out.reserve(&mut self.io, bytes as usize + records * OVERHEAD_BYTES + KEY_UPDATE.len());
        let plain = match what.bytes {
            Outgoing::Constant { start, .. } => &self.tls.constant_bytes[start as usize..],
            Outgoing::Leased { buffer, .. } => &self.tls.leases[buffer.0 as usize][..],
        };
        let plain = &plain[what.sealed as usize..][..bytes as usize];
        let to = out.free(&mut self.io);
        let sealed = match phase {
            Phase::Data(keys) => keys.seal(plain, to),
            _ => {
                to[..plain.len()].copy_from_slice(plain);
                Ok(plain.len())
            }
        };
        debug_assert!(sealed.is_ok(), "no length is sealed that cannot be");
        out.wrote(sealed.unwrap_or(0));
        out.asks = true;
        let whole = what.sealed + bytes == what.bytes.len();
        out.notices += u32::from(what.notify && whole);
    }

    /// The driver says that the oldest of the buffers has left.
    pub(super) fn left(&mut self, above: &mut impl Above, slot: Slot, at: u64) {
        let Some(leaving) = self.session(slot).leaving.pop_front() else { return };
        self.io.release(leaving.buffer);
        for _ in 0..leaving.notices {
            above.sent(self, slot, at);
        }
        if !self.session(slot).waiting.is_empty() {
            self.list(slot);
        }
    }
}

impl Keys {
    /// Seals application data as one record or several; returns how many bytes they are.
    #[inline]
    fn seal(&mut self, plain: &[u8], to: &mut [u8]) -> Result<usize, Damage> {
        let mut filled = 0;
        if self.owes_update || self.write.sequence >= RECORDS_PER_KEY {
            filled = self.change_key(to)?;
        }
        for piece in plain.chunks(PLAIN_BYTES_MAX) {
            filled += self.write.seal(record_type::APPLICATION_DATA, piece, &mut to[filled..])?;
        }
        Ok(filled)
    }

    /// Says that what follows is sealed with the next key, and takes it.
    #[cold]
    fn change_key(&mut self, to: &mut [u8]) -> Result<usize, Damage> {
        self.owes_update = false;
        let version = self.rustls.protocol_version();
        if version != ProtocolVersion::TLSv1_3 {
            return Ok(0);
        }
        let filled = self.write.seal(record_type::HANDSHAKE, &KEY_UPDATE, to)?;
        let (sequence, secrets) = self.rustls.update_tx_secret().map_err(|_| Damage::Unexpected)?;
        self.write = Protection::new(version, sequence, &secrets).ok_or(Damage::Unexpected)?;
        Ok(filled)
    }
}
