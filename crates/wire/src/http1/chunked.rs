//! The chunked transfer coding (RFC 9112, 7.1), read as it arrives.
//!
//! Nothing is kept but the place: bytes may come one by one. Extensions and trailers are read
//! over, up to [`LINE_BYTES_MAX`] for a size line and [`TRAILER_BYTES_MAX`] for all trailers.
//!
//! Tolerated: a bare LF as the end of a line, as in heads; white space behind a size, which old
//! servers pad with; leading zeros. Refused: a bare CR, a NUL, a size without digits, a size of
//! more than 64 bits, a chunk's data not followed by a line end, a trailer line that is none.

/// Longest line with the size of a chunk and its extensions, line end included.
pub const LINE_BYTES_MAX: u32 = 16 * 1024;

/// Longest trailer section, its empty line included.
pub const TRAILER_BYTES_MAX: u32 = 64 * 1024;

/// Reads a chunked body piece by piece. It keeps no bytes, only where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chunked {
    /// The size read so far, then what is left of the chunk's data.
    remaining: u64,
    /// Length of the present size line, or of the trailer section, so far.
    line_bytes: u32,
    place: Place,
}

/// Where in the coding the next byte belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// First digit of a size.
    #[default]
    SizeStart,
    /// Further digits.
    Size,
    /// White space behind the size.
    SizeSpace,
    Extension,
    /// LF of the size line.
    SizeLf,
    Data,
    /// CR or LF behind the data.
    DataEnd,
    DataLf,
    /// First byte of a trailer line, or of the empty line.
    TrailerStart,
    /// Name of a trailer field.
    TrailerName,
    TrailerValue,
    TrailerLf,
    /// LF of the empty line.
    LastLf,
    Done,
}

/// What a piece of a chunked body was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Bytes used; those behind belong to the next response (only when `done`).
    pub consumed: usize,
    /// Bytes of the body itself among them, without the coding.
    pub body_bytes: u64,
    /// The body and its trailers are complete.
    pub done: bool,
}

/// Why bytes are no chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChunkError(pub &'static str);

