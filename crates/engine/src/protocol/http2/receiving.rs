//! Reads what arrives on a connection: one chunk may end many exchanges.

use ablaze_net::{CloseHow, Io, Receive, Slot};
use ablaze_wire::http2::client::{End, ResponseHead, Sink};
use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::settings::PeerSettings;

use super::permits::{GoAway, again};
use super::{Http2, Session};
use crate::connection::{Connection, Exchange};
use crate::recorder::{Lost, Recorder};
use crate::sink::{Bodies, Response};
use crate::walk::Walk;
use crate::worker::{BULKY_BYTES, Worker};
use ablaze_model::failure::FailureKind;
use ablaze_model::printable::printable;
use ablaze_model::record::{Http2Facts, ServerSettings};

/// Debug data of GOAWAY is kept up to this many bytes.
const DEBUG_BYTES_KEPT: usize = 200;

impl<S: Walk> Worker<Http2<S>> {
    /// Reads frames, and sends what they gave room for.
    pub(super) fn read_frames<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], at: u64) {
        let http2 = &mut self.protocol;
        let connection = &mut self.connections[slot as usize];
        let Some(mut wire) = connection.state.wire.take() else { return };
        let mut out = std::mem::take(&mut connection.state.out);
        let first = (slot * self.pipeline) as usize;
        let mut responses = Responses {
            recorder: &mut self.recorder,
            exchanges: &mut self.exchanges[first..first + self.pipeline as usize],
            connection,
            in_flight: &mut self.in_flight,
            facts: &mut http2.facts,
            bodies: &mut http2.bodies,
            first_place: first,
            streams_asked: http2.options.streams,
            repeats: self.plan.connections.repeat,
            reused: self.plan.connections.keep_alive,
            bulky: None,
            early: false,
            head: if S::WALKS { std::mem::take(&mut http2.heads.fields) } else { Vec::new() },
            told: &mut http2.heads.told,
            tells_heads: http2.heads.are_told,
            at,
        };
        let result = wire.receive(bytes, &mut out, &mut responses);
        let bulky = responses.bulky;
        let early = responses.early;
        if S::WALKS {
            http2.heads.fields = responses.head;
        }
        // To the server such a stream is idle (RFC 9113, 5.1).
        let result = if early { result.and(Err(ErrorKind::IdleStream)) } else { result };
        let writes = !out.is_empty() || wire.can_upload();
        let session = &mut self.connections[slot as usize].state;
        session.wire = Some(wire);
        session.out = out;
        session.look_at_windows(at, &mut http2.facts.waits);
        if writes {
            http2.list(session, slot);
        }
        if let Err(kind) = result {
            return self.frames_broken(io, slot, at, kind);
        }
        if let Some(bulky) = bulky {
            self.expected_mode = if bulky { Receive::Bulk } else { Receive::Stream };
        }
        self.receive(io, slot, self.expected_mode);
        self.feed_streams(io, slot);
    }

    /// What came cannot be HTTP/2, or breaks its rules: the connection cannot go on. The server is
    /// told why, if it can be.
    #[cold]
    fn frames_broken<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, error: ErrorKind) {
        let kind = match error {
            ErrorKind::AnsweredHttp1 => FailureKind::NoHttp2,
            ErrorKind::AnsweredTls => FailureKind::AnsweredInTls,
            _ => FailureKind::Http2Violated,
        };
        let facts = &mut self.protocol.facts;
        facts.first_failure.get_or_insert_with(|| (kind, error.to_string()));
        self.flush(io, slot, at);
        self.connections[slot as usize].given_up = Some(kind);
        let began = self.connections[slot as usize].state.began();
        self.fail_sent(slot, at, began, kind, 0);
        self.note_turned_away(at, kind);
        self.end_connection(io, slot, CloseHow::Fin);
    }
}

/// Takes the responses of one connection.
pub(super) struct Responses<'a, S> {
    recorder: &'a mut Recorder,
    /// Those of the connection, by tag.
    pub(super) exchanges: &'a mut [Exchange],
    pub(super) connection: &'a mut Connection<Session>,
    /// Of the whole worker.
    in_flight: &'a mut u32,
    facts: &'a mut Http2Facts,
    pub(super) bodies: &'a mut Bodies<S>,
    /// The place of the first of the exchanges.
    pub(super) first_place: usize,
    streams_asked: u32,
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

