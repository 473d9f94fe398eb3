//! Feeds connections with requests, and sees to it that nothing is written to that may still be read.
//!
//! A patched request is sent from the buffer of its place in the pipeline, and a response proves nothing about
//! it: a server may respond before it has the request, or without reading any. So a place is used again when
//! the driver has said that its bytes left. Requests so short that they leave at once are sent without notice;
//! the driver is asked whether they did.

use ablaze_model::plan::Plan;
use ablaze_net::{Io, Slot};
use ablaze_wire::http1::request::Template;

use super::Http1;
use crate::connection::Stage;
use crate::walk::Walk;
use crate::worker::{Worker, close_at_once};

/// Requests longer than this are sent with notice, so that a connection is not used again before
/// its last request has left.
const SILENT_SEND_BYTES: usize = 16 * 1024;

/// The same for requests of which each is written into the buffer of the one before. Shorter ones
/// fit any socket's send buffer.
const SILENT_PATCHED_BYTES: usize = 4 * 1024;

/// How long a connection whose response came early is held for its request to leave.
const HOLD_NS: u64 = 1_000_000_000;

/// How a run's requests are sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sends {
    /// The driver says when each has left.
    pub notify: bool,
    /// A place is used again only when the request before has left: it is sent from the same buffer,
    /// or the connection has no other place.
    pub wait: bool,
    /// They are sent without notice from buffers that the next one is written to, the worker's or
    /// those of TLS.
    pub are_quiet: bool,
}

impl Sends {
    /// Those of a Plan with this many places per connection.
    pub fn of(plan: &Plan, pipeline: u32, walks: bool) -> Self {
        let templates = &plan.requests.templates;
        let is_patched = |template: &Template| !template.patches.is_empty();
        let is_long = |template: &Template| match is_patched(template) {
            false => template.bytes.len() > SILENT_SEND_BYTES,
            true => plan.requests.most_bytes(template) > SILENT_PATCHED_BYTES,
        };
        let patches = walks || templates.iter().any(is_patched);
        let notify = pipeline > 1
            || templates.iter().any(is_long)
            || plan.connections.socket_buffer_bytes.is_some();
        let are_quiet = !notify && (plan.speaks_tls() || patches);
        Self { notify, wait: pipeline == 1 || patches, are_quiet }
    }
}

impl<S: Walk> Worker<Http1<S>> {
    /// Whether nothing is in flight on an open connection, nor still being sent.
    pub(super) fn is_idle(&self, slot: Slot) -> bool {
        let connection = &self.connections[slot as usize];
        connection.stage == Stage::Open && connection.in_flight == 0 && !connection.state.held
    }

    /// Sends as many requests on an open connection as may be in flight. None is still being sent.
    #[inline]
    pub(super) fn feed<I: Io>(&mut self, io: &mut I, slot: Slot) {
        self.feed_up_to(io, slot, self.pipeline);
    }

    /// Sends requests on an open connection until `most` are in flight.
    #[inline]
    pub(super) fn feed_up_to<I: Io>(&mut self, io: &mut I, slot: Slot, most: u32) {
        let first_new = self.connections[slot as usize].in_flight;
        let count = self.take_exchanges(slot, most);
        if count == 0 {
            self.note_draining();
            if S::WALKS && self.follow_user(io, slot) {
                return;
            }
            let connection = &self.connections[slot as usize];
            let stands = connection.stage == Stage::Open;
            if connection.in_flight == 0 && !self.closed_for_new && stands {
                if self.open_loop.is_some() && connection.requests < self.requests_per_connection {
                    self.note_idle(slot);
                    return;
                }
                // Its requests are used up, the run's are not.
                self.end_connection(io, slot, close_at_once(&self.plan));
            }
            return;
        }
        self.note_leaving(io, slot);
        self.send_places(io, slot, first_new, count);
    }

    /// The server responded before it had all of what was sent to it. What is still being sent are
    /// the newest requests, because sends leave in order: the places they are sent from keep their
    /// bytes, and as many requests are sent as there are other places. Without any, the connection
    /// is used again when the first of them has left, if that is soon.
    #[cold]
    pub(super) fn feed_while_sending<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &self.connections[slot as usize];
        let in_flight = connection.in_flight;
        let in_use = in_flight.max(connection.state.sends_under_way);
        if in_use < self.pipeline {
            self.feed_up_to(io, slot, in_flight + self.pipeline - in_use);
        } else if in_flight == 0 {
            self.hold(slot, at);
        }
    }

    /// Nothing can be sent on the connection until a request that was answered has left whole.
    fn hold(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.state.held = true;
        connection.deadline_ns = at + HOLD_NS;
        self.next_check_ns = self.next_check_ns.min(at + HOLD_NS);
    }

    /// The response that was complete last came before its request had been sent whole, if that is so: sends leave in order, and
    /// more of them are under way than requests in flight.
    #[cold]
    pub(super) fn note_answered_early(&mut self, slot: Slot) {
        let connection = &self.connections[slot as usize];
        if connection.state.sends_under_way <= connection.in_flight {
            return;
        }
        let last = (connection.state.oldest + self.pipeline - 1) % self.pipeline;
        let place = self.place(slot, last);
        self.recorder.answered_early(&self.exchanges[place]);
    }

    /// A connection is held no longer: its request has left, or the connection or the run ends.
    #[cold]
    pub(super) fn held_until(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        let since_ns = std::mem::replace(&mut connection.deadline_ns, u64::MAX);
        // Already told where there is no deadline.
        if since_ns != u64::MAX {
            let waited_ns = at.saturating_sub(since_ns.saturating_sub(HOLD_NS));
            self.recorder.record().answered_early.waited_ns += waited_ns;
        }
    }
}
