//! The streams that a client opens besides its requests: control, and QPACK's two (RFC 9114, 6.2; RFC 9204, 4.2).

use ablaze_wire::http3::control::{first_bytes, stream_type};
use ablaze_wire::http3::error::ErrorKind;
use ablaze_wire::http3::varint;
use quinn_proto::{Connection, StreamId};

use crate::own_stream::OwnStream;

/// So much may wait for a server to take it. Each response that needs the table adds 1 to 5 bytes, for which a server must
/// permit the stream and should have 1,024 bytes of room (RFC 9114, 6.2).
const UNWRITTEN_BYTES_MAX: usize = 64 * 1024;

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
        let of_type = |kind| {
            let mut bytes = Vec::new();
            varint::write(&mut bytes, kind);
            OwnStream::new(bytes)
        };
        Self {
            control: OwnStream::new(first_bytes(table_bytes, field_section_bytes.into())),
            encoder: of_type(stream_type::QPACK_ENCODER),
            decoder: of_type(stream_type::QPACK_DECODER),
        }
    }

    /// What is to be said on the decoder stream is appended here.
    pub fn decoder_out(&mut self) -> &mut Vec<u8> {
        self.decoder.out()
    }

    /// Opens what could not be opened yet and writes what is unwritten, as far as the server permits.
    ///
    /// # Errors
    /// When the server has taken too little for too long.
    #[inline]
    pub fn write(&mut self, quic: &mut Connection) -> Result<(), ErrorKind> {
        for own in [&mut self.control, &mut self.encoder, &mut self.decoder] {
            if own.unwritten_bytes() > 0 {
                own.write(quic);
                if own.unwritten_bytes() > UNWRITTEN_BYTES_MAX {
                    return Err(ErrorKind::StreamWithoutRoom);
                }
            }
        }
        Ok(())
    }

    /// The server has room on this stream, which may be one of them.
    #[cold]
    pub fn has_room(&mut self, quic: &mut Connection, id: StreamId) {
        for own in [&mut self.control, &mut self.encoder, &mut self.decoder] {
            if own.id() == Some(id) {
                own.has_room(quic);
            }
        }
    }

    /// Whether the connection's window is used up. Only to be asked when a write was refused. A write of nothing says so:
    /// the control stream's own window has room, as we write little on it.
    pub fn connection_window_is_used_up(&self, quic: &mut Connection) -> bool {
        self.control.id().is_some_and(|id| quic.send_stream(id).write(&[]).is_err())
    }
}
