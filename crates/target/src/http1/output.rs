//! What is to be written on a connection, in order: text (heads and small bodies), stretches of
//! the filler block, and bodies that were handed over. No I/O: every model writes it in its own
//! way, as one slice or as a list of slices, and tells how much left. Cuts are places that no
//! single write may cross.

use std::io::IoSlice;
use std::mem;

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
    /// Bytes not written yet. It stays at `u64::MAX` where the sum would be more, which nobody
    /// lives to see written.
    left: u64,
    /// Bytes written since this was empty.
    passed: u64,
    /// Places that no write may cross, counted as `passed` is; from `cut` on, they lie ahead.
    cuts: Vec<u64>,
    cut: usize,
}

#[derive(Debug)]
enum Part {
    Text { start: usize, end: usize },
    Filler { offset: u64, bytes: u64 },
    Owned(Vec<u8>),
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Self::Text { start, end } => (end - start) as u64,
            Self::Filler { bytes, .. } => *bytes,
            Self::Owned(bytes) => bytes.len() as u64,
        }
    }
}

impl Output {
    /// Adds text.
    #[inline]
    pub fn push_text(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.left = self.left.saturating_add(text.len() as u64);
    }

    /// Adds the text that `write` appends.
    #[inline]
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.text.len();
        write(&mut self.text);
        self.left = self.left.saturating_add((self.text.len() - before) as u64);
    }

    /// Adds this many bytes of filler.
    pub fn push_filler(&mut self, bytes: u64) {
        self.push_filler_from(0, bytes);
    }

    /// Adds this many bytes of filler, as they stand in a body from `offset` on.
    pub fn push_filler_from(&mut self, offset: u64, bytes: u64) {
        let offset = offset % filler::BLOCK_BYTES as u64;
        if bytes > COPIED_BYTES_MAX as u64 {
            return self.push_part(Part::Filler { offset, bytes });
        }
        let mut done = 0;
        while done < bytes {
            let piece = filler::piece(offset + done, bytes - done);
            self.push_text(piece);
            done += piece.len() as u64;
        }
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
        self.left = self.left.saturating_add(part.len());
        self.parts.push(part);
    }

    /// Makes a cut here: what comes before and what comes after is written by different calls.
    pub fn cut(&mut self) {
        let here = self.passed.saturating_add(self.left);
        if here > self.cuts.last().copied().unwrap_or(0) && here > self.passed {
            self.cuts.push(here);
        }
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

    /// Memory that it holds, used or not, without bodies that were handed over.
    pub fn memory_bytes(&self) -> usize {
        self.text.capacity() + self.parts.capacity() * size_of::<Part>()
    }

    /// How many bytes one write may take.
    #[inline]
    pub(crate) fn uncut(&self) -> u64 {
        self.cuts.get(self.cut).map_or(u64::MAX, |cut| cut - self.passed)
    }

    /// Everything that is left up to the next cut, if nothing is left but text.
    #[inline]
    pub fn as_text(&self) -> Option<&[u8]> {
        let text = self.parts.is_empty().then(|| &self.text[self.offset as usize..])?;
        Some(up_to(text, self.uncut()))
    }

    /// Fills `slices` with what comes next, up to the next cut, and returns how many were used. A
    /// long body of filler takes all that are left.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut used = 0;
        let mut offset = self.offset;
        let mut uncut = self.uncut();
        for part in &self.parts[self.part..] {
            while offset < part.len() && uncut > 0 {
                let Some(next) = slices.get_mut(used) else { return used };
                let slice = up_to(self.slice_of(part, offset), uncut);
                *next = IoSlice::new(slice);
                used += 1;
                offset += slice.len() as u64;
                uncut -= slice.len() as u64;
            }
            offset = 0;
        }
        let tail = up_to(&self.text[self.tail_at + offset as usize..], uncut);
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
            Part::Filler { offset: start, bytes } => filler::piece(start + offset, bytes - offset),
            Part::Owned(bytes) => &bytes[offset as usize..],
        }
    }

    /// Notes that this many bytes were written. When nothing is left, the memory is kept for the next use,
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
        self.passed += bytes as u64;
        while self.cuts.get(self.cut).is_some_and(|cut| *cut <= self.passed) {
            self.cut += 1;
        }
        while let Some(part) = self.parts.get_mut(self.part) {
            if self.offset < part.len() {
                break;
            }
            self.offset -= part.len();
            // What was handed over is freed as soon as it has left.
            *part = Part::Filler { offset: 0, bytes: 0 };
            self.part += 1;
        }
        if self.part == self.parts.len() && self.part > 0 {
            self.offset += self.tail_at as u64;
            self.parts.clear();
            self.part = 0;
            self.tail_at = 0;
        }
    }

    /// Takes the next bytes out of here, as many as wanted or as there are, and adds them to
    /// `to`, with their cuts. Filler is not copied, nor what was handed over, if all of it goes.
    pub fn move_to(&mut self, to: &mut Self, bytes: u64) {
        let mut wanted = bytes.min(self.left);
        while wanted > 0 {
            let uncut = self.uncut();
            let most = wanted.min(uncut);
            let offset = self.offset;
            let moved = match self.parts.get_mut(self.part) {
                Some(part @ Part::Owned(_)) if offset == 0 && part.len() <= most => {
                    // What stays behind counts as much as what goes.
                    let moved = part.len();
                    let behind = Part::Filler { offset: 0, bytes: moved };
                    if let Part::Owned(owned) = mem::replace(part, behind) {
                        to.push_owned(owned);
                    }
                    moved
                }
                Some(Part::Owned(owned)) => push_up_to(to, &owned[offset as usize..], most),
                Some(Part::Filler { offset: start, bytes }) => {
                    let moved = most.min(*bytes - offset);
                    to.push_filler_from(*start + offset, moved);
                    moved
                }
                Some(Part::Text { start, end }) => {
                    push_up_to(to, &self.text[*start + offset as usize..*end], most)
                }
                None => push_up_to(to, &self.text[self.tail_at + offset as usize..], most),
            };
            if moved == uncut {
                to.cut();
            }
            wanted -= moved;
            // A body of more bytes than an address has is written in many lifetimes.
            self.wrote(usize::try_from(moved).unwrap_or(usize::MAX));
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
        self.cuts.clear();
        (self.tail_at, self.part, self.offset, self.left) = (0, 0, 0, 0);
        (self.passed, self.cut) = (0, 0);
    }
}

