//! Reads header blocks (RFC 7541, 3 and 6).

use super::dynamic_table::{DynamicTable, entry_size};
use super::static_table::{ENTRIES, STATIC_TABLE};
use super::{HpackFault, Meaning, TABLE_BYTES, huffman, integer};

/// Size updates that may begin a block: down to the smallest size in between, and up to the last
/// (RFC 7541, 4.2).
const SIZE_UPDATES_MAX: u32 = 2;

/// One direction of a connection, at its receiving end.
#[derive(Debug, Clone)]
pub struct Decoder<M> {
    table: DynamicTable<M>,
    /// The setting the peer has to keep to.
    size_limit: usize,
    /// The next block must begin with an update.
    update_owed: bool,
}

/// A field of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a, M> {
    /// Name.
    pub name: &'a [u8],
    /// Value.
    pub value: &'a [u8],
    /// What was found out about it when its bytes were read.
    pub meaning: M,
    /// It must stay a literal wherever it is sent on to (RFC 7541, 7.1.3).
    pub never_indexed: bool,
}

/// What a block did beside its fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockFacts {
    /// Size of its fields as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113, 6.5.2).
    pub list_bytes: usize,
    /// Size of the entries it added to the table, evicted ones included.
    pub inserted_bytes: usize,
    /// It referred to entries of the dynamic table, or changed the table's size: decoding it
    /// again can give something else.
    pub depends_on_table: bool,
}

/// How a literal begins.
struct Literal {
    /// Bits of the first byte that hold the name's index.
    index_bits: u32,
    keep: bool,
    never_indexed: bool,
}

impl<M: Meaning> Decoder<M> {
    /// For a connection whose settings are not negotiated yet.
    pub fn new() -> Self {
        let size_limit = TABLE_BYTES as usize;
        Self { table: DynamicTable::new(size_limit), size_limit, update_owed: false }
    }

    /// The peer acknowledged our SETTINGS_HEADER_TABLE_SIZE. When that is below what its encoder
    /// uses, its next block has to begin with an update (RFC 9113, 4.3.1).
    pub fn set_size_limit(&mut self, bytes: u32) {
        self.size_limit = bytes as usize;
        self.update_owed = self.table.size_max() > self.size_limit;
    }

    /// The table, for tests and for looking at.
    pub fn table(&self) -> &DynamicTable<M> {
        &self.table
    }

