//! Exchanges and connections that end otherwise than by a whole response.

use ablaze_net::{CloseReason, Slot};

use super::{Http1, Reading};
use crate::connection::{Exchange, Stage};
use crate::protocol::Failure;
use crate::recorder::Lost;
use crate::walk::Walk;
use crate::worker::{Worker, failure_of};
use ablaze_model::failure::FailureKind;

impl<S: Walk> Worker<Http1<S>> {
    /// The oldest exchange failed.
    pub(super) fn oldest_failed(&mut self, slot: Slot, at: u64, failure: Failure) {
        let connection = &mut self.connections[slot as usize];
        let body_bytes = std::mem::take(&mut connection.state.body_bytes);
        let state = connection.state;
        let stage = connection.stage;
        let place = self.place(slot, state.oldest);
        let mut exchange = self.exchanges[place];
        if state.response_began
            && state.only_interim
            && let Some(known) = self.recorder.circumstance(&exchange)
        {
            known.interim_only += 1;
        }
        exchange.stamp(at);
        self.recorder.add_body(&exchange, body_bytes);
        let Failure { kind, errno, connecting } = failure;
        // What ends a connection that is being made ends it before a request was sent.
        let connecting = connecting || stage == Stage::Opening;
        self.recorder.failed(&exchange, at, kind, errno, connecting);
        self.protocol.bodies.end(place, false, at);
        if S::WALKS {
            let user = self.connections[slot as usize].user;
            self.protocol.bodies.sink().failed(user, exchange.template, kind, at);
        }
        self.retire(slot);
    }

    pub(super) fn closed_in_use(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let connection = self.connections[slot as usize];
        if connection.in_flight == 0 {
            let by_server = matches!(why, CloseReason::Eof | CloseReason::Transfer(_));
            // One that was cut off in a response was used.
            if connection.responses > 0 && by_server && connection.given_up.is_none() {
                self.recorder.ended_unused(connection.idle_ns(at));
            }
            return;
        }
        if connection.state.reading == Reading::ToEnd && why == CloseReason::Eof {
            self.last_answered(slot, at);
            self.repeat_or_fail(slot, why, at);
            return;
        }
        if connection.state.response_began {
            let kind = match why {
                CloseReason::Eof => short(connection.state.reading),
                other => failure_of(other).0,
            };
            self.oldest_failed(slot, at, Failure::of((kind, failure_of(why).1)));
        }
        self.repeat_or_fail(slot, why, at);
    }

    /// No byte of a response came for what is in flight. On a connection that had answered before,
    /// the server may have closed it while idle, which is no fault of anyone (RFC 9112, 9.3.1):
    /// those requests are sent again, once. Behind a response that announced a close nothing is processed
    /// (section 9.6), which is not an attempt at all.
    pub(super) fn repeat_or_fail(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let connection = self.connections[slot as usize];
        let announced = why == CloseReason::Local
            && connection.given_up.is_none()
            && !connection.state.server_keeps;
        let had_responded = connection.responses > 0
            && match why {
                CloseReason::Eof | CloseReason::Local => true,
                CloseReason::Transfer(errno) => {
                    FailureKind::from_errno(errno) == FailureKind::Reset
                }
                CloseReason::Connect(_) | CloseReason::Here(..) => false,
            };
        let may_repeat = had_responded
            && self.plan.connections.repeat
            && (self.all_idempotent(slot) || announced);
        let (kind, errno) = match (why, connection.given_up) {
            (CloseReason::Local, Some(kind)) => (kind, 0),
            _ => failure_of(why),
        };
        let lost = match why {
            CloseReason::Local if connection.given_up.is_some() => Lost::AfterFailure,
            CloseReason::Local if connection.state.surplus => Lost::AfterSurplus,
            CloseReason::Local if announced => Lost::Announced,
            CloseReason::Eof | CloseReason::Local => Lost::Closed,
            _ => Lost::Reset,
        };
        let mut repeats = false;
        for _ in 0..connection.in_flight {
            let ring = self.connections[slot as usize].state.oldest;
            let place = self.place(slot, ring);
            let exchange = &mut self.exchanges[place];
            if may_repeat && (announced || !exchange.repeated) {
                *exchange = Exchange {
                    number: exchange.number,
                    intended_ns: exchange.intended_ns,
                    template: exchange.template,
                    started_ns: exchange.started_ns,
                    repeated: true,
                    ..Exchange::default()
                };
                self.recorder.repeated(exchange, lost);
                self.protocol.bodies.end(place, false, at);
                repeats = true;
                break;
            }
            if had_responded && !may_repeat && matches!(lost, Lost::Closed | Lost::Reset) {
                let sent_ns = if exchange.sent_ns > 0 { exchange.sent_ns } else { at };
                self.recorder.not_repeated(
                    exchange,
                    connection.idle_ns(sent_ns),
                    lost == Lost::Reset,
                );
            }
            if why == CloseReason::Local && kind == FailureKind::ClosedWithoutResponse {
                let exchange = *exchange;
                if let Some(known) = self.recorder.circumstance(&exchange) {
                    known.closed_here += 1;
                    known.closed_for_surplus += u64::from(lost == Lost::AfterSurplus);
                }
            }
            self.oldest_failed(slot, at, Failure::of((kind, errno)));
        }
        if !repeats {
            return;
        }
        // The first that may be repeated stands at the front now; those behind it were sent no
        // earlier and answered no sooner.
        let connection = self.connections[slot as usize];
        for position in 1..connection.in_flight {
            let place = self.place(slot, connection.state.oldest + position);
            let exchange = &mut self.exchanges[place];
            exchange.repeated = true;
            exchange.sent_ns = 0;
            exchange.first_byte_ns = 0;
            self.recorder.repeated(exchange, lost);
        }
    }

