//! Reads field sections (RFC 9204, 4.5).

use super::QpackFault;
use super::static_table::{ENTRIES, MEANINGS, STATIC_TABLE};
use crate::http2::field::FieldMeaning;
use crate::http2::hpack::decoder::{Field, string};
use crate::http2::hpack::dynamic_table::{DynamicTable, Staged, entry_size};
use crate::http2::hpack::{ENTRY_OVERHEAD_BYTES, Meaning, integer};

/// The table of one connection, as the peer's encoder fills it, and what is read with it.
#[derive(Debug, Clone)]
pub struct Decoder {
    pub(super) table: DynamicTable<FieldMeaning>,
    /// Our SETTINGS_QPACK_MAX_TABLE_CAPACITY.
    pub(super) table_bytes_max: usize,
    /// Entries that ever came.
    pub(super) inserted: u64,
    /// Bytes of an instruction that is not complete.
    pub(super) unread: Vec<u8>,
}

/// What a field section is beside its fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SectionFacts {
    /// Size of its fields as SETTINGS_MAX_FIELD_SECTION_SIZE counts it (RFC 9114, 4.2.2).
    pub list_bytes: usize,
    /// It referred to the dynamic table: it must be acknowledged ([`super::instructions::acknowledge`]).
    pub needs_acknowledgement: bool,
}

/// Where a name comes from.
enum Named {
    Static(usize),
    /// An entry, counted since the connection began.
    Dynamic(u64),
    Literal,
}

impl Decoder {
    /// With a table of at most this many bytes, which the peer was told.
    pub fn new(table_bytes_max: u32) -> Self {
        let table_bytes_max = table_bytes_max as usize;
        // The peer says how large it is to be before it fills it (RFC 9204, 3.2.3).
        Self { table: DynamicTable::new(0), table_bytes_max, inserted: 0, unread: Vec::new() }
    }

