//! The bytes of a server's part of the handshake, as `handshake` shows them to rustls.
//!
//! rustls keeps a message that goes on in the next record where it lies, and remembers how many bytes
//! it has read. Whoever calls it again with fewer bytes than that makes it panic. So rustls is shown one
//! whole record after the other, everything that it was shown before is shown again until it is done
//! with it, and nothing that lies behind the end of the handshake is ever shown.

use super::protection::HEADER_BYTES;

/// What came of a handshake and is not done with.
pub struct Incoming<'b> {
    bytes: &'b mut [u8],
    /// Number of bytes at the front that rustls is done with.
    used: usize,
    /// The whole records that rustls was shown end here.
    shown: usize,
    /// What it sees ends here: there, or behind the beginning of the next record.
    end: usize,
}

impl<'b> Incoming<'b> {
    /// Of these bytes, the first `shown` are whole records that rustls was shown before.
    pub fn new(bytes: &'b mut [u8], shown: usize) -> Self {
        Self { bytes, used: 0, shown, end: shown }
    }

    /// What rustls sees.
    pub fn visible(&mut self) -> &mut [u8] {
        &mut self.bytes[self.used..self.end]
    }

    /// rustls is done with this many bytes of what it sees.
    pub fn discard(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// Shows rustls the next record, when it has read all that it sees; whether there is more to see
    /// than before. The beginning of a record is shown, too: its header may be reason enough to end.
    pub fn show_next(&mut self) -> bool {
        let before = self.end;
        self.end = self.bytes.len();
        if let Some(bytes) = record_bytes(&self.bytes[self.shown..]) {
            self.shown += bytes;
            self.end = self.shown;
        }
        self.end > before
    }

    /// How many bytes rustls is done with, and how many behind these, which have to be there when more comes, it was shown as
    /// whole records.
    pub fn progress(&self) -> (usize, usize) {
        (self.used, self.shown - self.used)
    }

    /// What rustls was not shown.
    pub fn unseen(&mut self) -> &mut [u8] {
        &mut self.bytes[self.shown..]
    }
}

/// Length of the record at the front, if all of it is there.
fn record_bytes(bytes: &[u8]) -> Option<usize> {
    let &[_, _, _, high, low, ..] = bytes else { return None };
    let record_bytes = HEADER_BYTES + usize::from(u16::from_be_bytes([high, low]));
    (bytes.len() >= record_bytes).then_some(record_bytes)
}