fn up_to(bytes: &[u8], most: u64) -> &[u8] {
    match usize::try_from(most) {
        Ok(most) if most < bytes.len() => &bytes[..most],
        _ => bytes,
    }
}

fn push_up_to(to: &mut Output, bytes: &[u8], most: u64) -> u64 {
    let bytes = up_to(bytes, most);
    to.push_text(bytes);
    bytes.len() as u64
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

    /// What a write is offered, one write after the other.
    fn writes(output: &mut Output) -> Vec<Vec<u8>> {
        let mut writes = Vec::new();
        while !output.is_empty() {
            let mut slices = [IoSlice::new(&[]); 8];
            let used = output.slices(&mut slices);
            let write: Vec<u8> = slices[..used].iter().flat_map(|slice| slice.to_vec()).collect();
            if let Some(text) = output.as_text() {
                assert_eq!(text, write);
            }
            output.wrote(write.len());
            writes.push(write);
        }
        writes
    }

    #[test]
    fn no_write_crosses_a_cut() {
        let mut output = Output::default();
        output.cut();
        output.push_text(b"head");
        output.cut();
        output.cut();
        output.push_text(b"body");
        output.cut();
        output.push_text(b"head");
        output.cut();
        output.push_filler(100_000);
        output.cut();
        output.push_text(b"head");
        let writes = writes(&mut output);
        let lengths: Vec<_> = writes.iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 4, 4, 100_000, 4]);
        output.push_text(b"no cut is left behind");
        assert_eq!(output.as_text(), Some(&b"no cut is left behind"[..]));
    }

    #[test]
    fn what_is_moved_arrives_in_order_with_its_cuts() {
        for step in [1, 5, 4096, 65_536, 65_600, 1 << 20] {
            let (mut from, expected) = sample();
            from.cut();
            from.push_filler_from(7, 3);
            let mut to = Output::default();
            to.push_text(b"before ");
            while !from.is_empty() {
                let left = from.left();
                let mut piece = Output::default();
                from.move_to(&mut piece, step);
                assert_eq!(left - from.left(), piece.left());
                piece.move_to(&mut to, u64::MAX);
            }
            let writes = writes(&mut to);
            assert_eq!(writes.concat(), [b"before ", &expected[..], b"cde"].concat(), "{step}");
            assert_eq!(writes.last().unwrap(), b"cde", "{step}");
        }
    }

    #[test]
    fn a_body_may_be_longer_than_anything() {
        let (mut output, mut half) = (Output::default(), Output::default());
        output.push_text(b"head");
        output.push_filler(u64::MAX);
        output.move_to(&mut half, 1 << 62);
        assert_eq!((half.left(), half.slices(&mut [IoSlice::new(&[])])), (1 << 62, 1));
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
