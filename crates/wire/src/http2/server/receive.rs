//! What each frame of a client does to its stream (RFC 9113, 5.1, 6 and 8.1).

use super::sink::Sink;
use super::streams::{LENGTH_UNKNOWN, Lookup, State};
use super::{BlockFor, Connection, Core, OpenBlock};
use crate::http2::error::{ErrorCode, ErrorKind, StreamFault};
use crate::http2::floods::Flood;
use crate::http2::frame::{
    FrameHead, PREFACE, WINDOW_INITIAL, flag, kind, without_padding, write_goaway, write_reset,
    write_window_update,
};
use crate::http2::reader::FrameHandler;

/// A connection at work, with those it talks to.
pub(super) struct Receiving<'a, S> {
    pub core: &'a mut Core,
    pub out: &'a mut Vec<u8>,
    pub sink: &'a mut S,
}

impl Connection {
    pub(super) fn receive_frames<S: Sink>(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        sink: &mut S,
    ) -> Result<(), ErrorKind> {
        let core = &mut self.core;
        let result = core
            .behind_preface(bytes)
            .and_then(|rest| self.reader.read(rest, &mut Receiving { core, out, sink }));
        if let Err(kind) = result {
            self.core.failed = Some(kind);
            write_goaway(out, self.core.streams.highest(), kind.code());
        }
        result
    }
}

