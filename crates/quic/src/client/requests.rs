//! The requests of a run as the bytes of their streams, made once: what is the same each time is never copied.

use ablaze_wire::http1::patch::{Digits, Patcher};
use ablaze_wire::http1::request::Patch;
use ablaze_wire::http2::request::Request;
use ablaze_wire::http3::request::{into_template, section_bytes};
use bytes::Bytes;

use super::NoRoom;

/// The requests of a run, ready to be sent.
#[derive(Debug, Clone)]
pub struct RequestSet(Box<[Prepared]>);

/// Why a request is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// There is no room for it now.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// Its field section is larger than the server's SETTINGS_MAX_FIELD_SECTION_SIZE: it is not to be sent on this
    /// connection (RFC 9114, 4.2.2).
    #[error(
        "the request's header fields take {section_bytes} bytes (names and values, 32 more for each), and the server accepts \
         {bytes_max} (SETTINGS_MAX_FIELD_SECTION_SIZE)"
    )]
    TooLarge {
        /// Of the request.
        section_bytes: u64,
        /// The server's limit.
        bytes_max: u64,
    },
}

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    head: Piece,
    body: Piece,
    /// The size of its field section, as servers limit it (RFC 9114, 4.2.2).
    pub section_bytes: u64,
    /// The request is HEAD.
    pub response_has_no_body: bool,
}

/// Some of a request's bytes, and what changes in them.
#[derive(Debug, Clone)]
struct Piece {
    bytes: Bytes,
    patcher: Patcher,
}

impl RequestSet {
    /// Encodes the requests.
    pub fn new(requests: &[Request]) -> Self {
        Self::of(requests.to_vec())
    }

    /// Encodes the requests in the memory of their bodies.
    pub fn of(requests: Vec<Request>) -> Self {
        Self(requests.into_iter().map(Prepared::of).collect())
    }

    /// Number of requests.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The request of this number.
    #[inline]
    pub(super) fn get(&self, number: usize) -> &Prepared {
        &self.0[number]
    }
}

impl Prepared {
    fn of(request: Request) -> Self {
        let section_bytes = section_bytes(&request);
        let template = into_template(request);
        let mut head = Bytes::from(template.bytes);
        let body = head.split_off(template.head_bytes);
        let before = |patch: &&Patch| (patch.offset as usize) < template.head_bytes;
        let in_head: Vec<Patch> = template.patches.iter().filter(before).copied().collect();
        let in_body: Vec<Patch> = template.patches[in_head.len()..]
            .iter()
            .map(|patch| Patch { offset: patch.offset - template.head_bytes as u32, ..*patch })
            .collect();
        Self {
            head: Piece::new(head, &in_head),
            body: Piece::new(body, &in_body),
            section_bytes,
            response_has_no_body: template.response_has_no_body,
        }
    }

    /// Its HEADERS frame, and its DATA frame if it has a body.
    #[inline]
    pub fn pieces(&self, number: u64, digits: &mut Digits) -> [Bytes; 2] {
        [self.head.filled(number, digits), self.body.filled(number, digits)]
    }
}

impl Piece {
    fn new(bytes: Bytes, patches: &[Patch]) -> Self {
        Self { bytes, patcher: Patcher::from_patches(patches) }
    }

    #[inline]
    fn filled(&self, number: u64, digits: &mut Digits) -> Bytes {
        if self.patcher.is_empty() {
            return self.bytes.clone();
        }
        let mut own = self.bytes.to_vec();
        self.patcher.apply(&mut own, number, digits);
        own.into()
    }
}