impl<S: Walk> Responses<'_, S> {
    fn first_byte(&mut self, tag: u32) {
        let exchange = &mut self.exchanges[tag as usize];
        if exchange.first_byte_ns == 0 {
            self.early |= exchange.sent_ns == 0;
            exchange.first_byte_ns = self.at;
            exchange.stamp(self.at);
        }
    }

    #[inline]
    fn complete(&mut self, tag: u32) {
        let place = self.connection.state.places[tag as usize];
        self.connection.responses += 1;
        self.bulky = Some(place.body_bytes > BULKY_BYTES);
        let exchange = &self.exchanges[tag as usize];
        let (status, body_bytes) = (place.status, place.body_bytes);
        let before = if S::WALKS { self.recorder.record().responses } else { 0 };
        self.recorder.answered(exchange, self.at, status, body_bytes, self.reused);
        self.bodies.end(self.first_place + tag as usize, true, self.at);
        if S::WALKS {
            let counts = self.recorder.record().responses > before;
            self.tell_answered(tag, body_bytes, counts);
        }
        self.retire(tag);
    }

    /// The server did nothing with the request: it is sent again (RFC 9113, 8.7). Once, unless the
    /// server just goes on to the next connection.
    #[cold]
    fn unprocessed(&mut self, tag: u32) {
        if let Some(at) = self.connection.state.unsent.iter().position(|&other| other == tag) {
            // Its request has not left yet: what will leave of it is of no use, and no repetition.
            self.connection.state.unsent.remove(at);
            self.connection.state.places[tag as usize].stream = 0;
            self.connection.state.waiting.push_back(tag);
            return;
        }
        let exchange = &mut self.exchanges[tag as usize];
        let goaway = self.connection.state.goaway;
        // A stream that the server reset one by one, although it might have processed it by what its
        // GOAWAY says, is none of those that the rotation cut off.
        let stream = self.connection.state.places[tag as usize].stream;
        let rotation = goaway.is_some_and(|goaway| {
            stream > goaway.last_stream && goaway.is_rotation(self.connection.responses)
        });
        if (exchange.repeated && !rotation) || !self.repeats {
            self.facts.refused_again += u64::from(exchange.repeated);
            let kind = match goaway {
                Some(_) => FailureKind::GoAway,
                None => FailureKind::StreamReset,
            };
            let text = "the server refused a request and its repetition";
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
    fn fail(&mut self, tag: u32, kind: FailureKind, words: impl FnOnce() -> String) {
        self.facts.first_failure.get_or_insert_with(|| (kind, words()));
        let place = self.connection.state.places[tag as usize];
        let exchange = &mut self.exchanges[tag as usize];
        exchange.stamp(self.at);
        self.recorder.add_body(exchange, place.body_bytes);
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
}

impl<S: Walk> Sink for Responses<'_, S> {
    #[inline]
    fn head(&mut self, tag: u32, head: ResponseHead) {
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
            let mut text = format!("HTTP/2 {}\r\n", head.status).into_bytes();
            text.append(&mut self.head);
            text.extend_from_slice(b"\r\n");
            self.recorder.keep_head(&text);
        }
        if S::WALKS {
            self.head.clear();
        }
    }

    #[inline]
    fn data(&mut self, tag: u32, content: &[u8]) {
        let place = &mut self.connection.state.places[tag as usize];
        place.body_bytes += content.len() as u64;
        place.progress_ns = self.at;
        self.bodies.bytes(self.first_place + tag as usize, content, self.at);
    }

    #[inline]
    fn ended(&mut self, tag: u32, end: End) {
        // Fields of trailers, or of a head that failed, belong to no other response.
        self.head.clear();
        let cut_off = end == End::Unprocessed && self.connection.state.goaway.is_some();
        self.early |= self.exchanges[tag as usize].sent_ns == 0 && !cut_off;
        if self.early {
            return self.fail(tag, FailureKind::Http2Violated, || {
                "the server answered a request that had not been sent".to_owned()
            });
        }
        match end {
            End::Complete => self.complete(tag),
            End::Unprocessed => {
                if self.connection.state.goaway.is_none() {
                    self.facts.resets.add(ErrorCode::REFUSED_STREAM.0, 1);
                }
                self.unprocessed(tag);
            }
            End::Reset(code) => {
                self.facts.resets.add(code.0, 1);
                self.fail(tag, FailureKind::StreamReset, || {
                    format!("the server reset a stream with {code}")
                });
            }
            End::Fault(fault) => {
                self.fail(tag, FailureKind::Http2Violated, || fault.to_string());
            }
        }
    }

    fn interim(&mut self, tag: u32, _status: u16) {
        self.first_byte(tag);
        self.head.clear();
    }

    fn wants_fields(&self, _tag: u32) -> bool {
        S::WALKS && self.tells_heads || !self.recorder.has_head()
    }

    fn field(&mut self, _tag: u32, name: &[u8], value: &[u8]) {
        if !name.starts_with(b":") {
            for part in [name, b": ", value, b"\r\n"] {
                self.head.extend_from_slice(part);
            }
        }
    }

    fn settings(&mut self, settings: &PeerSettings) {
        self.facts.add_settings(ServerSettings {
            streams_max: (settings.streams_max < u32::MAX).then_some(settings.streams_max),
            stream_window_bytes: settings.stream_window_bytes,
            payload_bytes_max: settings.payload_bytes_max,
            header_list_bytes: settings.header_list_bytes,
        });
        if settings.streams_max < self.streams_asked {
            let least = self.facts.streams_permitted.unwrap_or(u32::MAX);
            self.facts.streams_permitted = Some(least.min(settings.streams_max));
        }
    }

    fn goaway(&mut self, last_stream: u32, code: ErrorCode, debug: &[u8]) {
        if self.connection.state.goaway.is_none() {
            self.facts.goaways += 1;
            self.facts.goaway_codes.add(code.0, 1);
        }
        self.connection.state.goaway = Some(GoAway { code, last_stream });
        let debug = &debug[..debug.len().min(DEBUG_BYTES_KEPT)];
        let said = printable(&String::from_utf8_lossy(debug)).into_owned();
        if !said.is_empty() && self.facts.last_goaway_said.as_ref() != Some(&said) {
            self.facts.last_goaway_said = Some(said.clone());
        }
        if code != ErrorCode::NO_ERROR && self.facts.first_goaway.is_none() {
            let said = if said.is_empty() { said } else { format!(": {said}") };
            self.facts.first_goaway = Some(format!("{code}{said}"));
        }
    }
}
