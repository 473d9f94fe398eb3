//! Takes requests for the streams that are free, and flushes what gathers: one write per connection
//! and turn, whatever is in it.

use ablaze_net::{Io, Outgoing, Slot};

use super::{Http2, Place};
use crate::connection::{Exchange, Stage};
use crate::walk::Walk;
use crate::worker::{Worker, close_at_once};
use ablaze_model::failure::FailureKind;

impl<S: Walk> Worker<Http2<S>> {
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
        while self.has_room(slot) {
            let session = &mut self.connections[slot as usize].state;
            let Some(tag) = session.waiting.pop_front().or_else(|| self.take_place(slot)) else {
                break;
            };
            if !self.request(slot, tag) {
                break;
            }
        }
        self.settle(io, slot);
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

    /// Writes the request of a place; it waits if that cannot be.
    #[inline]
    fn request(&mut self, slot: Slot, tag: u32) -> bool {
        let place = self.place_of(slot, tag);
        let Exchange { template, number, .. } = self.exchanges[place];
        let http2 = &mut self.protocol;
        let connection = &mut self.connections[slot as usize];
        let session = &mut connection.state;
        let stream = session.wire.as_mut().and_then(|wire| {
            let (set, out) = (&*http2.set, &mut session.out);
            if S::WALKS
                && let Some((text, scheme)) = http2.letters.text(place, connection.origin)
            {
                return wire.request_text(set, &text, scheme, tag, out).ok();
            }
            wire.request(set, template as usize, number, &mut http2.digits, tag, out).ok()
        });
        let Some(stream) = stream else {
            session.waiting.push_front(tag);
            return false;
        };
        session.places[tag as usize].stream = stream;
        session.unsent.push(tag);
        connection.requests += 1;
        http2.list(session, slot);
        true
    }

    /// Nothing more is sent on the slot now: ends a connection that is used up, offers one that has
    /// room.
    fn settle<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if self.closed_for_new {
            self.note_draining();
        }
        let connection = &self.connections[slot as usize];
        let session = &connection.state;
        let Some(wire) = session.wire.as_ref().filter(|_| connection.stage == Stage::Open) else {
            return;
        };
        let (live, room) = (wire.streams_live(), self.streams_left(slot));
        if wire.is_draining() || connection.requests >= self.requests_per_connection {
            // What waits goes on with the next connection.
            let asks = S::WALKS && !session.asked.is_empty();
            if live == 0 && (connection.in_flight > 0 || !self.closed_for_new || asks) {
                if connection.requests == 0 {
                    // Sent away before anything was asked: this many in a row are enough.
                    self.note_turned_away(io.now(), FailureKind::GoAway);
                }
                self.end_connection(io, slot, close_at_once(&self.plan));
            }
        } else if self.open_loop.is_some() {
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

    /// The open loop has an arrival for a slot that was offered.
    pub(super) fn hand_to_streams<I: Io>(&mut self, io: &mut I, slot: Slot) {
        self.connections[slot as usize].state.offered = false;
        self.feed_streams(io, slot);
    }

    /// Flushes every connection that has something to send: it leaves now, or with the current
    /// batch, whose time is `at`.
    #[inline]
    pub(super) fn flush_frames<I: Io>(&mut self, io: &mut I, at: u64) {
        while let Some(slot) = self.protocol.listed.pop() {
            self.connections[slot as usize].state.listed = false;
            if self.connections[slot as usize].stage == Stage::Open {
                self.flush(io, slot, at);
            }
        }
    }

    /// Sends what has gathered on a connection, unless a write is under way: then it gathers on.
    pub(super) fn flush<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let http2 = &mut self.protocol;
        let session = &mut self.connections[slot as usize].state;
        if !session.write.under_way
            && let Some(wire) = &mut session.wire
        {
            wire.upload(&http2.set, &mut session.out);
        }
        session.look_at_windows(at, &mut http2.facts.waits);
        let leaves = !session.write.under_way && !session.out.is_empty();
        let at = if I::SENDS_AT_ONCE && leaves { io.now() } else { at };
        let first = (slot * self.pipeline) as usize;
        for &tag in &session.unsent {
            let exchange = &mut self.exchanges[first + tag as usize];
            if leaves {
                exchange.stamp(at);
            } else if exchange.started_ns == 0 {
                exchange.started_ns = at;
            }
        }
        if !leaves {
            return;
        }
        session.unsent.clear();
        let bytes = session.out.len();
        let buffer = session.write.buffer(io, bytes);
        io.leased(buffer)[..bytes].copy_from_slice(&session.out);
        session.out.clear();
        session.write.under_way = true;
        http2.writes_under_way += 1;
        self.recorder.record().sent_bytes += bytes as u64;
        io.send(slot, Outgoing::Leased { buffer, len: bytes as u32 }, true);
    }

    /// A write has left: what gathered meanwhile is next.
    pub(super) fn frames_left(&mut self, slot: Slot) {
        let http2 = &mut self.protocol;
        let session = &mut self.connections[slot as usize].state;
        if !std::mem::take(&mut session.write.under_way) {
            return;
        }
        http2.writes_under_way -= 1;
        let uploads = session.wire.as_ref().is_some_and(|wire| wire.can_upload());
        if uploads || !session.out.is_empty() {
            http2.list(session, slot);
        }
    }
}
