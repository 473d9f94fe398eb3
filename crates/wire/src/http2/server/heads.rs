//! What the head of a request says (RFC 9113, 8.3.1).

use crate::http2::blocks::Says;
use crate::http2::error::StreamFault;
use crate::http2::field::{FieldFault, FieldMeaning, RequestPart};
use crate::http2::hpack::decoder::Field;

/// The head of a request, or its trailers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// `:method`
    pub method: Vec<u8>,
    /// `:scheme`
    pub scheme: Vec<u8>,
    /// `:authority`, else the field `host`
    pub authority: Vec<u8>,
    /// `:path`, with the query; empty for CONNECT
    pub path: Vec<u8>,
    /// The other fields as lines, `name: value` and CRLF each.
    pub fields: Vec<u8>,
    /// `content-length`
    pub content_length: Option<u64>,
    /// Which pseudo-header fields came, a bit each.
    came: u8,
    regular: bool,
    fault: Option<FieldFault>,
    list_bytes: usize,
}

impl RequestHead {
    /// What is wrong with it as the head of a request.
    pub(super) fn check(&self, list_bytes_max: usize) -> Result<(), StreamFault> {
        self.check_fields(list_bytes_max)?;
        let connect = self.method == b"CONNECT";
        let (wanted, permitted) = if connect {
            let both = bit(RequestPart::Method) | bit(RequestPart::Authority);
            (both, both)
        } else {
            let three =
                bit(RequestPart::Method) | bit(RequestPart::Scheme) | bit(RequestPart::Path);
            (three, three | bit(RequestPart::Authority))
        };
        if self.came & wanted == wanted && self.came & !permitted == 0 && !self.method.is_empty() {
            Ok(())
        } else {
            Err(StreamFault::PseudoMissing)
        }
    }

    /// What is wrong with it as trailers.
    pub(super) fn check_trailers(&self, list_bytes_max: usize) -> Result<(), StreamFault> {
        self.check_fields(list_bytes_max)?;
        if self.came == 0 { Ok(()) } else { Err(FieldFault::MisplacedPseudo.into()) }
    }

    fn check_fields(&self, list_bytes_max: usize) -> Result<(), StreamFault> {
        match self.fault {
            Some(fault) => Err(fault.into()),
            None if self.list_bytes > list_bytes_max => Err(StreamFault::FieldsTooLarge),
            None => Ok(()),
        }
    }

    fn note_part(&mut self, part: RequestPart, value: &[u8]) -> Option<FieldFault> {
        if self.regular {
            return Some(FieldFault::LatePseudo);
        }
        if self.came & bit(part) != 0 {
            return Some(FieldFault::RepeatedPseudo);
        }
        self.came |= bit(part);
        let text = match part {
            RequestPart::Method => &mut self.method,
            RequestPart::Scheme => &mut self.scheme,
            RequestPart::Authority => &mut self.authority,
            RequestPart::Path => &mut self.path,
        };
        text.extend_from_slice(value);
        None
    }

    fn note_regular(&mut self, field: &Field<'_, FieldMeaning>) -> Option<FieldFault> {
        self.regular = true;
        // What is too large is refused whole.
        if self.fields.len() < LINES_BYTES_MAX {
            for text in [field.name, b": ", field.value, b"\r\n"] {
                self.fields.extend_from_slice(text);
            }
        }
        if field.name == b"host" && self.authority.is_empty() {
            self.authority.extend_from_slice(field.value);
        }
        match field.meaning {
            FieldMeaning::ContentLength(length) => {
                let same = self.content_length.is_none_or(|other| other == length);
                self.content_length = Some(length);
                (!same).then_some(FieldFault::ContentLength)
            }
            _ => None,
        }
    }
}

/// More is not kept: no option permits a list of fields that long.
const LINES_BYTES_MAX: usize = 1 << 20;

fn bit(part: RequestPart) -> u8 {
    1 << part as u8
}

impl Says for RequestHead {
    fn clear(&mut self) {
        for text in [
            &mut self.method,
            &mut self.scheme,
            &mut self.authority,
            &mut self.path,
            &mut self.fields,
        ] {
            text.clear();
        }
        self.content_length = None;
        self.came = 0;
        self.regular = false;
        self.fault = None;
        self.list_bytes = 0;
    }

    fn note(&mut self, field: &Field<'_, FieldMeaning>) {
        let fault = match field.meaning {
            FieldMeaning::Request(part) => self.note_part(part, field.value),
            FieldMeaning::Status(_) => Some(FieldFault::MisplacedPseudo),
            FieldMeaning::Wrong(fault) => Some(fault),
            FieldMeaning::Plain | FieldMeaning::ContentLength(_) => self.note_regular(field),
        };
        self.fault = self.fault.or(fault);
    }

    fn end(&mut self, list_bytes: usize) {
        self.list_bytes = list_bytes;
    }
}
