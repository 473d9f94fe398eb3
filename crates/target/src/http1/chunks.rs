//! The pieces of a body that is made as it leaves, put into chunks (RFC 9112, 7.1), or sent as
//! they are to a client of HTTP/1.0, which knows no chunks: there, the connection's end is the
//! body's.

use crate::http1::output::Output;

/// Takes pieces of a body.
#[derive(Debug)]
pub struct Chunks<'a> {
    out: &'a mut Output,
    coded: bool,
}

impl<'a> Chunks<'a> {
    /// Adds pieces to `out`; `coded` if in chunks.
    pub(crate) fn new(out: &'a mut Output, coded: bool) -> Self {
        Self { out, coded }
    }

    /// Adds a piece; one chunk, unless it is empty.
    pub fn push(&mut self, piece: &[u8]) {
        self.framed(piece.len() as u64, |out| out.push_text(piece));
    }

    /// Adds a piece without copying it, if it is long.
    pub fn push_owned(&mut self, piece: Vec<u8>) {
        self.framed(piece.len() as u64, |out| out.push_owned(piece));
    }

    /// Adds this many bytes of filler, as they stand in a body from `offset` on.
    pub fn push_filler(&mut self, offset: u64, bytes: u64) {
        self.framed(bytes, |out| out.push_filler_from(offset, bytes));
    }

    /// The body is complete.
    pub(crate) fn end(self) {
        if self.coded {
            self.out.push_text(b"0\r\n\r\n");
        }
    }

    /// An empty chunk would end the body, so an empty piece is none.
    fn framed(&mut self, bytes: u64, push: impl FnOnce(&mut Output)) {
        if bytes == 0 {
            return;
        }
        if !self.coded {
            return push(self.out);
        }
        self.out.push_with(|text| push_hex(bytes, text));
        self.out.push_text(b"\r\n");
        push(self.out);
        self.out.push_text(b"\r\n");
    }
}

fn push_hex(value: u64, text: &mut Vec<u8>) {
    let digits = (64 - value.leading_zeros()).div_ceil(4).max(1);
    text.extend(
        (0..digits).rev().map(|digit| b"0123456789abcdef"[(value >> (4 * digit) & 0xf) as usize]),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(coded: bool) -> Vec<u8> {
        let mut out = Output::default();
        let mut chunks = Chunks::new(&mut out, coded);
        chunks.push(b"hello");
        chunks.push(b"");
        chunks.push_owned(b"sixteen bytes...".to_vec());
        chunks.push_filler(5, 3);
        chunks.end();
        out.as_text().unwrap().to_vec()
    }

    #[test]
    fn pieces_are_chunks_or_as_they_are() {
        assert_eq!(text(true), b"5\r\nhello\r\n10\r\nsixteen bytes...\r\n3\r\nabc\r\n0\r\n\r\n");
        assert_eq!(text(false), b"hellosixteen bytes...abc");
    }

    #[test]
    fn sizes_are_hexadecimal() {
        for value in [1, 9, 15, 16, 255, 256, 65_536, 0xfeed_beef, u64::MAX] {
            let mut text = Vec::new();
            push_hex(value, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), format!("{value:x}"));
        }
    }
}
