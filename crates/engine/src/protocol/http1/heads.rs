//! Heads: those seen before, new ones, and those that come in pieces.

use ablaze_model::failure::FailureKind;
use ablaze_model::record::MalformedBy;
use ablaze_net::{Io, Receive, Slot};
use ablaze_wire::http1::response::{self, Head, HeadError, Scan};

use super::Http1;
use super::receiving::Piece;
use crate::walk::Walk;
use crate::worker::Worker;

/// The head of an earlier response and what it says.
#[derive(Debug, Default)]
pub(super) struct KnownHead {
    pub bytes: Vec<u8>,
    pub head: Option<Head>,
}

/// The beginning of a head that came in pieces.
#[derive(Debug)]
pub(super) struct Spill {
    bytes: Vec<u8>,
    /// Where the scanner goes on.
    resume: usize,
}

/// Whether what has come of a head shows that it is of an interim response (RFC 9110, section 15.2): `HTTP/1.1 1`.
fn is_interim(head: &[u8]) -> bool {
    head.get(b"HTTP/1.1 ".len()) == Some(&b'1')
}

impl<S: Walk> Worker<Http1<S>> {
    /// The slow path: a head not seen before, or in pieces.
    #[cold]
    pub(super) fn scan_head<I: Io>(
        &mut self,
        io: &mut I,
        slot: Slot,
        bytes: &[u8],
        template: u32,
    ) -> Piece {
        let no_body = self.outbox.response_has_no_body(template);
        let max_head_bytes = self.plan.limits.max_head_bytes;
        let spill = self.connections[slot as usize].state.spill;
        let before = spill.map_or(0, |spill| self.protocol.spills[spill as usize].bytes.len());
        let scan = match spill {
            None => response::scan(bytes, 0, no_body, max_head_bytes),
            Some(spill) => {
                // Never more than one head and one buffer: longer heads are refused.
                let spill = &mut self.protocol.spills[spill as usize];
                spill.bytes.extend_from_slice(bytes);
                response::scan(&spill.bytes, spill.resume, no_body, max_head_bytes)
            }
        };
        if let Some(shown) = &self.protocol.shown {
            let text = spill.map_or(bytes, |spill| &self.protocol.spills[spill as usize].bytes);
            (shown.show)(text);
        }
        let text = spill.map_or(bytes, |spill| &self.protocol.spills[spill as usize].bytes);
        // Behind an interim response comes another one, or the final one.
        if scan.is_err() || !is_interim(text) {
            self.connections[slot as usize].state.only_interim = false;
        }
        match scan {
            Ok(Scan::Incomplete { resume }) => {
                let spill = spill.unwrap_or_else(|| self.begin_spill(slot, bytes));
                self.protocol.spills[spill as usize].resume = resume;
                if matches!(self.connections[slot as usize].mode, Receive::Head) {
                    io.receive(slot, Receive::Head);
                }
                Piece::Consumed
            }
            Ok(Scan::Complete(head)) => {
                let from_this = head.len.saturating_sub(before);
                match spill {
                    Some(spill) => {
                        let text = std::mem::take(&mut self.protocol.spills[spill as usize].bytes);
                        self.remember_head(template, &text[..head.len], head);
                        if S::WALKS {
                            self.tell_head(slot, head.status, &text[..head.len]);
                        }
                        self.protocol.spills[spill as usize].bytes = text;
                        self.release_spill(slot);
                    }
                    None => {
                        self.remember_head(template, &bytes[..head.len], head);
                        if S::WALKS {
                            self.tell_head(slot, head.status, &bytes[..head.len]);
                        }
                    }
                }
                self.enter_body(io, slot, head, &bytes[from_this..])
            }
            Err(HeadError::Malformed(_)) => {
                let text = spill.map_or(bytes, |spill| &self.protocol.spills[spill as usize].bytes);
                self.recorder.keep_malformed(text);
                if begins_as_tls(text) {
                    return Piece::Broken(FailureKind::AnsweredInTls);
                }
                let behind = !text.trim_ascii_start().starts_with(b"HTTP/")
                    && self.connections[slot as usize].responses > 0;
                let oldest = self.connections[slot as usize].state.oldest;
                let exchange = self.exchanges[self.place(slot, oldest)];
                self.recorder.malformed(&exchange, MalformedBy::of_head(text));
                if behind && let Some(known) = self.recorder.circumstance(&exchange) {
                    known.malformed_behind += 1;
                }
                Piece::Broken(FailureKind::Malformed)
            }
            Err(HeadError::TooLarge) => Piece::Broken(FailureKind::TooLarge),
        }
    }

    fn remember_head(&mut self, template: u32, bytes: &[u8], head: Head) {
        if head.status < 200 && head.status != 101 {
            return;
        }
        self.recorder.keep_head(bytes);
        let index = template as usize % self.protocol.heads.len();
        // With more templates than places the method may differ: only the sole owner may reuse.
        let sole_owner = self.outbox.templates() <= self.protocol.heads.len();
        let known = &mut self.protocol.heads[index];
        if sole_owner && self.protocol.shown.is_none() {
            known.bytes.clear();
            known.bytes.extend_from_slice(bytes);
            known.head = Some(head);
        }
    }

    fn begin_spill(&mut self, slot: Slot, bytes: &[u8]) -> u32 {
        let index = self.protocol.free_spills.pop().unwrap_or_else(|| {
            self.protocol.spills.push(Spill { bytes: Vec::with_capacity(2048), resume: 0 });
            (self.protocol.spills.len() - 1) as u32
        });
        self.protocol.spills[index as usize].bytes.extend_from_slice(bytes);
        self.connections[slot as usize].state.spill = Some(index);
        index
    }

    pub(super) fn release_spill(&mut self, slot: Slot) {
        if let Some(index) = self.connections[slot as usize].state.spill.take() {
            self.protocol.spills[index as usize].bytes.clear();
            self.protocol.free_spills.push(index);
        }
    }
}

/// Whether a server that speaks TLS sends this to a plain request: an alert of two bytes, or a part of its
/// handshake (RFC 8446, 5.1 and 6). Of a record whose head is not all there, what is there decides.
fn begins_as_tls(bytes: &[u8]) -> bool {
    match bytes {
        [0x15, 3, 0..=4, high, low, ..] => (*high, *low) == (0, 2),
        [0x16, 3, 0..=4, high, ..] => *high <= 0x40,
        [0x15 | 0x16, 3] | [0x15 | 0x16, 3, 0..=4] | [0x15, 3, 0..=4, 0] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::begins_as_tls;

    #[test]
    fn an_alert_has_two_bytes_and_other_bytes_are_no_tls() {
        assert!(begins_as_tls(b"\x15\x03\x01\x00\x02\x02\x46"));
        assert!(begins_as_tls(b"\x16\x03\x03\x00\x7a\x02"));
        assert!(begins_as_tls(b"\x15\x03\x03"));
        for other in
            [b"\x15\x03\x01 this is no HTTP".as_slice(), b"\x15\x03\x09\x00\x02", b"\x15", b""]
        {
            assert!(!begins_as_tls(other), "{other:?}");
        }
    }
}