    /// Reads a complete block and shows its fields in order.
    ///
    /// # Errors
    /// When it cannot be decoded. Fields before the fault have been shown; the decoder is of no
    /// use any more.
    #[inline]
    pub fn decode(
        &mut self,
        block: &[u8],
        mut show: impl FnMut(Field<'_, M>),
    ) -> Result<BlockFacts, HpackFault> {
        let mut facts = BlockFacts::default();
        let mut at = 0;
        let mut size_updates = 0;
        while let Some(0x20..=0x3f) = block.get(at) {
            size_updates += 1;
            if size_updates > SIZE_UPDATES_MAX {
                return Err(HpackFault::TableSizePlace);
            }
            self.update_size(block, &mut at)?;
            facts.depends_on_table = true;
        }
        if self.update_owed {
            return Err(HpackFault::TableSizeMissing);
        }
        while let Some(&first) = block.get(at) {
            let literal = match first {
                0x80.. => {
                    self.indexed(block, &mut at, &mut facts, &mut show)?;
                    continue;
                }
                0x40.. => Literal { index_bits: 6, keep: true, never_indexed: false },
                0x20.. => return Err(HpackFault::TableSizePlace),
                _ => Literal { index_bits: 4, keep: false, never_indexed: first >= 0x10 },
            };
            self.literal(block, &mut at, &literal, &mut facts, &mut show)?;
        }
        Ok(facts)
    }

    /// RFC 7541, 6.3.
    #[inline(never)]
    fn update_size(&mut self, block: &[u8], at: &mut usize) -> Result<(), HpackFault> {
        let size = integer::read(block, at, 5)?;
        if size > self.size_limit {
            return Err(HpackFault::TableSize);
        }
        self.table.set_size_max(size);
        self.update_owed = false;
        Ok(())
    }

    /// RFC 7541, 6.1.
    #[inline(always)]
    fn indexed(
        &mut self,
        block: &[u8],
        at: &mut usize,
        facts: &mut BlockFacts,
        show: &mut impl FnMut(Field<'_, M>),
    ) -> Result<(), HpackFault> {
        let index = integer::read(block, at, 7)?;
        let (name, value, meaning) = if index > ENTRIES {
            facts.depends_on_table = true;
            self.table.get(index - ENTRIES - 1).ok_or(HpackFault::Index)?
        } else {
            let place = index.checked_sub(1).ok_or(HpackFault::Index)?;
            let (name, value) = STATIC_TABLE[place];
            (name.as_bytes(), value.as_bytes(), M::of_static(index))
        };
        facts.list_bytes += entry_size(name.len(), value.len());
        show(Field { name, value, meaning, never_indexed: false });
        Ok(())
    }

    /// RFC 7541, 6.2.
    #[inline(always)]
    fn literal(
        &mut self,
        block: &[u8],
        at: &mut usize,
        literal: &Literal,
        facts: &mut BlockFacts,
        show: &mut impl FnMut(Field<'_, M>),
    ) -> Result<(), HpackFault> {
        let index = integer::read(block, at, literal.index_bits)?;
        let mut staged;
        let value;
        if index == 0 {
            let name = string(block, at, 7)?;
            value = string(block, at, 7)?;
            staged = self.table.begin_staging(name.decoded_bytes_max() + value.decoded_bytes_max());
            name.stage(&mut self.table, &mut staged)?;
        } else if index <= ENTRIES {
            let name = STATIC_TABLE[index - 1].0.as_bytes();
            value = string(block, at, 7)?;
            staged = self.table.begin_staging(name.len() + value.decoded_bytes_max());
            self.table.stage(&mut staged, name);
        } else {
            facts.depends_on_table = true;
            let place = index - ENTRIES - 1;
            let name_bytes = self.table.get(place).ok_or(HpackFault::Index)?.0.len();
            value = string(block, at, 7)?;
            staged = self.table.begin_staging(name_bytes + value.decoded_bytes_max());
            self.table.stage_name_of(&mut staged, place);
        }
        self.table.end_name(&mut staged);
        value.stage(&mut self.table, &mut staged)?;

        let (name, value) = self.table.staged(&staged);
        let meaning = match index {
            1..=ENTRIES => M::of_named(index, name, value),
            _ => M::of(name, value),
        };
        let size = entry_size(name.len(), value.len());
        facts.list_bytes += size;
        show(Field { name, value, meaning, never_indexed: literal.never_indexed });
        if literal.keep {
            facts.inserted_bytes += size;
            self.table.keep(&staged, meaning);
        }
        Ok(())
    }
}

impl<M: Meaning> Default for Decoder<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// A string as it stands in the block.
pub(crate) struct CodedString<'a> {
    huffman: bool,
    bytes: &'a [u8],
}

/// RFC 7541, 5.2, where the length's first byte has 7 bits; QPACK has shorter ones, too (RFC 9204, 4.1.2).
#[inline(always)]
pub(crate) fn string<'a>(
    block: &'a [u8],
    at: &mut usize,
    length_bits: u32,
) -> Result<CodedString<'a>, HpackFault> {
    let huffman = block.get(*at).is_some_and(|first| first & 1 << length_bits != 0);
    let len = integer::read(block, at, length_bits)?;
    let rest = &block[*at..];
    if rest.len() < len {
        return Err(HpackFault::Truncated);
    }
    *at += len;
    Ok(CodedString { huffman, bytes: &rest[..len] })
}

impl CodedString<'_> {
    #[inline(always)]
    pub(crate) fn decoded_bytes_max(&self) -> usize {
        if self.huffman { huffman::decoded_bytes_max(self.bytes.len()) } else { self.bytes.len() }
    }

    #[inline(always)]
    pub(crate) fn stage<M: Copy>(
        &self,
        table: &mut DynamicTable<M>,
        staged: &mut super::dynamic_table::Staged,
    ) -> Result<(), HpackFault> {
        if self.huffman {
            table.stage_huffman(staged, self.bytes)
        } else {
            table.stage(staged, self.bytes);
            Ok(())
        }
    }
}
