//! Takes the responses of one connection: one piece of what arrives may end many exchanges.

use ablaze_net::{Io, Receive, Slot};
use ablaze_wire::http2::client::ResponseHead;

use super::endings::is_interim;
use super::permits::{GoAway, again};
use super::{Multiplexer, OfSlot, Session, Streams};
use crate::connection::{Connection, Exchange};
use crate::recorder::{Lost, Recorder};
use crate::sink::{Bodies, Response};
use crate::walk::Walk;
use crate::worker::{BULKY_BYTES, Worker};
use ablaze_model::failure::FailureKind;

/// What came of reading what arrived.
#[derive(Debug, Clone, Copy)]
pub(in crate::protocol) struct Seen {
    /// Whether the last body that came is worth large buffers.
    bulky: Option<bool>,
    /// Something came for a request that has not left.
    pub early: bool,
}

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// Lets `read` tell what arrived on a connection to its exchanges.
    #[inline(always)]
    pub(in crate::protocol) fn reading<R>(
        &mut self,
        slot: Slot,
        at: u64,
        read: impl FnOnce(&mut Responses<'_, C, S>) -> R,
    ) -> (R, Seen) {
        let protocol = &mut self.protocol;
        let first = (slot * self.pipeline) as usize;
        let mut responses = Responses {
            recorder: &mut self.recorder,
            exchanges: &mut self.exchanges[first..first + self.pipeline as usize],
            connection: &mut self.connections[slot as usize],
            in_flight: &mut self.in_flight,
            multiplexer: &mut protocol.multiplexer,
            bodies: &mut protocol.bodies,
            first_place: first,
            streams_asked: protocol.streams,
            repeats: self.plan.connections.repeat,
            reused: self.plan.connections.keep_alive,
            bulky: None,
            early: false,
            head: if S::WALKS { std::mem::take(&mut protocol.heads.fields) } else { Vec::new() },
            told: &mut protocol.heads.told,
            tells_heads: protocol.heads.are_told,
            at,
        };
        let result = read(&mut responses);
        let seen = Seen { bulky: responses.bulky, early: responses.early };
        if S::WALKS {
            protocol.heads.fields = responses.head;
        }
        (result, seen)
    }

    /// Goes on behind what arrived: new requests take the places of those that are answered.
    #[inline]
    pub(in crate::protocol) fn go_on_behind<I: Io>(&mut self, io: &mut I, slot: Slot, seen: Seen) {
        if let Some(bulky) = seen.bulky {
            self.expected_mode = if bulky { Receive::Bulk } else { Receive::Stream };
        }
        self.receive(io, slot, C::mode(self.expected_mode));
        self.feed_streams(io, slot);
    }

    /// What came breaks the protocol's rules: what was sent on the connection fails, and it is of no use any more.
    #[cold]
    pub(in crate::protocol) fn fails_with<I: Io>(
        &mut self,
        io: &mut I,
        slot: Slot,
        at: u64,
        kind: FailureKind,
    ) {
        C::flush(self, io, slot, at);
        self.connections[slot as usize].given_up = Some(kind);
        let began = self.connections[slot as usize].state.multiplexer.began();
        self.fail_sent(slot, at, began, kind, 0);
        self.note_turned_away(slot, at, kind);
        self.end_connection(io, slot, ablaze_net::CloseHow::Fin);
    }
}

/// Takes the responses of one connection.
pub(in crate::protocol) struct Responses<'a, C: Multiplexer, S> {
    recorder: &'a mut Recorder,
    /// Those of the connection, by tag.
    pub(super) exchanges: &'a mut [Exchange],
    pub(super) connection: &'a mut Connection<Session<C::OfSlot>>,
    /// Of the whole worker.
    in_flight: &'a mut u32,
    pub(in crate::protocol) multiplexer: &'a mut C,
    pub(super) bodies: &'a mut Bodies<S>,
    /// The place of the first of the exchanges.
    pub(super) first_place: usize,
    pub(in crate::protocol) streams_asked: u32,
    repeats: bool,
    reused: bool,
    /// Whether the last body that came is worth large buffers.
    bulky: Option<bool>,
    /// Something came for a request that has not left: the server guesses.
    early: bool,
    /// The fields of the head that is kept for reports.
    pub(super) head: Vec<u8>,
    /// The head that a walk is told of.
    pub(super) told: &'a mut Vec<u8>,
    tells_heads: bool,
    pub(super) at: u64,
}

