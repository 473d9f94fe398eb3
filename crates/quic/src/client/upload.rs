//! Requests on their way to QUIC, as far as the server's windows permit (RFC 9000, 4). What is the same each time is handed over
//! without a copy; how much of it is on the network is QUIC's own business.

use bytes::Bytes;
use quinn_proto::{Dir, StreamId, WriteError};

use super::streams::Upload;
use super::{Connection, Core, NotSent};

impl Connection {
    /// Whether the server takes a field section of this size, as far as its SETTINGS have come.
    #[inline]
    pub(super) fn permits(&self, section_bytes: u64) -> Result<(), NotSent> {
        let bytes_max = self.core.peer.as_ref().and_then(|peer| peer.field_section_bytes_max);
        match bytes_max {
            Some(bytes_max) if section_bytes > bytes_max => {
                Err(NotSent::TooLarge { section_bytes, bytes_max })
            }
            _ => Ok(()),
        }
    }

    /// Hands a request over; the number of its stream.
    #[inline]
    pub(super) fn send(
        &mut self,
        stream: StreamId,
        tag: u32,
        response_has_no_body: bool,
        mut pieces: [Bytes; 2],
    ) -> u64 {
        let id = u64::from(stream);
        self.core.streams.open(id, tag, response_has_no_body);
        if !write(&mut self.quic, stream, &mut pieces) {
            self.core.hold(&mut self.quic, id, pieces);
        }
        id
    }
}

impl Core {
    /// A stream that was blocked may not be any more.
    pub(super) fn go_on(&mut self, quic: &mut quinn_proto::Connection, stream: StreamId) {
        let id = u64::from(stream);
        let Some(upload) = self.streams.find(id).and_then(|stream| stream.upload.take()) else {
            return self.own.has_room(quic, stream);
        };
        self.uploads -= 1;
        let mut pieces = upload.pieces;
        if !write(quic, stream, &mut pieces) {
            self.hold(quic, id, pieces);
        }
    }

    /// Keeps what could not be handed over.
    #[cold]
    fn hold(&mut self, quic: &mut quinn_proto::Connection, id: u64, pieces: [Bytes; 2]) {
        let by_connection = self.own.connection_window_is_used_up(quic);
        if let Some(stream) = self.streams.find(id) {
            stream.upload = Some(Upload { pieces, by_connection });
            self.uploads += 1;
            self.window_stalls += 1;
        }
    }

    pub(super) fn uploads_held(&self) -> (u32, u32) {
        let mut held = (0, 0);
        for upload in self.streams.live().filter_map(|stream| stream.upload.as_ref()) {
            match upload.by_connection {
                true => held.1 += 1,
                false => held.0 += 1,
            }
        }
        held
    }

    /// Has as many streams ready as may be open.
    #[inline]
    pub(super) fn top_up(&mut self, quic: &mut quinn_proto::Connection) {
        if self.goaway.is_some() {
            return;
        }
        while self.ready.len() as u32 + self.streams.live_count() < self.options.streams {
            let Some(stream) = quic.streams().open(Dir::Bi) else { break };
            self.ready.push_back(stream);
        }
    }
}

/// Writes what can be written; whether that is all. So it is, too, when the server wants no more of it.
#[inline]
fn write(quic: &mut quinn_proto::Connection, stream: StreamId, pieces: &mut [Bytes; 2]) -> bool {
    let mut send = quic.send_stream(stream);
    loop {
        if pieces.iter().all(Bytes::is_empty) {
            // It can only be over already.
            let _ = send.finish();
            return true;
        }
        match send.write_chunks(pieces) {
            Ok(_) => {}
            Err(WriteError::Blocked) => return false,
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return true,
        }
    }
}
