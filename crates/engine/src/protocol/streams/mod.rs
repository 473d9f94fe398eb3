//! Exchanges on streams: a worker's connections carry many at once, keyed by connection and stream. What carries the
//! streams is a [`Multiplexer`]: [HTTP/2](super::http2), [HTTP/3](super::http3).
//!
//! A connection has a [`Session`]: what the multiplexer keeps of it, and as many places as streams were asked for. The place of
//! an exchange is its tag in the multiplexer. Places are handed out from a free list, because streams end in any order.
//!
//! `sending` takes requests, `responses` ends exchanges as their responses come; `permits` says how many streams may be
//! open, and which requests are sent again; `queued` how long requests wait for a stream, `waits` how long bodies wait for
//! windows; `endings` is about connections that begin and end, and what fails with them; `deadlines` about streams that take
//! too long; `walking` about users who are asked what they send, `telling` about what they are told.

mod deadlines;
mod endings;
mod multiplexer;
mod permits;
mod queued;
mod responses;
mod sending;
mod telling;
mod waits;
mod walking;

use std::collections::VecDeque;

use ablaze_model::record::Record;
use ablaze_net::{CloseReason, Datagrams, Io, Receive, Slot};

pub(super) use self::multiplexer::{Multiplexer, NotSent, OfSlot, StreamRequest};
pub(super) use self::permits::GoAway;
pub(super) use self::responses::{Responses, Seen};
use self::waits::Held;
use self::walking::Letters;
use super::{Failure, Made, Protocol, State};
use crate::connection::Stage;
use crate::sink::Bodies;
use crate::walk::Walk;
use crate::worker::waiting::{Arrivals, Gathering};
use crate::worker::{Assignment, Worker};

/// A protocol with streams, of one worker.
pub(crate) struct Streams<C, S> {
    pub(super) multiplexer: C,
    /// Exchanges that a connection can have in flight.
    pub(super) streams: u32,
    /// Slots with something to flush.
    listed: Vec<Slot>,
    pub(super) bodies: Bodies<S>,
    /// What users send, where a walk says it.
    letters: Letters,
    /// The head that a walk is told of, and its fields: buffers.
    pub(super) heads: Heads,
}

/// Where the heads of responses are put together.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// A walk wants to be told of them.
    are_told: bool,
    /// The fields of the one that is being read.
    fields: Vec<u8>,
    /// One that is told of.
    told: Vec<u8>,
}

/// A slot, and the exchanges on it. The places stay when the connection goes.
pub(crate) struct Session<T> {
    /// What the multiplexer keeps of it.
    pub(super) multiplexer: T,
    pub(super) places: Box<[Place]>,
    /// First in, first out: tags go round, and so does what the caches are to hold. Where users are asked, those of users
    /// who wait for a number of the run.
    free: VecDeque<u32>,
    /// Places of users who are to be asked what they do next.
    asked: VecDeque<u32>,
    /// Users are asked.
    asks: bool,
    /// Places in use whose request is still to be sent.
    waiting: VecDeque<u32>,
    /// Places whose request was written and has not left.
    pub(super) unsent: Vec<u32>,
    /// It is in the list of those with something to flush.
    listed: bool,
    /// The open loop knows that it has room.
    offered: bool,
    /// From when on all its streams are in use, in open loop; 0 if they are not.
    full_since_ns: u64,
    /// The server's GOAWAY.
    pub(super) goaway: Option<GoAway>,
    /// Bodies that wait for the server's windows.
    held: Held,
}

/// A place for an exchange, beside the worker's [`Exchange`](crate::connection::Exchange).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    in_use: bool,
    /// Its user has nothing to send until a time.
    pauses: bool,
    status: u16,
    /// Its request was given a stream.
    has_stream: bool,
    /// Number of that.
    stream: u64,
    /// Bytes of the body so far.
    body_bytes: u64,
    /// What the head said of the body's length.
    content_length: Option<u64>,
    /// When a part of the response last came; 0 before its head.
    progress_ns: u64,
    /// From when on its request waits for a stream; 0 if it does not.
    waits_since_ns: u64,
}

impl<C: Multiplexer, S: Walk> Streams<C, S> {
    /// For one worker.
    pub fn new(assignment: &Assignment, multiplexer: C, sink: S) -> Self {
        Self {
            multiplexer,
            streams: assignment.plan.places_per_connection(),
            listed: Vec::with_capacity(assignment.connections as usize),
            letters: Letters::of(assignment, &sink),
            heads: Heads { are_told: S::WALKS && sink.wants_heads(), ..Heads::default() },
            bodies: Bodies::new(sink, assignment.places()),
        }
    }
}

impl<C, S> Streams<C, S> {
    /// Has the slot flushed at the end of the batch.
    #[inline]
    pub(super) fn list<T>(&mut self, session: &mut Session<T>, slot: Slot) {
        if !session.listed {
            session.listed = true;
            self.listed.push(slot);
        }
    }
}

