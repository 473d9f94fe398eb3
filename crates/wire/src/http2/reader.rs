//! Cuts a stream of bytes into frames, in whatever pieces it arrives. Content of DATA frames is
//! passed on as it comes; every other frame is passed on whole, from where it lies if it arrived
//! in one piece, else from a buffer that grows to the longest such frame at most.

use super::error::ErrorKind;
use super::frame::{FrameHead, HEAD_BYTES, flag, kind};

/// Who gets the frames.
pub trait FrameHandler {
    /// A head is known; its payload may not have arrived. Called once for each frame.
    ///
    /// # Errors
    /// When a frame with this head must not be there.
    fn head(&mut self, head: &FrameHead) -> Result<(), ErrorKind>;

    /// A whole frame other than DATA.
    ///
    /// # Errors
    /// When the frame ends the connection.
    fn frame(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind>;

    /// DATA begins, with this many bytes of content behind its head.
    ///
    /// # Errors
    /// When the frame ends the connection.
    fn data_begins(&mut self, head: &FrameHead, content_bytes: u32) -> Result<(), ErrorKind>;

    /// Content of the DATA frame that began last.
    fn data(&mut self, content: &[u8]);

    /// That frame is complete, padding included.
    fn data_ends(&mut self, head: &FrameHead);
}

/// What is left over between two pieces.
#[derive(Debug, Clone, Default)]
pub struct FrameReader {
    /// The frame that is incomplete, unless it is DATA whose content has begun.
    partial: Vec<u8>,
    /// `FrameHandler::head` was called for it.
    announced: bool,
    /// The DATA frame that is being passed on.
    data: Option<DataFrame>,
}

#[derive(Debug, Clone, Copy)]
struct DataFrame {
    head: FrameHead,
    content_left: u32,
    padding_left: u32,
}

impl FrameReader {
    /// The beginning of a frame that is not complete yet.
    pub fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// Whether the last byte so far was the last of a frame.
    pub fn between_frames(&self) -> bool {
        self.partial.is_empty() && self.data.is_none()
    }

    /// Passes all frames on that are in `bytes` or end there.
    ///
    /// # Errors
    /// Those of the handler, and padding longer than its frame.
    #[inline]
    pub fn read(
        &mut self,
        mut bytes: &[u8],
        handler: &mut impl FrameHandler,
    ) -> Result<(), ErrorKind> {
        if self.data.is_some() {
            bytes = self.go_on_with_data(bytes, handler);
        }
        if !self.partial.is_empty() {
            bytes = self.go_on_with_partial(bytes, handler)?;
        }
        while let Some(head_bytes) = bytes.first_chunk::<HEAD_BYTES>() {
            let head = FrameHead::read(head_bytes);
            handler.head(&head)?;
            let payload = &bytes[HEAD_BYTES..];
            let payload_bytes = head.payload_bytes as usize;
            if head.kind == kind::DATA {
                let padded = head.has(flag::PADDED) && payload_bytes > 0;
                if padded && payload.is_empty() {
                    self.announced = true;
                    break;
                }
                let padding = if padded { payload.first().copied() } else { None };
                let mut data = DataFrame::begin(&head, padding, handler)?;
                bytes = data.pass_on(&payload[usize::from(padded)..], handler);
                if data.is_incomplete() {
                    self.data = Some(data);
                    return Ok(());
                }
                handler.data_ends(&head);
            } else if payload.len() >= payload_bytes {
                handler.frame(&head, &payload[..payload_bytes])?;
                bytes = &payload[payload_bytes..];
            } else {
                self.announced = true;
                break;
            }
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    #[inline(never)]
    fn go_on_with_data<'a>(
        &mut self,
        bytes: &'a [u8],
        handler: &mut impl FrameHandler,
    ) -> &'a [u8] {
        let Some(mut data) = self.data else { return bytes };
        let rest = data.pass_on(bytes, handler);
        self.data = Some(data);
        if !data.is_incomplete() {
            self.data = None;
            handler.data_ends(&data.head);
        }
        rest
    }

    #[inline(never)]
    fn go_on_with_partial<'a>(
        &mut self,
        bytes: &'a [u8],
        handler: &mut impl FrameHandler,
    ) -> Result<&'a [u8], ErrorKind> {
        let bytes = self.fill(bytes, HEAD_BYTES);
        let Some(head_bytes) = self.partial.first_chunk::<HEAD_BYTES>() else { return Ok(bytes) };
        let head = FrameHead::read(head_bytes);
        if !self.announced {
            handler.head(&head)?;
            self.announced = true;
        }
        if head.kind == kind::DATA {
            let padded = head.has(flag::PADDED) && head.payload_bytes > 0;
            let bytes = self.fill(bytes, HEAD_BYTES + usize::from(padded));
            if padded && self.partial.len() == HEAD_BYTES {
                return Ok(bytes);
            }
            let padding = self.partial.get(HEAD_BYTES).copied();
            self.forget_partial();
            self.data = Some(DataFrame::begin(&head, padding, handler)?);
            return Ok(self.go_on_with_data(bytes, handler));
        }
        let frame_bytes = HEAD_BYTES + head.payload_bytes as usize;
        let bytes = self.fill(bytes, frame_bytes);
        if self.partial.len() == frame_bytes {
            handler.frame(&head, &self.partial[HEAD_BYTES..])?;
            self.forget_partial();
        }
        Ok(bytes)
    }

    /// Takes what is missing of the first `len` bytes of the frame.
    fn fill<'a>(&mut self, bytes: &'a [u8], len: usize) -> &'a [u8] {
        let missing = len.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..missing]);
        &bytes[missing..]
    }

    fn forget_partial(&mut self) {
        self.partial.clear();
        self.announced = false;
    }
}

impl DataFrame {
    /// RFC 9113, 6.1: the padding's length counts as a byte of the payload.
    #[inline(always)]
    fn begin(
        head: &FrameHead,
        padding: Option<u8>,
        handler: &mut impl FrameHandler,
    ) -> Result<Self, ErrorKind> {
        let (length_byte, padding_left) = match padding {
            Some(bytes) => (1, u32::from(bytes)),
            // A padded frame too short for the byte that says how much.
            None if head.has(flag::PADDED) => return Err(ErrorKind::FrameLength),
            None => (0, 0),
        };
        let content_left =
            head.payload_bytes.checked_sub(length_byte + padding_left).ok_or(ErrorKind::Padding)?;
        handler.data_begins(head, content_left)?;
        Ok(Self { head: *head, content_left, padding_left })
    }

    /// Passes the frame's part of the bytes on; the rest.
    #[inline(always)]
    fn pass_on<'a>(&mut self, bytes: &'a [u8], handler: &mut impl FrameHandler) -> &'a [u8] {
        let content_bytes = bytes.len().min(self.content_left as usize);
        let (content, rest) = bytes.split_at(content_bytes);
        if content_bytes > 0 {
            handler.data(content);
            self.content_left -= content_bytes as u32;
        }
        let padding_bytes = rest.len().min(self.padding_left as usize);
        self.padding_left -= padding_bytes as u32;
        &rest[padding_bytes..]
    }

    #[inline(always)]
    fn is_incomplete(&self) -> bool {
        self.content_left + self.padding_left > 0
    }
}
