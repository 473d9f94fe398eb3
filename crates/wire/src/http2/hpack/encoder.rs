//! Writes header blocks (RFC 7541, 6). The pieces here keep no state: who writes a block knows
//! what the table holds.

use super::{huffman, integer};

/// What the receiver shall do with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Add it to the table (6.2.1).
    Keep,
    /// Without indexing (6.2.2).
    Without,
    /// Not, and neither shall anyone it is sent on to: for what must stay secret (6.2.3, 7.1.3).
    Never,
}

/// The name of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'a> {
    /// That of this entry.
    Index(usize),
    /// A name that is written out.
    Literal(&'a [u8]),
}

/// Appends a reference to a whole field (6.1).
pub fn indexed(out: &mut Vec<u8>, index: usize) {
    integer::write(out, 0x80, 7, index);
}

/// Appends a field as a literal, its strings in the shorter coding.
pub fn literal(out: &mut Vec<u8>, indexing: Indexing, name: Name<'_>, value: &[u8]) {
    literal_name(out, indexing, name);
    string(out, value);
}

/// Appends a literal whose value is not Huffman-coded, so that bytes of it can be replaced by
/// others; the offset of the value in `out`.
pub fn plain_literal(out: &mut Vec<u8>, indexing: Indexing, name: Name<'_>, value: &[u8]) -> usize {
    literal_name(out, indexing, name);
    integer::write(out, 0, 7, value.len());
    out.extend_from_slice(value);
    out.len() - value.len()
}

/// Appends a change of the table's size (6.3).
pub fn size_update(out: &mut Vec<u8>, bytes: usize) {
    integer::write(out, 0x20, 5, bytes);
}

fn literal_name(out: &mut Vec<u8>, indexing: Indexing, name: Name<'_>) {
    let (pattern, prefix_bits) = match indexing {
        Indexing::Keep => (0x40, 6),
        Indexing::Without => (0, 4),
        Indexing::Never => (0x10, 4),
    };
    match name {
        Name::Index(index) => integer::write(out, pattern, prefix_bits, index),
        Name::Literal(name) => {
            out.push(pattern);
            string(out, name);
        }
    }
}

/// Appends a string in the shorter coding (5.2).
fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    let coded_bytes = huffman::encoded_bytes(bytes);
    if coded_bytes < bytes.len() {
        integer::write(out, 0x80, 7, coded_bytes);
        huffman::encode(bytes, out);
    } else {
        integer::write(out, 0, 7, bytes.len());
        out.extend_from_slice(bytes);
    }
}
