//! The stream of a request, as its response comes: field sections and content, in frames (RFC 9114, 4.1).

use super::error::{ErrorKind, StreamFault};
use super::frame::{FrameReader, Piece, is_of_http2, kind};
use super::qpack::QpackFault;
use super::qpack::decoder::Decoder;
use super::qpack::instructions;
use crate::http2::blocks::Says;
use crate::http2::client::heads::ResponseBlock;

pub use crate::http2::client::ResponseHead;

/// Longer sections are not remembered.
const REMEMBERED_BYTES_MAX: usize = 1_024;
/// How many sections are: those of the responses to a few different requests.
const REMEMBERED_MAX: usize = 4;

/// Takes what arrives on the stream of a request.
pub trait Sink {
    /// The final head of a response.
    fn head(&mut self, head: ResponseHead);

    /// Content of the response, as it comes.
    fn data(&mut self, content: &[u8]);

    /// An interim head (1xx).
    fn interim(&mut self, _status: u16) {}

    /// Trailers came.
    fn trailers(&mut self) {}

    /// Whether the fields of this response shall be shown. It costs decoding heads that would be recognised as a whole.
    fn wants_fields(&self) -> bool {
        false
    }

    /// A field of a head or of trailers, pseudo-header fields included, before the head itself.
    fn field(&mut self, _name: &[u8], _value: &[u8]) {}
}

/// Reads the field sections of one connection, and recognises those that it has just read: under load the same few come
/// again and again until the server's Date changes.
#[derive(Debug, Clone)]
pub struct Sections {
    decoder: Decoder,
    section_bytes_max: usize,
    remembered: Vec<(Vec<u8>, ResponseBlock)>,
    /// The section that came last; the place of the one to be forgotten next follows it.
    latest: usize,
}

impl Sections {
    /// With a dynamic table and field sections of at most these sizes, as the server was told.
    pub fn new(table_bytes_max: u32, section_bytes_max: u32) -> Self {
        let decoder = Decoder::new(table_bytes_max);
        let section_bytes_max = section_bytes_max as usize;
        Self { decoder, section_bytes_max, remembered: Vec::new(), latest: 0 }
    }

    /// Takes what came on the server's encoder stream; how many entries it added.
    pub(super) fn instructions(&mut self, bytes: &[u8]) -> Result<u64, QpackFault> {
        self.decoder.instructions(bytes)
    }

    /// What a section says. If it needed the table, that is acknowledged.
    fn read(
        &mut self,
        section: &[u8],
        stream: u64,
        sink: &mut impl Sink,
        decoder_out: &mut Vec<u8>,
    ) -> Result<ResponseBlock, QpackFault> {
        let wants_fields = sink.wants_fields();
        if !wants_fields {
            let known = |(own, _): &(Vec<u8>, ResponseBlock)| own == section;
            let latest = self.remembered.get(self.latest).is_some_and(known);
            let place =
                if latest { Some(self.latest) } else { self.remembered.iter().position(known) };
            if let Some(place) = place {
                self.latest = place;
                return Ok(self.remembered[place].1);
            }
        }
        let mut says = ResponseBlock::default();
        let facts = self.decoder.decode(section, |field| {
            says.note(&field);
            if wants_fields {
                sink.field(field.name, field.value);
            }
        })?;
        says.end(facts.list_bytes);
        if facts.needs_acknowledgement {
            // Read again it can say something else.
            instructions::acknowledge(decoder_out, stream);
        } else if section.len() <= REMEMBERED_BYTES_MAX {
            self.remember(section, says);
        }
        Ok(says)
    }

    fn remember(&mut self, section: &[u8], says: ResponseBlock) {
        if self.remembered.len() < REMEMBERED_MAX {
            self.latest = self.remembered.len();
            self.remembered.push((section.to_vec(), says));
            return;
        }
        self.latest = (self.latest + 1) % REMEMBERED_MAX;
        let (known, known_says) = &mut self.remembered[self.latest];
        known.clear();
        known.extend_from_slice(section);
        *known_says = says;
    }
}

/// Why the bytes of a response cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is of no use any more.
    Connection(ErrorKind),
    /// Only this response is.
    Stream(StreamFault),
}

impl From<ErrorKind> for Fault {
    fn from(kind: ErrorKind) -> Self {
        Self::Connection(kind)
    }
}

impl From<StreamFault> for Fault {
    fn from(fault: StreamFault) -> Self {
        Self::Stream(fault)
    }
}

/// The state of one stream.
#[derive(Debug, Clone, Default)]
pub struct Response {
    frames: FrameReader,
    kind: u64,
    /// A field section that has not come whole.
    section: Vec<u8>,
    stage: Stage,
    content_length: Option<u64>,
    content_bytes: u64,
    /// Its content is not sent whatever its head says: the request was HEAD.
    has_no_content: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    Content,
    Trailers,
}

impl Response {
    /// Of a request; `has_no_content` if that was HEAD.
    pub fn new(has_no_content: bool) -> Self {
        Self { has_no_content, ..Self::default() }
    }

