//! QPACK, the compression of header fields (RFC 9204): HPACK's strings and entries, with a table that is filled on a stream
//! of its own, so that responses need not wait for each other.
//!
//! Reading order: [`static_table`], [`decoder`] (field sections), [`instructions`] (what fills the table), [`encoder`].
//!
//! Our encoder uses the static table only: a request is the same bytes on every connection. Our decoder has a
//! dynamic table of the size that was advertised (none by default) and never lets a response wait for it:
//! SETTINGS_QPACK_BLOCKED_STREAMS is 0.

pub mod decoder;
pub mod encoder;
pub mod instructions;
pub mod static_table;

use crate::http2::hpack::HpackFault;

/// Why a field section or an instruction cannot be decoded. After any of these both sides disagree about the table, so it
/// ends the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum QpackFault {
    /// A field section ends within a field.
    #[error("a field section ends within a field (RFC 9204, 4.5)")]
    Truncated,
    /// A number does not fit 32 bits, or is padded with more bytes than such a number needs.
    #[error("a number is too large (RFC 9204, 4.1.1)")]
    Integer,
    /// No entry has this index.
    #[error("a field refers to an entry that is not in the table (RFC 9204, 2.2.3)")]
    Index,
    /// A Huffman-coded string is wrong.
    #[error("a Huffman-coded string is invalid (RFC 7541, 5.2)")]
    Huffman,
    /// The section needs entries that have not come, and was not permitted to.
    #[error("a field section needs entries that have not come (RFC 9204, 2.1.2)")]
    Blocked,
    /// The count of entries that the section needs, or its base, cannot be.
    #[error("the prefix of a field section is invalid (RFC 9204, 4.5.1)")]
    Prefix,
    /// The table was to become larger than our setting permits.
    #[error("the table's size was set above what was permitted (RFC 9204, 4.3.1)")]
    TableSize,
    /// An entry is larger than the table.
    #[error("an entry is larger than the table (RFC 9204, 3.2.2)")]
    EntrySize,
}

impl From<HpackFault> for QpackFault {
    fn from(fault: HpackFault) -> Self {
        match fault {
            HpackFault::Truncated => Self::Truncated,
            HpackFault::Integer => Self::Integer,
            HpackFault::Padding | HpackFault::EndOfString => Self::Huffman,
            HpackFault::Index => Self::Index,
            HpackFault::TableSize | HpackFault::TableSizePlace | HpackFault::TableSizeMissing => {
                Self::TableSize
            }
        }
    }
}
