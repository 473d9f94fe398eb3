//! HTTP/2 on a worker's connections: exchanges keyed by connection and stream.
//!
//! A connection has a [`Session`]: the codec's state, and as many places as streams were asked for. The place of an exchange is its tag in the codec. Places are handed out from a free
//! list, because streams end in any order.
//!
//! `sending` takes requests and flushes them, one write per connection and turn; `receiving` ends
//! exchanges as their responses come; `permits` says how many streams may be open, and which requests are
//! sent again; `waits` how long bodies wait for windows; `endings` is about connections that begin and
//! end, and what fails with them; `deadlines` about streams that take too long; `walking` about users who are asked what
//! they send, `telling` about what they are told.

mod deadlines;
mod endings;
mod permits;
mod receiving;
mod sending;
mod telling;
mod waits;
mod walking;

use std::collections::VecDeque;
use std::sync::Arc;

use ablaze_model::record::{Http2Facts, Record};
use ablaze_net::{CloseReason, Io, OutBuffer, Receive, Slot};
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, Options};
use ablaze_wire::http2::request::RequestSet;

use self::permits::GoAway;
use self::waits::Held;
use self::walking::Letters;
use super::{Failure, Made, Protocol, State};
use crate::connection::Stage;
use crate::sink::Bodies;
use crate::walk::Walk;
use crate::worker::waiting::{Arrivals, Gathering};
use crate::worker::{Assignment, Worker};

/// A connection's output holds bodies only up to this many bytes; the rest follows when these left.
const OUTPUT_BYTES: usize = 64 * 1024;
/// The smallest buffer a connection sends from.
const WRITE_BYTES_MIN: usize = 4 * 1024;

/// HTTP/2 of one worker.
pub(crate) struct Http2<S> {
    set: Arc<RequestSet>,
    digits: Digits,
    options: Options,
    /// Slots with something to flush.
    listed: Vec<Slot>,
    /// Writes whose end the driver has not reported.
    writes_under_way: u32,
    facts: Box<Http2Facts>,
    bodies: Bodies<S>,
    /// What users send, where a walk says it.
    letters: Letters,
    /// The head that a walk is told of, and its fields: buffers.
    heads: Heads,
}

/// Where the heads of responses are put together.
#[derive(Debug, Default)]
struct Heads {
    /// A walk wants to be told of them.
    are_told: bool,
    /// The fields of the one that is being read.
    fields: Vec<u8>,
    /// One that is told of.
    told: Vec<u8>,
}

/// HTTP/2 of one slot. The places stay when the connection goes.
pub(crate) struct Session {
    /// The codec's state; `None` without a connection.
    wire: Option<Box<Connection>>,
    /// What gathers until the next flush.
    out: Vec<u8>,
    write: Write,
    places: Box<[Place]>,
    /// First in, first out: tags go round, and so does what the caches are to hold. Where users are asked, those of users
    /// who wait for a number of the run.
    free: VecDeque<u32>,
    /// Places of users who are to be asked what they do next.
    asked: VecDeque<u32>,
    /// Users are asked.
    asks: bool,
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
    /// Its user has nothing to send until a time.
    pauses: bool,
    /// Number of its stream; 0 while the request waits.
    stream: u32,
    status: u16,
    /// Bytes of the body so far.
    body_bytes: u64,
    /// What the head said of the body's length.
    content_length: Option<u64>,
    /// When a part of the response last came; 0 before its head.
    progress_ns: u64,
}

impl<S: Walk> Http2<S> {
    /// For one worker.
    pub fn new(assignment: &Assignment, set: Arc<RequestSet>, sink: S) -> Self {
        let plan = &assignment.plan;
        let streams = plan.places_per_connection();
        Self {
            set,
            digits: Digits::new(plan.requests.seed, u64::from(assignment.worker)),
            options: Options {
                streams,
                header_list_bytes: plan.limits.max_head_bytes.try_into().unwrap_or(u32::MAX),
                output_bytes: OUTPUT_BYTES,
                ..Options::default()
            },
            listed: Vec::with_capacity(assignment.connections as usize),
            writes_under_way: 0,
            facts: Box::default(),
            letters: Letters::of(assignment, &sink),
            heads: Heads { are_told: S::WALKS && sink.wants_heads(), ..Heads::default() },
            bodies: Bodies::new(sink, assignment.places()),
        }
    }

    /// Has the slot flushed at the end of the batch.
    #[inline]
    fn list(&mut self, session: &mut Session, slot: Slot) {
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
            asked: VecDeque::new(),
            asks: false,
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

    /// The place is in use no more. Where there are users (`walks`), its user may be asked next.
    #[inline(always)]
    fn free(&mut self, tag: u32, walks: bool) {
        self.places[tag as usize] = Place::default();
        let next = if walks && self.asks { &mut self.asked } else { &mut self.free };
        next.push_back(tag);
    }
}

impl Write {
    /// The buffer, with room for this many bytes.
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

impl State for Session {
    fn socket_gone(&mut self) {
        // `closed` has seen to it; where nothing ever stood, `begin` does.
    }
}

impl<S: Walk> Protocol for Http2<S> {
    type State = Session;
    type Sink = S;

