//! What both sides of a connection ask of QUIC: windows, datagrams, how much waits for whom (RFC 9000, 18.2).

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{MtuDiscoveryConfig, TransportConfig, VarInt};

use crate::datagrams::BATCH_BYTES_MAX;
use crate::unpaced::UnpacedCubic;

/// Streams that the other side may open in one direction: HTTP/3 needs three (RFC 9114, 6.2), the others are of types
/// that nobody knows.
const UNIDIRECTIONAL_STREAMS: u32 = 16;

/// Ethernet's 1,500 bytes without the heads of IPv6 and UDP: larger datagrams are tried only where the network device takes
/// them.
const USUAL_BYTES_TRIED: u16 = 1_452;

/// The same without the heads of IPv4 and UDP: what is accepted at least.
const USUAL_BYTES_ACCEPTED: u16 = 1_472;

/// Larger ones are not tried on any device: four of these fill a call. They cost hardly more for each byte than those of
/// 65,507, and those that find out that the path carries them cost a quarter.
const BYTES_TRIED_MAX: u16 = (BATCH_BYTES_MAX / 4) as u16;

/// Loopback takes more than any other device: packets of 65,536 bytes. What it takes, the path carries.
const LOOPBACK_BYTES_MIN: u16 = 65_487;

/// On loopback, steps get no smaller. A peer that accepts no more than a network carries is sent that with the first.
const LOOPBACK_STEP_BYTES: u16 = 252;

/// A server that begins with usual datagrams on loopback tries the largest at once, as less than half of the way is no step to
/// it: one datagram instead of six of up to that size, for a client that may ask for a few bytes. A client would fill the one
/// socket of its server with those of all its connections.
const SERVERS_LOOPBACK_STEP_BYTES: u16 = (BYTES_TRIED_MAX - USUAL_BYTES_TRIED) / 2 + 1;

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
    /// The longest datagram that the network device toward the peer takes, where that is known.
    pub device_bytes_max: Option<u16>,
    /// There is content to send: datagrams longer than usual are tried where the device takes them. Without, finding out that
    /// the path carries them costs more than they save.
    pub sends_content: bool,
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
            device_bytes_max: None,
            sends_content: true,
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
            None => config.mtu_discovery_config(Some(self.discovery())),
        };
        if self.is_server_on_loopback() {
            config.initial_mtu(USUAL_BYTES_TRIED);
        }
        if !self.paces {
            config.congestion_controller_factory(Arc::new(UnpacedCubic));
        }
        config
    }

    /// The longest datagram to accept (RFC 9000, 18.2): what the device takes, as no other comes. A server that found out more would
    /// only find out that it is lost.
    pub fn accepted_bytes(&self) -> u16 {
        self.datagram_bytes.or(self.device_bytes_max).unwrap_or(0).max(USUAL_BYTES_ACCEPTED)
    }

    fn is_server_on_loopback(&self) -> bool {
        let on_loopback = self.device_bytes_max.is_some_and(|bytes| bytes >= LOOPBACK_BYTES_MIN);
        on_loopback && self.request_streams > 0 && self.datagram_bytes.is_none()
    }

    /// How to find out what the path carries (RFC 8899): by halves between 1,200 bytes and what the device takes.
    fn discovery(&self) -> MtuDiscoveryConfig {
        let mut config = MtuDiscoveryConfig::default();
        config.interval(Duration::from_secs(600));
        match self.device_bytes_max {
            Some(bytes) if bytes > USUAL_BYTES_ACCEPTED && self.sends_content => {
                config.upper_bound(bytes.min(BYTES_TRIED_MAX));
                if self.is_server_on_loopback() {
                    config.minimum_change(SERVERS_LOOPBACK_STEP_BYTES);
                } else if bytes >= LOOPBACK_BYTES_MIN {
                    config.minimum_change(LOOPBACK_STEP_BYTES);
                }
            }
            _ => {
                config.upper_bound(USUAL_BYTES_TRIED);
            }
        }
        config
    }
}

/// The number, or the largest there is.
fn varint(number: u64) -> VarInt {
    VarInt::from_u64(number).unwrap_or(VarInt::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first step of a server's search on loopback is the last: quinn-proto goes to the end where half of the way is less
    /// than a step, and the whole is one.
    #[test]
    fn a_server_on_loopback_tries_one_size() {
        let way = BYTES_TRIED_MAX - USUAL_BYTES_TRIED;
        assert!((way / 2 + 1..=way).contains(&SERVERS_LOOPBACK_STEP_BYTES));
        let of = |device_bytes_max, request_streams| {
            Transport { device_bytes_max, request_streams, ..Transport::default() }
                .is_server_on_loopback()
        };
        assert!(of(Some(65_507), 100) && !of(Some(65_507), 0));
        assert!(!of(Some(8_972), 100) && !of(None, 100));
    }
}
