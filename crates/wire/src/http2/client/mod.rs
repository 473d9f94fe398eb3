//! One connection of an HTTP/2 client, sans I/O (RFC 9113).
//!
//! What is to be written is appended to the caller's buffer, whatever the reason: requests,
//! window updates, acknowledgements. Several requests and everything they cause gather there and
//! leave as one write. What arrives goes to a [`Sink`]. There is no clock: who wants to give up
//! on a stream calls [`Connection::reset`].
//!
//! Reading order: this file (what the owner can do), [`sink`] (what it is told), `receive` (what
//! each frame does), `control` (frames of the connection as a whole), `heads` (what header blocks say),
//! `upload` (bodies within the peer's windows), `streams`.

mod control;
pub(crate) mod heads;
mod receive;
pub mod sink;
mod streams;
mod upload;

use crate::http1::patch::Digits;
use crate::http2::blocks::BlockReader;
use crate::http2::error::{ErrorCode, ErrorKind};
use crate::http2::floods::Floods;
use crate::http2::flow::ReceiveWindow;
use crate::http2::frame::{
    PAYLOAD_BYTES_MIN, PREFACE, WINDOW_INITIAL, WINDOW_MAX, setting, write_goaway, write_ping,
    write_reset, write_settings, write_window_update,
};
use crate::http2::hpack::{TABLE_BYTES, encoder};
use crate::http2::reader::FrameReader;
use crate::http2::request::{EncoderState, RequestSet, RequestText, write_frames};
use crate::http2::settings::PeerSettings;

pub use sink::{End, ResponseHead, Sink};

use heads::ResponseBlock;
use streams::{Lookup, State, Streams};
use upload::Uploads;

/// Streams opened at once before the peer's settings are known. What RFC 9113, 6.5.2 recommends
/// peers to permit at least.
pub const STREAMS_BEFORE_SETTINGS: u32 = 100;

/// How a connection behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Streams open at once, at most.
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
    /// Bodies are added to the output only while it is shorter than this.
    pub output_bytes: usize,
    /// Number of the first stream; odd.
    pub first_stream: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            streams: STREAMS_BEFORE_SETTINGS,
            header_table_bytes: TABLE_BYTES,
            stream_window_bytes: WINDOW_MAX,
            connection_window_bytes: WINDOW_MAX,
            payload_bytes_max: PAYLOAD_BYTES_MIN,
            header_list_bytes: 64 * 1_024,
            output_bytes: 256 * 1_024,
            first_stream: 1,
        }
    }
}

/// Why no request can be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// As many streams are open as the peer or the options permit.
    #[error("all permitted streams are open")]
    Streams,
    /// The connection takes no new requests: the peer said GOAWAY, or stream numbers ran out.
    /// When its streams are over it is to be replaced.
    #[error("the connection takes no new requests")]
    Draining,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    reader: FrameReader,
    core: Core,
}

/// Everything but what is left over of incomplete frames.
#[derive(Debug)]
struct Core {
    options: Options,
    peer: PeerSettings,
    streams: Streams,
    blocks: BlockReader<ResponseBlock>,
    uploads: Uploads,
    encoder: EncoderState,
    window: ReceiveWindow,
    floods: Floods,
    /// Place of the stream whose content is coming; None if nobody wants it.
    receiving: Option<usize>,
    /// The header block that is incomplete.
    block: Option<OpenBlock>,
    fragments: Vec<u8>,
    /// The header block of a request that is written anew; empty between two.
    draft: Vec<u8>,
    settings_came: bool,
    settings_acknowledged: bool,
    /// The last stream the peer will process.
    goaway: Option<u32>,
    /// Why the connection cannot go on.
    failed: Option<ErrorKind>,
}

/// A header block between its first frame and END_HEADERS.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    stream: u32,
    end_stream: bool,
}

