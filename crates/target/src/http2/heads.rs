//! Header blocks of requests. A handler is shown a head as it would be in HTTP/1. A block that
//! equals the last one, and changed nothing, says the same again: comparing costs a fraction of
//! decoding, and a load tester sends the same bytes over and over.

use std::ops::Range;

use ablaze_wire::http2::error::StreamFault;
use ablaze_wire::http2::field::{FieldFault, FieldMeaning, RequestPart};
use ablaze_wire::http2::hpack::HpackFault;
use ablaze_wire::http2::hpack::decoder::Decoder;

use crate::handler::Method;

/// Longer blocks are not remembered.
const REMEMBERED_BYTES_MAX: usize = 1024;

/// What a request's head says.
#[derive(Debug, Clone, Default)]
pub struct RequestSays {
    /// As it would be in HTTP/1.
    pub text: Vec<u8>,
    /// Where the target stands in it.
    pub target: Range<usize>,
    /// `content-length`
    pub content_length: Option<u64>,
    /// The client waits for leave to send its body (RFC 9110, 10.1.1).
    pub expect_continue: bool,
    /// It is longer than permitted; the rest of it was not kept.
    pub too_long: bool,
    method: Option<Method>,
    /// The first thing wrong with it.
    fault: Option<StreamFault>,
}

impl RequestSays {
    /// The method.
    pub fn method(&self) -> Method {
        self.method.unwrap_or(Method::Other)
    }

    /// What makes the request malformed, if anything does.
    pub fn fault(&self) -> Option<StreamFault> {
        self.fault
    }

    /// Forgets everything, but keeps the memory.
    pub fn clear(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Self { text, ..Self::default() };
    }
}

/// Reads the header blocks of one connection, all of them, in order.
#[derive(Debug)]
pub struct RequestHeads {
    decoder: Decoder<FieldMeaning>,
    /// The last block, if it says the same when it comes again.
    last: Vec<u8>,
    says: RequestSays,
    parts: Parts,
}

impl RequestHeads {
    /// For a new connection.
    pub fn new() -> Self {
        let (says, parts) = (RequestSays::default(), Parts::default());
        Self { decoder: Decoder::new(), last: Vec::new(), says, parts }
    }

    /// Reads a complete block of a request's head; what it says is at [`Self::says`].
    ///
    /// # Errors
    /// When it cannot be decoded: the connection is of no use any more.
    #[inline]
    pub fn read(&mut self, block: &[u8], bytes_max: usize) -> Result<(), HpackFault> {
        if block == self.last && !block.is_empty() {
            return Ok(());
        }
        self.read_new(block, bytes_max)
    }

    /// What the last block said, lent out: to be given back.
    pub fn says(&mut self) -> &mut RequestSays {
        &mut self.says
    }

    #[inline(never)]
    fn read_new(&mut self, block: &[u8], bytes_max: usize) -> Result<(), HpackFault> {
        let Self { decoder, last, says, parts } = self;
        last.clear();
        says.clear();
        parts.clear();
        let facts = decoder.decode(block, |field| {
            parts.note(field.name, field.value, field.meaning, bytes_max, says);
        })?;
        parts.conclude(b"HTTP/2", says);
        says.too_long |= facts.list_bytes > bytes_max;
        // Else the same bytes could mean something else the next time.
        let resizes = block.first().is_some_and(|first| first & 0xe0 == 0x20);
        if facts.inserted_bytes == 0 && !resizes && block.len() <= REMEMBERED_BYTES_MAX {
            last.extend_from_slice(block);
        }
        Ok(())
    }

    /// Reads a block of trailers, or one of a stream that is of no interest; whether it is
    /// in order as trailers.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_trailers(&mut self, block: &[u8]) -> Result<Option<StreamFault>, HpackFault> {
        self.last.clear();
        let mut fault = None;
        self.decoder.decode(block, |field| {
            let here = match field.meaning {
                FieldMeaning::Wrong(fault) => Some(fault),
                FieldMeaning::Status(_) | FieldMeaning::Request(_) => {
                    Some(FieldFault::MisplacedPseudo)
                }
                FieldMeaning::Plain | FieldMeaning::ContentLength(_) => None,
            };
            fault = fault.or(here.map(StreamFault::from));
        })?;
        Ok(fault)
    }
}

