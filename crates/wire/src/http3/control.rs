//! The streams that the other side opens beside requests: its control stream (RFC 9114, 6.2.1), its QPACK streams (RFC 9204, 4.2), and those of
//! types nobody knows, which are ignored (RFC 9114, 6.2.3).

use super::error::{ErrorCode, ErrorKind};
use super::frame::{FrameReader, Piece, is_of_http2, kind};
use super::qpack::instructions;
use super::response::Sections;
use super::settings::{self, PeerSettings, setting};
use super::varint;

/// Types of unidirectional streams.
pub mod stream_type {
    /// Settings and what concerns the connection.
    pub const CONTROL: u64 = 0x0;
    /// The response to a request that the server made up.
    pub const PUSH: u64 = 0x1;
    /// What fills the other side's table.
    pub const QPACK_ENCODER: u64 = 0x2;
    /// What it says of it.
    pub const QPACK_DECODER: u64 = 0x3;
}

/// Longest SETTINGS, and the longest number in another frame of the control stream.
const SETTINGS_BYTES_MAX: u64 = 64 * 1_024;

/// What the control stream told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// How the server behaves; once, before anything else.
    Settings(PeerSettings),
    /// It takes no requests on this stream and later ones.
    Goaway(u64),
}

/// Who opened the streams that are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Peer {
    #[default]
    Server,
    Client,
}

/// The other side's streams of one connection: by default a server's.
#[derive(Debug, Clone, Default)]
pub struct PeerStreams {
    peer: Peer,
    control: Control,
    has_control: bool,
    has_encoder: bool,
    has_decoder: bool,
    /// Of an instruction on its decoder stream.
    decoder_unread: Vec<u8>,
}

#[derive(Debug, Clone, Default)]
struct Control {
    frames: FrameReader,
    kind: u64,
    payload: Vec<u8>,
    settings_came: bool,
    goaway: Option<u64>,
    push_id_max: Option<u64>,
}

/// One stream of the server, as its owner keeps it.
#[derive(Debug, Clone, Default)]
pub struct PeerStream {
    kind: Option<u64>,
    /// Of its type, as far as it came.
    head: Vec<u8>,
}

/// The first bytes of our own control stream, whose settings have no dynamic table but of this size, and field sections of at
/// most this size.
pub fn first_bytes(table_bytes: u32, field_section_bytes_max: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint::write(&mut out, stream_type::CONTROL);
    let mut settings = vec![(setting::MAX_FIELD_SECTION_SIZE, field_section_bytes_max)];
    if table_bytes > 0 {
        settings.push((setting::QPACK_MAX_TABLE_CAPACITY, u64::from(table_bytes)));
    }
    settings::write(&mut out, &settings);
    out
}

impl PeerStreams {
    /// Those of a client, as a server reads them.
    pub fn of_client() -> Self {
        Self { peer: Peer::Client, ..Self::default() }
    }

    /// Takes bytes of one of the peer's unidirectional streams, in pieces of any size; `ended` with its last.
    /// What the peer is to be told of its table is appended to `decoder_out`.
    ///
    /// # Errors
    /// When the connection cannot go on.
    pub fn receive(
        &mut self,
        stream: &mut PeerStream,
        mut bytes: &[u8],
        ended: bool,
        sections: &mut Sections,
        decoder_out: &mut Vec<u8>,
        tell: &mut impl FnMut(Told),
    ) -> Result<(), ErrorKind> {
        let kind = match stream.kind {
            Some(kind) => kind,
            None => match stream.begin(&mut bytes) {
                Some(kind) => self.opened(kind)?,
                // A stream that ends before it has a type is none of those that must not end.
                None => return Ok(()),
            },
        };
        match kind {
            stream_type::CONTROL => self.control.receive(self.peer, bytes, tell)?,
            stream_type::QPACK_ENCODER => {
                let inserted = sections.instructions(bytes).map_err(ErrorKind::EncoderStream)?;
                if inserted > 0 {
                    instructions::insert_count(decoder_out, inserted);
                }
            }
            stream_type::QPACK_DECODER => {
                if !instructions::only_cancels(&mut self.decoder_unread, bytes) {
                    return Err(ErrorKind::DecoderStream);
                }
            }
            _ => return Ok(()),
        }
        if ended { Err(ErrorKind::CriticalStreamEnded) } else { Ok(()) }
    }

    /// Whether a stream is of a type that nobody knows: it can be refused, and is read to nothing otherwise.
    pub fn is_unknown(stream: &PeerStream) -> bool {
        stream.kind.is_some_and(|kind| kind > stream_type::QPACK_DECODER)
    }

