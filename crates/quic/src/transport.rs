//! What both sides of a connection ask of QUIC: windows, datagrams, how much waits for whom (RFC 9000, 18.2).

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{MtuDiscoveryConfig, TransportConfig, VarInt};

use crate::unpaced::UnpacedCubic;

/// Streams that the other side may open in one direction: HTTP/3 needs three (RFC 9114, 6.2), the others are of types
/// that nobody knows.
const UNIDIRECTIONAL_STREAMS: u32 = 16;

/// Ethernet's 1,500 bytes without the heads of IPv6 and UDP: larger datagrams are not tried.
const DATAGRAM_BYTES_TRIED: u16 = 1_452;

/// How a connection behaves below HTTP/3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// The connection is closed after this long without a packet, ns; 0 never.
    pub idle_timeout_ns: u64,
    /// So many bytes of one stream may be on their way here.
    pub stream_window_bytes: u64,
    /// So many bytes of all streams may be.
    pub connection_window_bytes: u64,
    /// Datagrams of this many bytes; `None` for what the path turns out to carry, from 1,200 on.
    pub datagram_bytes: Option<u16>,
    /// What is sent is spread over the round trip (RFC 9002, 7.7) instead of sent at once.
    pub paces: bool,
    /// Streams for requests that the other side may have open at once: none on a client.
    pub request_streams: u32,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            idle_timeout_ns: 30_000_000_000,
            stream_window_bytes: 16 << 20,
            connection_window_bytes: 64 << 20,
            datagram_bytes: None,
            paces: false,
            request_streams: 0,
        }
    }
}

impl Transport {
    /// The same as quinn-proto wants it.
    pub fn config(&self) -> TransportConfig {
        let mut config = TransportConfig::default();
        // Rounded up: what is said on the wire is in ms, and 0 is never.
        let idle_ms = varint(self.idle_timeout_ns.div_ceil(1_000_000));
        config
            .max_idle_timeout((self.idle_timeout_ns > 0).then(|| idle_ms.into()))
            .stream_receive_window(varint(self.stream_window_bytes))
            .receive_window(varint(self.connection_window_bytes))
            // What is to be sent is in memory anyway: only the other side's windows hold it back.
            .send_window(u64::MAX >> 1)
            .max_concurrent_bidi_streams(self.request_streams.into())
            .max_concurrent_uni_streams(UNIDIRECTIONAL_STREAMS.into())
            .datagram_receive_buffer_size(None)
            .keep_alive_interval(None)
            // Responses and requests end one after the other instead of all at once in small pieces.
            .send_fairness(false)
            .allow_spin(false)
            // The other side acknowledges every second packet, or a batch at once (RFC 9000, 13.2.2). Asked to wait for more
            // (draft-ietf-quic-ack-frequency), it would let a small window stand still for its delay of 25 ms.
            .ack_frequency_config(None);
        match self.datagram_bytes {
            Some(bytes) => config.initial_mtu(bytes).min_mtu(bytes).mtu_discovery_config(None),
            None => config.mtu_discovery_config(Some(discovery())),
        };
        if !self.paces {
            config.congestion_controller_factory(Arc::new(UnpacedCubic));
        }
        config
    }
}

fn discovery() -> MtuDiscoveryConfig {
    let mut config = MtuDiscoveryConfig::default();
    config.upper_bound(DATAGRAM_BYTES_TRIED).interval(Duration::from_secs(600));
    config
}

/// The number, or the largest there is.
fn varint(number: u64) -> VarInt {
    VarInt::from_u64(number).unwrap_or(VarInt::MAX)
}
