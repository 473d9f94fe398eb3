//! What a worker does to a connection under TLS: the driver's own verbs, one floor up.

use ablaze_net::{CloseHow, DatagramCounts, Io, OutBuffer, OutDatagrams, Outgoing, Receive, Slot};

use super::TlsIo;
use super::protection::{OVERHEAD_BYTES, record_type};
use super::session::{Farewell, Phase, Session};
use ablaze_model::record::TlsParty;

/// `close_notify` as a warning (RFC 8446, 6.1).
const CLOSE_NOTIFY: [u8; 2] = [1, 0];
const FATAL: u8 = 2;

impl<I: Io> Io for TlsIo<'_, I> {
    const SENDS_AT_ONCE: bool = I::SENDS_AT_ONCE;

    fn now(&mut self) -> u64 {
        self.io.now()
    }

    fn open(&mut self, slot: Slot, endpoint: u16, first: Option<Outgoing>, receive: Receive) {
        let hello = self.begin(slot, endpoint, first);
        let session = self.session(slot);
        session.wanted = Some(in_records(receive));
        // The server's part of the handshake is small; the rest of it comes in one piece.
        session.told = Some(Receive::Stream);
        self.io.open(slot, endpoint, hello, Receive::Stream);
    }

    fn lease(&mut self, bytes: usize) -> OutBuffer {
        let fits = |number: &u32| self.tls.leases[*number as usize].len() >= bytes;
        if let Some(index) = self.tls.released.iter().position(fits) {
            return OutBuffer(self.tls.released.swap_remove(index));
        }
        self.tls.leases.push(vec![0; bytes].into_boxed_slice());
        OutBuffer((self.tls.leases.len() - 1) as u32)
    }

    fn leased(&mut self, buffer: OutBuffer) -> &mut [u8] {
        &mut self.tls.leases[buffer.0 as usize]
    }

    fn release(&mut self, buffer: OutBuffer) {
        self.tls.released.push(buffer.0);
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        self.seal_or_wait(slot, bytes, notify);
    }

    fn send_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        self.io.send_datagrams(slot, datagrams);
    }

    fn datagram_counts(&mut self, slot: Slot) -> DatagramCounts {
        self.io.datagram_counts(slot)
    }

    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16> {
        self.io.datagram_bytes_max(slot)
    }

    fn unsent(&mut self, slot: Slot) -> bool {
        let session = self.session(slot);
        // What is on its way in a buffer of its own keeps nobody from writing.
        let unsealed = !session.waiting.is_empty();
        unsealed || (session.out.is_quiet() && self.io.unsent(slot))
    }

    #[inline]
    fn receive(&mut self, slot: Slot, mode: Receive) {
        let mode = in_records(mode);
        let session = &mut self.tls.sessions[slot as usize];
        session.wanted = Some(mode);
        if session.told != Some(mode) && session.phase.carries_data() {
            session.told = Some(mode);
            self.io.receive(slot, mode);
        }
    }

    fn close(&mut self, slot: Slot, how: CloseHow) {
        if how != CloseHow::Reset {
            self.say_farewell(slot);
        }
        self.session(slot).ended = true;
        self.io.close(slot, how);
    }
}

/// How records are received for a worker that wants to receive so: bodies have to be opened, and
/// cannot be dropped unread.
#[inline]
fn in_records(mode: Receive) -> Receive {
    match mode {
        Receive::Stream => Receive::Stream,
        Receive::Pause => Receive::Pause,
        Receive::Head | Receive::Bulk | Receive::Discard(_) | Receive::DiscardToEnd => {
            Receive::Bulk
        }
    }
}

impl<I: Io> TlsIo<'_, I> {
    /// Tells the server that nothing more will come, as each side has to (RFC 8446, 6.1): there are
    /// servers that keep the connection until they hear it, whoever spoke first. Or says what was wrong.
    fn say_farewell(&mut self, slot: Slot) {
        let session = self.session(slot);
        let alert = match session.farewell {
            Farewell::CloseNotify => CLOSE_NOTIFY,
            Farewell::Fatal(alert) => [FATAL, alert],
            Farewell::Nothing => return,
        };
        let speaks = !session.ended && session.waiting.is_empty();
        if !speaks || !matches!(session.phase, Phase::Data(_)) {
            return;
        }
        if let Some(trace) = &mut self.tls.trace {
            trace.alert(slot, TlsParty::Client, alert);
        }
        let bytes = alert.len() + OVERHEAD_BYTES;
        let session = &mut self.tls.sessions[slot as usize];
        let Session { phase: Phase::Data(keys), out, .. } = session else { return };
        if out.unsent() > 0 {
            // In the same write: a second one might wait for the first, and then be too late.
            out.reserve(&mut self.io, bytes);
            let to = out.free(&mut self.io);
            let sealed = keys.write.seal(record_type::ALERT, &alert, to);
            out.wrote(sealed.unwrap_or(0));
            return self.flush(slot);
        }
        let buffer = self.io.lease(bytes);
        session.close_notify = Some(buffer);
        let to = self.io.leased(buffer);
        if let Ok(len) = keys.write.seal(record_type::ALERT, &alert, to) {
            self.io.send(slot, Outgoing::Leased { buffer, len: len as u32 }, false);
        }
    }
}
