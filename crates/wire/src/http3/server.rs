//! The stream of a request, as a server reads it: a field section, content, perhaps trailers (RFC 9114, 4.1).

use super::error::{ErrorCode, ErrorKind};
use super::frame::{self, FrameReader, is_of_http2, kind};

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The field section of its head, complete.
    Head(Section<'a>),
    /// A field section that is longer than permitted. Its bytes are not kept.
    HeadTooLong,
    /// Content, at least one byte.
    Content(&'a [u8]),
    /// The field section of its trailers, complete.
    Trailers(Section<'a>),
}

/// Where the bytes of a field section are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section<'a> {
    /// In one piece, in what was received.
    Received(&'a [u8]),
    /// At [`Request::section`], until more is read.
    Gathered,
}

/// Why the bytes of a request cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is of no use any more.
    Connection(ErrorKind),
    /// Only this request is: what its stream is reset with.
    Stream(ErrorCode),
}

/// The state of one stream.
#[derive(Debug, Clone, Default)]
pub struct Request {
    frames: FrameReader,
    kind: u64,
    section: Vec<u8>,
    /// The section under way is longer than permitted.
    too_long: bool,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    Content,
    Trailers,
}

impl Request {
    /// The next piece, which `bytes` no longer begins with; None if more bytes are needed. Field sections are at most
    /// `section_bytes_max` long as they are coded.
    ///
    /// # Errors
    /// When a frame must not be where it is.
    pub fn next<'a>(
        &mut self,
        bytes: &mut &'a [u8],
        section_bytes_max: usize,
    ) -> Result<Option<Piece<'a>>, Fault> {
        while let Some(piece) = self.frames.next(bytes) {
            let (payload, ends) = match piece {
                frame::Piece::Begins { kind, payload_bytes } => {
                    self.begin(kind, payload_bytes, section_bytes_max)
                        .map_err(Fault::Connection)?;
                    (&[][..], payload_bytes == 0)
                }
                frame::Piece::Payload { bytes, ends } => (bytes, ends),
            };
            match self.kind {
                kind::DATA if !payload.is_empty() => return Ok(Some(Piece::Content(payload))),
                kind::HEADERS => {
                    if let Some(piece) = self.fields(payload, ends) {
                        return Ok(Some(piece));
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The field section that came last, if it is [`Section::Gathered`].
    pub fn section(&self) -> &[u8] {
        &self.section
    }

    /// The client ended the stream: the request is complete.
    ///
    /// # Errors
    /// When it is not.
    pub fn end(&self) -> Result<(), Fault> {
        if !self.frames.between_frames() {
            return Err(Fault::Connection(ErrorKind::FrameCut));
        }
        match self.stage {
            Stage::Head => Err(Fault::Stream(ErrorCode::REQUEST_INCOMPLETE)),
            Stage::Content | Stage::Trailers => Ok(()),
        }
    }

    /// RFC 9114, 4.1 and 7.2.
    fn begin(
        &mut self,
        kind: u64,
        payload_bytes: u64,
        section_bytes_max: usize,
    ) -> Result<(), ErrorKind> {
        self.kind = kind;
        match (kind, self.stage) {
            (kind::HEADERS, Stage::Trailers)
            | (kind::DATA, Stage::Head | Stage::Trailers)
            | (
                kind::CANCEL_PUSH
                | kind::SETTINGS
                | kind::GOAWAY
                | kind::MAX_PUSH_ID
                | kind::PUSH_PROMISE,
                _,
            ) => return Err(ErrorKind::FrameUnexpected),
            (kind, _) if is_of_http2(kind) => return Err(ErrorKind::FrameUnexpected),
            _ => {}
        }
        if kind == kind::HEADERS {
            self.section.clear();
            self.too_long = payload_bytes > section_bytes_max as u64;
        }
        Ok(())
    }

    fn fields<'a>(&mut self, payload: &'a [u8], ends: bool) -> Option<Piece<'a>> {
        let whole = ends && self.section.is_empty();
        if !whole && !self.too_long {
            self.section.extend_from_slice(payload);
        }
        if !ends {
            return None;
        }
        let section = if whole { Section::Received(payload) } else { Section::Gathered };
        let is_head = self.stage == Stage::Head;
        self.stage = if is_head { Stage::Content } else { Stage::Trailers };
        Some(match (self.too_long, is_head) {
            (true, _) => Piece::HeadTooLong,
            (false, true) => Piece::Head(section),
            (false, false) => Piece::Trailers(section),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http3::frame::write_head;

    fn frame(out: &mut Vec<u8>, kind: u64, payload: &[u8]) {
        write_head(out, kind, payload.len() as u64);
        out.extend_from_slice(payload);
    }

    /// What is read of a stream that comes in pieces of this size: letters and what belongs to them.
    fn read(stream: &[u8], piece_bytes: usize) -> Result<Vec<(char, Vec<u8>)>, Fault> {
        let mut request = Request::default();
        let mut read: Vec<(char, Vec<u8>)> = Vec::new();
        for mut bytes in stream.chunks(piece_bytes) {
            while let Some(piece) = request.next(&mut bytes, 100)? {
                let (letter, bytes) = match piece {
                    Piece::Head(Section::Received(bytes)) => ('h', bytes.to_vec()),
                    Piece::Head(Section::Gathered) => ('h', request.section().to_vec()),
                    Piece::Trailers(Section::Received(bytes)) => ('t', bytes.to_vec()),
                    Piece::Trailers(Section::Gathered) => ('t', request.section().to_vec()),
                    Piece::HeadTooLong => ('l', Vec::new()),
                    Piece::Content(bytes) => ('c', bytes.to_vec()),
                };
                match read.last_mut() {
                    Some(('c', content)) if letter == 'c' => content.extend(bytes),
                    _ => read.push((letter, bytes)),
                }
            }
        }
        request.end().map(|()| read)
    }

    #[test]
    fn requests_are_the_same_however_their_bytes_come() {
        let mut stream = Vec::new();
        frame(&mut stream, 0x21, b"grease");
        frame(&mut stream, kind::HEADERS, &[b'h'; 90]);
        frame(&mut stream, kind::DATA, b"");
        frame(&mut stream, kind::DATA, &[b'c'; 300]);
        frame(&mut stream, kind::DATA, b"more");
        frame(&mut stream, kind::HEADERS, b"trailers");
        let content = [&[b'c'; 300][..], b"more"].concat();
        let expected =
            [('h', vec![b'h'; 90]), ('c', content), ('t', b"trailers".to_vec())].to_vec();
        for piece_bytes in [1, 2, 3, 50, stream.len()] {
            assert_eq!(read(&stream, piece_bytes), Ok(expected.clone()), "{piece_bytes}");
        }
        assert_eq!(
            read(&stream[..stream.len() - 1], 9),
            Err(Fault::Connection(ErrorKind::FrameCut))
        );
        assert_eq!(read(&stream[..8], 9), Err(Fault::Stream(ErrorCode::REQUEST_INCOMPLETE)));
    }

    #[test]
    fn a_head_that_is_too_long_is_not_kept() {
        let mut stream = Vec::new();
        frame(&mut stream, kind::HEADERS, &[b'h'; 101]);
        for piece_bytes in [1, 50, stream.len()] {
            assert_eq!(read(&stream, piece_bytes), Ok(vec![('l', Vec::new())]), "{piece_bytes}");
        }
    }

    /// RFC 9114, 7.2: which frames must not be on the stream of a request, or not there.
    #[test]
    fn frames_that_must_not_be_there_end_the_connection() {
        let wrong = Err(Fault::Connection(ErrorKind::FrameUnexpected));
        let head = (kind::HEADERS, &b"h"[..]);
        let of_others =
            [0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xd].map(|kind| [head, (kind, &b""[..])]);
        let orders = [[(kind::DATA, &b"c"[..]), head]].into_iter().chain(of_others);
        for frames in orders {
            let mut stream = Vec::new();
            frames.iter().for_each(|(kind, payload)| frame(&mut stream, *kind, payload));
            assert_eq!(read(&stream, 5), wrong, "{frames:?}");
        }
        for after in [head, (kind::DATA, b"c")] {
            let mut stream = Vec::new();
            [head, head, after]
                .iter()
                .for_each(|(kind, payload)| frame(&mut stream, *kind, payload));
            assert_eq!(read(&stream, 2), wrong, "{after:?}");
        }
    }
}
