//! One connection of an HTTP/2 server, sans I/O (RFC 9113): the counterpart of
//! [`super::client`], for the built-in targets.
//!
//! What arrives goes to a [`Sink`]; answers and everything else to be written are appended to the
//! caller's buffer. Content of answers stays with the caller: [`Connection::send`] takes as much
//! as the client's windows permit, and the sink is told when there is more room.

mod answer_block;
mod control;
mod heads;
mod receive;
pub mod sink;
mod streams;

use crate::http2::blocks::BlockReader;
use crate::http2::error::{ErrorCode, ErrorKind};
use crate::http2::floods::Floods;
use crate::http2::flow::ReceiveWindow;
use crate::http2::frame::{
    PAYLOAD_BYTES_MIN, PREFACE, STREAM_MAX, WINDOW_INITIAL, WINDOW_MAX, flag, kind, setting,
    write_block, write_goaway, write_head, write_reset, write_settings, write_window_update,
};
use crate::http2::hpack::TABLE_BYTES;
use crate::http2::reader::FrameReader;
use crate::http2::settings::PeerSettings;

pub use answer_block::AnswerBlock;
pub use heads::RequestHead;
pub use sink::Sink;

use streams::{Lookup, State, Streams};

/// How a connection behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Our SETTINGS_MAX_CONCURRENT_STREAMS.
    pub streams: u32,
    /// Our SETTINGS_HEADER_TABLE_SIZE.
    pub header_table_bytes: u32,
    /// Our SETTINGS_INITIAL_WINDOW_SIZE; up to [`WINDOW_MAX`].
    pub stream_window_bytes: u32,
    /// The connection's window, which no setting can make smaller than [`WINDOW_INITIAL`].
    pub connection_window_bytes: u32,
    /// Our SETTINGS_MAX_FRAME_SIZE.
    pub payload_bytes_max: u32,
    /// Our SETTINGS_MAX_HEADER_LIST_SIZE; header blocks must not be longer either.
    pub header_list_bytes: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            streams: 256,
            header_table_bytes: TABLE_BYTES,
            stream_window_bytes: 1 << 20,
            connection_window_bytes: 1 << 24,
            payload_bytes_max: PAYLOAD_BYTES_MIN,
            header_list_bytes: 64 * 1_024,
        }
    }
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    reader: FrameReader,
    core: Core,
}

#[derive(Debug)]
struct Core {
    options: Options,
    peer: PeerSettings,
    streams: Streams,
    blocks: BlockReader<RequestHead>,
    window: ReceiveWindow,
    /// What the connection's window permits to send.
    send_window: i64,
    floods: Floods,
    /// Place of the stream whose content is coming; None if nobody wants it.
    receiving: Option<usize>,
    /// The header block that is incomplete.
    block: Option<OpenBlock>,
    fragments: Vec<u8>,
    /// How much of the preface has come.
    preface_bytes: usize,
    settings_came: bool,
    settings_acknowledged: bool,
    /// We said GOAWAY: the last stream we answer.
    last_stream: u32,
    failed: Option<ErrorKind>,
}

/// A header block between its first frame and END_HEADERS.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    stream: u32,
    end_stream: bool,
    meant_for: BlockFor,
}

/// What a header block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockFor {
    /// The head of a new request.
    Request,
    /// Trailers of the live stream at this place.
    Trailers(usize),
    /// Nothing: the stream is refused, or gone.
    Nobody { refused: bool },
}

impl Connection {
    /// A connection, and its first bytes: settings and the connection's window.
    pub fn new(options: Options, out: &mut Vec<u8>) -> Self {
        write_settings(
            out,
            &[
                (setting::HEADER_TABLE_SIZE, options.header_table_bytes),
                (setting::MAX_CONCURRENT_STREAMS, options.streams),
                (setting::INITIAL_WINDOW_SIZE, options.stream_window_bytes),
                (setting::MAX_FRAME_SIZE, options.payload_bytes_max),
                (setting::MAX_HEADER_LIST_SIZE, options.header_list_bytes),
            ],
        );
        let window_bytes = options.connection_window_bytes.clamp(WINDOW_INITIAL, WINDOW_MAX);
        if window_bytes > WINDOW_INITIAL {
            write_window_update(out, 0, window_bytes - WINDOW_INITIAL);
        }
        let core = Core {
            options,
            peer: PeerSettings::default(),
            streams: Streams::new(options.streams),
            blocks: BlockReader::default(),
            window: ReceiveWindow::new(window_bytes),
            send_window: WINDOW_INITIAL.into(),
            floods: Floods::default(),
            receiving: None,
            block: None,
            fragments: Vec::new(),
            preface_bytes: 0,
            settings_came: false,
            settings_acknowledged: false,
            last_stream: STREAM_MAX,
            failed: None,
        };
        Self { reader: FrameReader::default(), core }
    }

