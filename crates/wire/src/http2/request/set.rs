//! A Plan's requests as frames, encoded once and shared by all connections of a worker.
//!
//! All connections fill the peer's table with the same entries in the same order: those of the
//! first request, then what the second adds, and so on, as many as fit. While a connection has
//! not sent all of them yet, its requests are encoded field by field; a field is added when it is
//! its turn. Afterwards a request is a copy of bytes that are the same on every connection, a
//! byte for each field that does not change.
//!
//! A peer whose table is too small for the entries gets none (`plain`).

use super::{Request, RequestField};
use crate::http1::patch::{Digits, Patcher};
use crate::http1::request::Patch;
use crate::http2::frame::{HEAD_BYTES, PAYLOAD_BYTES_MIN, STREAM_OFFSET, flag, kind, write_head};
use crate::http2::hpack::TABLE_BYTES;
use crate::http2::hpack::dynamic_table::entry_size;
use crate::http2::hpack::encoder::{self, Indexing, Name};
use crate::http2::hpack::static_table::{ENTRIES, Found, find};

/// The requests of a run, ready to be sent.
#[derive(Debug, Clone)]
pub struct RequestSet {
    requests: Box<[Prepared]>,
    /// Entries the requests add to the peer's table.
    entries: usize,
    /// Their size in the table of the server (RFC 7541, 4.1).
    entries_bytes: usize,
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    fields: Box<[PreparedField]>,
    /// With all entries in the peer's table.
    indexed: Image,
    /// Without use of the table.
    plain: Image,
    body: Vec<u8>,
    body_patcher: Patcher,
    /// The request is HEAD.
    pub response_has_no_body: bool,
}

/// What the peer's table holds of a connection's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncoderState {
    /// Size of the peer's table.
    pub table_bytes: usize,
    /// Number of entries, from the first, that were sent.
    pub sent_entries: usize,
    /// No entry is used any more.
    pub plain: bool,
    /// The next block has to begin with this size of the table.
    pub size_update: Option<u32>,
}

impl Default for EncoderState {
    fn default() -> Self {
        let table_bytes = TABLE_BYTES as usize;
        Self { table_bytes, sent_entries: 0, plain: false, size_update: None }
    }
}

/// The bytes of a body.
pub(crate) enum BodyBytes<'a> {
    /// Nothing to patch.
    None,
    /// The same each time.
    Constant(&'a [u8]),
    /// These, once they are filled in.
    Patched(&'a [u8], &'a Patcher),
}

#[derive(Debug, Clone)]
struct PreparedField {
    field: RequestField,
    in_static_table: Found,
    /// Its number among the entries.
    entry: Option<usize>,
}

/// HEADERS and CONTINUATION frames, complete but for the number of their stream.
#[derive(Debug, Clone)]
struct Image {
    bytes: Vec<u8>,
    /// Where each frame begins.
    frames: Box<[usize]>,
    patcher: Patcher,
}

impl RequestSet {
    /// Encodes the requests.
    pub fn new(requests: &[Request]) -> Self {
        Self::of(requests.to_vec())
    }

    /// Encodes the requests, and keeps their bodies.
    pub fn of(requests: Vec<Request>) -> Self {
        let mut entries = Entries::default();
        let fields: Vec<Box<[PreparedField]>> = requests
            .iter()
            .map(|request| request.fields.iter().map(|field| entries.prepare(field)).collect())
            .collect();
        let entries_count = entries.fields.len();
        let prepare = |(request, fields): (Request, Box<[PreparedField]>)| {
            let image = |mut state: EncoderState| {
                let mut block = Block::default();
                block.write(&fields, &mut state, entries_count);
                Image::new(&block, request.body.is_empty())
            };
            let all = EncoderState { sent_entries: entries_count, ..EncoderState::default() };
            Prepared {
                indexed: image(all),
                plain: image(EncoderState { plain: true, ..EncoderState::default() }),
                fields,
                body: request.body,
                body_patcher: Patcher::from_patches(&request.body_patches),
                response_has_no_body: request.response_has_no_body,
            }
        };
        Self {
            requests: requests.into_iter().zip(fields).map(prepare).collect(),
            entries: entries_count,
            entries_bytes: entries.bytes,
        }
    }

    /// Number of requests.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// What the requests add to a peer's table, in bytes as RFC 7541, 4.1 counts them.
    pub fn entries_bytes(&self) -> usize {
        self.entries_bytes
    }

    /// The request of this number.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub(crate) fn get(&self, number: usize) -> &Prepared {
        &self.requests[number]
    }

    /// Appends the frames of a request's head.
    #[inline(always)]
    pub(crate) fn write_head(
        &self,
        request: &Prepared,
        state: &mut EncoderState,
        stream: u32,
        number: u64,
        digits: &mut Digits,
        out: &mut Vec<u8>,
    ) {
        if state.size_update.is_none() && (state.plain || state.sent_entries == self.entries) {
            let image = if state.plain { &request.plain } else { &request.indexed };
            image.write(stream, number, digits, out);
        } else {
            self.write_first(request, state, stream, number, digits, out);
        }
    }

    /// While the peer's table is not as it will be.
    #[inline(never)]
    fn write_first(
        &self,
        request: &Prepared,
        state: &mut EncoderState,
        stream: u32,
        number: u64,
        digits: &mut Digits,
        out: &mut Vec<u8>,
    ) {
        let mut block = Block::default();
        if let Some(bytes) = state.size_update.take() {
            encoder::size_update(&mut block.bytes, bytes as usize);
        }
        block.write(&request.fields, state, self.entries);
        Image::new(&block, request.body.is_empty()).write(stream, number, digits, out);
    }
}

