//! Writes field sections that need no dynamic table (RFC 9204, 4.5). A field with another value each time is written so that
//! the bytes of its value can be replaced.

use crate::http2::hpack::encoder::Name;
use crate::http2::hpack::{huffman, integer};

/// Begins a field section: it needs no entry, and its base is 0 (4.5.1).
pub fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
}

/// Appends a reference to a whole field of the static table (4.5.2).
pub fn indexed(out: &mut Vec<u8>, index: usize) {
    integer::write(out, 0xc0, 6, index);
}

/// Appends a field as a literal, its strings in the shorter coding (4.5.4, 4.5.6). `secret` asks whoever sends it on not to
/// keep it in a table either (7.1.3); a name's index is that of the static table.
pub fn literal(out: &mut Vec<u8>, secret: bool, name: Name<'_>, value: &[u8]) {
    literal_name(out, secret, name);
    string(out, 0, 7, value);
}

/// Appends a literal whose value is not Huffman-coded; the offset of the value in `out`.
pub fn plain_literal(out: &mut Vec<u8>, secret: bool, name: Name<'_>, value: &[u8]) -> usize {
    literal_name(out, secret, name);
    integer::write(out, 0, 7, value.len());
    out.extend_from_slice(value);
    out.len() - value.len()
}

fn literal_name(out: &mut Vec<u8>, secret: bool, name: Name<'_>) {
    match name {
        Name::Index(index) => integer::write(out, 0x50 | u8::from(secret) << 5, 4, index),
        Name::Literal(name) => string(out, 0x20 | u8::from(secret) << 4, 3, name),
    }
}

/// Appends a string in the shorter coding; the bit above its length says which (4.1.2).
fn string(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, bytes: &[u8]) {
    let coded_bytes = huffman::encoded_bytes(bytes);
    if coded_bytes < bytes.len() {
        integer::write(out, pattern | 1 << prefix_bits, prefix_bits, coded_bytes);
        huffman::encode(bytes, out);
    } else {
        integer::write(out, pattern, prefix_bits, bytes.len());
        out.extend_from_slice(bytes);
    }
}
