//! What the frames of requests do: HEADERS, CONTINUATION and DATA (RFC 9113, 5.1, 6 and 8.1).

use ablaze_wire::http2::error::{ErrorCode, ErrorKind, StreamFault};
use ablaze_wire::http2::floods::Flood;
use ablaze_wire::http2::frame::{self, FrameHead, PAYLOAD_BYTES_MIN, flag, kind, without_padding};
use ablaze_wire::http2::reader::FrameHandler;

use super::streams::{Stream, Upload};
use super::{Core, STREAM_WINDOW_BYTES};
use crate::handler::{Handler, path_and_query};
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::rendering::RequestBody;
use crate::service::{Refused, Service};

/// What is set aside at once for a body of an announced length.
const RESERVED_BYTES_MAX: u64 = 1 << 20;

/// A header block that is not complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBlock {
    stream: u32,
    end_stream: bool,
}

/// A connection at work, with all that it works for.
pub(super) struct Receiving<'a, H> {
    pub core: &'a mut Core,
    pub service: &'a Service<H>,
    pub date: &'a Date,
    pub out: &'a mut Output,
}

impl<H: Handler> FrameHandler for Receiving<'_, H> {
    #[inline(always)]
    fn head(&mut self, head: &FrameHead) -> Result<(), ErrorKind> {
        if head.payload_bytes > PAYLOAD_BYTES_MIN {
            return Err(ErrorKind::FrameTooLong);
        }
        if self.core.block.is_some() || head.kind == kind::CONTINUATION || !self.core.settings_came
        {
            self.core.check_order(head)?;
        }
        if matches!(head.kind, kind::HEADERS | kind::CONTINUATION) {
            let block_bytes = self.core.fragments.len() + head.payload_bytes as usize;
            let most = self.service.max_head_bytes.max(PAYLOAD_BYTES_MIN as usize);
            if block_bytes > most {
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
        core.data_stream = None;
        if head.stream == 0 {
            return Err(ErrorKind::WrongStream);
        }
        // The connection's window counts whatever the stream is (RFC 9113, 6.9).
        core.window.take(head.payload_bytes).map_err(|_| ErrorKind::WindowExceeded)?;
        if let Some(increment) = core.window.update() {
            self.out.push_with(|text| frame::write_window_update(text, 0, increment));
        }
        let Some(Stream { upload: Some(upload), .. }) = core.streams.get(head.stream) else {
            return core.late_frame(head.stream);
        };
        if content_bytes > 0 {
            core.floods.content();
        } else if !head.has(flag::END_STREAM) {
            core.floods.count(Flood::EmptyData)?;
        }
        match upload.take(head, content_bytes) {
            Ok(update) => {
                if let Some(increment) = update {
                    let stream = head.stream;
                    let push = |text: &mut _| frame::write_window_update(text, stream, increment);
                    self.out.push_with(push);
                }
                core.data_stream = Some(head.stream);
            }
            Err(fault) => core.fault(head.stream, fault, self.out)?,
        }
        Ok(())
    }

    fn data(&mut self, content: &[u8]) {
        let Some(id) = self.core.data_stream else { return };
        let Some(Stream { upload: Some(upload), .. }) = self.core.streams.get(id) else { return };
        let Some(most) = upload.keep_bytes_max else { return };
        if (upload.body.len() + content.len()) as u64 > most {
            return self.refuse(id, Refused::BodyTooLong);
        }
        upload.body.extend_from_slice(content);
    }

    fn data_ends(&mut self, head: &FrameHead) {
        if let Some(id) = self.core.data_stream.take()
            && head.has(flag::END_STREAM)
        {
            self.complete(id);
        }
    }
}

impl<H: Handler> Receiving<'_, H> {
    /// RFC 9113, 6.2.
    #[inline(always)]
    fn headers(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        let fragment = without_padding(head, payload)?;
        if head.stream == 0 {
            return Err(ErrorKind::WrongStream);
        }
        if head.stream.is_multiple_of(2) {
            return Err(ErrorKind::StreamNumber);
        }
        let block = OpenBlock { stream: head.stream, end_stream: head.has(flag::END_STREAM) };
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
            return self.block(block, &fragments);
        }
        Ok(())
    }

    /// A header block is complete. It is decoded whatever becomes of its stream: the table is
    /// the connection's (RFC 9113, 4.3).
    #[inline(always)]
    fn block(&mut self, block: OpenBlock, bytes: &[u8]) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        if block.stream <= core.last_stream {
            return self.trailers(block, bytes);
        }
        core.heads.read(bytes, self.service.max_head_bytes)?;
        core.last_stream = block.stream;
        let most = self.service.max_streams as usize;
        if core.streams.count() >= most {
            // Of those, some have been answered just now.
            core.send(self.out);
        }
        if core.last || core.streams.count() >= most {
            core.reset(block.stream, ErrorCode::REFUSED_STREAM, self.out);
            return core.floods.count(Flood::Reset);
        }
        // Lent out, so that the connection can be worked with meanwhile.
        let says = std::mem::take(core.heads.says());
        let fault = says.fault().or_else(|| {
            let promised = block.end_stream && says.content_length.is_some_and(|bytes| bytes > 0);
            promised.then_some(StreamFault::ContentLength)
        });
        let mut result = Ok(());
        if says.too_long {
            core.open(block.stream);
            self.refuse(block.stream, Refused::HeadTooLong);
        } else if let Some(fault) = fault {
            result = core.fault(block.stream, fault, self.out);
        } else if block.end_stream {
            let body = RequestBody::Lent(b"");
            let (method, target) = (says.method(), says.target.clone());
            self.response(block.stream, method, &says.text, target, body);
        } else {
            let head = says.text.clone();
            let (path, _) = path_and_query(&head[says.target.clone()]);
            let wanted = self.service.wants_body(says.method(), path);
            let upload = Upload {
                method: says.method(),
                target: says.target.clone(),
                body: Vec::with_capacity(match says.content_length {
                    Some(bytes) if wanted => bytes.min(RESERVED_BYTES_MAX) as usize,
                    _ => 0,
                }),
                keep_bytes_max: wanted.then_some(self.service.max_body_bytes),
                content_left: says.content_length,
                window_used: 0,
                head,
            };
            self.begin_upload(block.stream, upload, says.expect_continue);
        }
        *self.core.heads.says() = says;
        result
    }

    /// A request's body is yet to come.
    fn begin_upload(&mut self, id: u32, upload: Upload, expects_leave: bool) {
        let too_long = match (upload.keep_bytes_max, upload.content_left) {
            (Some(most), Some(announced)) => announced > most,
            _ => false,
        };
        self.core.open(id);
        if let Some(stream) = self.core.streams.get(id) {
            stream.upload = Some(Box::new(upload));
        }
        if too_long {
            self.refuse(id, Refused::BodyTooLong);
        } else if expects_leave {
            self.core.say_continue(id, self.out);
        }
    }

    /// A block on a stream that is known: trailers, which end a request (RFC 9113, 8.1).
    #[inline(never)]
    fn trailers(&mut self, block: OpenBlock, bytes: &[u8]) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        let fault = core.heads.read_trailers(bytes)?;
        let Some(Stream { upload: Some(upload), .. }) = core.streams.get(block.stream) else {
            return core.late_frame(block.stream);
        };
        let unended = (!block.end_stream).then_some(StreamFault::TrailersWithoutEnd);
        match fault.or(unended).or(upload.missing()) {
            Some(fault) => core.fault(block.stream, fault, self.out)?,
            None => self.complete(block.stream),
        }
        Ok(())
    }

    /// END_STREAM came: the request is complete.
    fn complete(&mut self, id: u32) {
        let Some(stream) = self.core.streams.get(id) else { return };
        let Some(upload) = stream.upload.take() else { return };
        let Upload { head, method, target, body, .. } = *upload;
        self.response(id, method, &head, target, RequestBody::Owned(body));
    }
}