    /// Entries that ever came.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Reads a complete field section and shows its fields in order.
    ///
    /// # Errors
    /// When it cannot be decoded, or needs entries that have not come. Fields before the fault have been shown.
    pub fn decode(
        &mut self,
        section: &[u8],
        mut show: impl FnMut(Field<'_, FieldMeaning>),
    ) -> Result<SectionFacts, QpackFault> {
        let mut at = 0;
        let (required, base) = self.prefix(section, &mut at)?;
        let needs_acknowledgement = required > 0;
        let mut facts = SectionFacts { list_bytes: 0, needs_acknowledgement };
        while let Some(&first) = section.get(at) {
            let named = match first {
                0xc0.. => {
                    let index = integer::read(section, &mut at, 6)?;
                    let (name, value) = STATIC_TABLE.get(index).ok_or(QpackFault::Index)?;
                    facts.list_bytes += entry_size(name.len(), value.len());
                    let (name, value) = (name.as_bytes(), value.as_bytes());
                    show(Field { name, value, meaning: MEANINGS[index], never_indexed: false });
                    continue;
                }
                0x80.. | 0x10..=0x1f => {
                    let entry = match first {
                        0x80.. => before(base, integer::read(section, &mut at, 6)?)?,
                        _ => base + integer::read(section, &mut at, 4)? as u64,
                    };
                    let place = self.place(entry, required)?;
                    let (name, value, meaning) = self.table.get(place).ok_or(QpackFault::Index)?;
                    facts.list_bytes += entry_size(name.len(), value.len());
                    show(Field { name, value, meaning, never_indexed: false });
                    continue;
                }
                0x50..=0x5f | 0x70..=0x7f => Named::Static(integer::read(section, &mut at, 4)?),
                0x40.. => Named::Dynamic(before(base, integer::read(section, &mut at, 4)?)?),
                0x20.. => Named::Literal,
                _ => Named::Dynamic(base + integer::read(section, &mut at, 3)? as u64),
            };
            let never_indexed = match first {
                0x40.. => first & 0x20 != 0,
                0x20.. => first & 0x10 != 0,
                _ => first & 0x08 != 0,
            };
            let staged = self.literal(section, &mut at, &named, required)?;
            let (name, value) = self.table.staged(&staged);
            facts.list_bytes += entry_size(name.len(), value.len());
            let meaning = FieldMeaning::of(name, value);
            show(Field { name, value, meaning, never_indexed });
        }
        Ok(facts)
    }

    /// The count of entries that a section needs, and the base its references count from (4.5.1).
    fn prefix(&self, section: &[u8], at: &mut usize) -> Result<(u64, u64), QpackFault> {
        let encoded = integer::read(section, at, 8)? as u64;
        let is_negative = section.get(*at).is_some_and(|first| first & 0x80 != 0);
        let delta = integer::read(section, at, 7)? as u64;
        let required = self.required(encoded)?;
        if required > self.inserted {
            return Err(QpackFault::Blocked);
        }
        let base = match is_negative {
            false => required.checked_add(delta),
            true => required.checked_sub(delta + 1),
        };
        Ok((required, base.ok_or(QpackFault::Prefix)?))
    }

    /// RFC 9204, 4.5.1.1.
    fn required(&self, encoded: u64) -> Result<u64, QpackFault> {
        if encoded == 0 {
            return Ok(0);
        }
        let entries_max = (self.table_bytes_max / ENTRY_OVERHEAD_BYTES) as u64;
        let full_range = 2 * entries_max;
        if encoded > full_range {
            return Err(QpackFault::Prefix);
        }
        let value_max = self.inserted + entries_max;
        let wrapped = value_max / full_range * full_range;
        let mut required = wrapped + encoded - 1;
        if required > value_max {
            required = required.checked_sub(full_range).ok_or(QpackFault::Prefix)?;
        }
        if required == 0 { Err(QpackFault::Prefix) } else { Ok(required) }
    }

    /// Where the table has an entry that a section may refer to.
    fn place(&self, entry: u64, required: u64) -> Result<usize, QpackFault> {
        if entry >= required {
            return Err(QpackFault::Index);
        }
        // Entries that a section needs have come. One that was evicted is too far back for the table.
        usize::try_from(self.inserted - 1 - entry).map_err(|_| QpackFault::Index)
    }

    /// A literal, put together behind the table.
    fn literal(
        &mut self,
        section: &[u8],
        at: &mut usize,
        named: &Named,
        required: u64,
    ) -> Result<Staged, QpackFault> {
        let mut staged;
        let value;
        match *named {
            Named::Static(index) => {
                let (name, _) = STATIC_TABLE.get(index).ok_or(QpackFault::Index)?;
                value = string(section, at, 7)?;
                staged = self.table.begin_staging(name.len() + value.decoded_bytes_max());
                self.table.stage(&mut staged, name.as_bytes());
            }
            Named::Dynamic(entry) => {
                let place = self.place(entry, required)?;
                let name_bytes = self.table.get(place).ok_or(QpackFault::Index)?.0.len();
                value = string(section, at, 7)?;
                staged = self.table.begin_staging(name_bytes + value.decoded_bytes_max());
                self.table.stage_name_of(&mut staged, place);
            }
            Named::Literal => {
                let name = string(section, at, 3)?;
                value = string(section, at, 7)?;
                let bytes = name.decoded_bytes_max() + value.decoded_bytes_max();
                staged = self.table.begin_staging(bytes);
                name.stage(&mut self.table, &mut staged)?;
            }
        }
        self.table.end_name(&mut staged);
        value.stage(&mut self.table, &mut staged)?;
        Ok(staged)
    }
}

/// An entry this far before the base (3.2.5).
fn before(base: u64, index: usize) -> Result<u64, QpackFault> {
    base.checked_sub(index as u64 + 1).ok_or(QpackFault::Index)
}

const _: () = assert!(ENTRIES == STATIC_TABLE.len());
