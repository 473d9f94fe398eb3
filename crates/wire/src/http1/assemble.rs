//! Requests whose length differs from one to the next: put together from a [`Template`]'s constant parts and the values
//! between them.

use crate::http1::patch::{Digits, Field};
use crate::http1::request::{PatchValue, Template};

/// The pieces of one template, ready for the hot path.
#[derive(Debug, Clone)]
pub struct Assembler {
    pieces: Box<[Piece]>,
    /// Constant bytes behind the last piece.
    tail: (u32, u32),
    /// Bytes of the body that are the same in every request.
    body_constant_bytes: u32,
    /// Columns in the body.
    body_columns: Box<[u32]>,
}

/// Constant bytes, and a value behind them.
#[derive(Debug, Clone, Copy)]
struct Piece {
    constant: (u32, u32),
    value: Value,
}

#[derive(Debug, Clone, Copy)]
enum Value {
    Digits(Field),
    Cell(u32),
    BodyLength,
}

/// Digits of the longest length of a body: a request has fewer than 2^32 bytes.
const LENGTH_DIGITS_MAX: usize = 10;

impl Assembler {
    /// For requests of this template.
    pub fn new(template: &Template) -> Self {
        let mut at = 0;
        let mut pieces = Vec::with_capacity(template.patches.len());
        let mut body_columns = Vec::new();
        for patch in &template.patches {
            let value = match patch.value {
                PatchValue::Cell(column) => Value::Cell(column),
                _ => Field::of(patch).map_or(Value::BodyLength, Value::Digits),
            };
            pieces.push(Piece { constant: (at, patch.offset), value });
            at = patch.offset + patch.width;
            if let Value::Cell(column) = value
                && patch.offset as usize >= template.head_bytes
            {
                body_columns.push(column);
            }
        }
        Self {
            pieces: pieces.into(),
            tail: (at, template.bytes.len() as u32),
            body_constant_bytes: (template.bytes.len() - template.head_bytes) as u32,
            body_columns: body_columns.into(),
        }
    }

    /// The most bytes that a request can have, where `longest` says it of the cells of a column.
    pub fn most_bytes(&self, template: &Template, longest: impl Fn(u32) -> usize) -> usize {
        let of = |piece: &Piece| match piece.value {
            Value::Cell(column) => longest(column),
            Value::BodyLength => LENGTH_DIGITS_MAX,
            Value::Digits(_) => 0,
        };
        template.bytes.len() + self.pieces.iter().map(of).sum::<usize>()
    }

    /// Writes the request of this number to the beginning of `out`, with the cells of its row. Its length.
    ///
    /// # Panics
    /// When `out` is shorter than the request, or `template` is another than the one this was made for.
    #[inline]
    pub fn assemble<'c>(
        &self,
        template: &Template,
        out: &mut [u8],
        number: u64,
        digits: &mut Digits,
        cell: impl Fn(u32) -> &'c [u8],
    ) -> usize {
        let mut out = Out { bytes: out, at: 0 };
        for piece in &self.pieces {
            out.put(part(template, piece.constant));
            match piece.value {
                Value::Cell(column) => out.put(cell(column)),
                Value::BodyLength => {
                    let varying: usize = self.body_columns.iter().map(|c| cell(*c).len()).sum();
                    out.put_decimal(self.body_constant_bytes as usize + varying);
                }
                Value::Digits(field) => {
                    field.fill(&mut out.bytes[out.at..], number, digits);
                    out.at += field.width();
                }
            }
        }
        out.put(part(template, self.tail));
        out.at
    }
}

fn part(template: &Template, (from, to): (u32, u32)) -> &[u8] {
    &template.bytes[from as usize..to as usize]
}

/// What is written, and how far.
struct Out<'o> {
    bytes: &'o mut [u8],
    at: usize,
}

impl Out<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn put_decimal(&mut self, mut number: usize) {
        let mut digits = [0; LENGTH_DIGITS_MAX];
        let mut first = LENGTH_DIGITS_MAX;
        while first == LENGTH_DIGITS_MAX || (number > 0 && first > 0) {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.put(&digits[first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::builder::RequestBuilder;

    fn assembled(template: &Template, number: u64, cells: &[&[u8]]) -> String {
        let assembler = Assembler::new(template);
        let most = assembler.most_bytes(template, |column| cells[column as usize].len());
        let (mut out, mut digits) = (vec![b'?'; most], Digits::new(1, 0));
        let length = assembler
            .assemble(template, &mut out, number, &mut digits, |column| cells[column as usize]);
        String::from_utf8(out[..length].to_vec()).unwrap()
    }

    fn builder(path: &str) -> RequestBuilder {
        let cells = ["user", "user:url", "city"].map(str::to_owned);
        RequestBuilder::new("POST", path).header("Host", "h").cells(&cells)
    }

    #[test]
    fn cells_stand_where_their_names_did_and_the_length_is_that_of_the_body() {
        let template = builder("/{user:url}/{other}/{seq:3}?{user}")
            .header("X", "{city}{city}")
            .body_length_header("Content-Length")
            .body("{\"user\":\"{user}\",\"n\":{seq:2}}")
            .build()
            .unwrap();
        assert!(template.is_variable());
        for (user, length) in [("ann", 21), ("", 18), ("a-name-that-is-long", 37)] {
            let cells = [user.as_bytes(), b"a%20b", b"Rome"];
            let expected = format!(
                "POST /a%20b/{{other}}/042?{user} HTTP/1.1\r\nHost: h\r\nX: RomeRome\r\nContent-Length: {length}\r\n\r\n{{\"user\":\"{user}\",\"n\":42}}"
            );
            assert_eq!(assembled(&template, 42, &cells), expected);
        }
    }

    #[test]
    fn a_body_of_nothing_but_an_empty_cell_has_length_0() {
        let template =
            builder("/").body_length_header("Content-Length").body("{city}").build().unwrap();
        let text = assembled(&template, 0, &[b"", b"", b""]);
        assert!(text.ends_with("\r\nContent-Length: 0\r\n\r\n"), "{text}");
        let text = assembled(&template, 0, &[b"", b"", &[b'x'; 1_000]]);
        assert!(text.contains("\r\nContent-Length: 1000\r\n\r\nxxx"), "{text}");
    }

    #[test]
    fn a_length_by_hand_cannot_be_right_for_every_row() {
        let refused = |value: &str| {
            builder("/").header("Content-Length", value).body("{city}").build().unwrap_err()
        };
        for value in ["0", "4", "6"] {
            let text = refused(value).to_string();
            assert!(text.contains("leave the header out"), "{text}");
        }
    }

    #[test]
    fn without_cells_nothing_varies() {
        let template = RequestBuilder::new("GET", "/{user}/{seq}").header("Host", "h").build();
        let template = template.unwrap();
        assert!(!template.is_variable());
        let text = assembled(&template, 7, &[]);
        assert_eq!(text, "GET /{user}/0000000007 HTTP/1.1\r\nHost: h\r\n\r\n");
    }
}