impl Connection {
    /// A connection, and its first bytes: preface, settings, the connection's window.
    pub fn new(options: Options, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(PREFACE);
        let settings = [
            (setting::HEADER_TABLE_SIZE, options.header_table_bytes, TABLE_BYTES),
            (setting::ENABLE_PUSH, 0, 1),
            (setting::INITIAL_WINDOW_SIZE, options.stream_window_bytes, WINDOW_INITIAL),
            (setting::MAX_FRAME_SIZE, options.payload_bytes_max, PAYLOAD_BYTES_MIN),
            (setting::MAX_HEADER_LIST_SIZE, options.header_list_bytes, u32::MAX),
        ];
        let changed: Vec<(u16, u32)> = settings
            .iter()
            .filter(|(_, value, initial)| value != initial)
            .map(|&(number, value, _)| (number, value))
            .collect();
        write_settings(out, &changed);
        let window_bytes = options.connection_window_bytes.clamp(WINDOW_INITIAL, WINDOW_MAX);
        if window_bytes > WINDOW_INITIAL {
            write_window_update(out, 0, window_bytes - WINDOW_INITIAL);
        }
        let core = Core {
            options,
            peer: PeerSettings::default(),
            streams: Streams::new(options.streams, options.first_stream | 1),
            blocks: BlockReader::default(),
            uploads: Uploads::new(),
            encoder: EncoderState::default(),
            window: ReceiveWindow::new(window_bytes),
            floods: Floods::default(),
            receiving: None,
            block: None,
            fragments: Vec::new(),
            draft: Vec::new(),
            settings_came: false,
            settings_acknowledged: false,
            goaway: None,
            failed: None,
        };
        Self { reader: FrameReader::default(), core }
    }

    /// How many requests can be sent now.
    #[inline]
    pub fn free_streams(&self) -> u32 {
        let core = &self.core;
        if core.is_draining() {
            return 0;
        }
        core.streams_max().saturating_sub(core.streams.live_count())
    }

    /// Sends request `request` of the set; the number of its stream. `tag` is what the sink will
    /// call it. `number` and `digits` fill its patched fields in. Of a body, as much is sent as
    /// windows and options permit; the rest follows with [`Connection::upload`].
    ///
    /// # Errors
    /// When there is no room for a request. Nothing was written then.
    ///
    /// # Panics
    /// When the set has no such request.
    #[inline]
    pub fn request(
        &mut self,
        set: &RequestSet,
        request: usize,
        number: u64,
        digits: &mut Digits,
        tag: u32,
        out: &mut Vec<u8>,
    ) -> Result<u32, NoRoom> {
        let core = &mut self.core;
        core.has_room()?;
        let prepared = set.get(request);
        let place =
            core.streams.open(tag, prepared.response_has_no_body).ok_or(NoRoom::Draining)?;
        let stream = core.streams.at(place).id;
        core.limit_entries(set);
        set.write_head(prepared, &mut core.encoder, stream, number, digits, out);
        core.begin_upload(place, set, request, number, digits, out);
        Ok(stream)
    }

    /// Sends a request that is not of the set, over `http` or `https`; the number of its stream. Otherwise as
    /// [`Connection::request`]; the set is that of the other requests on the connection.
    ///
    /// # Errors
    /// As there.
    pub fn request_text(
        &mut self,
        set: &RequestSet,
        text: &RequestText<'_>,
        scheme: &str,
        tag: u32,
        out: &mut Vec<u8>,
    ) -> Result<u32, NoRoom> {
        let core = &mut self.core;
        core.has_room()?;
        let place = core.streams.open(tag, text.response_has_no_body()).ok_or(NoRoom::Draining)?;
        let stream = core.streams.at(place).id;
        core.draft.clear();
        if let Some(bytes) = core.encoder.size_update.take() {
            encoder::size_update(&mut core.draft, bytes as usize);
        }
        text.write_block(scheme, &mut core.draft);
        write_frames(&core.draft, stream, text.body.is_empty(), out);
        core.begin_own_upload(place, set, text.body, out);
        Ok(stream)
    }

    /// Gives up on a stream: CANCEL is written, its tag is not named again. Nothing happens if it
    /// is over already.
    pub fn reset(&mut self, stream: u32, out: &mut Vec<u8>) {
        if let Lookup::Live(place) = self.core.streams.look_up(stream) {
            self.core.drop_stream(place, ErrorCode::CANCEL, out);
        }
    }

