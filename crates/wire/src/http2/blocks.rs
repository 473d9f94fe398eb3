//! Reads the header blocks of one direction of a connection, all of them, in order, and
//! recognises those it has just read.
//!
//! Under load the same few blocks come again and again until the server's Date changes. A block
//! that equals an earlier one says the same again, if the table cannot have made a difference: it
//! refers to no entry of it, or the table has not changed since. Comparing is many times cheaper
//! than decoding.
//!
//! A block of the first kind may add entries (nginx adds all its fields, every time, and never
//! refers to them). Those of recognised blocks are owed to the table, and paid in their order
//! when another block comes. No more are owed than it takes to fill the table.

use super::field::FieldMeaning;
use super::hpack::HpackFault;
use super::hpack::decoder::{Decoder, Field};

/// Longer blocks are not remembered.
const REMEMBERED_BYTES_MAX: usize = 1_024;
/// How many blocks are: those of the responses to a few different requests.
const REMEMBERED_MAX: usize = 4;
/// When this many blocks are owed, those whose entries would have been evicted again are forgotten.
const OWED_MAX: usize = 256;

/// What is to be known of a block.
pub trait Says: Default {
    /// Forgets everything.
    fn clear(&mut self);
    /// The next field.
    fn note(&mut self, field: &Field<'_, FieldMeaning>);
    /// The block is complete; size of its fields (RFC 9113, 6.5.2).
    fn end(&mut self, list_bytes: usize);
}

/// Decodes blocks into what they say.
#[derive(Debug, Clone, Default)]
pub struct BlockReader<S> {
    decoder: Decoder<FieldMeaning>,
    remembered: Vec<Remembered<S>>,
    /// The block that came last; the place of the one to be forgotten next follows it.
    latest: usize,
    /// Counts changes of the table.
    table_version: u64,
    /// Blocks that came without being decoded, and would have added to the table.
    owed: Vec<u8>,
}

/// A block, and what it says.
#[derive(Debug, Clone, Default)]
struct Remembered<S> {
    /// Empty if it cannot be recognised.
    block: Vec<u8>,
    says: S,
    /// What it adds to the table each time; 0 if nothing.
    inserts_bytes: usize,
    /// It says so only while the table is at this version.
    needs_version: Option<u64>,
}

impl<S: Says> BlockReader<S> {
    /// The peer acknowledged our SETTINGS_HEADER_TABLE_SIZE.
    ///
    /// # Errors
    /// Never, in fact: what was decoded once is decoded again.
    pub fn set_table_limit(&mut self, bytes: u32) -> Result<(), HpackFault> {
        self.pay()?;
        // The next block has to be looked at: it may have to begin with an update.
        self.remembered.clear();
        self.decoder.set_size_limit(bytes);
        Ok(())
    }

    /// Reads a complete block.
    ///
    /// # Errors
    /// When it cannot be decoded.
    #[inline]
    pub fn read(&mut self, block: &[u8]) -> Result<&S, HpackFault> {
        match self.recognise(block) {
            Some(place) => Ok(&self.remembered[place].says),
            None => self.read_new(block, |_, _| {}),
        }
    }

    #[inline(always)]
    fn recognise(&mut self, block: &[u8]) -> Option<usize> {
        let is_it = |known: &Remembered<S>| {
            known.block == block
                && known.needs_version.is_none_or(|version| version == self.table_version)
        };
        let place = match self.remembered.get(self.latest) {
            _ if block.is_empty() => None,
            Some(known) if is_it(known) => Some(self.latest),
            _ => self.remembered.iter().position(is_it),
        }?;
        if self.remembered[place].inserts_bytes > 0 {
            if self.owed.len() == OWED_MAX {
                self.forget_evicted();
                if self.owed.len() == OWED_MAX {
                    // A very large table, and very small entries.
                    return None;
                }
            }
            self.table_version += 1;
            self.owed.push(place as u8);
        }
        self.latest = place;
        Some(place)
    }

    /// Reads a complete block and shows its fields.
    ///
    /// # Errors
    /// When it cannot be decoded.
    #[inline(never)]
    pub fn read_new(
        &mut self,
        block: &[u8],
        mut show: impl FnMut(&[u8], &[u8]),
    ) -> Result<&S, HpackFault> {
        self.pay()?;
        if self.remembered.len() < REMEMBERED_MAX {
            self.remembered.push(Remembered::default());
            self.latest = self.remembered.len() - 1;
        } else {
            self.latest = (self.latest + 1) % REMEMBERED_MAX;
        }
        let place = &mut self.remembered[self.latest];
        place.block.clear();
        place.says.clear();
        let facts = self.decoder.decode(block, |field| {
            place.says.note(&field);
            show(field.name, field.value);
        })?;
        place.says.end(facts.list_bytes);
        // A block that changes the table's size begins with these bits.
        let resizes = block.first().is_some_and(|first| first & 0xe0 == 0x20);
        self.table_version += u64::from(resizes || facts.inserted_bytes > 0);
        let repeatable = !facts.depends_on_table || facts.inserted_bytes == 0;
        if repeatable && !resizes && block.len() <= REMEMBERED_BYTES_MAX {
            place.block.extend_from_slice(block);
            place.inserts_bytes = facts.inserted_bytes;
            place.needs_version = facts.depends_on_table.then_some(self.table_version);
        }
        Ok(&place.says)
    }

    /// Adds to the table what recognised blocks would have added.
    fn pay(&mut self) -> Result<(), HpackFault> {
        if !self.owed.is_empty() {
            self.forget_evicted();
            for &place in &self.owed {
                self.decoder.decode(&self.remembered[usize::from(place)].block, |_| {})?;
            }
            self.owed.clear();
        }
        Ok(())
    }