    /// Whether everything in flight may be sent again without asking: what a POST does might be done
    /// twice (RFC 9110, 9.2.2).
    fn all_idempotent(&self, slot: Slot) -> bool {
        let connection = &self.connections[slot as usize];
        (0..connection.in_flight).all(|position| {
            let place = self.place(slot, connection.state.oldest + position);
            self.outbox.is_idempotent(self.exchanges[place].template)
        })
    }

    /// What is in flight on a slot when the run ends.
    pub(super) fn note_in_flight(&mut self, slot: Slot, at: u64) {
        let connection = self.connections[slot as usize];
        // Bytes of the response to the oldest; without one there are none.
        let oldest = self.exchanges[self.place(slot, connection.state.oldest)];
        self.recorder.add_body(&oldest, connection.state.body_bytes);
        if self.is_unsent(slot) {
            self.recorder.unsent_at_the_end(&oldest);
        }
        if connection.in_flight > 0
            && connection.state.response_began
            && connection.state.only_interim
        {
            self.recorder.interim_at_the_end(&oldest, at);
        }
        self.note_stopped(slot, at, false);
        for position in 0..connection.in_flight {
            let place = self.place(slot, connection.state.oldest + position);
            let exchange = self.exchanges[place];
            self.recorder.unfinished(&exchange, at);
            self.protocol.bodies.end(place, false, at);
        }
    }

    /// The server sends nothing more: a body that has no other end is complete.
    pub(super) fn end_last_response(&mut self, slot: Slot, at: u64) {
        let connection = self.connections[slot as usize];
        if connection.in_flight > 0 && connection.state.reading == Reading::ToEnd {
            self.last_answered(slot, at);
        } else if connection.in_flight > 0 && connection.state.response_began {
            let kind = short(connection.state.reading);
            self.oldest_failed(slot, at, Failure::of((kind, 0)));
        }
    }

    /// The server said that nothing more comes on a connection in use (close_notify of TLS), which ends it as its FIN does.
    pub(super) fn ended_by_server(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.stage != Stage::Open {
            return;
        }
        connection.state.ended_by_server = true;
        if connection.in_flight == 0 && connection.responses > 0 && connection.given_up.is_none() {
            let idle_ns = connection.idle_ns(at);
            self.recorder.ended_unused(idle_ns);
        }
    }

    /// A response that has no other end may be short (RFC 9112, 9.8).
    pub(super) fn cut_body_off(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.in_flight > 0 && connection.state.reading == Reading::ToEnd {
            // No byte came for those behind it in a pipeline.
            connection.state.reading = Reading::Head;
            connection.state.response_began = false;
            connection.given_up = Some(FailureKind::TlsTruncated);
            self.oldest_failed(slot, at, Failure::of((FailureKind::TlsTruncated, 0)));
        }
    }
}

/// What a response is called that ends where its reading is.
fn short(reading: Reading) -> FailureKind {
    match reading {
        Reading::Head => FailureKind::ShortHead,
        _ => FailureKind::ShortBody,
    }
}
