//! One connection: QUIC with HTTP/3's streams on it. What came is told in order by [`Connection::next_event`]; what is
//! to leave is written on its stream as far as the client's windows permit.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use ablaze_wire::http3::control::{self, PeerStream, PeerStreams, UNKNOWN_STREAM};
use ablaze_wire::http3::error::{ErrorCode, ErrorKind};
use ablaze_wire::http3::frame::{kind, write_head};
use ablaze_wire::http3::response::Sections;
use ablaze_wire::http3::server::{Fault, Piece, Request, Section};
use ablaze_wire::http3::varint;
use bytes::Bytes;
use quinn_proto::{Dir, ReadError, StreamEvent, StreamId, VarInt, WriteError};

use crate::own_stream::OwnStream;

/// What came on a connection. Streams are named by their numbers (RFC 9000, 2.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The head of a request, as a coded field section.
    Head(u64, Bytes),
    /// A head, or trailers, that are longer than permitted.
    HeadTooLong(u64),
    /// Content of a request.
    Content(u64, Bytes),
    /// The trailers of a request, as a coded field section.
    Trailers(u64, Bytes),
    /// A request is complete.
    End(u64),
    /// The client gave its request up, or broke a rule that ended it: nothing can be sent on it any more.
    Cancelled(u64),
    /// More can be sent on a stream that took no more.
    Room(u64),
}

/// A connection of a server.
#[derive(Debug)]
pub struct Connection {
    pub(super) quic: quinn_proto::Connection,
    section_bytes_max: usize,
    peer: PeerStreams,
    /// What the client's encoder stream is read with; the table has no bytes.
    sections: Sections,
    unidirectional: HashMap<StreamId, PeerStream>,
    requests: HashMap<StreamId, Request>,
    control: OwnStream,
    events: VecDeque<Event>,
    /// The first stream that is not taken any more (RFC 9114, 5.2).
    refused_from: Option<u64>,
    /// Streams whose last bytes the client has not acknowledged.
    undelivered: usize,
    /// The handshake is complete.
    stands: bool,
    /// To be closed with this code and reason.
    closing: Option<(ErrorCode, Bytes)>,
}

impl Connection {
    pub(super) fn new(quic: quinn_proto::Connection, section_bytes_max: usize) -> Self {
        Self {
            quic,
            section_bytes_max,
            peer: PeerStreams::of_client(),
            sections: Sections::new(0, u32::try_from(section_bytes_max).unwrap_or(u32::MAX)),
            unidirectional: HashMap::new(),
            requests: HashMap::new(),
            control: OwnStream::new(control::first_bytes(0, section_bytes_max as u64)),
            events: VecDeque::new(),
            refused_from: None,
            undelivered: 0,
            stands: false,
            closing: None,
        }
    }

    /// What came next.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether the handshake is complete.
    pub fn stands(&self) -> bool {
        self.stands
    }

    /// Whether it is over: closed by one of the two, or silent for too long.
    pub fn is_closed(&self) -> bool {
        self.quic.is_closed()
    }

    /// Whether the client has acknowledged everything that was finished.
    pub fn is_delivered(&self) -> bool {
        self.undelivered == 0
    }

    /// Sends the beginning of `bytes` on a stream, which they no longer begin with. Returns whether the stream can be
    /// used; where something is left, [`Event::Room`] follows.
    pub fn send(&mut self, stream: u64, bytes: &mut Bytes) -> bool {
        let mut chunks = [std::mem::take(bytes)];
        let mut sending = self.quic.send_stream(id(stream));
        // Only a call that can send nothing at all is followed by word of room.
        let result = loop {
            match sending.write_chunks(&mut chunks) {
                Ok(_) if chunks[0].is_empty() => break true,
                Ok(_) => {}
                Err(WriteError::Blocked) => break true,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => break false,
            }
        };
        [*bytes] = chunks;
        result
    }

    /// Sends a copy of the beginning of `bytes`; how many, or None if the stream cannot be used. Where something is
    /// left, [`Event::Room`] follows.
    pub fn send_copy(&mut self, stream: u64, bytes: &[u8]) -> Option<usize> {
        let mut sending = self.quic.send_stream(id(stream));
        let mut sent = 0;
        // Only a call that can send nothing at all is followed by word of room.
        while sent < bytes.len() {
            match sending.write(&bytes[sent..]) {
                Ok(more) => sent += more,
                Err(WriteError::Blocked) => break,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return None,
            }
        }
        Some(sent)
    }

