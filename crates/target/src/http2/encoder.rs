//! Header blocks of responses. Fields that come again are put into the client's table the first
//! time, and are one byte each from then on. A response that is always the same is one short block,
//! as long as the table has not changed: the date changes it once a second.

use std::collections::VecDeque;

use ablaze_wire::http2::hpack::TABLE_BYTES;
use ablaze_wire::http2::hpack::dynamic_table::entry_size;
use ablaze_wire::http2::hpack::encoder::{Indexing, Name, indexed, literal, size_update};
use ablaze_wire::http2::hpack::static_table::{ENTRIES, Found, find};

use crate::http1::date::{DATE_BYTES, Date};
use crate::http1::response::FixedResponse;

/// Blocks of fixed responses that are kept.
const KNOWN_MAX: usize = 8;

/// The sending end of a connection's header compression.
#[derive(Debug)]
pub struct HeadEncoder {
    /// What the client's table holds, newest first.
    entries: VecDeque<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    bytes_max: usize,
    /// The client has made its table smaller, and is to be told that we know.
    smaller: Option<usize>,
    /// How often the table has changed.
    changes: u64,
    known: Vec<Known>,
    name: Vec<u8>,
}

/// The block of a fixed response.
#[derive(Debug)]
struct Known {
    /// Where it lies: a response stays there as long as its server runs.
    response: usize,
    date: [u8; DATE_BYTES],
    changes: u64,
    block: Vec<u8>,
}

impl HeadEncoder {
    /// For a new connection.
    pub fn new() -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            bytes_max: TABLE_BYTES as usize,
            smaller: None,
            changes: 0,
            known: Vec::new(),
            name: Vec::new(),
        }
    }

    /// The client's table may only be so large. Ours to fill never grows again (RFC 7541, 4.2).
    pub fn limit_table(&mut self, bytes: u32) {
        let bytes = bytes as usize;
        if bytes < self.bytes_max {
            self.bytes_max = bytes;
            self.smaller = Some(bytes);
            self.changes += 1;
            self.evict(0);
        }
    }

    /// The block of a response that is always the same, but for its date.
    #[inline]
    pub fn fixed(&mut self, response: &FixedResponse, date: &Date) -> &[u8] {
        let is_it = |known: &Known| {
            known.response == std::ptr::from_ref(response).addr()
                && known.changes == self.changes
                && known.date == *date.text()
        };
        let place = match self.known.iter().position(is_it) {
            Some(place) => place,
            None => self.remember(response, date),
        };
        &self.known[place].block
    }

    #[inline(never)]
    fn remember(&mut self, response: &FixedResponse, date: &Date) -> usize {
        let mut block = Vec::new();
        let before = (self.changes, self.smaller.is_some());
        self.encode(&response.head_text(date), &mut block);
        // What was put into the table just now is a reference from the next time on: that block is
        // made then, and stays.
        let stays = before == (self.changes, false);
        let changes = if stays { self.changes } else { u64::MAX };
        let response = std::ptr::from_ref(response).addr();
        let known = Known { response, date: *date.text(), changes, block };
        let same = |one: &Known| one.response == response;
        let place = match self.known.iter().position(same) {
            Some(place) => place,
            None if self.known.len() < KNOWN_MAX => {
                self.known.push(known);
                return self.known.len() - 1;
            }
            None => self.changes as usize % KNOWN_MAX,
        };
        self.known[place] = known;
        place
    }

    /// Appends the block of a response whose head would be this in HTTP/1.
    pub fn encode(&mut self, head: &[u8], block: &mut Vec<u8>) {
        if let Some(bytes) = self.smaller.take() {
            size_update(block, bytes);
        }
        let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.trim_ascii_end());
        let status = lines.next().and_then(|line| line.get(9..12)).unwrap_or(b"500");
        self.field(b":status", status, block);
        let mut name = std::mem::take(&mut self.name);
        for line in lines {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            name.clear();
            name.extend(line[..colon].iter().map(u8::to_ascii_lowercase));
            // They mean an HTTP/1 connection (RFC 9113, 8.2.2).
            if !matches!(&name[..], b"connection" | b"keep-alive" | b"transfer-encoding") {
                self.field(&name, line[colon + 1..].trim_ascii(), block);
            }
        }
        self.name = name;
    }

    fn field(&mut self, name: &[u8], value: &[u8], block: &mut Vec<u8>) {
        let is_it = |entry: &(Vec<u8>, Vec<u8>)| entry.0 == name && entry.1 == value;
        if let Some(place) = self.entries.iter().position(is_it) {
            return indexed(block, ENTRIES + 1 + place);
        }
        let name_index = match find(name, value) {
            Found::Field(index) => return indexed(block, index),
            Found::Name(index) => Some(index),
            Found::Nothing => {
                self.entries.iter().position(|entry| entry.0 == name).map(|at| ENTRIES + 1 + at)
            }
        };
        let size = entry_size(name.len(), value.len());
        // What is unlikely to come again would drive out what does.
        let keep = size <= self.bytes_max / 4;
        let indexing = if keep { Indexing::Keep } else { Indexing::Without };
        let coded_name = name_index.map_or(Name::Literal(name), Name::Index);
        literal(block, indexing, coded_name, value);
        if keep {
            self.evict(size);
            self.entries.push_front((name.to_vec(), value.to_vec()));
            self.bytes += size;
            self.changes += 1;
        }
    }

    /// Makes room for an entry of this many bytes (RFC 7541, 4.4).
    fn evict(&mut self, size: usize) {
        while self.bytes + size > self.bytes_max {
            let Some((name, value)) = self.entries.pop_back() else { return };
            self.bytes -= entry_size(name.len(), value.len());
        }
    }
}
