//! The table both sides fill as fields go by (RFC 7541, 2.3.2 and 4).
//!
//! Names and values lie one behind the other in one buffer, so each is one slice. A literal is
//! first staged behind them: there its strings are decoded and looked at, and then it is either
//! kept as an entry, where it is, or forgotten. When the buffer is used up, what is alive moves
//! to its beginning; the buffer is a little larger than twice the table, so that happens once in
//! many fields and nothing is allocated any more.

use std::collections::VecDeque;

use super::huffman;
use super::{ENTRY_OVERHEAD_BYTES, HpackFault};

/// The entries, oldest first, each with what its owner keeps about it.
#[derive(Debug, Clone)]
pub struct DynamicTable<M> {
    bytes: Vec<u8>,
    /// Where the strings of the oldest entry begin.
    head: usize,
    /// End of the newest entry's strings; staged ones begin here.
    tail: usize,
    /// Added to the position of a string when it is stored, so that moving all of them changes
    /// one number only.
    shift: u64,
    entries: VecDeque<Entry<M>>,
    size: usize,
    size_max: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry<M> {
    start: u64,
    name_bytes: u32,
    value_bytes: u32,
    meaning: M,
}

impl<M: Copy> DynamicTable<M> {
    /// An empty table of at most `size_max` bytes, as RFC 7541, 4.1 counts them.
    pub fn new(size_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            head: 0,
            tail: 0,
            shift: 0,
            entries: VecDeque::new(),
            size: 0,
            size_max,
        }
    }