    /// Begins with the next request: what was allocated stays.
    pub fn restart(&mut self, has_no_content: bool) {
        let section = std::mem::take(&mut self.section);
        *self = Self { section, ..Self::new(has_no_content) };
        self.section.clear();
    }

    /// Takes bytes of stream `stream`, in pieces of any size. Acknowledgements are appended to `decoder_out`.
    ///
    /// # Errors
    /// When response or connection are of no use; the state is not, either.
    pub fn receive(
        &mut self,
        stream: u64,
        mut bytes: &[u8],
        sections: &mut Sections,
        sink: &mut impl Sink,
        decoder_out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        while let Some(piece) = self.frames.next(&mut bytes) {
            let (payload, ends) = match piece {
                Piece::Begins { kind, payload_bytes } => {
                    self.begin(kind, payload_bytes, sections)?;
                    (&[][..], payload_bytes == 0)
                }
                Piece::Payload { bytes, ends } => (bytes, ends),
            };
            match self.kind {
                kind::DATA if !payload.is_empty() => {
                    if self.has_no_content {
                        return Err(StreamFault::DataForbidden.into());
                    }
                    self.content_bytes += payload.len() as u64;
                    if self.content_length.is_some_and(|length| self.content_bytes > length) {
                        return Err(StreamFault::ContentLength.into());
                    }
                    sink.data(payload);
                }
                kind::HEADERS if ends && self.section.is_empty() => {
                    self.head(stream, payload, sections, sink, decoder_out)?;
                }
                kind::HEADERS => {
                    self.section.extend_from_slice(payload);
                    if ends {
                        let section = std::mem::take(&mut self.section);
                        self.head(stream, &section, sections, sink, decoder_out)?;
                        self.section = section;
                        self.section.clear();
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The stream ended. The response is complete.
    ///
    /// # Errors
    /// When it is not.
    pub fn end(&self) -> Result<(), Fault> {
        if !self.frames.between_frames() {
            return Err(ErrorKind::FrameCut.into());
        }
        if self.stage == Stage::Head {
            return Err(StreamFault::NoFinalHead.into());
        }
        let promised = self.content_length.filter(|_| !self.has_no_content);
        if promised.is_some_and(|length| length != self.content_bytes) {
            return Err(StreamFault::ContentLength.into());
        }
        Ok(())
    }

    /// Whether anything of the response came.
    pub fn has_begun(&self) -> bool {
        self.stage != Stage::Head || !self.frames.between_frames()
    }

    /// Bytes of content that came.
    pub fn content_bytes(&self) -> u64 {
        self.content_bytes
    }

    /// RFC 9114, 4.1 and 7.2.
    fn begin(&mut self, kind: u64, payload_bytes: u64, sections: &Sections) -> Result<(), Fault> {
        self.kind = kind;
        match (kind, self.stage) {
            (kind::HEADERS, Stage::Trailers)
            | (kind::DATA, Stage::Head | Stage::Trailers)
            | (kind::CANCEL_PUSH | kind::SETTINGS | kind::GOAWAY | kind::MAX_PUSH_ID, _) => {
                Err(ErrorKind::FrameUnexpected.into())
            }
            (kind::PUSH_PROMISE, _) => Err(ErrorKind::Push.into()),
            (kind, _) if is_of_http2(kind) => Err(ErrorKind::FrameUnexpected.into()),
            // Coded fields are at most 32 bits a byte shorter than what is counted: an honest one is below the limit.
            (kind::HEADERS, _) if payload_bytes > 4 * sections.section_bytes_max as u64 => {
                Err(StreamFault::FieldsTooLarge.into())
            }
            _ => Ok(()),
        }
    }

    fn head(
        &mut self,
        stream: u64,
        section: &[u8],
        sections: &mut Sections,
        sink: &mut impl Sink,
        decoder_out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let says = sections.read(section, stream, sink, decoder_out).map_err(ErrorKind::Qpack)?;
        if let Some(fault) = says.fault {
            return Err(StreamFault::Field(fault).into());
        }
        if says.list_bytes > sections.section_bytes_max {
            return Err(StreamFault::FieldsTooLarge.into());
        }
        if self.stage == Stage::Content {
            // Trailers have no pseudo-header fields (4.3).
            if says.status.is_some() {
                return Err(
                    StreamFault::Field(crate::http2::field::FieldFault::MisplacedPseudo).into()
                );
            }
            self.stage = Stage::Trailers;
            sink.trailers();
            return Ok(());
        }
        match says.status {
            None => Err(StreamFault::NoStatus.into()),
            Some(101) => Err(StreamFault::SwitchingProtocols.into()),
            Some(status @ ..200) => {
                sink.interim(status);
                Ok(())
            }
            Some(status) => {
                self.stage = Stage::Content;
                self.has_no_content |= matches!(status, 204 | 304);
                self.content_length = match self.has_no_content {
                    true => None,
                    false => says.content_length,
                };
                sink.head(ResponseHead { status, content_length: says.content_length });
                Ok(())
            }
        }
    }
}
