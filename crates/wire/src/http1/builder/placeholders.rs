//! Text with placeholders, as bytes and the fields in them; for the builder of requests.

use super::{DIGITS_MAX, RequestBuilder, RequestError, SEQUENCE_DIGITS};
use crate::http1::request::{Patch, PatchValue};

/// Bytes with fields in them; offsets are as wide as memory until the whole is known to fit.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub bytes: Vec<u8>,
    pub patches: Vec<Field>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub offset: usize,
    pub width: u32,
    pub value: PatchValue,
}

impl Field {
    pub fn into_patch(self) -> Patch {
        // The request was checked to be shorter than u32::MAX.
        Patch { offset: self.offset as u32, width: self.width, value: self.value }
    }
}

impl Text {
    /// Puts another in front. Its own bytes may be those of a large file: they move within their block, which grows in
    /// place or by remapping its pages (malloc(3), mremap(2)), and are never held twice.
    /// With room for a text of so many bytes, and a head before it: a file may be large.
    pub fn with_room(bytes: usize) -> Self {
        const HEAD_BYTES: usize = 1024;
        Self { bytes: Vec::with_capacity(bytes + HEAD_BYTES), patches: Vec::new() }
    }

    pub fn put_in_front(&mut self, other: Self) {
        let shift = other.bytes.len();
        self.bytes.reserve_exact(shift);
        self.bytes.splice(0..0, other.bytes);
        let own = self.patches.drain(..).map(|f| Field { offset: f.offset + shift, ..f });
        self.patches = other.patches.into_iter().chain(own).collect();
    }

    pub fn append_expanded(
        &mut self,
        mut part: &[u8],
        builder: &RequestBuilder,
    ) -> Result<(), RequestError> {
        while let Some(brace) = memchr::memchr(b'{', part) {
            self.bytes.extend_from_slice(&part[..brace]);
            part = &part[brace..];
            if let Some((placeholder_bytes, value, width)) = builder.field(part)? {
                let offset = self.bytes.len();
                self.bytes.resize(offset + width as usize, b'0');
                self.patches.push(Field { offset, width, value });
                part = &part[placeholder_bytes..];
            } else {
                self.bytes.push(b'{');
                part = &part[1..];
            }
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }
}

/// The placeholder that begins with the brace at the beginning of `text`: its length, what it
/// stands for, and its width.
pub(super) fn placeholder(text: &[u8]) -> Result<Option<(usize, PatchValue, u32)>, RequestError> {
    let (value, name_bytes) = match text {
        [b'{', b's', b'e', b'q', b'}', ..] => {
            return Ok(Some((5, PatchValue::Sequence, SEQUENCE_DIGITS)));
        }
        [b'{', b's', b'e', b'q', b':', ..] => (PatchValue::Sequence, 5),
        [b'{', b'r', b'a', b'n', b'd', b':', ..] => (PatchValue::Random, 6),
        _ => return Ok(None),
    };
    let digits = text[name_bytes..].iter().take_while(|b| b.is_ascii_digit()).count();
    let end = name_bytes + digits;
    if digits == 0 || text.get(end) != Some(&b'}') {
        return Ok(None);
    }
    let width = text[name_bytes..end]
        .iter()
        .fold(0u32, |n, digit| n.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
    if !(1..=DIGITS_MAX).contains(&width) {
        return Err(RequestError::Placeholder(String::from_utf8_lossy(&text[1..end]).into_owned()));
    }
    Ok(Some((end + 1, value, width)))
}
