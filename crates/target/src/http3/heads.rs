//! Field sections of requests, read with the static table alone: what they say does not depend on the connection, so
//! one that equals the last one says the same again.

use ablaze_wire::http2::error::StreamFault;
use ablaze_wire::http2::field::{FieldFault, FieldMeaning};
use ablaze_wire::http3::error::ErrorKind;
use ablaze_wire::http3::qpack::decoder::Decoder;

use crate::http2::heads::{Parts, RequestSays};

/// Longer sections are not remembered.
const REMEMBERED_BYTES_MAX: usize = 1024;

/// Reads the field sections of all connections of a worker.
#[derive(Debug)]
pub struct RequestHeads {
    decoder: Decoder,
    last: Vec<u8>,
    says: RequestSays,
    parts: Parts,
}

impl RequestHeads {
    /// Without a dynamic table.
    pub fn new() -> Self {
        let (says, parts) = (RequestSays::default(), Parts::default());
        Self { decoder: Decoder::new(0), last: Vec::new(), says, parts }
    }

    /// Reads the section of a request's head; what it says is at [`Self::says`].
    ///
    /// # Errors
    /// When it cannot be decoded: the connection is of no use any more.
    pub fn read(&mut self, section: &[u8], bytes_max: usize) -> Result<(), ErrorKind> {
        if section == self.last && !section.is_empty() {
            return Ok(());
        }
        let Self { decoder, last, says, parts } = self;
        last.clear();
        says.clear();
        parts.clear();
        let facts = decoder
            .decode(section, |field| {
                parts.note(field.name, field.value, field.meaning, bytes_max, says);
            })
            .map_err(ErrorKind::Qpack)?;
        parts.conclude(b"HTTP/3", says);
        says.too_long |= facts.list_bytes > bytes_max;
        if section.len() <= REMEMBERED_BYTES_MAX {
            last.extend_from_slice(section);
        }
        Ok(())
    }

    /// What the last section said.
    pub fn says(&self) -> &RequestSays {
        &self.says
    }

    /// Reads the section of trailers; what is wrong with them, if anything is.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_trailers(&mut self, section: &[u8]) -> Result<Option<StreamFault>, ErrorKind> {
        let mut fault = None;
        self.decoder
            .decode(section, |field| {
                let here = match field.meaning {
                    FieldMeaning::Wrong(fault) => Some(fault),
                    FieldMeaning::Status(_) | FieldMeaning::Request(_) => {
                        Some(FieldFault::MisplacedPseudo)
                    }
                    FieldMeaning::Plain | FieldMeaning::ContentLength(_) => None,
                };
                fault = fault.or(here.map(StreamFault::from));
            })
            .map_err(ErrorKind::Qpack)?;
        Ok(fault)
    }
}
