//! Bodies that are made as they leave: `/chunked/N` and `/stream`.

use crate::handler::{Chunks, Flow, Stream};

/// A number of bytes of filler, in chunks.
#[derive(Debug)]
pub struct FillerChunks {
    body_bytes: u64,
    sent_bytes: u64,
    chunk_bytes: u64,
}

impl FillerChunks {
    /// Chunks of `chunk_bytes`, which is at least 1; the last may be shorter.
    pub fn new(body_bytes: u64, chunk_bytes: u64) -> Self {
        Self { body_bytes, sent_bytes: 0, chunk_bytes: chunk_bytes.max(1) }
    }
}

impl Stream for FillerChunks {
    fn next(&mut self, pieces: &mut Chunks<'_>) -> Flow {
        let bytes = self.chunk_bytes.min(self.body_bytes - self.sent_bytes);
        pieces.push_filler(self.sent_bytes, bytes);
        self.sent_bytes += bytes;
        if self.sent_bytes == self.body_bytes { Flow::End } else { Flow::After(0) }
    }
}

/// Numbered lines, one at a time.
#[derive(Debug)]
pub struct Lines {
    lines: u64,
    sent: u64,
    every_ns: u64,
}

impl Lines {
    /// `lines` lines, with a pause of `every_ns` before each but the first.
    pub fn new(lines: u64, every_ns: u64) -> Self {
        Self { lines, sent: 0, every_ns }
    }
}

impl Stream for Lines {
    fn next(&mut self, pieces: &mut Chunks<'_>) -> Flow {
        if self.sent < self.lines {
            self.sent += 1;
            pieces.push_owned(format!("line {} of {}\n", self.sent, self.lines).into_bytes());
        }
        if self.sent == self.lines { Flow::End } else { Flow::After(self.every_ns) }
    }
}
