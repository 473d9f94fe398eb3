//! Connections begin and end: what waits for them, what fails with them.

use ablaze_net::{CloseReason, Io, Slot};

use super::{Multiplexer, OfSlot, Place, Streams};
use crate::connection::{Exchange, Stage};
use crate::protocol::{Failure, Made};
use crate::walk::Walk;
use crate::worker::{Worker, failure_of};
use ablaze_model::failure::FailureKind;

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// Opens a free slot for the next requests, if there are any left.
    pub(super) fn open_next_for_streams<I: Io>(&mut self, io: &mut I, slot: Slot) {
        self.open_for_streams(io, slot);
        if S::WALKS {
            self.follow_users(io);
        }
    }

    /// The same, without users that go on to another connection.
    pub(super) fn open_for_streams<I: Io>(&mut self, io: &mut I, slot: Slot) {
        // A connection that is being made holds back no more arrivals than the one it is for.
        let at_once = self.streams_at_first().max(1);
        let most = if self.open_loop.is_some() { 1 } else { at_once.into() };
        let most = self.requests_per_connection.min(most);
        while u64::from(self.connections[slot as usize].in_flight) < most
            && let Some(tag) = self.take_place(slot)
        {
            self.connections[slot as usize].state.waiting.push_back(tag);
        }
        if self.connections[slot as usize].in_flight == 0 {
            if S::WALKS && !self.connections[slot as usize].state.has_idle_users() {
                return;
            }
            self.note_draining();
            self.note_vacant(slot);
            return;
        }
        self.open_empty(io, slot);
    }

    /// Connecting began for what waits for it.
    pub(super) fn stamp_waiting(&mut self, slot: Slot, at: u64) {
        let first = (slot * self.pipeline) as usize;
        for &tag in &self.connections[slot as usize].state.waiting {
            let exchange = &mut self.exchanges[first + tag as usize];
            if exchange.started_ns == 0 {
                exchange.started_ns = at;
            }
        }
        self.forget_waits(slot);
    }

    /// A connection stands: what waits for it leaves.
    pub(super) fn streams_opened<I: Io>(&mut self, io: &mut I, slot: Slot, made: Made) {
        let first = (slot * self.pipeline) as usize;
        for (position, &tag) in self.connections[slot as usize].state.waiting.iter().enumerate() {
            let exchange = &mut self.exchanges[first + tag as usize];
            exchange.made_connection = position == 0;
            exchange.connect_ns = made.connect_ns;
            exchange.tls_ns = made.tls_ns;
        }
        self.list_to_flush(slot);
        self.feed_streams(io, slot);
    }

    /// A slot's socket is gone: what was sent on it fails, what was not waits for the next one.
    pub(super) fn streams_cut(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let given_up = self.connections[slot as usize].given_up;
        let multiplexer = &mut self.protocol.multiplexer;
        let session = &mut self.connections[slot as usize].state;
        session.nothing_waits(at, multiplexer.waits());
        let began = session.multiplexer.began();
        let goaway = session.goaway.take();
        let known = multiplexer.ended(&mut session.multiplexer, why, goaway);
        session.multiplexer.forget();
        session.offered = false;
        session.full_since_ns = 0;
        for tag in session.unsent.drain(..) {
            session.places[tag as usize].has_stream = false;
            session.waiting.push_back(tag);
        }
        let (kind, errno) = match (why, given_up, known) {
            (CloseReason::Local, Some(kind), _) => (kind, 0),
            (_, _, Some(kind)) => (kind, 0),
            _ => failure_of(why),
        };
        self.fail_sent(slot, at, began, kind, errno);
    }

    /// Fails every exchange whose request was sent on the connection; on one that never began those
    /// too that waited for it. One whose response had begun has a short body if the server just closed.
    pub(super) fn fail_sent(
        &mut self,
        slot: Slot,
        at: u64,
        began: bool,
        kind: FailureKind,
        errno: i32,
    ) {
        for tag in 0..self.pipeline {
            let place = self.connections[slot as usize].state.places[tag as usize];
            if !place.in_use || (began && !place.has_stream) {
                continue;
            }
            let kind = match kind {
                FailureKind::ClosedWithoutResponse if place.progress_ns > 0 => {
                    FailureKind::ShortBody
                }
                kind => kind,
            };
            self.fail_place(slot, tag, at, Failure::of((kind, errno)));
        }
    }

    /// The exchange that began first failed.
    pub(super) fn fail_oldest_stream(&mut self, slot: Slot, at: u64, failure: Failure) {
        let began = |worker: &Self, tag| match worker.exchanges[worker.place_of(slot, tag)]
            .timed_from_ns()
        {
            0 => u64::MAX,
            from_ns => from_ns,
        };
        let places = &self.connections[slot as usize].state.places;
        let oldest = (0..self.pipeline)
            .filter(|&tag| places[tag as usize].in_use)
            .min_by_key(|&tag| began(self, tag));
        if let Some(tag) = oldest {
            self.fail_place(slot, tag, at, failure);
        }
    }

    /// The exchange of a place failed; the place is free.
    pub(super) fn fail_place(&mut self, slot: Slot, tag: u32, at: u64, failure: Failure) {
        let place = self.place_of(slot, tag);
        let mut exchange = self.exchanges[place];
        exchange.stamp(at);
        let streamless = self.waits_for_a_stream(slot, tag);
        let stage = self.connections[slot as usize].stage;
        let session = &mut self.connections[slot as usize].state;
        let place_now = session.places[tag as usize];
        self.recorder.add_body(&exchange, place_now.body_bytes);
        let Failure { kind, errno, connecting } = failure;
        let connecting = connecting || stage == Stage::Opening;
        if is_interim(&place_now, &exchange)
            && let Some(known) = self.recorder.circumstance(&exchange)
        {
            known.interim_only += 1;
        }
        if streamless && kind == FailureKind::Timeout {
            self.recorder.streamless_timeout(&exchange, at);
        }
        self.recorder.failed(&exchange, at, kind, errno, connecting);
        self.protocol.bodies.end(place, false, at);
        session.waiting.retain(|&other| other != tag);
        session.unsent.retain(|&other| other != tag);
        session.free(tag, S::WALKS);
        self.connections[slot as usize].in_flight -= 1;
        self.in_flight -= 1;
        if S::WALKS {
            let user = self.user(slot, tag);
            self.protocol.bodies.sink().failed(user, exchange.template, kind, at);
        }
    }

    /// Whether a place has a request that cannot be sent because the server permits no stream: the connection stands, and
    /// not one is open on it.
    fn waits_for_a_stream(&self, slot: Slot, tag: u32) -> bool {
        let connection = &self.connections[slot as usize];
        let session = &connection.state;
        connection.stage == Stage::Open
            && !session.places[tag as usize].has_stream
            && session.multiplexer.began()
            && !session.multiplexer.is_draining()
            && session.multiplexer.streams_live() == 0
            && session.multiplexer.free_streams() == 0
    }

    /// What is in flight on a slot when the run ends.
    pub(super) fn note_unfinished_streams(&mut self, slot: Slot, at: u64) {
        self.note_waits(slot, at);
        for tag in 0..self.pipeline {
            let place = self.connections[slot as usize].state.places[tag as usize];
            if !place.in_use {
                continue;
            }
            let body_bytes = place.body_bytes;
            self.note_stopped_stream(slot, tag, at, false);
            let exchange = self.exchanges[self.place_of(slot, tag)];
            let only_interim = is_interim(&place, &exchange);
            let place = self.place_of(slot, tag);
            self.recorder.add_body(&exchange, body_bytes);
            if only_interim {
                self.recorder.interim_at_the_end(&exchange, at);
            }
            if self.waits_for_a_stream(slot, tag) {
                self.recorder.streamless_unfinished(&exchange);
            }
            self.recorder.unfinished(&exchange, at);
            self.protocol.bodies.end(place, false, at);
        }
    }
}

/// Whether only interim heads came for a request: no final head, which would be progress.
pub(super) fn is_interim(place: &Place, exchange: &Exchange) -> bool {
    place.has_stream && exchange.first_byte_ns > 0 && place.progress_ns == 0
}