    /// Takes what arrived, in pieces of any size. Requests go to the sink; what has to be answered
    /// by the protocol itself is appended to `out`.
    ///
    /// # Errors
    /// When the connection cannot go on. GOAWAY has been appended to `out`; it is to be written
    /// and the connection to be closed. Later calls fail the same way.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        sink: &mut impl Sink,
    ) -> Result<(), ErrorKind> {
        match self.core.failed {
            Some(kind) => Err(kind),
            None => self.receive_frames(bytes, out, sink),
        }
    }

    /// Answers a request with a head, see [`AnswerBlock`]; `end` if there is no content. An
    /// interim head (1xx) can be sent before, without `end`. False if nobody waits for it.
    pub fn answer(
        &mut self,
        stream: u32,
        block: &AnswerBlock,
        end: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        let core = &mut self.core;
        let Lookup::Live(place) = core.streams.look_up(stream) else { return false };
        write_block(out, stream, end, block.bytes());
        core.streams.at(place).answering |= !block.is_interim();
        if end {
            core.answer_ends(place, out);
        }
        true
    }

    /// Sends content of an answer whose head was sent, as much as windows permit, and ends it if
    /// `end` and everything was sent. How much was sent: the rest is to be sent when the sink is
    /// told that there is room. All of it if nobody waits for it.
    pub fn send(&mut self, stream: u32, content: &[u8], end: bool, out: &mut Vec<u8>) -> usize {
        let core = &mut self.core;
        let Lookup::Live(place) = core.streams.look_up(stream) else { return content.len() };
        let room = core.room(place);
        let (now, later) = content.split_at(content.len().min(room));
        let complete = later.is_empty();
        let last = if end && complete { flag::END_STREAM } else { 0 };
        let pieces = now.chunks(core.peer.payload_bytes_max as usize);
        let count = pieces.len();
        for (number, piece) in pieces.enumerate() {
            let flags = if number + 1 == count { last } else { 0 };
            write_head(out, kind::DATA, flags, stream, piece.len() as u32);
            out.extend_from_slice(piece);
        }
        if count == 0 && last != 0 {
            write_head(out, kind::DATA, last, stream, 0);
        }
        core.send_window -= now.len() as i64;
        core.streams.at(place).send_credit -= now.len() as i64;
        if !now.is_empty() {
            core.floods.sent_content();
        }
        if last != 0 {
            core.answer_ends(place, out);
        }
        now.len()
    }

    /// How much content [`Connection::send`] would take now.
    pub fn room(&mut self, stream: u32) -> usize {
        match self.core.streams.look_up(stream) {
            Lookup::Live(place) => self.core.room(place),
            _ => 0,
        }
    }

    /// Ends an answer with trailers.
    pub fn trailers(&mut self, stream: u32, block: &AnswerBlock, out: &mut Vec<u8>) {
        if let Lookup::Live(place) = self.core.streams.look_up(stream) {
            write_block(out, stream, true, block.bytes());
            self.core.answer_ends(place, out);
        }
    }

    /// Resets a stream.
    pub fn reset(&mut self, stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
        if let Lookup::Live(place) = self.core.streams.look_up(stream) {
            self.core.drop_stream(place, code, out);
        }
    }

    /// Takes no more requests: those that came are answered, later ones the client may send again
    /// elsewhere (6.8).
    pub fn finish(&mut self, code: ErrorCode, out: &mut Vec<u8>) {
        self.core.last_stream = self.core.streams.highest();
        write_goaway(out, self.core.last_stream, code);
    }

    /// Streams that are open.
    pub fn streams_live(&self) -> u32 {
        self.core.streams.live_count()
    }

    /// Whether all requests that came have been answered, and nothing is half received.
    pub fn is_quiet(&self) -> bool {
        let preface_whole = matches!(self.core.preface_bytes, 0) || self.core.preface_done();
        preface_whole && self.reader.between_frames() && self.core.streams.live_count() == 0
    }
}

impl Core {
    fn preface_done(&self) -> bool {
        self.preface_bytes == PREFACE.len()
    }

    fn room(&mut self, place: usize) -> usize {
        let stream_window =
            i64::from(self.peer.stream_window_bytes) + self.streams.at(place).send_credit;
        self.send_window.min(stream_window).max(0) as usize
    }

    /// END_STREAM was sent.
    fn answer_ends(&mut self, place: usize, out: &mut Vec<u8>) {
        self.floods.answered();
        if self.streams.at(place).request_complete {
            self.streams.close(place, State::Over);
        } else {
            // The rest of the request is of no use (RFC 9113, 8.1).
            self.drop_stream(place, ErrorCode::NO_ERROR, out);
        }
    }

    /// Resets a live stream.
    fn drop_stream(&mut self, place: usize, code: ErrorCode, out: &mut Vec<u8>) {
        let id = self.streams.at(place).id;
        self.streams.close(place, State::Dropped);
        if self.receiving == Some(place) {
            self.receiving = None;
        }
        write_reset(out, id, code);
    }
}
