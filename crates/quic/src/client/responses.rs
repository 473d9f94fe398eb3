//! What each stream that has something to read does: responses on those of requests (RFC 9114, 4.1), settings and
//! GOAWAY on the server's own (6.2, 7.2).

use ablaze_wire::http3::control::{PeerStream, PeerStreams, Told, UNKNOWN_STREAM};
use ablaze_wire::http3::error::{ErrorCode, ErrorKind};
use ablaze_wire::http3::qpack::instructions;
use ablaze_wire::http3::response::{self, Fault};
use quinn_proto::{Connection, ReadError, StreamId};

use super::sink::{End, ResponseHead, Sink};
use super::streams::Closed;
use super::{Core, varint};

/// A stream that the server opened.
#[derive(Debug)]
pub struct PeerStreamEntry {
    id: StreamId,
    stream: PeerStream,
}

/// How reading stopped.
enum Stop {
    /// More is to come.
    Blocked,
    /// The stream ended.
    Finished,
    /// The server reset it.
    Reset(ErrorCode),
    /// What it said is of no use.
    Fault(Fault),
}

impl Core {
    /// Reads what came for a request.
    #[inline]
    pub(super) fn read_response<S: Sink>(
        &mut self,
        quic: &mut Connection,
        id: StreamId,
        sink: &mut S,
    ) -> Result<(), ErrorKind> {
        let number = u64::from(id);
        // Streams that were given up are not read.
        let Some(stream) = self.streams.find(number) else { return Ok(()) };
        let mut recv = quic.recv_stream(id);
        let Ok(mut chunks) = recv.read(true) else { return Ok(()) };
        let mut tagged = Tagged { tag: stream.tag, sink };
        let stop = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let (sections, out) = (&mut self.sections, self.own.decoder_out());
                    let read =
                        stream.response.receive(number, &chunk.bytes, sections, &mut tagged, out);
                    if let Err(fault) = read {
                        break Stop::Fault(fault);
                    }
                }
                Ok(None) => break Stop::Finished,
                Err(ReadError::Blocked) => break Stop::Blocked,
                Err(ReadError::Reset(code)) => break Stop::Reset(ErrorCode(code.into_inner())),
            }
        };
        // Whether a window is to be told of: QUIC sees to that with the next datagram.
        let _ = chunks.finalize();
        let has_begun = stream.response.has_begun();
        match stop {
            Stop::Blocked => Ok(()),
            Stop::Finished => match stream.response.end() {
                Ok(()) => {
                    self.end_stream(quic, number, sink, End::Complete);
                    Ok(())
                }
                Err(fault) => self.fault(quic, number, sink, fault),
            },
            Stop::Reset(code) => {
                let unprocessed = code == ErrorCode::REQUEST_REJECTED && !has_begun;
                let end = if unprocessed { End::Unprocessed } else { End::Reset(code) };
                self.end_stream(quic, number, sink, end);
                self.cancel_fields(number);
                Ok(())
            }
            Stop::Fault(fault) => self.fault(quic, number, sink, fault),
        }
    }

    /// The server ended a live stream. If it did not wait for the whole request, the rest of it is of no use.
    fn end_stream(&mut self, quic: &mut Connection, id: u64, sink: &mut impl Sink, end: End) {
        let Some(Closed { tag, was_uploading }) = self.close(id) else { return };
        if was_uploading {
            self.cancel(quic, id, ErrorCode::REQUEST_CANCELLED, false);
            if end == End::Complete {
                sink.request_cut(tag);
            }
        }
        sink.ended(tag, end);
    }

    #[cold]
    fn fault(
        &mut self,
        quic: &mut Connection,
        id: u64,
        sink: &mut impl Sink,
        fault: Fault,
    ) -> Result<(), ErrorKind> {
        let fault = match fault {
            Fault::Connection(kind) => return Err(kind),
            Fault::Stream(fault) => fault,
        };
        if let Some(Closed { tag, .. }) = self.close(id) {
            self.cancel(quic, id, fault.code(), true);
            sink.ended(tag, End::Fault(fault));
        }
        Ok(())
    }

    /// A live stream is over for us.
    #[inline]
    pub(super) fn close(&mut self, id: u64) -> Option<Closed> {
        let closed = self.streams.close(id)?;
        self.uploads -= usize::from(closed.was_uploading);
        Some(closed)
    }

    /// Tells the server that a stream is over for us; `reads` if its response was not read to its end.
    #[cold]
    pub(super) fn cancel(&mut self, quic: &mut Connection, id: u64, code: ErrorCode, reads: bool) {
        let Ok(number) = quinn_proto::VarInt::from_u64(id) else { return };
        let id = StreamId::from(number);
        // Either direction may be over already.
        let _ = quic.send_stream(id).reset(varint(code));
        if reads {
            let _ = quic.recv_stream(id).stop(varint(code));
            self.cancel_fields(number.into_inner());
        }
    }

    /// Fields that were not read are acknowledged by nobody (RFC 9204, 2.2.2.2).
    fn cancel_fields(&mut self, id: u64) {
        if self.options.table_bytes > 0 {
            instructions::cancel(self.own.decoder_out(), id);
        }
    }

    /// The server wants no more of a request. It can respond nevertheless (RFC 9114, 4.1).
    #[cold]
    pub(super) fn stopped(&mut self, quic: &mut Connection, id: StreamId) {
        let number = u64::from(id);
        let upload = self.streams.find(number).and_then(|stream| stream.upload.take());
        self.uploads -= usize::from(upload.is_some());
        // RFC 9000, 3.5.
        let _ = quic.send_stream(id).reset(varint(ErrorCode::REQUEST_CANCELLED));
        // One of our own that waited for room waits no more.
        self.own.has_room(quic, id);
    }

    /// Reads what came on a stream that the server opened.
    #[cold]
    pub(super) fn read_peer_stream(
        &mut self,
        quic: &mut Connection,
        id: StreamId,
        sink: &mut impl Sink,
    ) -> Result<(), ErrorKind> {
        let at = match self.peer_stream_entries.iter().position(|entry| entry.id == id) {
            Some(at) => at,
            None => {
                let stream = PeerStream::default();
                self.peer_stream_entries.push(PeerStreamEntry { id, stream });
                self.peer_stream_entries.len() - 1
            }
        };
        let mut told = Vec::new();
        let entry = &mut self.peer_stream_entries[at];
        let mut recv = quic.recv_stream(id);
        let mut over = true;
        let mut result = Ok(());
        if let Ok(mut chunks) = recv.read(true) {
            loop {
                let (bytes, ended) = match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => (chunk.bytes, false),
                    // To end a stream and to reset it is the same where it must not be closed.
                    Ok(None) | Err(ReadError::Reset(_)) => (Default::default(), true),
                    Err(ReadError::Blocked) => {
                        over = false;
                        break;
                    }
                };
                let (sections, out) = (&mut self.sections, self.own.decoder_out());
                let tell = &mut |one| told.push(one);
                result = self.peer_streams.receive(
                    &mut entry.stream,
                    &bytes,
                    ended,
                    sections,
                    out,
                    tell,
                );
                if ended || result.is_err() {
                    break;
                }
            }
            let _ = chunks.finalize();
        }
        if !over && PeerStreams::is_unknown(&entry.stream) {
            let _ = quic.recv_stream(id).stop(varint(UNKNOWN_STREAM));
            over = true;
        }
        if over {
            self.peer_stream_entries.swap_remove(at);
        }
        for one in told {
            self.told(quic, one, sink);
        }
        result
    }

    fn told(&mut self, quic: &mut Connection, told: Told, sink: &mut impl Sink) {
        match told {
            Told::Settings(settings) => {
                self.peer = Some(settings);
                sink.settings(&settings);
            }
            Told::Goaway(first) => {
                self.goaway = Some(first);
                self.ready.clear();
                sink.goaway(first);
                let above = |stream: &&super::streams::Stream| stream.id >= first;
                let cut: Vec<u64> =
                    self.streams.live().filter(above).map(|stream| stream.id).collect();
                for id in cut {
                    if let Some(Closed { tag, .. }) = self.close(id) {
                        self.cancel(quic, id, ErrorCode::REQUEST_CANCELLED, true);
                        sink.ended(tag, End::Unprocessed);
                    }
                }
            }
        }
    }
}

/// The sink of one stream.
struct Tagged<'s, S> {
    tag: u32,
    sink: &'s mut S,
}

impl<S: Sink> response::Sink for Tagged<'_, S> {
    #[inline]
    fn head(&mut self, head: ResponseHead) {
        self.sink.head(self.tag, head);
    }

    #[inline]
    fn data(&mut self, content: &[u8]) {
        self.sink.data(self.tag, content);
    }

    fn interim(&mut self, status: u16) {
        self.sink.interim(self.tag, status);
    }

    fn trailers(&mut self) {
        self.sink.trailers(self.tag);
    }

    #[inline]
    fn wants_fields(&self) -> bool {
        self.sink.wants_fields(self.tag)
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.sink.field(self.tag, name, value);
    }
}