impl<C: Multiplexer, S: Walk> Responses<'_, C, S> {
    pub(in crate::protocol) fn first_byte(&mut self, tag: u32) {
        let exchange = &mut self.exchanges[tag as usize];
        if exchange.first_byte_ns == 0 {
            self.early |= exchange.sent_ns == 0;
            exchange.first_byte_ns = self.at;
            exchange.stamp(self.at);
        }
    }

    #[inline]
    pub(in crate::protocol) fn complete(&mut self, tag: u32) {
        let place = self.connection.state.places[tag as usize];
        self.connection.responses += 1;
        self.bulky = Some(place.body_bytes > BULKY_BYTES);
        let exchange = &self.exchanges[tag as usize];
        let (status, body_bytes) = (place.status, place.body_bytes);
        let before = if S::WALKS { self.recorder.so_far() } else { (0, 0) };
        self.recorder.answered(exchange, self.at, status, body_bytes, self.reused);
        self.bodies.end(self.first_place + tag as usize, true, self.at);
        if S::WALKS {
            match self.recorder.so_far() {
                (_, late) if late > before.1 => self.tell_failed(tag, FailureKind::Timeout),
                (responses, _) => self.tell_answered(tag, body_bytes, responses > before.0),
            }
        }
        self.retire(tag);
    }

    /// The response is complete, and the rest of its request is not sent.
    #[cold]
    pub(in crate::protocol) fn answered_early(&mut self, tag: u32) {
        self.recorder.answered_early(&self.exchanges[tag as usize]);
    }

    /// The server did nothing with the request: it is sent again (RFC 9113, 8.7). Once, unless the
    /// server just goes on to the next connection.
    #[cold]
    pub(in crate::protocol) fn unprocessed(&mut self, tag: u32) {
        if let Some(at) = self.connection.state.unsent.iter().position(|&other| other == tag) {
            // Its request has not left yet: what will leave of it is of no use, and no repetition.
            self.connection.state.unsent.remove(at);
            self.connection.state.places[tag as usize].has_stream = false;
            self.connection.state.waiting.push_back(tag);
            return;
        }
        let exchange = &mut self.exchanges[tag as usize];
        let goaway = self.connection.state.goaway;
        // A stream that the server reset one by one, although it might have processed it by what its
        // GOAWAY says, is none of those that the rotation cut off.
        let stream = self.connection.state.places[tag as usize].stream;
        let rotation = goaway.is_some_and(|goaway| {
            stream >= goaway.first_refused && goaway.is_rotation(self.connection.responses)
        });
        if (exchange.repeated && !rotation) || !self.repeats {
            if exchange.repeated {
                self.multiplexer.note_refused_again();
            }
            let kind = match goaway {
                Some(_) => FailureKind::GoAway,
                None => FailureKind::StreamReset,
            };
            let text = match exchange.repeated {
                true => "the server refused a request and its repetition",
                false => "the server refused a request, and none is repeated",
            };
            return self.fail(tag, kind, || text.to_owned());
        }
        self.bodies.end(self.first_place + tag as usize, false, self.at);
        *exchange = again(exchange, !rotation);
        self.recorder.repeated(exchange, Lost::Closed);
        let place = &mut self.connection.state.places[tag as usize];
        *place = super::Place { in_use: true, ..super::Place::default() };
        self.connection.state.waiting.push_back(tag);
    }

    #[cold]
    pub(in crate::protocol) fn fail(
        &mut self,
        tag: u32,
        kind: FailureKind,
        words: impl FnOnce() -> String,
    ) {
        self.multiplexer.note_failure(kind, words);
        let place = self.connection.state.places[tag as usize];
        let exchange = &mut self.exchanges[tag as usize];
        exchange.stamp(self.at);
        self.recorder.add_body(exchange, place.body_bytes);
        if is_interim(&place, exchange)
            && let Some(known) = self.recorder.circumstance(exchange)
        {
            known.interim_only += 1;
        }
        self.recorder.failed(exchange, self.at, kind, 0, false);
        self.bodies.end(self.first_place + tag as usize, false, self.at);
        self.connection.state.unsent.retain(|&other| other != tag);
        if S::WALKS {
            self.tell_failed(tag, kind);
        }
        self.retire(tag);
    }

    #[inline]
    fn retire(&mut self, tag: u32) {
        self.connection.state.free(tag, S::WALKS);
        self.connection.in_flight -= 1;
        *self.in_flight -= 1;
    }

    /// The final head of a response.
    #[inline]
    pub(in crate::protocol) fn response_head(&mut self, tag: u32, head: ResponseHead) {
        self.first_byte(tag);
        let place = &mut self.connection.state.places[tag as usize];
        place.status = head.status;
        place.content_length = head.content_length;
        place.progress_ns = self.at;
        if S::LISTENS {
            let Exchange { number, template, .. } = self.exchanges[tag as usize];
            let response = Response { number, template, status: head.status };
            self.bodies.begin(self.first_place + tag as usize, response, self.at);
        }
        if S::WALKS && self.tells_heads {
            self.tell_head(tag, head.status);
        }
        if let Some(length) = head.content_length {
            self.bulky = Some(length > BULKY_BYTES);
        }
        if !self.head.is_empty() && (!S::WALKS || !self.recorder.has_head()) {
            let mut text = format!("{} {}\r\n", C::VERSION, head.status).into_bytes();
            text.append(&mut self.head);
            text.extend_from_slice(b"\r\n");
            self.recorder.keep_head(&text);
        }
        if S::WALKS {
            self.head.clear();
        }
    }

    /// Content of a response.
    #[inline]
    pub(in crate::protocol) fn content(&mut self, tag: u32, content: &[u8]) {
        let place = &mut self.connection.state.places[tag as usize];
        place.body_bytes += content.len() as u64;
        place.progress_ns = self.at;
        self.bodies.bytes(self.first_place + tag as usize, content, self.at);
    }

    /// A stream is over. Whether that can be: the server cannot answer what has not been sent.
    #[inline]
    pub(in crate::protocol) fn is_early(&mut self, tag: u32, is_cut_off: bool) -> bool {
        // Fields of trailers, or of a head that failed, belong to no other response.
        self.head.clear();
        self.early |= self.exchanges[tag as usize].sent_ns == 0 && !is_cut_off;
        if self.early {
            self.fail(tag, C::VIOLATED, || {
                "the server answered a request that had not been sent".to_owned()
            });
        }
        self.early
    }

    /// An interim head.
    pub(in crate::protocol) fn interim_head(&mut self, tag: u32) {
        self.first_byte(tag);
        self.head.clear();
    }

    /// Whether fields are to be shown.
    pub(in crate::protocol) fn wants_them(&self) -> bool {
        S::WALKS && self.tells_heads || !self.recorder.has_head()
    }

    /// A field of a head or of trailers.
    pub(in crate::protocol) fn take_field(&mut self, name: &[u8], value: &[u8]) {
        if !name.starts_with(b":") {
            for part in [name, b": ", value, b"\r\n"] {
                self.head.extend_from_slice(part);
            }
        }
    }

    /// The server's GOAWAY; whether it is the first.
    pub(in crate::protocol) fn goes_away(&mut self, goaway: GoAway) -> bool {
        self.connection.state.goaway.replace(goaway).is_none()
    }

    /// Whether the server has sent GOAWAY.
    pub(in crate::protocol) fn is_going_away(&self) -> bool {
        self.connection.state.goaway.is_some()
    }
}