    const FIRST_MODE: Receive = Receive::Stream;

    fn state(&self) -> Session {
        Session::new(self.options.streams)
    }

    fn prepare<I: Io>(worker: &mut Worker<Self>, _io: &mut I) {
        worker.seat_users_on_streams();
    }

    fn open_next<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        worker.open_next_for_streams(io, slot);
    }

    fn begin(worker: &mut Worker<Self>, slot: Slot) {
        worker.begin_session(slot);
    }

    fn stands_early(worker: &mut Worker<Self>, slot: Slot) {
        // It says so to the server.
        worker.list_to_flush(slot);
    }

    fn stands<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, made: Made, _at: u64) {
        worker.streams_opened(io, slot, made);
    }

    fn start<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        worker.feed_streams(io, slot);
    }

    fn take_due<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        worker.hand_to_streams(io, slot);
    }

    fn stamp(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.stamp_waiting(slot, at);
    }

    #[inline]
    fn flush<I: Io>(worker: &mut Worker<Self>, io: &mut I, at: u64) {
        worker.flush_frames(io, at);
    }

    fn sent<I: Io>(worker: &mut Worker<Self>, _io: &mut I, slot: Slot, _at: u64) {
        worker.frames_left(slot);
    }

    #[inline]
    fn received<I: Io>(
        worker: &mut Worker<Self>,
        io: &mut I,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
    ) {
        if worker.connections[slot as usize].stage == Stage::Open {
            worker.read_frames(io, slot, bytes, at);
        }
    }

    fn discarded<I: Io>(_: &mut Worker<Self>, _: &mut I, _: Slot, _: u64, _: u64) {
        debug_assert!(false, "frames have to be read");
    }

    fn nothing_more(_worker: &mut Worker<Self>, _slot: Slot, _at: u64) {}

    fn cut_off(_worker: &mut Worker<Self>, _slot: Slot, _at: u64) {}

    fn closed(worker: &mut Worker<Self>, slot: Slot, why: CloseReason, at: u64) {
        worker.streams_cut(slot, why, at);
    }

    fn fail_oldest(worker: &mut Worker<Self>, slot: Slot, at: u64, failure: Failure) {
        worker.fail_oldest_stream(slot, at, failure);
    }

    fn oldest_ns(worker: &Worker<Self>, slot: Slot) -> u64 {
        worker.oldest_stream_ns(slot)
    }

    fn overdue<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, now: u64) {
        worker.streams_overdue(io, slot, now);
    }

    fn window_opens(worker: &mut Worker<Self>, at: u64) {
        worker.open_window_of_streams(at);
        if S::WALKS {
            worker.protocol.bodies.sink().window_opens(at);
        }
    }

    fn unfinished(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.note_unfinished_streams(slot, at);
    }

    fn gathering(worker: &Worker<Self>) -> Gathering {
        let streams = worker.protocol.options.streams;
        let arrivals = match worker.expected_mode {
            _ if streams > 1 => Arrivals::Streams,
            Receive::Stream => Arrivals::Small,
            _ => Arrivals::Bulky,
        };
        // Responses of many streams come as one event.
        let events = worker.in_flight.div_ceil(streams);
        // That a write has left is an event without responses.
        Gathering { arrivals, events, beside: worker.protocol.writes_under_way }
    }

    fn is_walking(&self) -> bool {
        S::WALKS && self.bodies.sink_ref().is_walking()
    }

    fn is_preparing(&self) -> bool {
        S::WALKS && self.bodies.sink_ref().is_preparing()
    }

    fn prepared(worker: &mut Worker<Self>) {
        if S::WALKS {
            worker.protocol.bodies.sink().prepared();
            for connection in &mut worker.connections {
                connection.state.forget_pauses();
            }
        }
    }

    fn is_over(&self) -> bool {
        S::WALKS && self.bodies.sink_ref().is_over()
    }

    fn first_address(&self) -> usize {
        if S::WALKS { self.bodies.sink_ref().address() } else { 0 }
    }

    fn go_on_after_pause<I: Io>(worker: &mut Worker<Self>, io: &mut I, place: u32) {
        worker.go_on_with_user(io, place);
    }

    fn report(&mut self, record: &mut Record) {
        record.http2 = Some(std::mem::take(&mut self.facts));
        if S::WALKS {
            self.bodies.sink().report(record);
        }
    }

    fn into_sink(self) -> S {
        self.bodies.into_sink()
    }
}

impl<S: Walk> Worker<Http2<S>> {
    /// Where a place of a slot stands among all exchanges.
    #[inline]
    fn place_of(&self, slot: Slot, tag: u32) -> usize {
        (slot * self.pipeline + tag) as usize
    }

    /// Has the slot flushed at the end of the batch.
    #[inline]
    fn list_to_flush(&mut self, slot: Slot) {
        self.protocol.list(&mut self.connections[slot as usize].state, slot);
    }

    /// The window opens: what came of bodies before, and what the server did, does not count.
    fn open_window_of_streams(&mut self, at: u64) {
        self.protocol.facts.open_window();
        for connection in &mut self.connections {
            connection.state.held.count_from(at);
            for place in &mut connection.state.places {
                place.body_bytes = 0;
            }
        }
    }
}
