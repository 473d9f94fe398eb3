//! Requests as bytes, built once before the run, with the fields to patch in each copy.
//! [`super::builder::RequestBuilder`] makes them, [`super::patch::Patcher`] fills the fields in.

use serde::{Deserialize, Serialize};

/// One request as it goes over the wire: constant bytes and the places that change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Head and body; fewer than `u32::MAX` bytes.
    pub bytes: Vec<u8>,
    /// Length of the head, its empty line included.
    pub head_bytes: usize,
    /// Places whose bytes differ from request to request, by rising offset. Those of fixed width hold zeros (`0`) in
    /// `bytes`. Where all are, neither Content-Length nor the length of the request changes; else
    /// the request has to be [assembled](super::assemble).
    pub patches: Vec<Patch>,
    /// The method is HEAD: the response has no body whatever its head says.
    pub response_has_no_body: bool,
}

/// A fixed-width field in a [`Template`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// Offset of the field in the template's bytes.
    pub offset: u32,
    /// Width of the field in bytes; 0 where it has another in every request.
    pub width: u32,
    /// What goes there.
    pub value: PatchValue,
}

/// What a patched field carries. Numbers of the run and random ones are decimal digits, padded with zeros on the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PatchValue {
    /// `{seq}`: the number of the request in the run, from 0.
    Sequence,
    /// `{rand:N}`: N random digits.
    Random,
    /// The cell of this column in the request's row of a feed: its width varies.
    Cell(u32),
    /// The number of bytes of the body, where that varies.
    BodyLength,
}

impl Template {
    /// The same with a digit where something of any length stands, and nothing that changes.
    pub fn filled(&self) -> Self {
        let mut bytes = self.bytes.clone();
        let mut head_bytes = self.head_bytes;
        for patch in self.patches.iter().rev().filter(|patch| patch.width == 0) {
            bytes.insert(patch.offset as usize, b'0');
            head_bytes += usize::from((patch.offset as usize) < self.head_bytes);
        }
        Self { bytes, head_bytes, patches: Vec::new(), ..*self }
    }

    /// Whether its length differs from request to request.
    pub fn is_variable(&self) -> bool {
        self.patches.iter().any(|patch| patch.width == 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::http1::builder::RequestBuilder;

    #[test]
    fn a_template_is_filled_where_cells_and_lengths_stand() {
        let cells = ["user".to_owned()];
        let template = RequestBuilder::new("POST", "/{user}/{seq:2}")
            .header("X", "{user}, {user}")
            .body_length_header("Content-Length")
            .body("{user}!")
            .cells(&cells)
            .build()
            .unwrap();
        let filled = template.filled();
        let expected = "POST /0/00 HTTP/1.1\r\nX: 0, 0\r\nContent-Length: 0\r\n\r\n0!";
        assert_eq!(String::from_utf8_lossy(&filled.bytes), expected);
        assert_eq!((&filled.bytes[filled.head_bytes..], filled.is_variable()), (&b"0!"[..], false));
    }
}
