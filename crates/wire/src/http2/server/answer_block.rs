//! Heads of answers as a server writes them.

use crate::http2::hpack::encoder::{self, Indexing, Name};
use crate::http2::hpack::static_table::{Found, find};

/// The head of an answer, or trailers, as bytes that are the same on every connection: nothing in
/// it depends on the client's table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerBlock {
    bytes: Vec<u8>,
    interim: bool,
}

impl AnswerBlock {
    /// The head of an answer of this status.
    pub fn new(status: u16) -> Self {
        Self { interim: status < 200, ..Self::default() }.field(":status", status.to_string())
    }

    /// Trailers.
    pub fn trailers() -> Self {
        Self::default()
    }

    /// Appends a field; its name has to be in lower case.
    pub fn field(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.push(name.as_ref(), value.as_ref());
        self
    }

    /// Appends a field; its name has to be in lower case.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        match find(name, value) {
            Found::Field(index) => encoder::indexed(&mut self.bytes, index),
            Found::Name(index) => {
                encoder::literal(&mut self.bytes, Indexing::Without, Name::Index(index), value);
            }
            Found::Nothing => {
                encoder::literal(&mut self.bytes, Indexing::Without, Name::Literal(name), value);
            }
        }
    }

    /// Forgets everything and begins the head of another answer: what a server does that makes
    /// its heads as it goes.
    pub fn restart(&mut self, status: u16) {
        self.bytes.clear();
        self.interim = status < 200;
        let digits = [100, 10, 1].map(|unit| b'0' + (status / unit % 10) as u8);
        self.push(b":status", &digits);
    }

    /// The block.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether another head follows.
    pub(super) fn is_interim(&self) -> bool {
        self.interim
    }
}
