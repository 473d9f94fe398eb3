//! Reads answers out of the bytes that arrive: heads (whole, split, or equal to one known), and
//! bodies, which are counted and skipped.

use ablaze_net::{CloseHow, Io, Receive, Slot};
use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::response::{self, Framing, Head, HeadError, Scan};

use super::exchanges::BULKY_BYTES;
use super::{Spill, Worker, close_at_once};
use crate::connection::{Reading, Stage};
use ablaze_model::failure::FailureKind;

/// What a piece of input came to.
enum Piece {
    /// Used up; the answer goes on.
    Consumed,
    /// The answer is complete; so many bytes of the piece are behind it.
    Complete { rest: usize },
    /// An interim answer (RFC 9110, 15.2) is complete and the final one follows; so many bytes of
    /// the piece are behind it.
    Interim { rest: usize },
    /// The connection is given up.
    Broken(FailureKind),
    /// It is the beginning of a response to a request that has not left.
    Unasked,
}

impl Worker {
    /// Reads everything in `bytes`: the rest of one answer, several, or a part of one.
    #[inline]
    pub(super) fn read_answers<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], at: u64) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let connection = &self.connections[slot as usize];
            if connection.stage != Stage::Open {
                return;
            }
            if connection.in_flight == 0 || connection.held {
                if connection.reading == Reading::Frames {
                    return self.read_frames(io, slot, rest, at);
                }
                // Bytes nobody asked for: whatever they are, the next answer cannot be told apart.
                self.end_connection(io, slot, close_at_once(&self.plan));
                return;
            }
            let piece = match connection.reading {
                Reading::Head => self.read_head(io, slot, rest, at),
                Reading::Frames => return self.read_frames(io, slot, rest, at),
                _ => self.read_body(io, slot, rest),
            };
            match piece {
                Piece::Consumed => {
                    self.connections[slot as usize].progress_ns = at;
                    return;
                }
                Piece::Complete { rest: left } => {
                    rest = &rest[rest.len() - left..];
                    let connection = &self.connections[slot as usize];
                    if left > 0 && connection.in_flight == 1 && connection.server_keeps {
                        return self.answer_with_surplus(io, slot, at);
                    }
                    self.answer_complete(io, slot, at);
                }
                Piece::Interim { rest: left } => rest = &rest[rest.len() - left..],
                Piece::Broken(kind) => return self.broken(io, slot, at, kind),
                Piece::Unasked => {
                    return self.end_connection(io, slot, close_at_once(&self.plan));
                }
            }
        }
    }

    /// Reads in a head, and what of the body follows it.
    #[inline]
    fn read_head<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], at: u64) -> Piece {
        let connection = &mut self.connections[slot as usize];
        let spill = connection.spill;
        let place = (slot * self.pipeline + connection.oldest) as usize;
        let exchange = &mut self.exchanges[place];
        if exchange.first_byte_ns == 0 {
            if exchange.sent_ns == 0 {
                return Piece::Unasked;
            }
            exchange.first_byte_ns = at;
            exchange.stamp(at);
        }
        connection.answer_began = true;
        let template = exchange.template;
        if spill.is_none() {
            let known = &self.heads[template as usize % self.heads.len()];
            if let Some(head) = known.head
                && bytes.starts_with(&known.bytes)
            {
                return self.enter_body(io, slot, head, &bytes[head.len..]);
            }
        }
        self.scan_head(io, slot, bytes, template)
    }

    /// The slow path: a head not seen before, or in pieces.
    #[cold]
    fn scan_head<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8], template: u32) -> Piece {
        let no_body = self.outbox.answer_has_no_body(template);
        let max_head_bytes = self.plan.limits.max_head_bytes;
        let spill = self.connections[slot as usize].spill;
        let before = spill.map_or(0, |spill| self.spills[spill as usize].bytes.len());
        let scan = match spill {
            None => response::scan(bytes, 0, no_body, max_head_bytes),
            Some(spill) => {
                // Never more than one head and one buffer: longer heads are refused.
                let spill = &mut self.spills[spill as usize];
                spill.bytes.extend_from_slice(bytes);
                response::scan(&spill.bytes, spill.resume, no_body, max_head_bytes)
            }
        };
        match scan {
            Ok(Scan::Incomplete { resume }) => {
                let spill = spill.unwrap_or_else(|| self.begin_spill(slot, bytes));
                self.spills[spill as usize].resume = resume;
                if matches!(self.connections[slot as usize].mode, Receive::Head) {
                    io.receive(slot, Receive::Head);
                }
                Piece::Consumed
            }
            Ok(Scan::Complete(head)) => {
                let from_this = head.len.saturating_sub(before);
                match spill {
                    Some(spill) => {
                        let text = std::mem::take(&mut self.spills[spill as usize].bytes);
                        self.remember_head(template, &text[..head.len], head);
                        self.spills[spill as usize].bytes = text;
                        self.release_spill(slot);
                    }
                    None => self.remember_head(template, &bytes[..head.len], head),
                }
                self.enter_body(io, slot, head, &bytes[from_this..])
            }
            Err(HeadError::Malformed(_)) => {
                let text = spill.map_or(bytes, |spill| &self.spills[spill as usize].bytes);
                self.recorder.keep_malformed(text);
                // The beginning of an alert or of a handshake (RFC 8446, 5.1).
                let is_tls = matches!(text, [0x15 | 0x16, 3, ..]);
                Piece::Broken(if is_tls {
                    FailureKind::AnsweredInTls
                } else {
                    FailureKind::Malformed
                })
            }
            Err(HeadError::TooLarge) => Piece::Broken(FailureKind::TooLarge),
        }
    }

    /// A head is complete; `rest` follows it.
    #[inline]
    fn enter_body<I: Io>(&mut self, io: &mut I, slot: Slot, head: Head, rest: &[u8]) -> Piece {
        if head.status < 200 && head.status != 101 {
            if rest.is_empty() && matches!(self.connections[slot as usize].mode, Receive::Head) {
                io.receive(slot, Receive::Head);
            }
            return Piece::Interim { rest: rest.len() };
        }
        let connection = &mut self.connections[slot as usize];
        connection.status = head.status;
        connection.server_keeps = head.keep_alive && head.status != 101;
        connection.body_bytes = 0;
        match head.framing {
            Framing::None => Piece::Complete { rest: rest.len() },
            Framing::Length(length) => {
                let here = (rest.len() as u64).min(length);
                connection.body_bytes = here;
                if here == length {
                    return Piece::Complete { rest: rest.len() - here as usize };
                }
                let remaining = length - here;
                connection.reading = Reading::Length(remaining);
                self.skip_body(io, slot, remaining);
                Piece::Consumed
            }
            Framing::Chunked => {
                connection.reading = Reading::Chunked(Chunked::new());
                if !rest.is_empty() {
                    return self.read_body(io, slot, rest);
                }
                self.receive_body(io, slot);
                Piece::Consumed
            }
            Framing::UntilClose => {
                connection.reading = Reading::ToEnd;
                connection.body_bytes = rest.len() as u64;
                self.receive(io, slot, Receive::DiscardToEnd);
                Piece::Consumed
            }
        }
    }

    /// Reads in a body.
    fn read_body<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &[u8]) -> Piece {
        let connection = &mut self.connections[slot as usize];
        match &mut connection.reading {
            Reading::Length(remaining) => {
                let here = (bytes.len() as u64).min(*remaining);
                *remaining -= here;
                let remaining = *remaining;
                connection.body_bytes += here;
                if remaining == 0 {
                    return Piece::Complete { rest: bytes.len() - here as usize };
                }
                self.skip_body(io, slot, remaining);
                Piece::Consumed
            }
            Reading::Chunked(chunked) => match chunked.feed(bytes) {
                Err(_) => Piece::Broken(FailureKind::Malformed),
                Ok(step) => {
                    let in_chunk = chunked.remaining_in_chunk();
                    connection.body_bytes += step.body_bytes;
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
            },
            Reading::ToEnd => {
                connection.body_bytes += bytes.len() as u64;
                Piece::Consumed
            }
            Reading::Head | Reading::Frames => Piece::Consumed,
        }
    }

    /// The rest of a body, or of a chunk, is of no interest.
    #[inline]
    fn skip_body<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: u64) {
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

    /// The oldest exchange of the connection has its whole answer.
    #[inline]
    pub(super) fn answer_complete<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let connection = &self.connections[slot as usize];
        let body_bytes = connection.body_bytes;
        let server_keeps = connection.server_keeps;
        let used_up =
            connection.requests >= self.requests_per_connection && connection.in_flight == 1;
        let keeps = server_keeps && !used_up;
        self.answered(slot, at, body_bytes, server_keeps && self.plan.connections.keep_alive);
        if !keeps {
            // The request said so too when connections are not to be kept.
            let announced = !server_keeps || !self.plan.connections.keep_alive;
            let how = if announced { self.announced_close() } else { close_at_once(&self.plan) };
            // A request still being sent keeps an announced close from being waited for.
            let unsent = self.connections[slot as usize].sends_under_way > 0;
            let how = if unsent && how == CloseHow::AwaitPeer { CloseHow::Fin } else { how };
            self.end_connection(io, slot, how);
            return;
        }
        let mode = self.learn_mode(body_bytes);
        let connection = &mut self.connections[slot as usize];
        connection.reading = Reading::Head;
        connection.answer_began = false;
        connection.body_bytes = 0;
        if connection.mode != mode || mode == Receive::Head {
            connection.mode = mode;
            io.receive(slot, mode);
        }
        if self.connections[slot as usize].sends_under_way > 0 && self.sends.wait {
            self.feed_while_sending(io, slot, at);
        } else if self.sends.are_quiet && io.unsent(slot) {
            self.end_connection(io, slot, close_at_once(&self.plan));
        } else {
            self.feed(io, slot);
        }
    }

    /// Records the oldest exchange as answered and frees its place.
    #[inline]
    pub(super) fn answered(&mut self, slot: Slot, at: u64, body_bytes: u64, kept_alive: bool) {
        let connection = &mut self.connections[slot as usize];
        connection.answers += 1;
        let status = connection.status;
        let place = (slot * self.pipeline + connection.oldest) as usize;
        self.recorder.record().body_bytes += body_bytes;
        self.recorder.answered(&self.exchanges[place], at, status, body_bytes, kept_alive);
        self.connections[slot as usize].body_bytes = 0;
        self.connections[slot as usize].answer_began = false;
        self.retire(slot);
    }

    /// More bytes came than the last answer in flight has: nobody asked for them, and a next
    /// answer could not be told apart from them. The connection is not used again.
    #[cold]
    fn answer_with_surplus<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let body_bytes = self.connections[slot as usize].body_bytes;
        self.answered(slot, at, body_bytes, false);
        self.end_connection(io, slot, close_at_once(&self.plan));
    }

    fn remember_head(&mut self, template: u32, bytes: &[u8], head: Head) {
        if head.status < 200 && head.status != 101 {
            return;
        }
        self.recorder.keep_head(bytes);
        let index = template as usize % self.heads.len();
        // With more templates than places the method may differ: only the sole owner may reuse.
        let sole_owner = self.outbox.templates() <= self.heads.len();
        let known = &mut self.heads[index];
        if sole_owner {
            known.bytes.clear();
            known.bytes.extend_from_slice(bytes);
            known.head = Some(head);
        }
    }

    fn begin_spill(&mut self, slot: Slot, bytes: &[u8]) -> u32 {
        let index = self.free_spills.pop().unwrap_or_else(|| {
            self.spills.push(Spill { bytes: Vec::with_capacity(2048), resume: 0 });
            (self.spills.len() - 1) as u32
        });
        self.spills[index as usize].bytes.extend_from_slice(bytes);
        self.connections[slot as usize].spill = Some(index);
        index
    }

    pub(super) fn release_spill(&mut self, slot: Slot) {
        if let Some(index) = self.connections[slot as usize].spill.take() {
            self.spills[index as usize].bytes.clear();
            self.free_spills.push(index);
        }
    }
}

/// Chunks with more than this still to come are discarded on the socket.
const BULKY_CHUNK_BYTES: u64 = 64 * 1024;