impl Chunked {
    /// At the beginning of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next piece. Unless the body ends in it, all of it is used. Behind the end,
    /// nothing is used.
    ///
    /// # Errors
    /// When the bytes break the coding.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Step, ChunkError> {
        self.feed_to(bytes, |_| {})
    }

    /// As [`Self::feed`], with the bytes of the body told to `body`, in order.
    ///
    /// # Errors
    /// As [`Self::feed`]; what came before the fault was told.
    pub fn feed_to(
        &mut self,
        bytes: &[u8],
        mut body: impl FnMut(&[u8]),
    ) -> Result<Step, ChunkError> {
        let mut at = 0;
        let mut body_bytes = 0;
        while self.place != Place::Done {
            if self.place == Place::Data {
                let here = self.remaining.min((bytes.len() - at) as u64);
                self.skip(here);
                body(&bytes[at..at + here as usize]);
                body_bytes += here;
                at += here as usize;
            }
            let rest = &bytes[at..];
            at += match self.read_usual(rest) {
                0 => match rest.first() {
                    Some(&byte) => {
                        self.read(byte)?;
                        1
                    }
                    None => break,
                },
                usual_bytes => usual_bytes,
            };
        }
        Ok(Step { consumed: at, body_bytes, done: self.place == Place::Done })
    }

    /// How many bytes of the current chunk's data are still to come: they may be dropped unread
    /// and then reported by [`Self::skip`].
    #[inline]
    pub fn remaining_in_chunk(&self) -> u64 {
        if self.place == Place::Data { self.remaining } else { 0 }
    }

    /// Notes that bytes of the current chunk's data were dropped unread: at most
    /// [`Self::remaining_in_chunk`].
    #[inline]
    pub fn skip(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.remaining_in_chunk(), "more dropped than the chunk has left");
        if self.place == Place::Data {
            self.remaining = self.remaining.saturating_sub(bytes);
            if self.remaining == 0 {
                self.place = Place::DataEnd;
            }
        }
    }

    /// Reads what usually stands between data when all of it is here: the CR LF behind a chunk,
    /// a size of a few digits with CR LF, the CR LF that ends the body. The number of bytes used.
    #[inline(always)]
    fn read_usual(&mut self, bytes: &[u8]) -> usize {
        match (self.place, bytes) {
            (Place::DataEnd, [b'\r', b'\n', ..]) => {
                self.place = self.next_chunk();
                2
            }
            (Place::SizeStart, _) => {
                let mut size = 0;
                for (digits, &byte) in bytes.iter().take(9).enumerate() {
                    match (byte as char).to_digit(16) {
                        Some(digit) => size = size << 4 | u64::from(digit),
                        None if digits > 0 && bytes[digits..].starts_with(b"\r\n") => {
                            self.remaining = size;
                            self.place = self.size_complete();
                            return digits + 2;
                        }
                        None => break,
                    }
                }
                0
            }
            (Place::TrailerStart, [b'\r', b'\n', ..]) if self.line_bytes == 0 => {
                self.place = Place::Done;
                2
            }
            _ => 0,
        }
    }

    /// One byte of the coding.
    fn read(&mut self, byte: u8) -> Result<(), ChunkError> {
        self.count()?;
        self.place = match self.place {
            Place::SizeStart | Place::Size | Place::SizeSpace | Place::Extension => {
                self.read_size_line(byte)?
            }
            Place::SizeLf => match byte {
                b'\n' => self.size_complete(),
                _ => return Err(ChunkError("a bare CR in the size line of a chunk")),
            },
            Place::DataEnd => match byte {
                b'\r' => Place::DataLf,
                b'\n' => self.next_chunk(),
                _ => return Err(ChunkError("a chunk is longer than its size says")),
            },
            Place::DataLf => match byte {
                b'\n' => self.next_chunk(),
                _ => return Err(ChunkError("a chunk is longer than its size says")),
            },
            Place::TrailerStart | Place::TrailerName | Place::TrailerValue => {
                self.read_trailer(byte)?
            }
            Place::TrailerLf => match byte {
                b'\n' => Place::TrailerStart,
                _ => return Err(ChunkError("a bare CR in the trailers")),
            },
            Place::LastLf => match byte {
                b'\n' => Place::Done,
                _ => return Err(ChunkError("a bare CR in the trailers")),
            },
            Place::Data | Place::Done => self.place,
        };
        Ok(())
    }

    fn read_size_line(&mut self, byte: u8) -> Result<Place, ChunkError> {
        let in_digits = matches!(self.place, Place::SizeStart | Place::Size);
        if let (true, Some(digit)) = (in_digits, (byte as char).to_digit(16)) {
            if self.remaining >> 60 != 0 {
                return Err(ChunkError("the size of a chunk does not fit in 64 bits"));
            }
            self.remaining = self.remaining << 4 | u64::from(digit);
            return Ok(Place::Size);
        }
        if self.place == Place::SizeStart {
            return Err(ChunkError("the size of a chunk is missing"));
        }
        match byte {
            b'\r' => Ok(Place::SizeLf),
            b'\n' => Ok(self.size_complete()),
            0 => Err(ChunkError("a NUL byte in the size line of a chunk")),
            _ if self.place == Place::Extension => Ok(Place::Extension),
            b';' => Ok(Place::Extension),
            b' ' | b'\t' => Ok(Place::SizeSpace),
            _ => Err(ChunkError("the size of a chunk is not a hexadecimal number")),
        }
    }

    fn read_trailer(&mut self, byte: u8) -> Result<Place, ChunkError> {
        match (self.place, byte) {
            (_, 0) => Err(ChunkError("a NUL byte in the trailers")),
            (Place::TrailerStart, b'\r') => Ok(Place::LastLf),
            (Place::TrailerStart, b'\n') => Ok(Place::Done),
            (Place::TrailerValue, b'\r') => Ok(Place::TrailerLf),
            (Place::TrailerValue, b'\n') => Ok(Place::TrailerStart),
            (Place::TrailerValue, _) => Ok(Place::TrailerValue),
            (Place::TrailerName, b':') => Ok(Place::TrailerValue),
            (_, b'\r' | b'\n' | b' ' | b'\t' | b':') => {
                Err(ChunkError("a trailer line is not a name, a colon and a value"))
            }
            _ => Ok(Place::TrailerName),
        }
    }

    /// The size line is complete: data follow, or behind a size of 0 the trailers.
    fn size_complete(&mut self) -> Place {
        self.line_bytes = 0;
        if self.remaining == 0 { Place::TrailerStart } else { Place::Data }
    }

    fn next_chunk(&mut self) -> Place {
        self.line_bytes = 0;
        Place::SizeStart
    }

    /// Keeps size lines and trailers, line ends included, within their bounds.
    fn count(&mut self) -> Result<(), ChunkError> {
        let (bytes_max, fault) = match self.place {
            Place::SizeStart
            | Place::Size
            | Place::SizeSpace
            | Place::Extension
            | Place::SizeLf => (LINE_BYTES_MAX, "the size line of a chunk is too long"),
            Place::TrailerStart
            | Place::TrailerName
            | Place::TrailerValue
            | Place::TrailerLf
            | Place::LastLf => (TRAILER_BYTES_MAX, "the trailers are too long"),
            Place::Data | Place::DataEnd | Place::DataLf | Place::Done => return Ok(()),
        };
        self.line_bytes += 1;
        if self.line_bytes > bytes_max { Err(ChunkError(fault)) } else { Ok(()) }
    }
}
