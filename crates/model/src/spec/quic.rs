//! What is asked of HTTP/3 and of the QUIC that carries it.

use serde::{Deserialize, Serialize};

use crate::plan::Http3;

/// What is asked of HTTP/3; nothing of it has an effect on other versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct QuicSpec {
    /// HTTP/3 is where the server's Alt-Svc says, which is asked over TCP before the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub follows_alt_svc: bool,
    /// A connection is closed after this long without a packet, ns; 0 never. `None` is 30 s.
    pub idle_timeout_ns: Option<u64>,
    /// So many bytes of one response may be on their way; `None` is 16 MiB.
    pub stream_window_bytes: Option<u64>,
    /// So many bytes of all responses on a connection may be; `None` is 64 MiB.
    pub connection_window_bytes: Option<u64>,
    /// Datagrams of this many bytes; `None` is what the path turns out to carry.
    pub datagram_bytes: Option<u16>,
    /// What is sent is spread over the round trip.
    pub paces: bool,
    /// How large a dynamic table of field sections the server may use; `None` is 0.
    pub qpack_table_bytes: Option<u32>,
}

impl QuicSpec {
    /// The settings of connections with so many streams.
    pub fn with_streams(&self, streams: u32) -> Http3 {
        let usual = Http3::with_streams(streams);
        Http3 {
            streams,
            idle_timeout_ns: self.idle_timeout_ns.unwrap_or(usual.idle_timeout_ns),
            stream_window_bytes: self.stream_window_bytes.unwrap_or(usual.stream_window_bytes),
            connection_window_bytes: self
                .connection_window_bytes
                .unwrap_or(usual.connection_window_bytes),
            datagram_bytes: self.datagram_bytes.or(usual.datagram_bytes),
            paces: self.paces || usual.paces,
            qpack_table_bytes: self.qpack_table_bytes.unwrap_or(usual.qpack_table_bytes),
        }
    }

    /// Whether nothing is asked for.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
