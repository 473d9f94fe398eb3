//! Reads frames as they arrive on a connection.

use ablaze_net::{Io, Slot};
use ablaze_wire::http2::client::{End, ResponseHead, Sink};
use ablaze_wire::http2::error::{ErrorCode, ErrorKind, StreamFault};
use ablaze_wire::http2::settings::PeerSettings;

use super::Http2;
use crate::protocol::streams::{GoAway, Multiplexer, Responses, Streams};
use crate::walk::Walk;
use crate::worker::Worker;
use ablaze_model::failure::FailureKind;
use ablaze_model::printable::printable;
use ablaze_model::record::ServerSettings;

/// Debug data of GOAWAY is kept up to this many bytes.
const DEBUG_BYTES_KEPT: usize = 200;

impl<S: Walk> Worker<Streams<Http2, S>> {
    /// Reads frames, and sends what they gave room for.
    pub(super) fn read_frames<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], at: u64) {
        let framed = &mut self.connections[slot as usize].state.multiplexer;
        let Some(mut wire) = framed.wire.take() else { return };
        let mut out = std::mem::take(&mut framed.out);
        let (result, seen) =
            self.reading(slot, at, |responses| wire.receive(bytes, &mut out, responses));
        // To the server such a stream is idle (RFC 9113, 5.1).
        let result = if seen.early { result.and(Err(ErrorKind::IdleStream)) } else { result };
        let writes = !out.is_empty() || wire.can_upload();
        let session = &mut self.connections[slot as usize].state;
        session.multiplexer.out = out;
        session.multiplexer.wire = Some(wire);
        session.look_at_windows(at, &mut self.protocol.multiplexer.facts.waits);
        if writes {
            self.list_to_flush(slot);
        }
        if let Err(kind) = result {
            return self.frames_broken(io, slot, at, kind);
        }
        self.go_on_behind(io, slot, seen);
    }

    /// What came cannot be HTTP/2, or breaks its rules: the connection cannot go on. The server is
    /// told why, if it can be.
    #[cold]
    fn frames_broken<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, error: ErrorKind) {
        let kind = match error {
            ErrorKind::AnsweredHttp1 => FailureKind::NoHttp2,
            ErrorKind::AnsweredTls => FailureKind::AnsweredInTls,
            // The limit is the client's own.
            ErrorKind::BlockTooLong => FailureKind::TooLarge,
            _ => FailureKind::Http2Violated,
        };
        self.protocol.multiplexer.note_failure(kind, || error.to_string());
        self.fails_with(io, slot, at, kind);
    }
}

impl<S: Walk> Sink for Responses<'_, Http2, S> {
    #[inline]
    fn head(&mut self, tag: u32, head: ResponseHead) {
        self.response_head(tag, head);
    }

    #[inline]
    fn data(&mut self, tag: u32, content: &[u8]) {
        self.content(tag, content);
    }

    #[inline]
    fn ended(&mut self, tag: u32, end: End) {
        if self.is_early(tag, end == End::Unprocessed && self.is_going_away()) {
            return;
        }
        match end {
            End::Complete => self.complete(tag),
            End::Unprocessed => {
                if !self.is_going_away() {
                    self.multiplexer.facts.resets.add(ErrorCode::REFUSED_STREAM.0, 1);
                }
                self.unprocessed(tag);
            }
            End::Reset(code) => {
                self.multiplexer.facts.resets.add(code.0, 1);
                self.fail(tag, FailureKind::StreamReset, || {
                    format!("the server reset a stream with {code}")
                });
            }
            // The limit is the client's own.
            End::Fault(fault @ StreamFault::FieldsTooLarge) => {
                self.fail(tag, FailureKind::TooLarge, || fault.to_string());
            }
            End::Fault(fault) => {
                self.fail(tag, FailureKind::Http2Violated, || fault.to_string());
            }
        }
    }

    #[cold]
    fn request_cut(&mut self, tag: u32) {
        self.answered_early(tag);
    }

    fn interim(&mut self, tag: u32, _status: u16) {
        self.interim_head(tag);
    }

    fn wants_fields(&self, _tag: u32) -> bool {
        self.wants_them()
    }

    fn field(&mut self, _tag: u32, name: &[u8], value: &[u8]) {
        self.take_field(name, value);
    }

    fn settings(&mut self, settings: &PeerSettings) {
        let facts = &mut self.multiplexer.facts;
        facts.add_settings(ServerSettings {
            streams_max: (settings.streams_max < u32::MAX).then_some(settings.streams_max),
            stream_window_bytes: settings.stream_window_bytes,
            payload_bytes_max: settings.payload_bytes_max,
            header_list_bytes: settings.header_list_bytes,
        });
        if settings.streams_max < self.streams_asked {
            let least = facts.streams_permitted.unwrap_or(u32::MAX);
            facts.streams_permitted = Some(least.min(settings.streams_max));
        }
    }

    fn goaway(&mut self, last_stream: u32, code: ErrorCode, debug: &[u8]) {
        let is_error = code != ErrorCode::NO_ERROR;
        let goaway = GoAway { is_error, first_refused: u64::from(last_stream) + 1 };
        let is_first = self.goes_away(goaway);
        let facts = &mut self.multiplexer.facts;
        if is_first {
            facts.goaways += 1;
            facts.goaway_codes.add(code.0, 1);
        }
        let debug = &debug[..debug.len().min(DEBUG_BYTES_KEPT)];
        let said = printable(&String::from_utf8_lossy(debug)).into_owned();
        if !said.is_empty() && facts.last_goaway_said.as_ref() != Some(&said) {
            facts.last_goaway_said = Some(said.clone());
        }
        if is_error && facts.first_goaway.is_none() {
            let said = if said.is_empty() { said } else { format!(": {said}") };
            facts.first_goaway = Some(format!("{code}{said}"));
        }
    }
}
