//! What each frame that arrives does to its stream (RFC 9113, 5.1, 6 and 8.1).

use super::sink::{End, ResponseHead, Sink};
use super::streams::{LENGTH_UNKNOWN, Lookup, NO_UPLOAD, State};
use super::{Connection, Core, OpenBlock};
use crate::http2::error::{ErrorCode, ErrorKind, StreamFault};
use crate::http2::field::FieldFault;
use crate::http2::floods::Flood;
use crate::http2::frame::{
    FrameHead, WINDOW_INITIAL, flag, kind, without_padding, write_goaway, write_window_update,
};
use crate::http2::hpack::ENTRY_OVERHEAD_BYTES;
use crate::http2::reader::FrameHandler;

/// A connection at work, with those it talks to.
pub(super) struct Receiving<'a, S> {
    pub core: &'a mut Core,
    pub out: &'a mut Vec<u8>,
    pub sink: &'a mut S,
}

impl Connection {
    #[inline]
    pub(super) fn receive_frames<S: Sink>(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        sink: &mut S,
    ) -> Result<(), ErrorKind> {
        let core = &mut self.core;
        let strange =
            if core.settings_came { None } else { other_protocol(self.reader.partial(), bytes) };
        let result = match strange {
            Some(kind) => Err(kind),
            None => self.reader.read(bytes, &mut Receiving { core, out, sink }),
        };
        if let Err(kind) = result {
            self.core.failed = Some(kind);
            write_goaway(out, 0, kind.code());
        }
        result
    }
}

/// What a peer says that does not speak HTTP/2, recognised by its first bytes.
fn other_protocol(earlier: &[u8], bytes: &[u8]) -> Option<ErrorKind> {
    let mut first = [0; 5];
    let known = earlier.iter().chain(bytes).take(first.len());
    let count = known.zip(&mut first).map(|(byte, place)| *place = *byte).count();
    match &first[..count] {
        b"HTTP/" => Some(ErrorKind::AnsweredHttp1),
        // A TLS alert or handshake record: its type, and the version's first byte.
        [0x15 | 0x16, 0x03, ..] => Some(ErrorKind::AnsweredTls),
        _ => None,
    }
}