    /// Nothing more is sent on a stream.
    pub fn finish(&mut self, stream: u64) {
        if self.quic.send_stream(id(stream)).finish().is_ok() {
            self.undelivered += 1;
        }
    }

    /// Ends a stream in both directions: what was not sent is not, what still comes is not read.
    pub fn reset(&mut self, stream: u64, code: ErrorCode) {
        // Either side may be over already.
        let _ = self.quic.send_stream(id(stream)).reset(number(code.0));
        self.stop(stream, code);
    }

    /// What still comes on a stream is not read; the client is told so (RFC 9114, 4.1).
    pub fn stop(&mut self, stream: u64, code: ErrorCode) {
        self.requests.remove(&id(stream));
        let _ = self.quic.recv_stream(id(stream)).stop(number(code.0));
    }

    /// No requests are taken from this stream on (RFC 9114, 5.2). What was said first stays.
    pub fn goaway(&mut self, stream: u64) {
        if self.refused_from.is_some() {
            return;
        }
        self.refused_from = Some(stream);
        let frame = self.control.out();
        write_head(frame, kind::GOAWAY, varint::len(stream) as u64);
        varint::write(frame, stream);
        self.control.write(&mut self.quic);
    }

    /// Ends the connection as soon as the conversation has had its say. What was not delivered is lost.
    pub fn close(&mut self, code: ErrorCode) {
        self.closing.get_or_insert_with(|| (code, Bytes::new()));
    }

    /// Something on this connection is not HTTP/3: it is closed with the code for it.
    pub fn fail(&mut self, kind: ErrorKind) {
        self.closing.get_or_insert_with(|| (kind.code(), kind.to_string().into()));
    }

    /// Reads what QUIC has to tell; returns whether the handshake was completed now.
    pub(super) fn read_events(&mut self) -> bool {
        let stood = self.stands;
        while let Some(event) = self.quic.poll() {
            match event {
                quinn_proto::Event::Connected => self.begin(),
                quinn_proto::Event::Stream(event) => self.stream_event(event),
                _ => {}
            }
        }
        self.stands && !stood
    }

    /// Closes it if it is to be.
    pub(super) fn close_if_asked(&mut self, now: Instant) {
        if let Some((code, reason)) = self.closing.take() {
            self.quic.close(now, number(code.0), reason);
        }
    }

    fn begin(&mut self) {
        self.stands = true;
        // A client that permits no streams is left without SETTINGS; it cannot be one of HTTP/3 (RFC 9114, 6.2).
        self.control.write(&mut self.quic);
    }