    /// Size of the entries: names, values and 32 bytes each.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The most it may be.
    pub fn size_max(&self) -> usize {
        self.size_max
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Changes the bound; the oldest entries go until the rest fits.
    pub fn set_size_max(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.evict_down_to(size_max);
    }

    /// Entry `place`, the newest being 0: its name, its value, and what is kept about it.
    #[inline(always)]
    pub fn get(&self, place: usize) -> Option<(&[u8], &[u8], M)> {
        let entry = self.entry(place)?;
        let start = (entry.start - self.shift) as usize;
        let name_end = start + entry.name_bytes as usize;
        let name = &self.bytes[start..name_end];
        Some((name, &self.bytes[name_end..name_end + entry.value_bytes as usize], entry.meaning))
    }

    /// Only what is kept about entry `place`, and its size.
    #[inline(always)]
    pub fn meaning(&self, place: usize) -> Option<(M, usize)> {
        let entry = self.entry(place)?;
        Some((entry.meaning, entry_size(entry.name_bytes as usize, entry.value_bytes as usize)))
    }

    #[inline(always)]
    fn entry(&self, place: usize) -> Option<&Entry<M>> {
        self.entries.get(self.entries.len().checked_sub(place + 1)?)
    }

    /// Makes room for staging strings of this many bytes together.
    #[inline(always)]
    pub fn begin_staging(&mut self, bytes: usize) -> Staged {
        if self.bytes.len() - self.tail < bytes {
            self.make_room(bytes);
        }
        Staged { end: self.tail, name_bytes: 0 }
    }

    #[inline(never)]
    fn make_room(&mut self, bytes: usize) {
        self.bytes.copy_within(self.head..self.tail, 0);
        self.shift += self.head as u64;
        self.tail -= self.head;
        self.head = 0;
        // Room for as much again as lies there, at least: then moving is rare.
        let wanted = self.tail + bytes.max(self.tail).max(256);
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
    }

    /// Stages a string as it is.
    #[inline(always)]
    pub fn stage(&mut self, staged: &mut Staged, string: &[u8]) {
        self.bytes[staged.end..staged.end + string.len()].copy_from_slice(string);
        staged.end += string.len();
    }

    /// Stages a Huffman-coded string.
    ///
    /// # Errors
    /// As [`huffman::decode`] has them.
    #[inline(always)]
    pub fn stage_huffman(&mut self, staged: &mut Staged, coded: &[u8]) -> Result<(), HpackFault> {
        staged.end += huffman::decode(coded, &mut self.bytes[staged.end..])?;
        Ok(())
    }

    /// Stages the name of entry `place`; false if there is none. The entry may be evicted by what
    /// is staged (RFC 7541, 4.4), so it is copied.
    #[inline(always)]
    pub fn stage_name_of(&mut self, staged: &mut Staged, place: usize) -> bool {
        let Some(entry) = self.entry(place) else { return false };
        let start = (entry.start - self.shift) as usize;
        let name_bytes = entry.name_bytes as usize;
        self.bytes.copy_within(start..start + name_bytes, staged.end);
        staged.end += name_bytes;
        true
    }

    /// The staged strings.
    #[inline(always)]
    pub fn staged(&self, staged: &Staged) -> (&[u8], &[u8]) {
        self.bytes[self.tail..staged.end].split_at(staged.name_bytes)
    }

    /// Ends the staged name: what follows is the value.
    #[inline(always)]
    pub fn end_name(&self, staged: &mut Staged) {
        staged.name_bytes = staged.end - self.tail;
    }

    /// Makes an entry of what is staged. What is larger than the table empties it (RFC 7541, 4.4).
    #[inline(always)]
    pub fn keep(&mut self, staged: &Staged, meaning: M) {
        let value_bytes = staged.end - self.tail - staged.name_bytes;
        let size = entry_size(staged.name_bytes, value_bytes);
        if self.size + size > self.size_max {
            self.evict_down_to(self.size_max.saturating_sub(size));
            if size > self.size_max {
                return;
            }
        }
        // Strings are shorter than their header block, which is far below 4 GiB.
        self.entries.push_back(Entry {
            start: self.tail as u64 + self.shift,
            name_bytes: staged.name_bytes as u32,
            value_bytes: value_bytes as u32,
            meaning,
        });
        self.tail = staged.end;
        self.size += size;
    }

    fn evict_down_to(&mut self, size_max: usize) {
        while self.size > size_max {
            let Some(oldest) = self.entries.pop_front() else { break };
            let (name_bytes, value_bytes) =
                (oldest.name_bytes as usize, oldest.value_bytes as usize);
            self.size -= entry_size(name_bytes, value_bytes);
            self.head = (oldest.start - self.shift) as usize + name_bytes + value_bytes;
        }
    }
}

/// A literal that is being put together behind the entries.
#[derive(Debug)]
pub struct Staged {
    end: usize,
    name_bytes: usize,
}

/// What a field counts (RFC 7541, 4.1).
#[inline(always)]
pub fn entry_size(name_bytes: usize, value_bytes: usize) -> usize {
    name_bytes + value_bytes + ENTRY_OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(table: &mut DynamicTable<u8>, name: &str, value: &str, meaning: u8) {
        let mut staged = table.begin_staging(name.len() + value.len());
        table.stage(&mut staged, name.as_bytes());
        table.end_name(&mut staged);
        table.stage(&mut staged, value.as_bytes());
        assert_eq!(table.staged(&staged), (name.as_bytes(), value.as_bytes()));
        table.keep(&staged, meaning);
    }

    #[test]
    fn the_newest_comes_first_and_the_oldest_go() {
        let mut table = DynamicTable::new(100);
        add(&mut table, "a", "1", 1);
        add(&mut table, "bb", "", 2);
        assert_eq!((table.size(), table.len()), (34 + 34, 2));
        assert_eq!(table.get(0), Some((&b"bb"[..], &b""[..], 2)));
        assert_eq!(table.get(1), Some((&b"a"[..], &b"1"[..], 1)));
        assert_eq!(table.get(2), None);
        add(&mut table, "c", "", 3);
        assert_eq!((table.size(), table.len()), (34 + 33, 2));
        assert_eq!(table.get(1), Some((&b"bb"[..], &b""[..], 2)));
        assert_eq!(table.meaning(0), Some((3, 33)));
        // Larger than the table: empties it, and that is no error (RFC 7541, 4.4).
        add(&mut table, &"n".repeat(69), "", 4);
        assert_eq!((table.size(), table.len()), (0, 0));
        add(&mut table, &"n".repeat(68), "", 5);
        assert_eq!((table.size(), table.len()), (100, 1));
        table.set_size_max(99);
        assert!(table.is_empty());
    }

    #[test]
    fn a_name_outlives_its_entry() {
        let mut table = DynamicTable::new(80);
        add(&mut table, "name", "first", 1);
        for round in 0..1_000 {
            let value = format!("{round:040}");
            let mut staged = table.begin_staging(4 + value.len());
            assert!(table.stage_name_of(&mut staged, 0));
            assert!(!table.stage_name_of(&mut staged, 1));
            table.end_name(&mut staged);
            table.stage(&mut staged, value.as_bytes());
            table.keep(&staged, 2);
            assert_eq!(table.get(0), Some((&b"name"[..], value.as_bytes(), 2)));
            assert_eq!(table.len(), 1);
        }
        assert!(table.bytes.len() < 1_000, "{}", table.bytes.len());
    }
}
