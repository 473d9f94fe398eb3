//! What the head of a response, or its trailers, say about framing.

use crate::http2::blocks::Says;
use crate::http2::client::streams::LENGTH_UNKNOWN;
use crate::http2::error::StreamFault;
use crate::http2::field::{FieldFault, FieldMeaning};
use crate::http2::hpack::decoder::Field;

/// What a field block of a response says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseBlock {
    /// `:status`
    pub status: Option<u16>,
    /// `content-length`
    pub content_length: Option<u64>,
    /// The first thing wrong with it.
    pub(crate) fault: Option<FieldFault>,
    /// Size of the fields (RFC 9113, 6.5.2).
    pub(crate) list_bytes: usize,
    /// A field that is no pseudo-header field came.
    regular: bool,
}

impl ResponseBlock {
    /// Whether something is wrong with it as a field block of any kind.
    pub fn check(&self, list_bytes_max: usize) -> Result<(), StreamFault> {
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        if self.list_bytes > list_bytes_max {
            return Err(StreamFault::FieldsTooLarge);
        }
        Ok(())
    }
}

impl Says for ResponseBlock {
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// RFC 9113, 8.3: pseudo-header fields come first, each once, and responses have one only.
    #[inline(always)]
    fn note(&mut self, field: &Field<'_, FieldMeaning>) {
        let fault = match field.meaning {
            FieldMeaning::Plain => {
                self.regular = true;
                return;
            }
            FieldMeaning::Status(_) if self.regular => FieldFault::LatePseudo,
            FieldMeaning::Status(_) if self.status.is_some() => FieldFault::RepeatedPseudo,
            FieldMeaning::Status(status) => {
                self.status = Some(status);
                return;
            }
            FieldMeaning::ContentLength(length) => {
                self.regular = true;
                // The largest number stands for a length that was not said. Neither ever comes whole.
                let length = length.min(LENGTH_UNKNOWN - 1);
                if self.content_length.is_none_or(|other| other == length) {
                    self.content_length = Some(length);
                    return;
                }
                FieldFault::ContentLength
            }
            FieldMeaning::Request(_) => FieldFault::MisplacedPseudo,
            FieldMeaning::Wrong(fault) => fault,
        };
        if self.fault.is_none() {
            self.fault = Some(fault);
        }
    }

    fn end(&mut self, list_bytes: usize) {
        self.list_bytes = list_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::blocks::BlockReader;
    use crate::http2::hpack::encoder::{Indexing, Name, literal};

    #[test]
    fn pseudo_header_fields_come_first_and_once() {
        let fault =
            |block: &[u8]| BlockReader::<ResponseBlock>::default().read(block).unwrap().fault;
        assert_eq!(fault(&[0x88]), None);
        assert_eq!(fault(&[0x88, 0x88]), Some(FieldFault::RepeatedPseudo));
        assert_eq!(fault(&[0x88, 0x82]), Some(FieldFault::MisplacedPseudo));
        assert_eq!(fault(&[16 | 0x80, 0x88]), Some(FieldFault::LatePseudo));
        let mut lengths = vec![0x88];
        literal(&mut lengths, Indexing::Without, Name::Index(28), b"7");
        literal(&mut lengths, Indexing::Without, Name::Index(28), b"7");
        assert_eq!(fault(&lengths), None);
        literal(&mut lengths, Indexing::Without, Name::Index(28), b"8");
        assert_eq!(fault(&lengths), Some(FieldFault::ContentLength));
    }
}
