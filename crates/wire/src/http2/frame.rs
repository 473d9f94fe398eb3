//! Frames: their nine-byte heads, types and flags (RFC 9113, 4.1 and 6), and how those we send
//! are written.

use super::error::{ErrorCode, ErrorKind};

/// Length of every frame's head.
pub const HEAD_BYTES: usize = 9;
/// What a client says first (RFC 9113, 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Largest payload everyone has to take (RFC 9113, 4.2).
pub const PAYLOAD_BYTES_MIN: u32 = 16_384;
/// Largest payload a setting can permit (RFC 9113, 6.5.2).
pub const PAYLOAD_BYTES_MAX: u32 = (1 << 24) - 1;
/// Largest window (RFC 9113, 6.9.1).
pub const WINDOW_MAX: u32 = (1 << 31) - 1;
/// Windows until settings say otherwise (RFC 9113, 6.9.2).
pub const WINDOW_INITIAL: u32 = 65_535;
/// Largest stream number (RFC 9113, 5.1.1).
pub const STREAM_MAX: u32 = (1 << 31) - 1;

/// Bytes of priority, in PRIORITY and in HEADERS that have them (RFC 9113, 6.2 and 6.3).
pub const PRIORITY_BYTES: usize = 5;

/// Types of frames (RFC 9113, 6).
pub mod kind {
    /// Content.
    pub const DATA: u8 = 0x0;
    /// A header block or its beginning.
    pub const HEADERS: u8 = 0x1;
    /// Deprecated.
    pub const PRIORITY: u8 = 0x2;
    /// Ends a stream at once.
    pub const RST_STREAM: u8 = 0x3;
    /// Settings, or their acknowledgement.
    pub const SETTINGS: u8 = 0x4;
    /// Announces a response nobody asked for.
    pub const PUSH_PROMISE: u8 = 0x5;
    /// Asks for a sign of life, or gives it.
    pub const PING: u8 = 0x6;
    /// Ends a connection.
    pub const GOAWAY: u8 = 0x7;
    /// Enlarges a window.
    pub const WINDOW_UPDATE: u8 = 0x8;
    /// More of a header block.
    pub const CONTINUATION: u8 = 0x9;
}

/// Flags of frames (RFC 9113, 6).
pub mod flag {
    /// DATA, HEADERS: the stream's last frame in this direction, CONTINUATION aside.
    pub const END_STREAM: u8 = 0x1;
    /// SETTINGS, PING: an acknowledgement.
    pub const ACK: u8 = 0x1;
    /// HEADERS, CONTINUATION: the block is complete.
    pub const END_HEADERS: u8 = 0x4;
    /// DATA, HEADERS: padded.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: five bytes of priority.
    pub const PRIORITY: u8 = 0x20;
}

/// Settings by number (RFC 9113, 6.5.2).
pub mod setting {
    /// Size of the table the sender decodes with.
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    /// Whether the sender takes pushes.
    pub const ENABLE_PUSH: u16 = 0x2;
    /// Streams the receiver may have open.
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    /// Window of a new stream.
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    /// Largest payload the sender takes.
    pub const MAX_FRAME_SIZE: u16 = 0x5;
    /// Largest header list the sender takes; advice.
    pub const MAX_HEADER_LIST_SIZE: u16 = 0x6;
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// Length of the payload.
    pub payload_bytes: u32,
    /// Type, see [`kind`].
    pub kind: u8,
    /// Flags, see [`flag`].
    pub flags: u8,
    /// Stream, 0 for the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Reads a head. The reserved bit is ignored (RFC 9113, 4.1).
    #[inline(always)]
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            payload_bytes: u32::from_be_bytes([0, a, b, c]),
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & STREAM_MAX,
        }
    }

    /// The head as bytes.
    #[inline(always)]
    pub fn bytes(&self) -> [u8; HEAD_BYTES] {
        let [_, a, b, c] = self.payload_bytes.to_be_bytes();
        let [s, t, u, v] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, s, t, u, v]
    }

    /// Whether the frame is where its kind belongs, on a stream or on the connection (RFC 9113, 6.3
    /// to 6.8), as far as the kind alone tells. DATA, HEADERS and CONTINUATION are judged by their stream's
    /// state, WINDOW_UPDATE may be either, and unknown kinds mean nothing.
    ///
    /// # Errors
    /// [`ErrorKind::WrongStream`]: the connection is to end.
    pub fn placed(&self) -> Result<(), ErrorKind> {
        let of_stream = match self.kind {
            kind::PRIORITY | kind::RST_STREAM => true,
            kind::SETTINGS | kind::PING | kind::GOAWAY => false,
            _ => return Ok(()),
        };
        if of_stream == (self.stream != 0) { Ok(()) } else { Err(ErrorKind::WrongStream) }
    }

    /// Whether a flag is set.
    #[inline(always)]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Where a stream's number stands in a frame.
pub const STREAM_OFFSET: usize = 5;

/// Appends the head of a frame.
#[inline]
pub fn write_head(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload_bytes: u32) {
    out.extend_from_slice(&FrameHead { payload_bytes, kind, flags, stream }.bytes());
}

