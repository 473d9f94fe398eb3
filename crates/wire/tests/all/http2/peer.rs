//! A client's connection, the sink that writes down what it was told, and what only a peer says.

use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, End, Options, ResponseHead, Sink};
use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::frame::{FrameHead, HEAD_BYTES, PREFACE, flag, kind};
use ablaze_wire::http2::request::{Request, RequestSet};
use ablaze_wire::http2::settings::PeerSettings;

use crate::http2::frames::{frame, get, settings};

/// What a sink was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Head(u32, u16, Option<u64>),
    Data(u32, Vec<u8>),
    Trailers(u32),
    Interim(u32, u16),
    Field(u32, String, String),
    Ended(u32, End),
    Cut(u32),
    Settings(u32, u32),
    Goaway(u32, ErrorCode, Vec<u8>),
    Pong([u8; 8]),
}

/// Writes everything down; content that comes one after the other counts as one piece.
#[derive(Debug, Default)]
pub struct Notes {
    pub told: Vec<Told>,
    pub wants_fields: bool,
}

impl Sink for Notes {
    fn head(&mut self, tag: u32, head: ResponseHead) {
        self.told.push(Told::Head(tag, head.status, head.content_length));
    }

    fn data(&mut self, tag: u32, content: &[u8]) {
        assert!(!content.is_empty());
        if let Some(Told::Data(last, bytes)) = self.told.last_mut()
            && *last == tag
        {
            bytes.extend_from_slice(content);
        } else {
            self.told.push(Told::Data(tag, content.to_vec()));
        }
    }

    fn ended(&mut self, tag: u32, end: End) {
        self.told.push(Told::Ended(tag, end));
    }

    fn request_cut(&mut self, tag: u32) {
        self.told.push(Told::Cut(tag));
    }

    fn interim(&mut self, tag: u32, status: u16) {
        self.told.push(Told::Interim(tag, status));
    }

    fn trailers(&mut self, tag: u32) {
        self.told.push(Told::Trailers(tag));
    }

    fn wants_fields(&self, _tag: u32) -> bool {
        self.wants_fields
    }

    fn field(&mut self, tag: u32, name: &[u8], value: &[u8]) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        self.told.push(Told::Field(tag, text(name), text(value)));
    }

    fn settings(&mut self, settings: &PeerSettings) {
        self.told.push(Told::Settings(settings.streams_max, settings.stream_window_bytes));
    }

    fn goaway(&mut self, last_stream: u32, code: ErrorCode, debug: &[u8]) {
        self.told.push(Told::Goaway(last_stream, code, debug.to_vec()));
    }

    fn pong(&mut self, payload: [u8; 8]) {
        self.told.push(Told::Pong(payload));
    }
}

/// A client's connection with all that belongs to it.
pub struct Client {
    pub connection: Connection,
    pub set: RequestSet,
    pub digits: Digits,
    pub notes: Notes,
    pub out: Vec<u8>,
}

impl Client {
    pub fn new(options: Options, requests: &[Request]) -> Self {
        let mut out = Vec::new();
        Self {
            connection: Connection::new(options, &mut out),
            set: RequestSet::new(requests),
            digits: Digits::new(1, 1),
            notes: Notes::default(),
            out,
        }
    }

    /// GET of `/`, settings exchanged, and nothing written down or waiting to be written.
    pub fn ready() -> Self {
        Self::ready_with(Options::default(), &[get()])
    }

    pub fn ready_with(options: Options, requests: &[Request]) -> Self {
        let mut client = Self::new(options, requests);
        client
            .receive(&[settings(&[]), frame(kind::SETTINGS, flag::ACK, 0, &[])].concat())
            .unwrap();
        client.notes.told.clear();
        client.out.clear();
        client
    }

    /// Sends request `request`, called `tag`.
    pub fn send(&mut self, request: usize, tag: u32) -> u32 {
        let digits = &mut self.digits;
        self.connection.request(&self.set, request, tag.into(), digits, tag, &mut self.out).unwrap()
    }

    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        let result = self.connection.receive(bytes, &mut self.out, &mut self.notes);
        self.connection.upload(&self.set, &mut self.out);
        result
    }

    /// What the sink was told since the last call.
    pub fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.notes.told)
    }

    /// The frames written since the last call.
    pub fn written(&mut self) -> Vec<(FrameHead, Vec<u8>)> {
        frames(&std::mem::take(&mut self.out))
    }
}

pub fn post(body: impl Into<Vec<u8>>) -> Request {
    Request::new("POST", "http", "localhost", "/").body(body)
}

/// Cuts written bytes into frames, the preface left out.
pub fn frames(bytes: &[u8]) -> Vec<(FrameHead, Vec<u8>)> {
    let mut rest = bytes.strip_prefix(PREFACE).unwrap_or(bytes);
    let mut frames = Vec::new();
    while let Some(head) = rest.first_chunk::<HEAD_BYTES>() {
        let head = FrameHead::read(head);
        let end = HEAD_BYTES + head.payload_bytes as usize;
        frames.push((head, rest[HEAD_BYTES..end].to_vec()));
        rest = &rest[end..];
    }
    assert!(rest.is_empty());
    frames
}

pub fn reset(stream: u32, code: ErrorCode) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes())
}

pub fn goaway(last_stream: u32, code: ErrorCode, debug: &[u8]) -> Vec<u8> {
    let payload = [&last_stream.to_be_bytes()[..], &code.0.to_be_bytes(), debug].concat();
    frame(kind::GOAWAY, 0, 0, &payload)
}
