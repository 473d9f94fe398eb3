//! HTTP/2 on a worker's connections: exchanges keyed by connection and stream.
//!
//! The worker's connections, exchanges and recorder are the same as under HTTP/1; what is different
//! is here. A connection has a [`Session`]: the codec's state, and as many places as streams were
//! asked for. The place of an exchange is its tag in the codec. Places are handed out from a free
//! list, because streams end in any order.
//!
//! `sending` takes requests and flushes them, one write per connection and turn; `receiving` ends
//! exchanges as their answers come; `permits` says how many streams may be open, and which requests are
//! sent again; `waits` how long bodies wait for windows; `endings` is about connections that begin and
//! end, and what fails with them; `deadlines` about streams that take too long.

mod deadlines;
mod endings;
mod permits;
mod receiving;
mod sending;
mod waits;

use std::collections::VecDeque;
use std::sync::Arc;

use ablaze_net::{Io, OutBuffer, Slot};
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, Options};
use ablaze_wire::http2::request::RequestSet;

use self::permits::GoAway;
use self::waits::Held;
use super::{Assignment, Worker};
use ablaze_model::record::Http2Facts;

/// A connection's output holds bodies only up to so many bytes; the rest follows when these left.
const OUTPUT_BYTES: usize = 64 * 1024;
/// The smallest buffer a connection sends from.
const WRITE_BYTES_MIN: usize = 4 * 1024;

/// HTTP/2 of one worker; without sessions it is not spoken.
pub(super) struct Http2 {
    set: Arc<RequestSet>,
    digits: Digits,
    options: Options,
    /// One per slot.
    sessions: Box<[Session]>,
    /// Slots with something to flush.
    listed: Vec<Slot>,
    /// Writes whose end the driver has not reported.
    writes_under_way: u32,
    facts: Box<Http2Facts>,
}

/// HTTP/2 of one slot. The places stay when the connection goes.
struct Session {
    /// The codec's state; `None` without a connection.
    wire: Option<Box<Connection>>,
    /// What gathers until the next flush.
    out: Vec<u8>,
    write: Write,
    places: Box<[Place]>,
    /// First in, first out: tags go round, and so does what the caches are to hold.
    free: VecDeque<u32>,
    /// Places in use whose request is still to be sent.
    waiting: VecDeque<u32>,
    /// Places whose request is in `out`.
    unsent: Vec<u32>,
    /// It is in the list of those with something to flush.
    listed: bool,
    /// The open loop knows that it has room.
    offered: bool,
    /// The server's GOAWAY.
    goaway: Option<GoAway>,
    /// Bodies that wait for the server's windows.
    held: Held,
}

/// The buffer a connection sends from. It must not change while the write is under way.
#[derive(Debug, Default)]
struct Write {
    buffer: Option<OutBuffer>,
    capacity: usize,
    under_way: bool,
}

/// A place for an exchange, beside the worker's [`Exchange`](crate::connection::Exchange).
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    in_use: bool,
    /// Number of its stream; 0 while the request waits.
    stream: u32,
    status: u16,
    /// Bytes of the body so far.
    body_bytes: u64,
    /// What the head said of the body's length.
    content_length: Option<u64>,
    /// When a part of the answer last came; 0 before its head.
    progress_ns: u64,
}

impl Http2 {
    /// For one worker.
    pub fn new(assignment: &Assignment) -> Self {
        let plan = &assignment.plan;
        let set = assignment.http2.clone();
        let slots = if set.is_some() { assignment.connections as usize } else { 0 };
        let streams = plan.places_per_connection();
        Self {
            set: set.unwrap_or_else(|| Arc::new(RequestSet::new(&[]))),
            digits: Digits::new(plan.requests.seed, u64::from(assignment.worker)),
            options: Options {
                streams,
                header_list_bytes: plan.limits.max_head_bytes.try_into().unwrap_or(u32::MAX),
                output_bytes: OUTPUT_BYTES,
                ..Options::default()
            },
            sessions: (0..slots).map(|_| Session::new(streams)).collect(),
            listed: Vec::with_capacity(slots),
            writes_under_way: 0,
            facts: Box::default(),
        }
    }

    /// Whether the worker speaks it.
    #[inline]
    pub fn is_spoken(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Exchanges that a connection has in flight, at most.
    pub fn streams(&self) -> u32 {
        self.options.streams
    }

    /// Writes whose end is still to be reported: events that say nothing of answers.
    pub fn writes_under_way(&self) -> u32 {
        self.writes_under_way
    }

    /// What is to be reported about it.
    pub fn facts(&mut self) -> Option<Box<Http2Facts>> {
        self.is_spoken().then(|| std::mem::take(&mut self.facts))
    }

    /// Has the slot flushed at the end of the batch.
    #[inline]
    fn list(&mut self, slot: Slot) {
        let session = &mut self.sessions[slot as usize];
        if !session.listed {
            session.listed = true;
            self.listed.push(slot);
        }
    }
}

impl Session {
    fn new(streams: u32) -> Self {
        let count = streams as usize;
        Self {
            wire: None,
            out: Vec::new(),
            write: Write::default(),
            places: vec![Place::default(); count].into(),
            free: (0..streams).collect(),
            waiting: VecDeque::with_capacity(count),
            unsent: Vec::with_capacity(count),
            listed: false,
            offered: false,
            goaway: None,
            held: Held::default(),
        }
    }

    /// The server's SETTINGS came: it speaks HTTP/2.
    fn began(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| wire.peer_settings().is_some())
    }

    /// The place is in use no more.
    fn free(&mut self, tag: u32) {
        self.places[tag as usize] = Place::default();
        self.free.push_back(tag);
    }
}

impl Write {
    /// The buffer, with room for so many bytes.
    fn buffer<I: Io>(&mut self, io: &mut I, bytes: usize) -> OutBuffer {
        if let Some(buffer) = self.buffer {
            if bytes <= self.capacity {
                return buffer;
            }
            io.release(buffer);
        }
        self.capacity = bytes.max(WRITE_BYTES_MIN).next_power_of_two();
        *self.buffer.insert(io.lease(self.capacity))
    }
}

impl Worker {
    /// Where a place of a slot stands among all exchanges.
    #[inline]
    fn place_of(&self, slot: Slot, tag: u32) -> usize {
        (slot * self.pipeline + tag) as usize
    }

    /// The window opens: what came of bodies before, and what the server did, does not count.
    pub(super) fn open_window_of_streams(&mut self, at: u64) {
        self.http2.facts.open_window();
        for session in &mut self.http2.sessions {
            session.held.count_from(at);
            for place in &mut session.places {
                place.body_bytes = 0;
            }
        }
    }
}
