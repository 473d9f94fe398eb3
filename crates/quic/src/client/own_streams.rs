//! The streams that a client opens besides its requests: control, and QPACK's two (RFC 9114, 6.2; RFC 9204, 4.2).

use ablaze_wire::http3::control::{first_bytes, stream_type};
use ablaze_wire::http3::varint;
use bytes::Bytes;
use quinn_proto::{Connection, Dir, StreamId};

/// One of them.
#[derive(Debug, Default)]
struct OwnStream {
    id: Option<StreamId>,
    /// What is still to be written.
    unwritten: Vec<u8>,
}

/// All three.
#[derive(Debug)]
pub struct OwnStreams {
    control: OwnStream,
    encoder: OwnStream,
    decoder: OwnStream,
}

impl OwnStreams {
    /// With our settings.
    pub fn new(table_bytes: u32, field_section_bytes: u32) -> Self {
        let begun = |unwritten| OwnStream { id: None, unwritten };
        let of_type = |kind| {
            let mut bytes = Vec::new();
            varint::write(&mut bytes, kind);
            begun(bytes)
        };
        Self {
            control: begun(first_bytes(table_bytes, field_section_bytes.into())),
            encoder: of_type(stream_type::QPACK_ENCODER),
            decoder: of_type(stream_type::QPACK_DECODER),
        }
    }

    /// What is to be said on the decoder stream is appended here.
    pub fn decoder_out(&mut self) -> &mut Vec<u8> {
        &mut self.decoder.unwritten
    }

    /// Opens what could not be opened yet and writes what is unwritten, as far as the server permits.
    #[inline]
    pub fn write(&mut self, quic: &mut Connection) {
        for own in [&mut self.control, &mut self.encoder, &mut self.decoder] {
            if !own.unwritten.is_empty() {
                own.write(quic);
            }
        }
    }

    /// Whether the connection's window is used up. Only to be asked when a write was refused. A write of nothing says so:
    /// the control stream's own window has room, as we write little on it.
    pub fn connection_window_is_used_up(&self, quic: &mut Connection) -> bool {
        self.control.id.is_some_and(|id| quic.send_stream(id).write(&[]).is_err())
    }
}

impl OwnStream {
    #[cold]
    fn write(&mut self, quic: &mut Connection) {
        if self.id.is_none() {
            self.id = quic.streams().open(Dir::Uni);
        }
        let Some(id) = self.id else { return };
        let mut bytes = [Bytes::copy_from_slice(&self.unwritten)];
        // A server that stops one of these streams does without it.
        if let Ok(written) = quic.send_stream(id).write_chunks(&mut bytes) {
            self.unwritten.drain(..written.bytes);
        }
    }
}