impl Prepared {
    /// The request's body.
    #[inline(always)]
    pub fn body(&self) -> BodyBytes<'_> {
        if self.body.is_empty() {
            BodyBytes::None
        } else if self.body_patcher.is_empty() {
            BodyBytes::Constant(&self.body)
        } else {
            BodyBytes::Patched(&self.body, &self.body_patcher)
        }
    }
}

/// Collects what goes into the peer's table.
#[derive(Default)]
struct Entries {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl Entries {
    fn prepare(&mut self, field: &RequestField) -> PreparedField {
        let in_static_table = find(&field.name, &field.value);
        let constant = field.patches.is_empty() && !field.never_indexed;
        let entry = if constant && !matches!(in_static_table, Found::Field(_)) {
            self.entry(&field.name, &field.value)
        } else {
            None
        };
        PreparedField { field: field.clone(), in_static_table, entry }
    }

    /// The number of an entry with this field, if there is one or it still fits.
    fn entry(&mut self, name: &[u8], value: &[u8]) -> Option<usize> {
        if let Some(known) = self.fields.iter().position(|(n, v)| n == name && v == value) {
            return Some(known);
        }
        let size = entry_size(name.len(), value.len());
        if self.bytes + size > TABLE_BYTES as usize {
            return None;
        }
        self.bytes += size;
        self.fields.push((name.to_vec(), value.to_vec()));
        Some(self.fields.len() - 1)
    }
}

/// A header block that is being put together.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    patches: Vec<Patch>,
}

impl Block {
    /// Appends fields; what is added to the peer's table is noted in the state.
    fn write(&mut self, fields: &[PreparedField], state: &mut EncoderState, entries: usize) {
        for prepared in fields {
            let PreparedField { field, in_static_table, entry } = prepared;
            let name = match *in_static_table {
                Found::Field(index) if field.patches.is_empty() && !field.never_indexed => {
                    encoder::indexed(&mut self.bytes, index);
                    continue;
                }
                Found::Field(index) | Found::Name(index) => Name::Index(index),
                Found::Nothing => Name::Literal(&field.name),
            };
            let indexing = match entry.filter(|_| !state.plain) {
                Some(entry) if entry < state.sent_entries => {
                    // The newest entry comes first (RFC 7541, 2.3.3).
                    let index = ENTRIES + state.sent_entries - entry;
                    encoder::indexed(&mut self.bytes, index);
                    continue;
                }
                Some(entry) if entry == state.sent_entries && entry < entries => {
                    state.sent_entries += 1;
                    Indexing::Keep
                }
                _ if field.never_indexed => Indexing::Never,
                _ => Indexing::Without,
            };
            self.write_literal(field, indexing, name);
        }
    }

    /// Where a frame that begins at `start` of the block ends.
    fn cut_behind(&self, start: usize) -> usize {
        let end = self.bytes.len().min(start + PAYLOAD_BYTES_MIN as usize);
        let cut = self.patches.iter().find(|patch| {
            let patch_start = patch.offset as usize;
            patch_start < end && end < patch_start + patch.width as usize
        });
        // A patch has few bytes, so the frame does not become empty.
        cut.map_or(end, |patch| patch.offset as usize)
    }

    fn write_literal(&mut self, field: &RequestField, indexing: Indexing, name: Name<'_>) {
        if field.patches.is_empty() {
            return encoder::literal(&mut self.bytes, indexing, name, &field.value);
        }
        let start = encoder::plain_literal(&mut self.bytes, indexing, name, &field.value);
        let moved = field.patches.iter().map(|patch| Patch {
            // A head is far shorter than 4 GiB.
            offset: patch.offset + start as u32,
            ..*patch
        });
        self.patches.extend(moved);
    }
}

impl Image {
    /// Cuts a block into frames, never within a patched place.
    fn new(block: &Block, end_stream: bool) -> Self {
        let mut image =
            Self { bytes: Vec::new(), frames: Box::default(), patcher: Patcher::from_patches(&[]) };
        let mut frames = Vec::new();
        let mut patches = Vec::new();
        let mut start = 0;
        loop {
            let end = block.cut_behind(start);
            let complete = end == block.bytes.len();
            let kind = if start == 0 { kind::HEADERS } else { kind::CONTINUATION };
            let end_stream = if start == 0 && end_stream { flag::END_STREAM } else { 0 };
            let end_headers = if complete { flag::END_HEADERS } else { 0 };
            frames.push(image.bytes.len());
            write_head(&mut image.bytes, kind, end_stream | end_headers, 0, (end - start) as u32);
            let shift = image.bytes.len() - start;
            image.bytes.extend_from_slice(&block.bytes[start..end]);
            let here = block.patches.iter().filter(|p| (start..end).contains(&(p.offset as usize)));
            patches.extend(here.map(|p| Patch { offset: p.offset + shift as u32, ..*p }));
            start = end;
            if complete {
                break;
            }
        }
        Self { frames: frames.into(), patcher: Patcher::from_patches(&patches), ..image }
    }

    /// Appends the frames, with the number of their stream and the fields filled in.
    #[inline(always)]
    fn write(&self, stream: u32, number: u64, digits: &mut Digits, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let written = &mut out[start..];
        for frame in &self.frames {
            written[frame + STREAM_OFFSET..frame + HEAD_BYTES]
                .copy_from_slice(&stream.to_be_bytes());
        }
        self.patcher.apply(written, number, digits);
    }
}