    fn stream_event(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(stream) = self.quic.streams().accept(dir) {
                    self.opened(stream, dir);
                }
            }
            StreamEvent::Readable { id } => self.read(id),
            // None but the control stream is ours in one direction.
            StreamEvent::Writable { id } if id.dir() == Dir::Uni => {
                self.control.has_room(&mut self.quic);
            }
            StreamEvent::Writable { id } => self.events.push_back(Event::Room(id.into())),
            StreamEvent::Finished { .. } => self.undelivered = self.undelivered.saturating_sub(1),
            StreamEvent::Stopped { id, .. } => self.stopped(id),
            StreamEvent::Available { .. } => {}
        }
    }

    fn opened(&mut self, stream: StreamId, dir: Dir) {
        let number = u64::from(stream);
        match dir {
            Dir::Uni => {
                self.unidirectional.insert(stream, PeerStream::default());
            }
            Dir::Bi if self.refused_from.is_some_and(|from| number >= from) => {
                return self.reset(number, ErrorCode::REQUEST_REJECTED);
            }
            Dir::Bi => {
                self.requests.insert(stream, Request::default());
            }
        }
        self.read(stream);
    }

    /// The client wants no more of a response (RFC 9000, 3.5).
    fn stopped(&mut self, stream: StreamId) {
        if Some(stream) == self.control.id() {
            return self.fail(ErrorKind::CriticalStreamEnded);
        }
        let finished = self.quic.send_stream(stream).reset(number(ErrorCode::REQUEST_CANCELLED.0));
        if finished.is_err() {
            // It was finished; no acknowledgement is waited for any more.
            self.undelivered = self.undelivered.saturating_sub(1);
        }
        self.cancelled(stream);
    }

    fn cancelled(&mut self, stream: StreamId) {
        self.stop(stream.into(), ErrorCode::REQUEST_CANCELLED);
        self.events.push_back(Event::Cancelled(stream.into()));
    }

    fn read(&mut self, stream: StreamId) {
        let mut receiving = self.quic.recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else { return };
        let mut ended = Ended::NotYet;
        let mut fault = None;
        while fault.is_none() {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    fault = match stream.dir() {
                        Dir::Bi => {
                            let Some(request) = self.requests.get_mut(&stream) else { break };
                            let most = self.section_bytes_max;
                            read_request(stream, request, &chunk.bytes, most, &mut self.events)
                        }
                        Dir::Uni => {
                            let Some(own) = self.unidirectional.get_mut(&stream) else { break };
                            let (peer, sections) = (&mut self.peer, &mut self.sections);
                            peer.receive(
                                own,
                                &chunk.bytes,
                                false,
                                sections,
                                &mut Vec::new(),
                                &mut |_| {},
                            )
                            .err()
                            .map(Fault::Connection)
                        }
                    };
                }
                Ok(None) => {
                    ended = Ended::Whole;
                    break;
                }
                Err(ReadError::Reset(_)) => {
                    ended = Ended::Reset;
                    break;
                }
                Err(ReadError::Blocked) => break,
            }
        }
        // What it says, that there is something to send, is looked at with everything else.
        let _ = chunks.finalize();
        match fault {
            Some(fault) => self.fault(stream, fault),
            None if ended != Ended::NotYet => self.ended(stream, ended),
            None => self.refuse_if_unknown(stream),
        }
    }

    fn ended(&mut self, stream: StreamId, ended: Ended) {
        if stream.dir() == Dir::Uni {
            let Some(mut own) = self.unidirectional.remove(&stream) else { return };
            let (peer, sections) = (&mut self.peer, &mut self.sections);
            let result = peer.receive(&mut own, &[], true, sections, &mut Vec::new(), &mut |_| {});
            return result.err().map_or((), |kind| self.fail(kind));
        }
        match (ended, self.requests.remove(&stream)) {
            (Ended::Whole, Some(request)) => match request.end() {
                Ok(()) => self.events.push_back(Event::End(stream.into())),
                Err(fault) => self.fault(stream, fault),
            },
            (Ended::Reset, Some(_)) => {
                self.reset(stream.into(), ErrorCode::REQUEST_CANCELLED);
                self.events.push_back(Event::Cancelled(stream.into()));
            }
            _ => {}
        }
    }

    fn fault(&mut self, stream: StreamId, fault: Fault) {
        match fault {
            Fault::Connection(kind) => self.fail(kind),
            Fault::Stream(code) => {
                self.reset(stream.into(), code);
                self.events.push_back(Event::Cancelled(stream.into()));
            }
        }
    }

    /// A stream of a type nobody knows is not read (RFC 9114, 6.2.3).
    fn refuse_if_unknown(&mut self, stream: StreamId) {
        if self.unidirectional.get(&stream).is_some_and(PeerStreams::is_unknown) {
            self.unidirectional.remove(&stream);
            let _ = self.quic.recv_stream(stream).stop(number(UNKNOWN_STREAM.0));
        }
    }
}

/// How a stream of the client ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    NotYet,
    Whole,
    Reset,
}

/// Tells what some bytes of a request say.
fn read_request(
    stream: StreamId,
    request: &mut Request,
    chunk: &Bytes,
    section_bytes_max: usize,
    events: &mut VecDeque<Event>,
) -> Option<Fault> {
    let mut bytes = &chunk[..];
    let stream = u64::from(stream);
    loop {
        let piece = match request.next(&mut bytes, section_bytes_max) {
            Ok(Some(piece)) => piece,
            Ok(None) => return None,
            Err(fault) => return Some(fault),
        };
        let section = |section: Section<'_>, request: &Request| match section {
            Section::Received(section) => chunk.slice_ref(section),
            Section::Gathered => Bytes::copy_from_slice(request.section()),
        };
        events.push_back(match piece {
            Piece::Head(bytes) => Event::Head(stream, section(bytes, request)),
            Piece::HeadTooLong => Event::HeadTooLong(stream),
            Piece::Content(content) => Event::Content(stream, chunk.slice_ref(content)),
            Piece::Trailers(bytes) => Event::Trailers(stream, section(bytes, request)),
        });
    }
}

fn id(stream: u64) -> StreamId {
    StreamId::from(number(stream))
}

/// Codes and streams are such numbers.
fn number(number: u64) -> VarInt {
    VarInt::from_u64(number).unwrap_or(VarInt::MAX)
}
