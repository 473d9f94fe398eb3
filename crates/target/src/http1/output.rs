//! What is to be written on a connection, in order: text (heads and small bodies), stretches of
//! the filler block, and bodies that were handed over. No I/O: every model writes it in its own
//! way, as one slice or as a list of slices, and tells how much left.

use std::io::IoSlice;

use crate::http1::filler;

/// Up to here, a copy costs less than a slice of its own.
const COPIED_BYTES_MAX: usize = 4 * 1024;

/// Bytes waiting to be written.
#[derive(Debug, Default)]
pub struct Output {
    /// All text, in order.
    text: Vec<u8>,
    /// The order of things; empty as long as there is nothing but text.
    parts: Vec<Part>,
    /// Where the text begins that stands in no part yet; it comes last.
    tail_at: usize,
    /// First part that is not completely written.
    part: usize,
    /// Bytes of it (or of the tail) that are written.
    offset: u64,
    /// Bytes not written yet.
    left: u64,
}

#[derive(Debug)]
enum Part {
    Text { start: usize, end: usize },
    Filler { bytes: u64 },
    Owned(Vec<u8>),
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Self::Text { start, end } => (end - start) as u64,
            Self::Filler { bytes } => *bytes,
            Self::Owned(bytes) => bytes.len() as u64,
        }
    }
}

impl Output {
    /// Adds text.
    #[inline]
    pub fn push_text(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.left += text.len() as u64;
    }

    /// Adds the text that `write` appends.
    #[inline]
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.text.len();
        write(&mut self.text);
        self.left += (self.text.len() - before) as u64;
    }

    /// Adds so many bytes of filler.
    pub fn push_filler(&mut self, bytes: u64) {
        self.push_part(Part::Filler { bytes });
    }

    /// Adds bytes; many are not copied.
    pub fn push_owned(&mut self, bytes: Vec<u8>) {
        if bytes.len() <= COPIED_BYTES_MAX {
            self.push_text(&bytes);
        } else {
            self.push_part(Part::Owned(bytes));
        }
    }

    fn push_part(&mut self, part: Part) {
        if self.tail_at < self.text.len() {
            self.parts.push(Part::Text { start: self.tail_at, end: self.text.len() });
            self.tail_at = self.text.len();
        }
        self.left += part.len();
        self.parts.push(part);
    }

    /// Nothing is left to write.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Number of bytes left to write.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Everything that is left, if it is one piece of text.
    #[inline]
    pub fn as_text(&self) -> Option<&[u8]> {
        self.parts.is_empty().then(|| &self.text[self.offset as usize..])
    }

    /// Fills `slices` with what comes next and returns how many were used. A long body of filler
    /// takes all that are left.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut used = 0;
        let mut offset = self.offset;
        for part in &self.parts[self.part..] {
            while offset < part.len() {
                let Some(next) = slices.get_mut(used) else { return used };
                let slice = self.slice_of(part, offset);
                *next = IoSlice::new(slice);
                used += 1;
                offset += slice.len() as u64;
            }
            offset = 0;
        }
        let tail = &self.text[self.tail_at + offset as usize..];
        if !tail.is_empty() && used < slices.len() {
            slices[used] = IoSlice::new(tail);
            used += 1;
        }
        used
    }

    /// What can be written in one piece of a part, from `offset` on.
    fn slice_of<'a>(&'a self, part: &'a Part, offset: u64) -> &'a [u8] {
        match part {
            Part::Text { start, end } => &self.text[start + offset as usize..*end],
            Part::Filler { bytes } => {
                let from = (offset % filler::BLOCK_BYTES as u64) as usize;
                let len = (bytes - offset).min((filler::BLOCK_BYTES - from) as u64);
                &filler::BLOCK[from..from + len as usize]
            }
            Part::Owned(bytes) => &bytes[offset as usize..],
        }
    }

    /// So many bytes were written. When nothing is left, the memory is kept for the next use,
    /// unless it is a lot.
    #[inline]
    pub fn wrote(&mut self, bytes: usize) {
        debug_assert!(bytes as u64 <= self.left, "more was written than there was");
        self.left -= bytes as u64;
        if self.left == 0 {
            self.clear();
            return;
        }
        self.offset += bytes as u64;
        while let Some(part) = self.parts.get_mut(self.part) {
            if self.offset < part.len() {
                break;
            }
            self.offset -= part.len();
            // What was handed over is freed as soon as it has left.
            *part = Part::Filler { bytes: 0 };
            self.part += 1;
        }
        if self.part == self.parts.len() && self.part > 0 {
            self.offset += self.tail_at as u64;
            self.parts.clear();
            self.part = 0;
            self.tail_at = 0;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        const KEPT_BYTES_MAX: usize = 256 * 1024;
        self.text.clear();
        if self.text.capacity() > KEPT_BYTES_MAX {
            self.text = Vec::new();
        }
        self.parts.clear();
        (self.tail_at, self.part, self.offset, self.left) = (0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Output, Vec<u8>) {
        let mut output = Output::default();
        output.push_text(b"head one ");
        output.push_filler(filler::BLOCK_BYTES as u64 + 100);
        output.push_text(b"head two ");
        output.push_owned(vec![b'o'; COPIED_BYTES_MAX + 1]);
        output.push_text(b"head three");
        let mut expected = b"head one ".to_vec();
        expected.extend((0..filler::BLOCK_BYTES as u64 + 100).map(filler::byte_at));
        expected.extend(b"head two ");
        expected.extend(vec![b'o'; COPIED_BYTES_MAX + 1]);
        expected.extend(b"head three");
        (output, expected)
    }

    fn drain(mut output: Output, step: usize) -> Vec<u8> {
        let mut written = Vec::new();
        while !output.is_empty() {
            let mut slices = [IoSlice::new(&[]); 3];
            let used = output.slices(&mut slices);
            if let Some(text) = output.as_text() {
                assert_eq!((used, &*slices[0]), (1, text));
            }
            let mut taken = 0;
            for slice in &slices[..used] {
                let here = slice.len().min(step - taken);
                written.extend_from_slice(&slice[..here]);
                taken += here;
            }
            assert!(taken > 0);
            output.wrote(taken);
        }
        written
    }

    #[test]
    fn order_and_bytes_survive_writes_of_any_length() {
        for step in [1, 7, 64, 65_535, 65_536, 65_537, 1 << 20] {
            let (output, expected) = sample();
            assert_eq!(output.left(), expected.len() as u64);
            assert_eq!(drain(output, step), expected, "step {step}");
        }
    }

    #[test]
    fn text_can_follow_while_a_part_is_under_way() {
        let (mut output, mut expected) = sample();
        output.wrote(expected.len() - 3);
        output.push_text(b" and more");
        output.push_filler(10);
        expected.extend(b" and more0000 abcde");
        assert_eq!(drain(output, 4), expected[expected.len() - 3 - 19..]);
    }
}
