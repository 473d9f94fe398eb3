//! Reads responses out of the bytes that arrive: heads that are known, and bodies, which are counted and
//! skipped.

use ablaze_model::failure::FailureKind;
use ablaze_model::record::MalformedBy;
use ablaze_net::{Io, Receive, Slot};
use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::response::{Framing, Head};

use super::{Http1, Reading};
use crate::connection::{Exchange, Stage};
use crate::sink::Response;
use crate::walk::Walk;
use crate::worker::{BULKY_BYTES, Worker};

/// What a piece of input came to.
pub(super) enum Piece {
    /// Used up; the response goes on.
    Consumed,
    /// The response is complete; this many bytes of the piece are behind it.
    Complete { rest: usize },
    /// An interim response (RFC 9110, 15.2) is complete and the final one follows; this many bytes of
    /// the piece are behind it.
    Interim { rest: usize },
    /// The connection is given up.
    Broken(FailureKind),
    /// It is the beginning of a response to a request that has not left.
    Unasked,
}

impl<S: Walk> Worker<Http1<S>> {
    /// Reads everything in `bytes`: the rest of one response, several, or a part of one.
    #[inline]
    pub(super) fn read_responses<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], at: u64) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let connection = &self.connections[slot as usize];
            if connection.stage != Stage::Open {
                return;
            }
            if connection.in_flight == 0 || connection.state.held {
                let idle = !connection.state.held && connection.responses > 0;
                return self.surplus(io, slot, rest, idle);
            }
            let piece = match connection.state.reading {
                Reading::Head => self.read_head(io, slot, rest, at),
                _ => self.read_body(io, slot, rest),
            };
            match piece {
                Piece::Consumed => {
                    self.connections[slot as usize].state.progress_ns = at;
                    return;
                }
                Piece::Complete { rest: left } => {
                    rest = &rest[rest.len() - left..];
                    if left > 0 {
                        self.recorder.response_ends_before(left as u64);
                        let connection = &self.connections[slot as usize];
                        if connection.in_flight == 1 && connection.state.server_keeps {
                            return self.response_with_surplus(io, slot, at, rest);
                        }
                    }
                    self.response_complete(io, slot, at);
                }
                Piece::Interim { rest: left } => rest = &rest[rest.len() - left..],
                Piece::Broken(kind) => return self.broken(io, slot, at, kind),
                Piece::Unasked => return self.surplus(io, slot, rest, true),
            }
        }
    }

    /// Reads in a head, and what of the body follows it.
    #[inline]
    fn read_head<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], at: u64) -> Piece {
        let connection = &mut self.connections[slot as usize];
        let spill = connection.state.spill;
        let place = (slot * self.pipeline + connection.state.oldest) as usize;
        let exchange = &mut self.exchanges[place];
        if exchange.first_byte_ns == 0 {
            if exchange.sent_ns == 0 {
                return Piece::Unasked;
            }
            exchange.first_byte_ns = at;
            exchange.stamp(at);
        }
        connection.state.response_began = true;
        let template = exchange.template;
        if spill.is_none() {
            let known = &self.protocol.heads[template as usize % self.protocol.heads.len()];
            if let Some(head) = known.head
                && bytes.starts_with(&known.bytes)
            {
                if S::WALKS {
                    self.tell_head(slot, head.status, &bytes[..head.len]);
                }
                return self.enter_body(io, slot, head, &bytes[head.len..]);
            }
        }
        self.scan_head(io, slot, bytes, template)
    }

    /// A head is complete; `rest` follows it.
    #[inline]
    pub(super) fn enter_body<I: Io>(
        &mut self,
        io: &mut I,
        slot: Slot,
        head: Head,
        rest: &[u8],
    ) -> Piece {
        if head.status < 200 && head.status != 101 {
            if rest.is_empty() && matches!(self.connections[slot as usize].mode, Receive::Head) {
                io.receive(slot, Receive::Head);
            }
            self.connections[slot as usize].state.only_interim = true;
            return Piece::Interim { rest: rest.len() };
        }
        // Behind 101 the connection speaks another protocol (RFC 9110, 15.2.2), `rest` already: where one
        // was asked for, its state replaces this one here. None is, and so nothing follows on it.
        let connection = &mut self.connections[slot as usize];
        connection.state.only_interim = false;
        connection.state.status = head.status;
        connection.state.server_keeps = head.keep_alive && head.status != 101;
        connection.state.ending = head.ending;
        connection.state.body_bytes = 0;
        if S::LISTENS {
            let place = (slot * self.pipeline + connection.state.oldest) as usize;
            let Exchange { number, template, .. } = self.exchanges[place];
            let response = Response { number, template, status: head.status };
            self.protocol.bodies.begin(place, response, self.now_ns);
        }
        match head.framing {
            Framing::None => Piece::Complete { rest: rest.len() },
            Framing::Length(length) => {
                let here = (rest.len() as u64).min(length);
                connection.state.body_bytes = here;
                let place = (slot * self.pipeline + connection.state.oldest) as usize;
                self.protocol.bodies.bytes(place, &rest[..here as usize], self.now_ns);
                if here == length {
                    return Piece::Complete { rest: rest.len() - here as usize };
                }
                let remaining = length - here;
                connection.state.reading = Reading::Length(remaining);
                self.skip_body(io, slot, remaining);
                Piece::Consumed
            }
            Framing::Chunked => {
                connection.state.reading = Reading::Chunked(Chunked::new());
                if !rest.is_empty() {
                    return self.read_body(io, slot, rest);
                }
                self.receive_body(io, slot);
                Piece::Consumed
            }
            Framing::UntilClose => {
                connection.state.reading = Reading::ToEnd;
                connection.state.body_bytes = rest.len() as u64;
                let place = (slot * self.pipeline + connection.state.oldest) as usize;
                self.protocol.bodies.bytes(place, rest, self.now_ns);
                if S::LISTENS {
                    self.receive_body(io, slot);
                } else {
                    self.receive(io, slot, Receive::DiscardToEnd);
                }
                Piece::Consumed
            }
        }
    }

    /// Reads in a body.
    fn read_body<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8]) -> Piece {
        let connection = &mut self.connections[slot as usize];
        let place = (slot * self.pipeline + connection.state.oldest) as usize;
        let (bodies, at) = (&mut self.protocol.bodies, self.now_ns);
        match &mut connection.state.reading {
            Reading::Length(remaining) => {
                let here = (bytes.len() as u64).min(*remaining);
                *remaining -= here;
                let remaining = *remaining;
                connection.state.body_bytes += here;
                bodies.bytes(place, &bytes[..here as usize], at);
                if remaining == 0 {
                    return Piece::Complete { rest: bytes.len() - here as usize };
                }
                self.skip_body(io, slot, remaining);
                Piece::Consumed
            }
            Reading::Chunked(chunked) => {
                match chunked.feed_to(bytes, |data| bodies.bytes(place, data, at)) {
                    Err(_) => {
                        let exchange = self.exchanges[place];
                        self.recorder.malformed(&exchange, MalformedBy::Chunks);
                        Piece::Broken(FailureKind::Malformed)
                    }
                    Ok(step) => {
                        let in_chunk = chunked.remaining_in_chunk();
                        connection.state.body_bytes += step.body_bytes;
                        if step.done {
                            return Piece::Complete { rest: bytes.len() - step.consumed };
                        }
                        if in_chunk > BULKY_CHUNK_BYTES {
                            self.skip_body(io, slot, in_chunk);
                        } else {
                            self.receive_body(io, slot);
                        }
                        Piece::Consumed
                    }
                }
            }
            Reading::ToEnd => {
                connection.state.body_bytes += bytes.len() as u64;
                bodies.bytes(place, bytes, at);
                Piece::Consumed
            }
            Reading::Head => Piece::Consumed,
        }
    }

    /// The rest of a body, or of a chunk, is of no interest but to a sink.
    #[inline]
    fn skip_body<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: u64) {
        if S::LISTENS {
            return self.receive_body(io, slot);
        }
        let connection = &mut self.connections[slot as usize];
        if connection.mode != Receive::Stream || bytes > BULKY_BYTES {
            connection.mode = Receive::Discard(bytes);
            io.receive(slot, connection.mode);
        }
    }

    /// A body has to be read: by large pieces, unless it is coming anyway.
    fn receive_body<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if self.connections[slot as usize].mode != Receive::Stream {
            self.connections[slot as usize].mode = Receive::Bulk;
            io.receive(slot, Receive::Bulk);
        }
    }

    /// The driver dropped a part of the body.
    pub(super) fn skip_discarded<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.stage != Stage::Open || connection.in_flight == 0 {
            return;
        }
        connection.state.body_bytes += bytes;
        connection.state.progress_ns = at;
        match &mut connection.state.reading {
            Reading::Length(remaining) => {
                *remaining = remaining.saturating_sub(bytes);
                if *remaining == 0 {
                    self.response_complete(io, slot, at);
                }
            }
            Reading::Chunked(chunked) => {
                chunked.skip(bytes);
                if chunked.remaining_in_chunk() == 0 {
                    self.receive(io, slot, Receive::Bulk);
                }
            }
            Reading::ToEnd => {}
            Reading::Head => debug_assert!(false, "nothing is discarded but bodies"),
        }
    }
}

/// Chunks with more than this still to come are discarded on the socket.
const BULKY_CHUNK_BYTES: u64 = 64 * 1024;