    fn opened(&mut self, kind: u64) -> Result<u64, ErrorKind> {
        let known = match kind {
            stream_type::CONTROL => &mut self.has_control,
            stream_type::QPACK_ENCODER => &mut self.has_encoder,
            stream_type::QPACK_DECODER => &mut self.has_decoder,
            // Only servers push (RFC 9114, 6.2.2), and no MAX_PUSH_ID was sent (4.6).
            stream_type::PUSH if self.peer == Peer::Client => return Err(ErrorKind::PushByClient),
            stream_type::PUSH => return Err(ErrorKind::Push),
            _ => return Ok(kind),
        };
        if std::mem::replace(known, true) { Err(ErrorKind::StreamRepeated) } else { Ok(kind) }
    }
}

impl PeerStream {
    /// Its type, once that has come.
    fn begin(&mut self, bytes: &mut &[u8]) -> Option<u64> {
        while let Some((&first, rest)) = bytes.split_first() {
            self.head.push(first);
            *bytes = rest;
            if let Some(kind) = varint::read(&self.head, &mut 0) {
                self.kind = Some(kind);
                return self.kind;
            }
        }
        None
    }
}

impl Control {
    fn receive(
        &mut self,
        peer: Peer,
        mut bytes: &[u8],
        tell: &mut impl FnMut(Told),
    ) -> Result<(), ErrorKind> {
        while let Some(piece) = self.frames.next(&mut bytes) {
            match piece {
                Piece::Begins { kind, payload_bytes } => {
                    self.begin(peer, kind, payload_bytes)?;
                    if payload_bytes == 0 {
                        self.end(peer, tell)?;
                    }
                }
                Piece::Payload { bytes, ends } => {
                    if self.kind == kind::SETTINGS || is_number(self.kind) {
                        self.payload.extend_from_slice(bytes);
                    }
                    if ends {
                        self.end(peer, tell)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, peer: Peer, kind: u64, payload_bytes: u64) -> Result<(), ErrorKind> {
        self.kind = kind;
        self.payload.clear();
        let is_settings = kind == kind::SETTINGS;
        if !self.settings_came && !is_settings {
            return Err(ErrorKind::NoSettings);
        }
        if self.settings_came && is_settings {
            return Err(ErrorKind::FrameUnexpected);
        }
        let is_of_requests = matches!(kind, kind::DATA | kind::HEADERS | kind::PUSH_PROMISE);
        // Only a client sends MAX_PUSH_ID (7.2.7).
        let is_of_client = kind == kind::MAX_PUSH_ID && peer != Peer::Client;
        if is_of_requests || is_of_client || is_of_http2(kind) {
            return Err(ErrorKind::FrameUnexpected);
        }
        if is_settings && payload_bytes > SETTINGS_BYTES_MAX {
            return Err(ErrorKind::SettingsTooLong);
        }
        if is_number(kind) && payload_bytes > varint::BYTES_MAX as u64 {
            return Err(ErrorKind::FrameLength);
        }
        Ok(())
    }

    fn end(&mut self, peer: Peer, tell: &mut impl FnMut(Told)) -> Result<(), ErrorKind> {
        match self.kind {
            kind::SETTINGS => {
                self.settings_came = true;
                tell(Told::Settings(PeerSettings::read(&self.payload)?));
            }
            kind::GOAWAY => {
                let stream = self.number()?;
                // From a server, a client's bidirectional stream (RFC 9000, 2.1); never later than said before.
                let is_wrong = peer == Peer::Server && !stream.is_multiple_of(4);
                if is_wrong || self.goaway.is_some_and(|before| stream > before) {
                    return Err(ErrorKind::Goaway);
                }
                self.goaway = Some(stream);
                tell(Told::Goaway(stream));
            }
            // It must not become less (7.2.7).
            kind::MAX_PUSH_ID => {
                let push = self.number()?;
                if self.push_id_max.is_some_and(|before| push < before) {
                    return Err(ErrorKind::PushId);
                }
                self.push_id_max = Some(push);
            }
            // Nothing was promised that could be taken back (7.2.3).
            kind::CANCEL_PUSH => {
                self.number()?;
                return Err(ErrorKind::Push);
            }
            _ => {}
        }
        Ok(())
    }

    /// The one number that the frame has.
    fn number(&self) -> Result<u64, ErrorKind> {
        let mut at = 0;
        let number = varint::read(&self.payload, &mut at);
        number.filter(|_| at == self.payload.len()).ok_or(ErrorKind::FrameLength)
    }
}

/// Frames that consist of one number.
fn is_number(kind: u64) -> bool {
    matches!(kind, kind::GOAWAY | kind::CANCEL_PUSH | kind::MAX_PUSH_ID)
}

/// The code for a stream of an unknown type that is not read (RFC 9114, 6.2.3).
pub const UNKNOWN_STREAM: ErrorCode = ErrorCode::STREAM_CREATION_ERROR;