impl Upload {
    /// Accounts for the content of a DATA frame (RFC 9113, 6.9 and 8.1.1); by how much the
    /// stream's window is to be enlarged.
    fn take(&mut self, head: &FrameHead, content_bytes: u32) -> Result<Option<u32>, StreamFault> {
        if let Some(left) = &mut self.content_left {
            *left = left.checked_sub(content_bytes.into()).ok_or(StreamFault::ContentLength)?;
        }
        if head.has(flag::END_STREAM)
            && let Some(fault) = self.missing()
        {
            return Err(fault);
        }
        self.window_used += head.payload_bytes;
        if self.window_used > STREAM_WINDOW_BYTES {
            return Err(StreamFault::WindowExceeded);
        }
        if self.window_used < STREAM_WINDOW_BYTES / 2 || head.has(flag::END_STREAM) {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut self.window_used)))
    }

    /// What is wrong if the body ends here.
    fn missing(&self) -> Option<StreamFault> {
        self.content_left.is_some_and(|left| left > 0).then_some(StreamFault::ContentLength)
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

    /// A frame that belongs to a request, for a stream whose request is over, or never was.
    fn late_frame(&mut self, id: u32) -> Result<(), ErrorKind> {
        if id > self.last_stream || id.is_multiple_of(2) {
            return Err(ErrorKind::IdleStream);
        }
        // A response that refuses a body leaves when there is room; until the client has it, it
        // goes on sending.
        let refused = self.streams.get(id).is_some_and(|stream| stream.is_refused());
        if !refused && !self.streams.was_dropped(id) {
            return Err(ErrorKind::ClosedStream);
        }
        self.floods.count(Flood::Idle)
    }

    /// A stream gets its place.
    pub(super) fn open(&mut self, id: u32) {
        let window = self.peer.stream_window_bytes.into();
        self.streams.open(id, Stream { window, upload: None, reply: None });
    }

    /// Ends a stream because of what the client did. A request that it has reset this way costs
    /// as much as one that it resets itself, and counts as such (RFC 9113, 10.5).
    pub(super) fn fault(
        &mut self,
        id: u32,
        fault: StreamFault,
        out: &mut Output,
    ) -> Result<(), ErrorKind> {
        self.reset(id, fault.code(), out);
        self.floods.count(Flood::Reset)
    }

    /// Ends a stream at once.
    pub(super) fn reset(&mut self, id: u32, code: ErrorCode, out: &mut Output) {
        self.streams.drop_stream(id);
        out.push_with(|text| frame::write_reset(text, id, code));
    }
}
