//! Frames: a type, a length, and as many bytes (RFC 9114, 7).

use super::varint;

/// Types of frames (RFC 9114, 7.2).
pub mod kind {
    /// Content.
    pub const DATA: u64 = 0x0;
    /// A field section.
    pub const HEADERS: u64 = 0x1;
    /// A push is not wanted.
    pub const CANCEL_PUSH: u64 = 0x3;
    /// How a connection behaves.
    pub const SETTINGS: u64 = 0x4;
    /// A request that the server makes up.
    pub const PUSH_PROMISE: u64 = 0x5;
    /// No more requests.
    pub const GOAWAY: u64 = 0x7;
    /// How many pushes are permitted.
    pub const MAX_PUSH_ID: u64 = 0xd;
}

/// Whether a type of HTTP/2 has no equivalent and must not be used (RFC 9114, 7.2.8).
pub fn is_of_http2(kind: u64) -> bool {
    matches!(kind, 0x2 | 0x6 | 0x8 | 0x9)
}

/// Appends the type and length of a frame.
pub fn write_head(out: &mut Vec<u8>, kind: u64, payload_bytes: u64) {
    varint::write(out, kind);
    varint::write(out, payload_bytes);
}

/// What a stream consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A frame begins. If it has no payload, it has ended, too.
    Begins {
        /// Its type.
        kind: u64,
        /// Length of its payload.
        payload_bytes: u64,
    },
    /// Some of the payload of the frame that began last.
    Payload {
        /// At least one byte.
        bytes: &'a [u8],
        /// The frame has ended.
        ends: bool,
    },
}

/// Cuts the bytes of one stream into frames, however they come.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrameReader {
    /// Type and length, as far as they came.
    head: [u8; 2 * varint::BYTES_MAX],
    head_bytes: u8,
    /// Payload that is to come.
    left_bytes: u64,
}

impl FrameReader {
    /// The next piece, which `bytes` no longer begins with; None if more bytes are needed.
    #[inline]
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Piece<'a>> {
        if self.left_bytes > 0 {
            let len = self.left_bytes.min(bytes.len() as u64) as usize;
            if len == 0 {
                return None;
            }
            let (payload, rest) = bytes.split_at(len);
            *bytes = rest;
            self.left_bytes -= len as u64;
            return Some(Piece::Payload { bytes: payload, ends: self.left_bytes == 0 });
        }
        let (kind, payload_bytes) = self.head(bytes)?;
        self.left_bytes = payload_bytes;
        Some(Piece::Begins { kind, payload_bytes })
    }

    /// Whether the last frame is complete: the stream can end here.
    #[inline]
    pub fn between_frames(&self) -> bool {
        self.left_bytes == 0 && self.head_bytes == 0
    }

    #[inline]
    fn head(&mut self, bytes: &mut &[u8]) -> Option<(u64, u64)> {
        if self.head_bytes == 0 {
            let mut at = 0;
            if let Some(head) = head(bytes, &mut at) {
                *bytes = &bytes[at..];
                return Some(head);
            }
        }
        self.head_in_parts(bytes)
    }

    /// A head of which only a part has come.
    #[inline(never)]
    fn head_in_parts(&mut self, bytes: &mut &[u8]) -> Option<(u64, u64)> {
        while let Some((&first, rest)) = bytes.split_first() {
            // Two numbers are complete before their places are used up.
            self.head[usize::from(self.head_bytes)] = first;
            self.head_bytes += 1;
            *bytes = rest;
            let mut at = 0;
            if let Some(head) = head(&self.head[..usize::from(self.head_bytes)], &mut at) {
                self.head_bytes = 0;
                return Some(head);
            }
        }
        None
    }
}

#[inline]
fn head(bytes: &[u8], at: &mut usize) -> Option<(u64, u64)> {
    Some((varint::read(bytes, at)?, varint::read(bytes, at)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames as (type, payload), from a stream that comes in pieces of this size.
    fn frames(stream: &[u8], piece_bytes: usize) -> (Vec<(u64, Vec<u8>)>, bool) {
        let mut reader = FrameReader::default();
        let mut frames: Vec<(u64, Vec<u8>)> = Vec::new();
        for mut bytes in stream.chunks(piece_bytes) {
            while let Some(piece) = reader.next(&mut bytes) {
                match piece {
                    Piece::Begins { kind, .. } => frames.push((kind, Vec::new())),
                    Piece::Payload { bytes, ends } => {
                        let frame = frames.last_mut().expect("payload follows a beginning");
                        frame.1.extend_from_slice(bytes);
                        assert!(ends || !bytes.is_empty());
                    }
                }
            }
            assert!(bytes.is_empty());
        }
        (frames, reader.between_frames())
    }

    #[test]
    fn frames_are_the_same_however_their_bytes_come() {
        let expected = [
            (kind::HEADERS, vec![b'h'; 70]),
            (kind::DATA, Vec::new()),
            (0x21 + 0x1f * 1_000_000_000, vec![1, 2, 3]),
            (kind::DATA, vec![b'd'; 20_000]),
        ];
        let mut stream = Vec::new();
        for (kind, payload) in &expected {
            write_head(&mut stream, *kind, payload.len() as u64);
            stream.extend_from_slice(payload);
        }
        for piece_bytes in [1, 2, 3, 7, 19, 1_000, stream.len()] {
            assert_eq!(frames(&stream, piece_bytes), (expected.to_vec(), true), "{piece_bytes}");
        }
        for cut in [stream.len() - 1, 1, 3, 74] {
            assert!(!frames(&stream[..cut], 5).1, "{cut}");
        }
    }

    #[test]
    fn the_longest_head_and_the_longest_frame() {
        let mut stream = Vec::new();
        write_head(&mut stream, varint::MAX, varint::MAX);
        assert_eq!(stream.len(), 16);
        stream.extend_from_slice(b"and more");
        for piece_bytes in [1, 16, 24] {
            let (all, between) = frames(&stream, piece_bytes);
            assert_eq!(all, [(varint::MAX, b"and more".to_vec())]);
            assert!(!between);
        }
    }
}