impl<S: Sink> FrameHandler for Receiving<'_, S> {
    #[inline(always)]
    fn head(&mut self, head: &FrameHead) -> Result<(), ErrorKind> {
        let core = &*self.core;
        if head.payload_bytes > core.options.payload_bytes_max {
            return Err(ErrorKind::FrameTooLong);
        }
        core.check_order(head)?;
        if matches!(head.kind, kind::HEADERS | kind::CONTINUATION) {
            let block_bytes = core.fragments.len() + head.payload_bytes as usize;
            if block_bytes > core.options.header_list_bytes as usize {
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

    fn data_begins(&mut self, head: &FrameHead, content_bytes: u32) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        core.window.take(head.payload_bytes).map_err(|_| ErrorKind::WindowExceeded)?;
        if let Some(increment) = core.window.update() {
            write_window_update(self.out, 0, increment);
        }
        core.receiving = None;
        let place = match core.streams.look_up(head.stream) {
            Lookup::Live(place) => place,
            Lookup::Dropped => return core.floods.count(Flood::Idle),
            Lookup::Over => return Err(ErrorKind::ClosedStream),
            Lookup::Idle if head.stream == 0 => return Err(ErrorKind::WrongStream),
            Lookup::Idle => return Err(ErrorKind::IdleStream),
        };
        if core.streams.at(place).request_complete {
            return Err(ErrorKind::ClosedStream);
        }
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

    fn data(&mut self, content: &[u8]) {
        if let Some(place) = self.core.receiving {
            self.sink.data(self.core.streams.at(place).id, content);
        }
    }

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
    fn headers(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        let fragment = without_padding(head, payload)?;
        let meant_for = self.core.meant_for(head.stream)?;
        let end_stream = head.has(flag::END_STREAM);
        let block = OpenBlock { stream: head.stream, end_stream, meant_for };
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
    fn block(&mut self, block: OpenBlock, bytes: &[u8]) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        let says = core.blocks.read(bytes)?;
        let list_bytes_max = core.options.header_list_bytes as usize;
        match block.meant_for {
            BlockFor::Request => {
                let place = core.streams.open(block.stream);
                if let Err(fault) = says.check(list_bytes_max) {
                    core.drop_stream(place, fault.code(), self.out);
                    return core.floods.count(Flood::Reset);
                }
                let stream = core.streams.at(place);
                stream.content_left = says.content_length.unwrap_or(LENGTH_UNKNOWN);
                self.sink.request(block.stream, says);
                if block.end_stream {
                    self.complete(place);
                }
            }
            BlockFor::Trailers(place) => match says.check_trailers(list_bytes_max) {
                Err(fault) => self.fault(place, fault),
                Ok(()) if !block.end_stream => {
                    self.fault(place, StreamFault::TrailersWithoutEnd);
                }
                Ok(()) => self.complete(place),
            },
            BlockFor::Nobody { refused } => {
                if refused {
                    write_reset(self.out, block.stream, ErrorCode::REFUSED_STREAM);
                }
                return core.floods.count(Flood::Reset);
            }
        }
        Ok(())
    }

    /// END_STREAM came.
    fn complete(&mut self, place: usize) {
        let stream = self.core.streams.at(place);
        if !matches!(stream.content_left, 0 | LENGTH_UNKNOWN) {
            return self.fault(place, StreamFault::ContentLength);
        }
        stream.request_complete = true;
        self.sink.ended(stream.id);
    }

    /// Ends a live stream because the client did something wrong with it.
    pub(super) fn fault(&mut self, place: usize, fault: StreamFault) {
        let id = self.core.streams.at(place).id;
        self.core.drop_stream(place, fault.code(), self.out);
        self.sink.reset(id, fault.code());
    }

    /// Ends a live stream because the client did.
    pub(super) fn ended_by_peer(&mut self, place: usize, code: ErrorCode) {
        let id = self.core.streams.at(place).id;
        self.core.streams.close(place, State::Over);
        self.sink.reset(id, code);
    }
}

impl Core {
    /// What comes behind the preface, of which a part may have come before (RFC 9113, 3.4).
    fn behind_preface<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], ErrorKind> {
        let missing = &PREFACE[self.preface_bytes..];
        let (come, rest) = bytes.split_at(bytes.len().min(missing.len()));
        if !missing.starts_with(come) {
            return Err(ErrorKind::NoPreface);
        }
        self.preface_bytes += come.len();
        Ok(rest)
    }

    /// Frames that must or must not come now (RFC 9113, 3.4 and 6.10).
    #[inline(always)]
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

    /// What a header block on a stream is (RFC 9113, 5.1 and 5.1.1).
    fn meant_for(&mut self, id: u32) -> Result<BlockFor, ErrorKind> {
        match self.streams.look_up(id) {
            Lookup::Live(place) if self.streams.at(place).request_complete => {
                Err(ErrorKind::ClosedStream)
            }
            Lookup::Live(place) => Ok(BlockFor::Trailers(place)),
            Lookup::Dropped => Ok(BlockFor::Nobody { refused: false }),
            Lookup::Over => Err(ErrorKind::ClosedStream),
            Lookup::Idle if id == 0 => Err(ErrorKind::WrongStream),
            Lookup::Idle if id.is_multiple_of(2) => Err(ErrorKind::StreamNumber),
            Lookup::Idle => {
                self.streams.use_number(id);
                if id > self.last_stream {
                    // Behind our GOAWAY: ignored (6.8).
                    return Ok(BlockFor::Nobody { refused: false });
                }
                if self.streams.live_count() >= self.options.streams {
                    return Ok(BlockFor::Nobody { refused: true });
                }
                Ok(BlockFor::Request)
            }
        }
    }

    /// Accounts for the content of a DATA frame (RFC 9113, 6.9 and 8.1.1).
    fn take_content(
        &mut self,
        place: usize,
        head: &FrameHead,
        content_bytes: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), StreamFault> {
        let stream = self.streams.at(place);
        if content_bytes > 0 && stream.content_left != LENGTH_UNKNOWN {
            stream.content_left = stream
                .content_left
                .checked_sub(content_bytes.into())
                .ok_or(StreamFault::ContentLength)?;
        }
        stream.window_used += head.payload_bytes;
        if stream.window_used >= (self.options.stream_window_bytes / 2).max(1) {
            // Until our settings are acknowledged the client may still use the initial window.
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