impl<T: OfSlot> Session<T> {
    fn new(streams: u32) -> Self {
        let count = streams as usize;
        Self {
            multiplexer: T::default(),
            places: vec![Place::default(); count].into(),
            free: (0..streams).collect(),
            asked: VecDeque::new(),
            asks: false,
            waiting: VecDeque::with_capacity(count),
            unsent: Vec::with_capacity(count),
            listed: false,
            offered: false,
            full_since_ns: 0,
            goaway: None,
            held: Held::default(),
        }
    }

    /// The place is in use no more. Where there are users (`walks`), its user may be asked next.
    #[inline(always)]
    fn free(&mut self, tag: u32, walks: bool) {
        self.places[tag as usize] = Place::default();
        let next = if walks && self.asks { &mut self.asked } else { &mut self.free };
        next.push_back(tag);
    }
}

impl<T: OfSlot> State for Session<T> {
    fn socket_gone(&mut self) {
        // `closed` has seen to it; where nothing ever stood, `begin` does.
    }
}

impl<C: Multiplexer, S: Walk> Protocol for Streams<C, S> {
    type State = Session<C::OfSlot>;
    type Sink = S;

    const FIRST_MODE: Receive = Receive::Stream;
    const OPENINGS_AT_ONCE: u32 = C::OPENINGS_AT_ONCE;

    fn state(&self) -> Self::State {
        Session::new(self.streams)
    }

    fn prepare<I: Io>(worker: &mut Worker<Self>, _io: &mut I) {
        worker.seat_users_on_streams();
    }

    fn open_next<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        worker.open_next_for_streams(io, slot);
    }

    fn begin<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        C::begin(worker, io, slot);
    }

    #[inline]
    fn slot_open<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, at: u64) {
        C::slot_open(worker, io, slot, at);
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
        worker.flush_listed(io, at);
    }

    fn sent<I: Io>(worker: &mut Worker<Self>, _io: &mut I, slot: Slot, _at: u64) {
        C::sent(worker, slot);
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
            C::received(worker, io, slot, bytes, at);
        }
    }

    fn datagrams<I: Io>(
        worker: &mut Worker<Self>,
        io: &mut I,
        slot: Slot,
        datagrams: Datagrams<'_>,
        at: u64,
    ) {
        C::datagrams(worker, io, slot, datagrams, at);
    }

    fn discarded<I: Io>(_: &mut Worker<Self>, _: &mut I, _: Slot, _: u64, _: u64) {
        debug_assert!(false, "frames have to be read");
    }

    fn nothing_more(_worker: &mut Worker<Self>, _slot: Slot, _at: u64) {}

    fn cut_off(_worker: &mut Worker<Self>, _slot: Slot, _at: u64) {}

    fn closed(worker: &mut Worker<Self>, slot: Slot, why: CloseReason, at: u64) {
        worker.streams_cut(slot, why, at);
    }

    const TAKES_LEAVE: bool = C::TAKES_LEAVE;
    const KNOWS_WHY_NONE_STANDS: bool = C::KNOWS_WHY_NONE_STANDS;

    fn take_leave<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        C::take_leave(worker, io, slot);
    }

    fn socket_gone<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        C::socket_gone(worker, io, slot);
    }

    #[inline(always)]
    fn next_timer_ns(&self) -> u64 {
        self.multiplexer.next_timer_ns()
    }

    fn expired<I: Io>(worker: &mut Worker<Self>, io: &mut I, now: u64) {
        C::expired(worker, io, now);
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

    fn counts_from<I: Io>(worker: &mut Worker<Self>, io: &mut I) {
        C::counts_from(worker, io);
    }

    fn counts_until<I: Io>(worker: &mut Worker<Self>, io: &mut I) {
        C::counts_until(worker, io);
    }

    fn unfinished(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.note_unfinished_streams(slot, at);
    }

    fn gathering(worker: &Worker<Self>) -> Gathering {
        let streams = worker.protocol.streams;
        let arrivals = match worker.expected_mode {
            _ if streams > 1 => Arrivals::Streams,
            Receive::Stream => Arrivals::Small,
            _ => Arrivals::Bulky,
        };
        // Responses of many streams come as one event.
        let events = worker.in_flight.div_ceil(streams);
        // That a write has left is an event without responses.
        Gathering { arrivals, events, beside: worker.protocol.multiplexer.sends_under_way() }
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

    fn report(&mut self, record: &mut Record, closed_ns: u64) {
        self.multiplexer.report(record);
        if S::WALKS {
            self.bodies.sink().report(record, closed_ns);
        }
    }

    fn into_sink(self) -> S {
        self.bodies.into_sink()
    }
}

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// Where a place of a slot stands among all exchanges.
    #[inline]
    fn place_of(&self, slot: Slot, tag: u32) -> usize {
        (slot * self.pipeline + tag) as usize
    }

    /// Has the slot flushed at the end of the batch.
    #[inline]
    pub(super) fn list_to_flush(&mut self, slot: Slot) {
        self.protocol.list(&mut self.connections[slot as usize].state, slot);
    }

    /// The window opens: what came of bodies before, and what the server did, does not count.
    fn open_window_of_streams(&mut self, at: u64) {
        self.protocol.multiplexer.window_opens();
        for connection in &mut self.connections {
            connection.state.held.count_from(at);
            for place in &mut connection.state.places {
                place.body_bytes = 0;
            }
        }
    }
}