/// The parts of a head until all have come. Their memory is that of the last head.
#[derive(Debug, Default)]
pub struct Parts {
    /// Which pseudo-header fields have come, a bit each.
    came: u8,
    method: Vec<u8>,
    authority: Vec<u8>,
    path: Vec<u8>,
    /// Other fields, as lines.
    fields: Vec<u8>,
    regular: bool,
    kept_bytes: usize,
}

impl Parts {
    /// Forgets everything, but keeps the memory.
    pub fn clear(&mut self) {
        let texts = [&mut self.method, &mut self.authority, &mut self.path, &mut self.fields];
        texts.into_iter().for_each(Vec::clear);
        (self.came, self.regular, self.kept_bytes) = (0, false, 0);
    }

    fn has(&self, part: RequestPart) -> bool {
        self.came & bit(part) != 0
    }

    /// Takes a field.
    pub fn note(
        &mut self,
        name: &[u8],
        value: &[u8],
        meaning: FieldMeaning,
        bytes_max: usize,
        says: &mut RequestSays,
    ) {
        let fault = match meaning {
            FieldMeaning::Wrong(fault) => Some(fault),
            FieldMeaning::Status(_) => Some(FieldFault::MisplacedPseudo),
            FieldMeaning::Request(_) if self.regular => Some(FieldFault::LatePseudo),
            _ => None,
        };
        self.kept_bytes += name.len() + value.len();
        says.too_long |= self.kept_bytes > bytes_max;
        let fault = match (fault, meaning) {
            (Some(fault), _) => Some(fault),
            (None, FieldMeaning::Request(part)) => self.note_part(part, value, says),
            (None, _) => {
                self.regular = true;
                self.note_field(name, value, meaning, says)
            }
        };
        if says.fault.is_none() {
            says.fault = fault.map(StreamFault::from);
        }
    }

    fn note_part(
        &mut self,
        part: RequestPart,
        value: &[u8],
        says: &RequestSays,
    ) -> Option<FieldFault> {
        if self.has(part) {
            return Some(FieldFault::RepeatedPseudo);
        }
        self.came |= bit(part);
        let text = match part {
            RequestPart::Method => &mut self.method,
            RequestPart::Authority => &mut self.authority,
            RequestPart::Path => &mut self.path,
            // What it says makes no difference.
            RequestPart::Scheme => return None,
        };
        if !says.too_long {
            text.extend_from_slice(value);
        }
        None
    }

    fn note_field(
        &mut self,
        name: &[u8],
        value: &[u8],
        meaning: FieldMeaning,
        says: &mut RequestSays,
    ) -> Option<FieldFault> {
        if let FieldMeaning::ContentLength(length) = meaning {
            if says.content_length.is_some_and(|other| other != length) {
                return Some(FieldFault::ContentLength);
            }
            says.content_length = Some(length);
        }
        says.expect_continue |= name == b"expect" && value.eq_ignore_ascii_case(b"100-continue");
        if !says.too_long {
            for part in [name, b": ", value, b"\r\n"] {
                self.fields.extend_from_slice(part);
            }
        }
        None
    }

    /// Puts the parts in order (RFC 9113, 8.3.1; RFC 9114, 4.3.1), as a head of this version.
    pub fn conclude(&self, version: &[u8], says: &mut RequestSays) {
        let (method, authority) = (&self.method[..], &self.authority[..]);
        let (has_scheme, has_path) = (self.has(RequestPart::Scheme), self.has(RequestPart::Path));
        // CONNECT names an authority and nothing else (RFC 9113, 8.5); it is answered as any other
        // method.
        let complete = match method {
            b"" => false,
            b"CONNECT" => self.has(RequestPart::Authority) && !has_scheme && !has_path,
            _ => has_scheme && has_path,
        };
        if says.fault.is_none() && !complete {
            says.fault = Some(StreamFault::PseudoMissing);
        }
        says.method = Some(Method::of(method));
        let path = if has_path { &self.path[..] } else { authority };
        let text = &mut says.text;
        text.extend_from_slice(method);
        text.push(b' ');
        says.target = text.len()..text.len() + path.len();
        text.extend_from_slice(path);
        for part in [b" ", version, b"\r\n"] {
            text.extend_from_slice(part);
        }
        if !authority.is_empty() {
            for part in [&b"host: "[..], authority, b"\r\n"] {
                text.extend_from_slice(part);
            }
        }
        text.extend_from_slice(&self.fields);
        text.extend_from_slice(b"\r\n");
    }
}

fn bit(part: RequestPart) -> u8 {
    1 << part as u8
}
