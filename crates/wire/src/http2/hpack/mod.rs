//! HPACK, the compression of header fields (RFC 7541).
//!
//! Reading order: [`integer`] and [`huffman`] (primitives, section 5), [`static_table`] and
//! [`dynamic_table`] (section 2.3), [`decoder`] and [`encoder`] (section 6).
//!
//! Nothing here knows what a field means to HTTP. What a decoder's owner wants to know about a
//! field ([`Meaning`]) is found out once, when its bytes are read, and kept with the entry of
//! the dynamic table: a field that comes again as an index costs one look-up.

pub mod decoder;
pub mod dynamic_table;
pub mod encoder;
pub mod huffman;
pub mod integer;
pub mod static_table;

/// Size of a dynamic table until a setting or an update says otherwise (RFC 9113, 6.5.2).
pub const TABLE_BYTES: u32 = 4_096;
/// What an entry costs beside its name and value (RFC 7541, 4.1).
pub const ENTRY_OVERHEAD_BYTES: usize = 32;

/// What the owner of a decoder keeps about a field.
pub trait Meaning: Copy {
    /// Of a field that came as a literal.
    fn of(name: &[u8], value: &[u8]) -> Self;
    /// Of a literal whose name is that of an entry of the static table, 1 to 61: the same, found
    /// faster.
    #[inline]
    fn of_named(_index: usize, name: &[u8], value: &[u8]) -> Self {
        Self::of(name, value)
    }
    /// Of an entry of the static table, 1 to 61.
    fn of_static(index: usize) -> Self;
}

/// Nothing is to be known beside name and value.
impl Meaning for () {
    fn of(_: &[u8], _: &[u8]) {}
    fn of_static(_: usize) {}
}

/// Why a header block cannot be decoded. After any of these both sides disagree about the table,
/// so it ends the connection with COMPRESSION_ERROR (RFC 9113, 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum HpackFault {
    /// The block ends within a field.
    #[error("the header block ends within a field")]
    Truncated,
    /// A number does not fit 32 bits, or is padded with more bytes than such a number needs.
    #[error("a number in the header block is too large (RFC 7541, 5.1)")]
    Integer,
    /// No entry has this index.
    #[error("a header field refers to an entry that is not in the table (RFC 7541, 2.3.3)")]
    Index,
    /// A Huffman-coded string ends with other padding than up to seven ones.
    #[error("a Huffman-coded string is padded wrongly (RFC 7541, 5.2)")]
    Padding,
    /// A Huffman-coded string contains the end-of-string symbol.
    #[error("a Huffman-coded string contains the end-of-string symbol (RFC 7541, 5.2)")]
    EndOfString,
    /// The table was to become larger than our setting permits.
    #[error("the table's size was set above what we permit (RFC 7541, 6.3)")]
    TableSize,
    /// The table's size was changed behind the first field of a block, or more than twice.
    #[error("the table's size was changed where it must not be (RFC 7541, 4.2)")]
    TableSizePlace,
    /// We reduced the table's size, and the next block did not begin with an update.
    #[error("the table's size was not reduced although our setting asks for it (RFC 9113, 4.3.1)")]
    TableSizeMissing,
}
