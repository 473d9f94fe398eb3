//! Reads the header blocks of one direction of a connection, all of them, in order, and
//! recognises those it has just read.
//!
//! Under load the same block comes again and again until the server's Date changes. A block that
//! equals the last one says the same again, if the table cannot have made a difference: it
//! refers to no entry of it, or it did not change it. Comparing is many times cheaper than
//! decoding.
//!
//! A block of the first kind may add entries (nginx adds all its fields, every time, and never
//! refers to them). Those of recognised blocks are owed to the table, and paid when another
//! block comes: as many times as it takes to fill the table, at most.

use super::field::FieldMeaning;
use super::hpack::HpackFault;
use super::hpack::decoder::{BlockFacts, Decoder, Field};

/// Longer blocks are not remembered.
const REMEMBERED_BYTES_MAX: usize = 1_024;

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
    /// The last block, if it can be recognised.
    last: Vec<u8>,
    says: S,
    /// What `last` adds to the table each time; 0 if nothing.
    last_inserts_bytes: usize,
    /// How often `last` came without being decoded.
    owed: usize,
}

impl<S: Says> BlockReader<S> {
    /// The peer acknowledged our SETTINGS_HEADER_TABLE_SIZE.
    ///
    /// # Errors
    /// Never, in fact: what was decoded once is decoded again.
    pub fn set_table_limit(&mut self, bytes: u32) -> Result<(), HpackFault> {
        self.pay()?;
        self.last.clear();
        self.decoder.set_size_limit(bytes);
        Ok(())
    }

    /// Reads a complete block.
    ///
    /// # Errors
    /// When it cannot be decoded.
    #[inline]
    pub fn read(&mut self, block: &[u8]) -> Result<&S, HpackFault> {
        if block == self.last && !block.is_empty() {
            self.owed += usize::from(self.last_inserts_bytes > 0);
            return Ok(&self.says);
        }
        self.read_new(block, |_, _| {})
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
        self.last.clear();
        self.says.clear();
        let facts = self.decoder.decode(block, |field| {
            self.says.note(&field);
            show(field.name, field.value);
        })?;
        self.says.end(facts.list_bytes);
        self.remember(block, facts);
        Ok(&self.says)
    }

    fn remember(&mut self, block: &[u8], facts: BlockFacts) {
        let repeatable = !facts.depends_on_table || facts.inserted_bytes == 0;
        // A block that changes the table's size begins with these bits.
        let resizes = block.first().is_some_and(|first| first & 0xe0 == 0x20);
        if repeatable && !resizes && block.len() <= REMEMBERED_BYTES_MAX {
            self.last.extend_from_slice(block);
            self.last_inserts_bytes = facts.inserted_bytes;
        }
    }

    /// Adds to the table what recognised blocks would have added.
    fn pay(&mut self) -> Result<(), HpackFault> {
        if self.owed > 0 {
            // Entries beyond that many have been evicted again.
            let enough = self.decoder.table().size_max() / self.last_inserts_bytes + 1;
            for _ in 0..self.owed.min(enough) {
                self.decoder.decode(&self.last, |_| {})?;
            }
            self.owed = 0;
        }
        Ok(())
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
    use crate::http2::client::heads::AnswerBlock;
    use crate::http2::error::StreamFault;
    use crate::http2::hpack::encoder::{Indexing, Name, indexed, literal};

    /// An answer as nginx writes it: everything added, nothing referred to.
    fn adding(date: &str) -> Vec<u8> {
        let mut block = Vec::new();
        indexed(&mut block, 8);
        literal(&mut block, Indexing::Keep, Name::Index(54), b"nginx");
        literal(&mut block, Indexing::Keep, Name::Index(33), date.as_bytes());
        literal(&mut block, Indexing::Keep, Name::Index(28), b"14");
        block
    }

    fn entries_without_recognising(blocks: &[Vec<u8>]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut reader = BlockReader::<AnswerBlock>::default();
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
            let mut reader = BlockReader::<AnswerBlock>::default();
            for block in &blocks {
                let says = reader.read(block).unwrap();
                assert_eq!(says.content_length.is_some(), block[0] == 0x88, "{repeats}");
                assert_eq!(says.check(4_096), Ok::<(), StreamFault>(()));
            }
            assert_eq!(reader.table_entries(), entries_without_recognising(&blocks), "{repeats}");
        }
    }

    #[test]
    fn a_block_that_depends_on_what_it_adds_is_read_anew() {
        let mut reader = BlockReader::<AnswerBlock>::default();
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
