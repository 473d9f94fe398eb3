//! Streams that take too long: each is reset alone, the others of its connection go on.

use ablaze_net::{Io, Slot};

use super::{Multiplexer, OfSlot, Streams};
use crate::connection::Stage;
use crate::protocol::Failure;
use crate::recorder::BodyEnd;
use crate::walk::Walk;
use crate::worker::{Worker, close_at_once};
use ablaze_model::failure::FailureKind;
use ablaze_model::record::StoppedResponse;

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// When the oldest exchange of a slot began; 0 if none has.
    pub(super) fn oldest_stream_ns(&self, slot: Slot) -> u64 {
        let places = &self.connections[slot as usize].state.places;
        (0..self.pipeline)
            .filter(|&tag| places[tag as usize].in_use)
            .map(|tag| self.exchanges[self.place_of(slot, tag)].timed_from_ns())
            .filter(|&from_ns| from_ns > 0)
            .min()
            .unwrap_or(0)
    }

    /// The time of at least one exchange of a slot is over.
    pub(super) fn streams_overdue<I: Io>(&mut self, io: &mut I, slot: Slot, now: u64) {
        let timeout_ns = match self.plan.limits.timeout_ns {
            0 => u64::MAX,
            timeout_ns => timeout_ns,
        };
        // Where it only rested, it goes on.
        self.connections[slot as usize].deadline_ns = u64::MAX;
        let connecting = self.connections[slot as usize].stage == Stage::Opening;
        // Without a sign that the server speaks the protocol nothing more would be sent either.
        let mut stuck = connecting || !self.connections[slot as usize].state.multiplexer.began();
        for tag in 0..self.pipeline {
            let place = self.connections[slot as usize].state.places[tag as usize];
            let exchange = self.exchanges[self.place_of(slot, tag)];
            let from_ns = exchange.timed_from_ns();
            if !place.in_use || from_ns == 0 || now < from_ns.saturating_add(timeout_ns) {
                continue;
            }
            self.note_stopped_stream(slot, tag, now, true);
            if place.has_stream {
                // A connection that took nothing for that long takes no reset either.
                stuck |= exchange.sent_ns == 0;
                self.connections[slot as usize].state.multiplexer.reset(place.stream);
            }
            let kind = FailureKind::Timeout;
            self.fail_place(slot, tag, now, Failure { kind, errno: 0, connecting });
        }
        if stuck {
            self.connections[slot as usize].given_up = Some(FailureKind::Timeout);
            self.end_connection(io, slot, close_at_once(&self.plan));
        } else {
            self.list_to_flush(slot);
            self.feed_streams(io, slot);
        }
    }

    /// An exchange gets no further: notes for how long already, if a part of its response came.
    pub(super) fn note_stopped_stream(&mut self, slot: Slot, tag: u32, at: u64, timed_out: bool) {
        let place = self.connections[slot as usize].state.places[tag as usize];
        if place.progress_ns == 0 {
            return;
        }
        let response = StoppedResponse {
            silent_ns: at.saturating_sub(place.progress_ns),
            body_bytes: place.body_bytes,
            missing_bytes: place.content_length.map(|all| all.saturating_sub(place.body_bytes)),
        };
        let exchange = self.exchanges[self.place_of(slot, tag)];
        let ends = match place.content_length {
            Some(_) => BodyEnd::Length,
            None => BodyEnd::Marked,
        };
        self.recorder.stopped(&exchange, response, timed_out, ends);
    }
}
