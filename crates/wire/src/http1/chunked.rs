//! The chunked transfer coding (RFC 9112, 7.1), read as it arrives.

/// Reads a chunked body piece by piece. It keeps no bytes, only where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chunked {
    _state: u32,
}

/// What a piece of a chunked body was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Bytes used; those behind belong to the next answer (only when `done`).
    pub consumed: usize,
    /// Bytes of the body itself among them, without the coding.
    pub body_bytes: u64,
    /// The body and its trailers are complete.
    pub done: bool,
}

/// Why bytes are no chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChunkError(pub &'static str);

impl Chunked {
    /// At the beginning of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next piece.
    ///
    /// # Errors
    /// When the bytes break the coding.
    pub fn feed(&mut self, _bytes: &[u8]) -> Result<Step, ChunkError> {
        Err(ChunkError("chunked is not read yet"))
    }

    /// How many bytes of the current chunk's data are still to come: they may be dropped unread
    /// and then reported by [`Self::skip`].
    pub fn remaining_in_chunk(&self) -> u64 {
        0
    }

    /// So many bytes of the current chunk's data were dropped unread.
    pub fn skip(&mut self, _bytes: u64) {}
}