impl<S: Sink> FrameHandler for Receiving<'_, S> {
    #[inline(always)]
    fn head(&mut self, head: &FrameHead) -> Result<(), ErrorKind> {
        let core = &*self.core;
        if head.payload_bytes > core.options.payload_bytes_max {
            return Err(ErrorKind::FrameTooLong);
        }
        if core.block.is_some() || head.kind == kind::CONTINUATION || !core.settings_came {
            self.core.check_order(head)?;
        }
        if matches!(head.kind, kind::HEADERS | kind::CONTINUATION) {
            let block_bytes = self.core.fragments.len() + head.payload_bytes as usize;
            if block_bytes > self.core.options.header_list_bytes as usize {
                return Err(ErrorKind::BlockTooLong);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn frame(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        if head.kind == kind::HEADERS {
            self.headers(head, payload)
        } else {
            self.other_frame(head, payload)
        }
    }

    #[inline(always)]
    fn data_begins(&mut self, head: &FrameHead, content_bytes: u32) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        core.window.take(head.payload_bytes).map_err(|_| ErrorKind::WindowExceeded)?;
        if let Some(increment) = core.window.update() {
            write_window_update(self.out, 0, increment);
        }
        core.receiving = None;
        let Some(place) = core.live_stream(head)? else {
            return core.floods.count(Flood::Idle);
        };
        if content_bytes > 0 {
            core.floods.content();
        } else if !head.has(flag::END_STREAM) {
            core.floods.count(Flood::EmptyData)?;
        }
        match core.take_content(place, head, content_bytes, self.out) {
            Ok(()) => core.receiving = Some(place),
            Err(fault) => self.fault(place, fault),
        }
        Ok(())
    }

    #[inline(always)]
    fn data(&mut self, content: &[u8]) {
        if let Some(place) = self.core.receiving {
            self.sink.data(self.core.streams.at(place).tag, content);
        }
    }

    #[inline(always)]
    fn data_ends(&mut self, head: &FrameHead) {
        if let Some(place) = self.core.receiving.take()
            && head.has(flag::END_STREAM)
        {
            self.complete(place);
        }
    }
}

impl<S: Sink> Receiving<'_, S> {
    /// RFC 9113, 6.2.
    #[inline(always)]
    fn headers(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        let fragment = without_padding(head, payload)?;
        let block = OpenBlock { stream: head.stream, end_stream: head.has(flag::END_STREAM) };
        // The stream is judged first: a block for one that never was ends the connection.
        let _ = self.core.live_stream(head)?;
        if head.has(flag::END_HEADERS) {
            return self.block(block, fragment);
        }
        self.core.floods.block();
        self.core.fragments.extend_from_slice(fragment);
        self.core.block = Some(block);
        Ok(())
    }

    /// RFC 9113, 6.10.
    pub(super) fn continuation(
        &mut self,
        head: &FrameHead,
        payload: &[u8],
    ) -> Result<(), ErrorKind> {
        self.core.floods.count(Flood::Continuation)?;
        self.core.fragments.extend_from_slice(payload);
        if head.has(flag::END_HEADERS)
            && let Some(block) = self.core.block.take()
        {
            let fragments = std::mem::take(&mut self.core.fragments);
            let result = self.block(block, &fragments);
            self.core.fragments = fragments;
            self.core.fragments.clear();
            return result;
        }
        Ok(())
    }

    /// A header block is complete. It is decoded whatever becomes of its stream: the table is
    /// the connection's (RFC 9113, 4.3).
    #[inline(always)]
    fn block(&mut self, block: OpenBlock, bytes: &[u8]) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        let Lookup::Live(place) = core.streams.look_up(block.stream) else {
            core.blocks.read(bytes)?;
            return core.floods.count(Flood::Idle);
        };
        let tag = core.streams.at(place).tag;
        let list_bytes_max = core.options.header_list_bytes as usize;
        let says = if self.sink.wants_fields(tag) {
            let mut shown_bytes = 0;
            *core.blocks.read_new(bytes, |name, value| {
                // A short block can say a long field of the table a thousand times.
                shown_bytes += name.len() + value.len() + ENTRY_OVERHEAD_BYTES;
                if shown_bytes <= list_bytes_max {
                    self.sink.field(tag, name, value);
                }
            })?
        } else {
            *core.blocks.read(bytes)?
        };
        let fault = match says.check(list_bytes_max) {
            Err(fault) => Some(fault),
            Ok(()) if core.streams.at(place).state == State::Answering => {
                self.trailers(place, says.status, block.end_stream)
            }
            Ok(()) => match says.status {
                None => Some(StreamFault::PseudoMissing),
                Some(status @ ..=199) => {
                    self.core.floods.count(Flood::Interim)?;
                    self.interim(tag, status, block.end_stream)
                }
                Some(status) => {
                    let head = ResponseHead { status, content_length: says.content_length };
                    self.response(place, head, block.end_stream);
                    None
                }
            },
        };
        if let Some(fault) = fault {
            self.fault(place, fault);
        }
        Ok(())
    }

    #[inline(always)]
    fn response(&mut self, place: usize, head: ResponseHead, end_stream: bool) {
        self.core.floods.answered();
        let stream = self.core.streams.at(place);
        stream.state = State::Answering;
        stream.without_content |= matches!(head.status, 204 | 304);
        // The length of what HEAD or 304 leave out says nothing (RFC 9113, 8.1.1).
        if !stream.without_content {
            stream.content_left = head.content_length.unwrap_or(LENGTH_UNKNOWN);
        }
        self.sink.head(stream.tag, head);
        if end_stream {
            self.complete(place);
        }
    }

    #[inline(never)]
    fn interim(&mut self, tag: u32, status: u16, end_stream: bool) -> Option<StreamFault> {
        if end_stream {
            return Some(StreamFault::InterimEnd);
        }
        if status == 101 {
            return Some(StreamFault::SwitchingProtocols);
        }
        self.sink.interim(tag, status);
        None
    }

    #[inline(never)]
    fn trailers(
        &mut self,
        place: usize,
        status: Option<u16>,
        end_stream: bool,
    ) -> Option<StreamFault> {
        if status.is_some() {
            return Some(FieldFault::MisplacedPseudo.into());
        }
        if !end_stream {
            return Some(StreamFault::TrailersWithoutEnd);
        }
        self.sink.trailers(self.core.streams.at(place).tag);
        self.complete(place);
        None
    }

    /// END_STREAM came.
    #[inline(always)]
    fn complete(&mut self, place: usize) {
        let stream = self.core.streams.at(place);
        if !matches!(stream.content_left, 0 | LENGTH_UNKNOWN) {
            return self.fault(place, StreamFault::ContentLength);
        }
        let (tag, upload) = (stream.tag, stream.upload);
        if upload == NO_UPLOAD {
            self.core.streams.close(place, State::Over);
        } else {
            // The whole response without waiting for the whole request: the rest of it is of no
            // use (RFC 9113, 8.1).
            self.core.drop_stream(place, ErrorCode::NO_ERROR, self.out);
            self.sink.request_cut(tag);
        }
        self.sink.ended(tag, End::Complete);
    }

    /// Ends a live stream because the peer did something wrong with it.
    #[inline(never)]
    pub(super) fn fault(&mut self, place: usize, fault: StreamFault) {
        let tag = self.core.streams.at(place).tag;
        self.core.drop_stream(place, fault.code(), self.out);
        self.sink.ended(tag, End::Fault(fault));
    }

    /// Ends a live stream because the peer did, leaving it as `state`.
    pub(super) fn ended_by_peer(&mut self, place: usize, state: State, end: End) {
        let stream = self.core.streams.at(place);
        let (tag, upload) = (stream.tag, stream.upload);
        self.core.uploads.end(upload);
        self.core.streams.close(place, state);
        self.sink.ended(tag, end);
    }
}

