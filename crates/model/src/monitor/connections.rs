//! TCP's own figures on the connections of one side.

use serde::{Deserialize, Serialize};

/// One side's sockets of the connections to the target at two moments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Early in the run.
    pub first: ConnectionsAt,
    /// Late in it.
    pub last: ConnectionsAt,
}

/// One side's sockets at one moment. Sums are over all of them since each was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsAt {
    /// When, on the monotonic clock.
    pub at_clock_ns: u64,
    /// Connections.
    pub connections: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Connections with any.
    pub with_retransmissions: u64,
    /// Smoothed round-trip times as this side's kernel measures them.
    pub round_trip: Option<Spread>,
    /// The shortest round trip of each.
    pub shortest_round_trip: Option<Spread>,
    /// Time in which there was something to send or to be acknowledged.
    pub busy_ns: Option<u64>,
    /// Of that, time in which the peer's receive window was full.
    pub window_limited_ns: Option<u64>,
    /// Of that, time in which this side's send buffer was full.
    pub send_buffer_limited_ns: Option<u64>,
    /// Segments with data sent, those sent again included.
    #[serde(default)]
    pub sent_segments: Option<u64>,
    /// Segments with data received.
    #[serde(default)]
    pub received_segments: Option<u64>,
    /// Bytes sent and acknowledged.
    #[serde(default)]
    pub acknowledged_bytes: Option<u64>,
    /// Bytes received.
    #[serde(default)]
    pub received_bytes: Option<u64>,
    /// Bytes that lie in send buffers and were never sent.
    #[serde(default)]
    pub unsent_bytes: Option<u64>,
    /// Bytes in send queues: not sent, or sent and not acknowledged.
    #[serde(default)]
    pub send_queue_bytes: Option<u64>,
    /// Connections with any.
    #[serde(default)]
    pub with_send_queue: Option<u64>,
    /// Connections on which this side has sent no data for a second or more.
    #[serde(default)]
    pub silent: Option<u64>,
    /// Of these, those with bytes in the send queue.
    #[serde(default)]
    pub silent_with_send_queue: Option<u64>,
}

/// How times are spread over the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Shortest.
    pub min_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// Longest.
    pub max_ns: u64,
}