    /// Whether [`Connection::upload`] would write something.
    #[inline]
    pub fn can_upload(&self) -> bool {
        self.core.can_upload()
    }

    /// Appends content of bodies that were not sent whole, as far as windows and
    /// [`Options::output_bytes`] permit. To be called when output has been written, and after
    /// [`Connection::receive`].
    #[inline]
    pub fn upload(&mut self, set: &RequestSet, out: &mut Vec<u8>) {
        if self.core.can_upload() {
            self.core.upload(set, out);
        }
    }

    /// Takes what arrived, in pieces of any size. Responses and everything else go to the sink;
    /// what has to be answered is appended to `out`.
    ///
    /// # Errors
    /// When the connection cannot go on. GOAWAY has been appended to `out`; streams that are
    /// open have not been ended, see [`Connection::open_streams`]. Later calls fail the same way.
    #[inline]
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

    /// Asks for a sign of life: the sink is told when it comes.
    pub fn ping(&mut self, payload: [u8; 8], out: &mut Vec<u8>) {
        write_ping(out, false, payload);
    }

    /// Says that the connection is not used any more. Open streams go on.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        write_goaway(out, 0, ErrorCode::NO_ERROR);
    }

    /// Tags of the streams that are open: requests without an end when a connection breaks. With
    /// each, whether its response has begun.
    pub fn open_streams(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        let streams = &self.core.streams;
        streams.live().map(|stream| (stream.tag, stream.state == State::Answering))
    }

    /// Streams that are open.
    #[inline]
    pub fn streams_live(&self) -> u32 {
        self.core.streams.live_count()
    }

    /// Requests whose body was not sent whole yet.
    pub fn uploads_unfinished(&self) -> usize {
        self.core.uploads.unfinished()
    }

    /// Bodies that cannot go on until the peer enlarges a window: that of their stream, and that
    /// of the connection.
    #[inline]
    pub fn uploads_held(&self) -> (u32, u32) {
        self.core.uploads.held()
    }

    /// How often content could not be sent because the peer's window, the stream's or the
    /// connection's, was used up.
    pub fn window_stalls(&self) -> u64 {
        self.core.uploads.stalls
    }

    /// Whether no request can be sent on it any more: it ends when its streams have ended.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.core.is_draining()
    }

    /// What the peer asked us to keep to; None until its first SETTINGS came.
    pub fn peer_settings(&self) -> Option<&PeerSettings> {
        self.core.settings_came.then_some(&self.core.peer)
    }

    /// Whether the connection ends cleanly if the peer closes now: between two frames, with no
    /// stream open.
    pub fn is_quiet(&self) -> bool {
        self.reader.between_frames() && self.core.streams.live_count() == 0
    }
}

impl Core {
    fn is_draining(&self) -> bool {
        self.goaway.is_some() || self.failed.is_some() || self.streams.used_up()
    }

    /// Whether a request can be sent now.
    #[inline(always)]
    fn has_room(&self) -> Result<(), NoRoom> {
        if self.is_draining() {
            Err(NoRoom::Draining)
        } else if self.streams.live_count() >= self.streams_max() {
            Err(NoRoom::Streams)
        } else {
            Ok(())
        }
    }

    fn streams_max(&self) -> u32 {
        let peers =
            if self.settings_came { self.peer.streams_max } else { STREAMS_BEFORE_SETTINGS };
        self.options.streams.min(peers)
    }

    /// The peer's table became too small for the entries of our requests.
    #[inline(always)]
    fn limit_entries(&mut self, set: &RequestSet) {
        if self.encoder.table_bytes < set.entries_bytes() {
            self.encoder.plain = true;
        }
    }

    /// Resets a live stream.
    fn drop_stream(&mut self, place: usize, code: ErrorCode, out: &mut Vec<u8>) {
        let stream = self.streams.at(place);
        let (id, upload) = (stream.id, stream.upload);
        self.uploads.end(upload);
        self.streams.close(place, State::Dropped);
        if self.receiving == Some(place) {
            self.receiving = None;
        }
        write_reset(out, id, code);
    }
}
