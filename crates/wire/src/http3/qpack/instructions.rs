//! What the two ends tell each other about the dynamic table: the peer's encoder stream, which fills ours (RFC 9204, 4.3), our
//! decoder stream, which says how far that is (4.4), and the peer's decoder stream, which has nothing to say, as our
//! encoder fills no table.

use super::QpackFault;
use super::decoder::Decoder;
use super::static_table::STATIC_TABLE;
use crate::http2::field::FieldMeaning;
use crate::http2::hpack::decoder::string;
use crate::http2::hpack::dynamic_table::entry_size;
use crate::http2::hpack::{Meaning, integer};

/// Bytes of an instruction beside its strings, at most: two numbers.
const NUMBERS_BYTES_MAX: usize = 12;

impl Decoder {
    /// Takes what came on the peer's encoder stream, in pieces of any size. How many entries it added, which the peer is
    /// to be told ([`insert_count`]).
    ///
    /// # Errors
    /// When an instruction is wrong, or longer than any that the table could take.
    pub fn instructions(&mut self, bytes: &[u8]) -> Result<u64, QpackFault> {
        let before = self.inserted;
        let kept = std::mem::take(&mut self.unread);
        let all = if kept.is_empty() { bytes } else { &[&kept[..], bytes].concat() };
        let mut at = 0;
        while at < all.len() {
            let mut end = at;
            match self.instruction(all, &mut end) {
                Ok(()) => at = end,
                // It goes on in what comes next.
                Err(QpackFault::Truncated) => break,
                Err(fault) => return Err(fault),
            }
        }
        let rest = &all[at..];
        // Coded strings can be longer than what they stand for: 30 bits are the longest code (RFC 7541, appendix B).
        if rest.len() > 4 * self.table_bytes_max + NUMBERS_BYTES_MAX {
            return Err(QpackFault::EntrySize);
        }
        self.unread = rest.to_vec();
        Ok(self.inserted - before)
    }

    fn instruction(&mut self, bytes: &[u8], at: &mut usize) -> Result<(), QpackFault> {
        match bytes[*at] {
            first @ 0x80.. => {
                let index = integer::read(bytes, at, 6)?;
                let is_static = first & 0x40 != 0;
                let place = if is_static { None } else { Some(index) };
                let name = match is_static {
                    true => STATIC_TABLE.get(index).ok_or(QpackFault::Index)?.0.len(),
                    false => self.table.get(index).ok_or(QpackFault::Index)?.0.len(),
                };
                let value = string(bytes, at, 7)?;
                let mut staged = self.table.begin_staging(name + value.decoded_bytes_max());
                match place {
                    Some(place) => {
                        self.table.stage_name_of(&mut staged, place);
                    }
                    None => self.table.stage(&mut staged, STATIC_TABLE[index].0.as_bytes()),
                }
                self.table.end_name(&mut staged);
                value.stage(&mut self.table, &mut staged)?;
                self.insert(&staged)
            }
            0x40.. => {
                let name = string(bytes, at, 5)?;
                let value = string(bytes, at, 7)?;
                let room = name.decoded_bytes_max() + value.decoded_bytes_max();
                let mut staged = self.table.begin_staging(room);
                name.stage(&mut self.table, &mut staged)?;
                self.table.end_name(&mut staged);
                value.stage(&mut self.table, &mut staged)?;
                self.insert(&staged)
            }
            0x20.. => {
                let size_max = integer::read(bytes, at, 5)?;
                if size_max > self.table_bytes_max {
                    return Err(QpackFault::TableSize);
                }
                self.table.set_size_max(size_max);
                Ok(())
            }
            _ => {
                let place = integer::read(bytes, at, 5)?;
                let (name, value, _) = self.table.get(place).ok_or(QpackFault::Index)?;
                let (name, value) = (name.to_vec(), value.to_vec());
                let mut staged = self.table.begin_staging(name.len() + value.len());
                self.table.stage(&mut staged, &name);
                self.table.end_name(&mut staged);
                self.table.stage(&mut staged, &value);
                self.insert(&staged)
            }
        }
    }

    /// Keeps what is staged; unlike HPACK's, no entry may be larger than the table (3.2.2).
    fn insert(
        &mut self,
        staged: &crate::http2::hpack::dynamic_table::Staged,
    ) -> Result<(), QpackFault> {
        let (name, value) = self.table.staged(staged);
        if entry_size(name.len(), value.len()) > self.table.size_max() {
            return Err(QpackFault::EntrySize);
        }
        let meaning = FieldMeaning::of(name, value);
        self.table.keep(staged, meaning);
        self.inserted += 1;
        Ok(())
    }
}

/// Appends to our decoder stream that a section of this stream was decoded with the table (4.4.1).
pub fn acknowledge(out: &mut Vec<u8>, stream: u64) {
    integer::write(out, 0x80, 7, stream as usize);
}

/// Appends that a stream was given up, whatever it needed of the table (4.4.2).
pub fn cancel(out: &mut Vec<u8>, stream: u64) {
    integer::write(out, 0x40, 6, stream as usize);
}

/// Appends that this many more entries came (4.4.3).
pub fn insert_count(out: &mut Vec<u8>, entries: u64) {
    integer::write(out, 0, 6, entries as usize);
}

/// Checks what came on the peer's decoder stream: only that streams were given up. `unread` has what is left of an
/// instruction between two calls. False if it says something else.
pub fn only_cancels(unread: &mut Vec<u8>, bytes: &[u8]) -> bool {
    for &byte in bytes {
        if unread.is_empty() && byte & 0xc0 != 0x40 {
            return false;
        }
        unread.push(byte);
        let is_last = match unread.len() {
            1 => byte & 0x3f != 0x3f,
            _ => byte & 0x80 == 0,
        };
        if is_last {
            unread.clear();
        } else if unread.len() > NUMBERS_BYTES_MAX {
            return false;
        }
    }
    true
}
