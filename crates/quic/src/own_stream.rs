//! A stream in one direction that one end opens and keeps open: control, and QPACK's two (RFC 9114, 6.2; RFC 9204, 4.2). What
//! is said on it waits for the peer's windows.

use quinn_proto::{Connection, Dir, StreamId, WriteError};

/// One of them.
#[derive(Debug, Default)]
pub struct OwnStream {
    id: Option<StreamId>,
    /// What is still to be written.
    unwritten: Vec<u8>,
    /// The peer had no room: nothing is tried until it has.
    blocked: bool,
}

impl OwnStream {
    /// Not opened yet; it begins with these bytes.
    pub fn new(first_bytes: Vec<u8>) -> Self {
        Self { id: None, unwritten: first_bytes, blocked: false }
    }

    /// Its number, once it is open.
    pub fn id(&self) -> Option<StreamId> {
        self.id
    }

    /// What is to be said is appended here, and leaves with [`Self::write`].
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.unwritten
    }

    /// Bytes that wait to be written.
    #[inline]
    pub fn unwritten_bytes(&self) -> usize {
        self.unwritten.len()
    }

    /// Opens it, if it could not be opened yet, and writes what is unwritten, as far as the peer permits.
    #[cold]
    pub fn write(&mut self, quic: &mut Connection) {
        if self.id.is_none() {
            self.id = quic.streams().open(Dir::Uni);
        }
        let Some(id) = self.id else { return };
        let mut sending = quic.send_stream(id);
        // Only a call that can write nothing at all is followed by word of room.
        while !self.unwritten.is_empty() && !self.blocked {
            match sending.write(&self.unwritten) {
                Ok(written) => drop(self.unwritten.drain(..written)),
                Err(WriteError::Blocked) => self.blocked = true,
                // A peer that stops one of these streams does without it.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => self.unwritten.clear(),
            }
        }
    }

    /// The peer has room again.
    pub fn has_room(&mut self, quic: &mut Connection) {
        self.blocked = false;
        self.write(quic);
    }
}