impl Core {
    /// Frames that must or must not come now (RFC 9113, 3.4 and 6.10).
    #[inline(never)]
    fn check_order(&self, head: &FrameHead) -> Result<(), ErrorKind> {
        if !self.settings_came && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(ErrorKind::NoSettings);
        }
        match self.block {
            Some(block) if head.kind != kind::CONTINUATION || head.stream != block.stream => {
                Err(ErrorKind::BlockInterrupted)
            }
            None if head.kind == kind::CONTINUATION => Err(ErrorKind::NoBlockToContinue),
            _ => Ok(()),
        }
    }

    /// The live stream a DATA or HEADERS frame is for; None if we reset it (RFC 9113, 5.1).
    #[inline(always)]
    fn live_stream(&self, head: &FrameHead) -> Result<Option<usize>, ErrorKind> {
        match self.streams.look_up(head.stream) {
            Lookup::Live(place) => Ok(Some(place)),
            Lookup::Dropped => Ok(None),
            Lookup::Over => Err(ErrorKind::ClosedStream),
            Lookup::Idle if head.stream == 0 => Err(ErrorKind::WrongStream),
            Lookup::Idle => Err(ErrorKind::IdleStream),
        }
    }

    /// Accounts for the content of a DATA frame (RFC 9113, 6.9 and 8.1.1).
    #[inline(always)]
    fn take_content(
        &mut self,
        place: usize,
        head: &FrameHead,
        content_bytes: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), StreamFault> {
        let stream = self.streams.at(place);
        if stream.state == State::Waiting {
            return Err(StreamFault::DataBeforeHead);
        }
        if content_bytes > 0 {
            if stream.without_content {
                return Err(StreamFault::DataForbidden);
            }
            if stream.content_left != LENGTH_UNKNOWN {
                stream.content_left = stream
                    .content_left
                    .checked_sub(content_bytes.into())
                    .ok_or(StreamFault::ContentLength)?;
            }
        }
        stream.window_used += head.payload_bytes;
        if stream.window_used >= (self.options.stream_window_bytes / 2).max(1) {
            // Until our settings are acknowledged the peer may still use the initial window.
            let own = self.options.stream_window_bytes;
            let window = if self.settings_acknowledged { own } else { own.max(WINDOW_INITIAL) };
            if stream.window_used > window {
                return Err(StreamFault::WindowExceeded);
            }
            if !head.has(flag::END_STREAM) {
                write_window_update(out, stream.id, stream.window_used);
                stream.window_used = 0;
            }
        }
        Ok(())
    }
}
