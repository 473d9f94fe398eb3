//! Takes requests for the streams that are free, and has what gathers on connections leave at the end of a batch.

use ablaze_net::{Io, Slot};

use super::{Multiplexer, NotSent, OfSlot, Place, StreamRequest, Streams};
use crate::connection::{Exchange, Stage};
use crate::protocol::Failure;
use crate::walk::Walk;
use crate::worker::{Worker, close_at_once};
use ablaze_model::failure::FailureKind;

/// So many requests in a row that the server takes none of are failed at once, ...
const NOT_TAKEN_AT_ONCE: u32 = 64;
/// ... and after that the connection rests for so long.
const NOT_TAKEN_REST_NS: u64 = 1_000_000;

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// Sends as many requests on a connection as may be in flight: those that wait, then new ones.
    pub(super) fn feed_streams<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if self.in_setup {
            return;
        }
        self.feed_connection(io, slot);
        if S::WALKS {
            self.follow_users(io);
        }
    }

    /// The same, without users that go on to another connection.
    #[inline]
    pub(super) fn feed_connection<I: Io>(&mut self, io: &mut I, slot: Slot) {
        let mut not_taken = 0;
        while self.has_room(slot) {
            let queued = self.connections[slot as usize].state.waiting.pop_front();
            let Some(tag) = queued.or_else(|| self.take_place(slot)) else {
                break;
            };
            match self.request(slot, tag) {
                Ok(()) if queued.is_some() || self.found_no_stream(slot) => {
                    self.has_its_stream(slot, tag, io.now());
                }
                Ok(()) => {}
                Err(NotSent::NoRoom) => break,
                Err(NotSent::NotTaken(kind, words)) => {
                    self.not_taken(slot, tag, io.now(), kind, words);
                    not_taken += 1;
                    if not_taken >= NOT_TAKEN_AT_ONCE {
                        self.feed_later(slot, io.now());
                        break;
                    }
                }
            }
        }
        self.settle(io, slot);
        if !self.connections[slot as usize].state.waiting.is_empty() {
            self.wait_for_streams(slot, io.now());
        }
    }

    /// Whether one more request can be sent on the slot.
    #[inline]
    fn has_room(&self, slot: Slot) -> bool {
        let connection = &self.connections[slot as usize];
        connection.stage == Stage::Open
            && connection.requests < self.requests_per_connection
            && self.streams_left(slot) > 0
    }

    /// Takes the next request of the run for a free place.
    #[inline]
    pub(super) fn take_place(&mut self, slot: Slot) -> Option<u32> {
        if self.asks_users() {
            return self.take_step(slot);
        }
        if self.closed_for_new || self.connections[slot as usize].state.free.is_empty() {
            return None;
        }
        let (number, intended_ns) = self.take_request()?;
        let session = &mut self.connections[slot as usize].state;
        let tag = session.free.pop_front()?;
        session.places[tag as usize] = Place { in_use: true, ..Place::default() };
        let place = self.place_of(slot, tag);
        self.exchanges[place] = Exchange {
            number,
            intended_ns,
            template: self.outbox.template_of(number),
            ..Exchange::default()
        };
        self.connections[slot as usize].in_flight += 1;
        self.in_flight += 1;
        if S::WALKS {
            self.write_planned(place);
        }
        Some(tag)
    }

    /// Writes the request of a place; it waits if there is no room.
    #[inline]
    fn request(&mut self, slot: Slot, tag: u32) -> Result<(), NotSent> {
        let place = self.place_of(slot, tag);
        let Exchange { template, number, .. } = self.exchanges[place];
        let protocol = &mut self.protocol;
        let connection = &mut self.connections[slot as usize];
        let session = &mut connection.state;
        let text = if S::WALKS { protocol.letters.text(place, connection.origin) } else { None };
        let asked = StreamRequest { template, sequence: self.outbox.sequence(number), text };
        let stream = match protocol.multiplexer.request(&mut session.multiplexer, asked, tag) {
            Ok(stream) => stream,
            Err(not_sent) => {
                session.waiting.push_front(tag);
                return Err(not_sent);
            }
        };
        let place = &mut session.places[tag as usize];
        place.has_stream = true;
        place.stream = stream;
        session.unsent.push(tag);
        connection.requests += 1;
        protocol.list(session, slot);
        Ok(())
    }

    /// The server takes no such request: it fails here, and those behind it go on.
    #[cold]
    fn not_taken(&mut self, slot: Slot, tag: u32, at: u64, kind: FailureKind, words: String) {
        self.protocol.multiplexer.note_failure(kind, || words);
        self.fail_place(slot, tag, at, Failure::of((kind, 0)));
    }

    /// Requests fail without a round trip: so that a run of nothing but such ones can end, the slot goes on a little later.
    #[cold]
    fn feed_later(&mut self, slot: Slot, at: u64) {
        let deadline_ns = at.saturating_add(NOT_TAKEN_REST_NS);
        self.connections[slot as usize].deadline_ns = deadline_ns;
        self.next_check_ns = self.next_check_ns.min(deadline_ns);
    }

    /// Nothing more is sent on the slot now: ends a connection that is used up, offers one that has
    /// room.
    fn settle<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if self.closed_for_new {
            self.note_draining();
        }
        let connection = &self.connections[slot as usize];
        let session = &connection.state;
        if connection.stage != Stage::Open || !session.multiplexer.is_there() {
            return;
        }
        let (live, room) = (session.multiplexer.streams_live(), self.streams_left(slot));
        if session.multiplexer.is_draining() || connection.requests >= self.requests_per_connection
        {
            // What waits goes on with the next connection.
            let asks = S::WALKS && !session.asked.is_empty();
            if live == 0 && (connection.in_flight > 0 || !self.closed_for_new || asks) {
                if connection.requests == 0 {
                    self.sent_away(slot, io.now());
                }
                self.end_connection(io, slot, close_at_once(&self.plan));
            }
        } else if self.open_loop.is_some() {
            self.note_room(slot, room);
            let session = &self.connections[slot as usize].state;
            if room > 0 && !session.offered && (!S::WALKS || session.has_idle_users()) {
                self.connections[slot as usize].state.offered = true;
                self.note_idle(slot);
            }
        } else if room == 0 && connection.in_flight == 0 {
            // The server permits no stream at all, or its SETTINGS have not come: a request waits
            // for it, and times out if need be.
            if let Some(tag) = self.take_place(slot) {
                let place = self.place_of(slot, tag);
                // Not the time of the last event: the window may have opened since.
                self.exchanges[place].started_ns = io.now();
                self.connections[slot as usize].state.waiting.push_back(tag);
            }
        }
    }

    /// The server ended a connection (GOAWAY) before anything was asked: this many in a row are enough, and what waits fails.
    #[cold]
    fn sent_away(&mut self, slot: Slot, at: u64) {
        self.connections[slot as usize].was_sent_away = true;
        if !self.note_turned_away(slot, at, FailureKind::GoAway) {
            return;
        }
        self.protocol.multiplexer.note_failure(FailureKind::GoAway, || {
            "the server sends GOAWAY before the first request of a connection".to_owned()
        });
        for _ in 0..self.connections[slot as usize].in_flight {
            self.fail_oldest_stream(slot, at, Failure::of((FailureKind::GoAway, 0)));
        }
    }

    /// The open loop has an arrival for a slot that was offered.
    pub(super) fn hand_to_streams<I: Io>(&mut self, io: &mut I, slot: Slot) {
        self.connections[slot as usize].state.offered = false;
        self.feed_streams(io, slot);
    }

    /// Flushes every connection that has something to send: it leaves now, or with the current
    /// batch, whose time is `at`.
    #[inline]
    pub(super) fn flush_listed<I: Io>(&mut self, io: &mut I, at: u64) {
        while let Some(slot) = self.protocol.listed.pop() {
            self.connections[slot as usize].state.listed = false;
            if self.connections[slot as usize].stage == Stage::Open {
                C::flush(self, io, slot, at);
            }
        }
    }

    /// What has gathered on a slot leaves now, or with the current batch, at this time; if nothing can leave, it has begun.
    pub(in crate::protocol) fn stamp_unsent(&mut self, slot: Slot, at: u64, leaves: bool) {
        let session = &mut self.connections[slot as usize].state;
        let first = (slot * self.pipeline) as usize;
        for &tag in &session.unsent {
            let exchange = &mut self.exchanges[first + tag as usize];
            if leaves {
                exchange.stamp(at);
            } else if exchange.started_ns == 0 {
                exchange.started_ns = at;
            }
        }
        if leaves {
            session.unsent.clear();
        }
    }
}