/// Appends SETTINGS.
pub fn write_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    write_head(out, kind::SETTINGS, 0, 0, 6 * settings.len() as u32);
    for &(number, value) in settings {
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends the acknowledgement of SETTINGS.
pub fn write_settings_ack(out: &mut Vec<u8>) {
    write_head(out, kind::SETTINGS, flag::ACK, 0, 0);
}

/// Appends PING or its acknowledgement.
pub fn write_ping(out: &mut Vec<u8>, ack: bool, payload: [u8; 8]) {
    write_head(out, kind::PING, if ack { flag::ACK } else { 0 }, 0, 8);
    out.extend_from_slice(&payload);
}

/// Appends RST_STREAM.
pub fn write_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    write_head(out, kind::RST_STREAM, 0, stream, 4);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Appends WINDOW_UPDATE; stream 0 is the connection.
pub fn write_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    write_head(out, kind::WINDOW_UPDATE, 0, stream, 4);
    out.extend_from_slice(&increment.to_be_bytes());
}

/// Appends GOAWAY without debug data.
pub fn write_goaway(out: &mut Vec<u8>, last_stream: u32, code: ErrorCode) {
    write_head(out, kind::GOAWAY, 0, 0, 8);
    out.extend_from_slice(&last_stream.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Appends a header block: HEADERS, and CONTINUATION as needed.
pub fn write_block(out: &mut Vec<u8>, stream: u32, end_stream: bool, block: &[u8]) {
    let mut rest = block;
    let mut frame = (kind::HEADERS, if end_stream { flag::END_STREAM } else { 0 });
    loop {
        let (payload, behind) = rest.split_at(rest.len().min(PAYLOAD_BYTES_MIN as usize));
        let end_headers = if behind.is_empty() { flag::END_HEADERS } else { 0 };
        write_head(out, frame.0, frame.1 | end_headers, stream, payload.len() as u32);
        out.extend_from_slice(payload);
        if behind.is_empty() {
            return;
        }
        frame = (kind::CONTINUATION, 0);
        rest = behind;
    }
}

/// The payload of HEADERS without padding and priority (RFC 9113, 6.2).
///
/// # Errors
/// When it is too short for what its flags say is in it.
#[inline(always)]
pub fn without_padding<'a>(head: &FrameHead, payload: &'a [u8]) -> Result<&'a [u8], ErrorKind> {
    if !head.has(flag::PADDED | flag::PRIORITY) {
        return Ok(payload);
    }
    let mut fragment = payload;
    let mut padding_bytes = 0;
    if head.has(flag::PADDED) {
        let (&bytes, rest) = fragment.split_first().ok_or(ErrorKind::FrameLength)?;
        padding_bytes = usize::from(bytes);
        fragment = rest;
    }
    if head.has(flag::PRIORITY) {
        fragment = fragment.get(PRIORITY_BYTES..).ok_or(ErrorKind::FrameLength)?;
    }
    let end = fragment.len().checked_sub(padding_bytes).ok_or(ErrorKind::Padding)?;
    Ok(&fragment[..end])
}

/// The four bytes at `at` as a number. The caller has checked that they are there.
#[inline(always)]
pub fn number_at(payload: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([payload[at], payload[at + 1], payload[at + 2], payload[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back() {
        let head = FrameHead {
            payload_bytes: 0x01_02_03,
            kind: kind::HEADERS,
            flags: flag::END_STREAM | flag::END_HEADERS,
            stream: 0x7fff_fffe,
        };
        assert_eq!(head.bytes(), [1, 2, 3, 1, 5, 0x7f, 0xff, 0xff, 0xfe]);
        assert_eq!(FrameHead::read(&head.bytes()), head);
        // The reserved bit is ignored when receiving (RFC 9113, 4.1).
        assert_eq!(FrameHead::read(&[1, 2, 3, 1, 5, 0xff, 0xff, 0xff, 0xfe]), head);
        assert!(head.has(flag::END_STREAM) && !head.has(flag::PADDED));
    }

    #[test]
    fn frames_we_send() {
        let mut out = Vec::new();
        write_settings(&mut out, &[(setting::ENABLE_PUSH, 0), (setting::INITIAL_WINDOW_SIZE, 258)]);
        assert_eq!(out, [0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0, 1, 2]);
        out.clear();
        write_settings_ack(&mut out);
        assert_eq!(out, [0, 0, 0, 4, 1, 0, 0, 0, 0]);
        out.clear();
        write_ping(&mut out, true, *b"pingpong");
        assert_eq!(out, b"\0\0\x08\x06\x01\0\0\0\0pingpong");
        out.clear();
        write_reset(&mut out, 3, ErrorCode::CANCEL);
        assert_eq!(out, [0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8]);
        out.clear();
        write_window_update(&mut out, 0, 0x7fff_0000);
        assert_eq!(out, [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0]);
        out.clear();
        write_goaway(&mut out, 5, ErrorCode::ENHANCE_YOUR_CALM);
        assert_eq!(out, [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 11]);
    }
}