    /// The latest entries that fill the table evict all before them (RFC 7541, 4.4).
    fn forget_evicted(&mut self) {
        let size_max = self.decoder.table().size_max();
        let mut inserted_bytes = 0;
        let needless = self.owed.iter().rposition(|&place| {
            let full = inserted_bytes >= size_max;
            inserted_bytes += self.remembered[usize::from(place)].inserts_bytes;
            full
        });
        if let Some(last) = needless {
            self.owed.drain(..=last);
        }
    }

    /// Entries of the table, newest first, as they are after everything that came.
    #[cfg(test)]
    pub fn table_entries(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.pay().expect("what was decoded once is decoded again");
        let table = self.decoder.table();
        let entry = |place| table.get(place).map(|(name, value, _)| (name.into(), value.into()));
        (0..table.len()).filter_map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use crate::http2::client::heads::ResponseBlock;
    use crate::http2::error::StreamFault;
    use crate::http2::hpack::encoder::{Indexing, Name, indexed, literal};

    /// A response as nginx writes it: everything added, nothing referred to.
    fn adding(date: &str) -> Vec<u8> {
        let mut block = Vec::new();
        indexed(&mut block, 8);
        literal(&mut block, Indexing::Keep, Name::Index(54), b"nginx");
        literal(&mut block, Indexing::Keep, Name::Index(33), date.as_bytes());
        literal(&mut block, Indexing::Keep, Name::Index(28), b"14");
        block
    }

    fn entries_without_recognising(blocks: &[Vec<u8>]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut reader = BlockReader::<ResponseBlock>::default();
        for block in blocks {
            reader.read_new(block, |_, _| {}).unwrap();
        }
        reader.table_entries()
    }

    #[test]
    fn the_table_is_what_it_would_be_without_recognising() {
        for repeats in [1, 2, 3, 20, 31, 32, 33, 100] {
            let mut blocks = vec![adding("first"); repeats];
            blocks.push(adding("second one"));
            // Index 62 is the newest entry: content-length again, and the second date.
            blocks.extend(vec![vec![0x88, 62 | 0x80, 63 | 0x80]; repeats]);
            blocks.push(vec![0x89, 0x7f, 0, 1, b'x', 62 | 0x80]);
            let mut reader = BlockReader::<ResponseBlock>::default();
            for block in &blocks {
                let says = reader.read(block).unwrap();
                assert_eq!(says.content_length.is_some(), block[0] == 0x88, "{repeats}");
                assert_eq!(says.check(4_096), Ok::<(), StreamFault>(()));
            }
            assert_eq!(reader.table_entries(), entries_without_recognising(&blocks), "{repeats}");
        }
    }

    fn pool() -> Vec<Vec<u8>> {
        let mut blocks: Vec<Vec<u8>> =
            ["first", "second one", "x"].iter().map(|date| adding(date)).collect();
        // Referring to the newest entries, to one more, and to static ones only.
        blocks.extend([vec![0x88, 62 | 0x80, 63 | 0x80], vec![0x88, 64 | 0x80], vec![0x89]]);
        let mut large = vec![0x88];
        literal(&mut large, Indexing::Keep, Name::Literal(b"x-large"), &[b'\\'; 600]);
        let mut shifting = vec![0x88, 62 | 0x80];
        literal(&mut shifting, Indexing::Keep, Name::Literal(b"x-a"), b"0");
        let tiny = vec![0x88, 0x40, 1, b'a', 0];
        // A smaller table, and the largest again.
        let resizing = [vec![0x3f, 0x80, 0x01, 0x88], vec![0x3f, 0xe1, 0x1f, 0x88]];
        blocks.extend([large, shifting, tiny]);
        blocks.extend(resizing);
        blocks
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn recognising_makes_no_difference(
            runs in vec((0..11usize, prop_oneof![1..4usize, 1..400usize], 0..11usize), 1..25),
        ) {
            let pool = pool();
            let mut reader = BlockReader::<ResponseBlock>::default();
            let mut plain = BlockReader::<ResponseBlock>::default();
            for _ in 0..20 {
                reader.read(&pool[0]).unwrap();
                plain.read_new(&pool[0], |_, _| {}).unwrap();
            }
            for (one, times, other) in runs {
                for turn in 0..times {
                    let block = &pool[if turn % 3 == 2 { other } else { one }];
                    let says = reader.read(block).copied();
                    prop_assert_eq!(&says, &plain.read_new(block, |_, _| {}).copied());
                    prop_assert!(reader.owed.len() <= OWED_MAX);
                    if says.is_err() {
                        return Ok(());
                    }
                }
            }
            prop_assert_eq!(reader.table_entries(), plain.table_entries());
        }
    }

    #[test]
    fn a_block_that_depends_on_what_it_adds_is_read_anew() {
        let mut reader = BlockReader::<ResponseBlock>::default();
        // Adds x-a: 0, and refers to the newest entry before it.
        let mut first = vec![0x88];
        literal(&mut first, Indexing::Keep, Name::Index(28), b"7");
        assert_eq!(reader.read(&first).unwrap().content_length, Some(7));
        let mut shifting = vec![0x88, 62 | 0x80];
        literal(&mut shifting, Indexing::Keep, Name::Literal(b"x-a"), b"0");
        assert_eq!(reader.read(&shifting).unwrap().content_length, Some(7));
        // Now 62 is x-a.
        assert_eq!(reader.read(&shifting).unwrap().content_length, None);
    }
}
