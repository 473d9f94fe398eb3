//! What was received on a connection and is not read yet, as `session` shows it to rustls.
//!
//! rustls keeps a handshake message that goes on in the next record where it lies, and remembers how
//! many bytes it has read. Whoever calls it again with fewer bytes than that makes it panic; and shown
//! more, it reads what the protocol does not want yet. So it is shown one whole record after the
//! other, and what it was shown before is shown again until it is done with it.

use std::mem;
use std::ops::Range;

/// Memory kept by a connection for the beginning of a record.
const KEPT_BYTES_MAX: usize = 4 * 1024;
/// Bytes before each record's payload: type, version, length (RFC 8446, 5.1).
const HEADER_BYTES: usize = 5;

/// Records, or the beginning of one.
#[derive(Default)]
pub(super) struct Received {
    bytes: Vec<u8>,
    /// Number of bytes at the front that are whole records that rustls was shown and is not done with.
    shown: usize,
}

impl Received {
    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes in what came, into `spare` memory if nothing is there.
    pub(super) fn extend(&mut self, bytes: &[u8], spare: &mut Vec<u8>) {
        if self.bytes.is_empty() {
            mem::swap(&mut self.bytes, spare);
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether a whole record is there that rustls was not shown.
    pub(super) fn has_record(&self) -> bool {
        self.next_record_bytes().is_some()
    }

    /// Adds the next whole record to what is shown. Returns where that ends. If there is no more, it
    /// is behind the beginning of a record, whose header may be reason enough to end.
    pub(super) fn show_next(&mut self) -> usize {
        match self.next_record_bytes() {
            None => self.bytes.len(),
            Some(bytes) => {
                self.shown += bytes;
                self.shown
            }
        }
    }

    /// The bytes of a range.
    pub(super) fn visible(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.bytes[range]
    }

    /// What rustls has read and is not done with; it reads nothing new in it.
    pub(super) fn shown(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.shown]
    }

    /// rustls is done with this many bytes.
    pub(super) fn discard(&mut self, bytes: usize) {
        self.bytes.drain(..bytes);
        self.shown -= bytes;
    }

    /// Keeps what is left in memory of its length, and the larger piece of memory for the next
    /// connection.
    pub(super) fn tidy(&mut self, spare: &mut Vec<u8>) {
        if self.bytes.capacity() <= KEPT_BYTES_MAX && !self.bytes.is_empty() {
            return;
        }
        let rest = self.bytes.as_slice().to_vec();
        let mut large = mem::replace(&mut self.bytes, rest);
        large.clear();
        if large.capacity() > spare.capacity() {
            *spare = large;
        }
    }

    /// Length of the record behind what is shown, if all of it is there.
    fn next_record_bytes(&self) -> Option<usize> {
        let bytes = &self.bytes[self.shown..];
        let &[_, _, _, high, low, ..] = bytes else { return None };
        let record_bytes = HEADER_BYTES + usize::from(u16::from_be_bytes([high, low]));
        (bytes.len() >= record_bytes).then_some(record_bytes)
    }
}
