//! What a run sends: templates, their order, what is filled in; and how many streams of HTTP/2 or HTTP/3 carry it.

use std::ops::RangeInclusive;

use ablaze_wire::http1::assemble::Assembler;
use ablaze_wire::http1::request::Template;
use serde::{Deserialize, Serialize};

use super::{data, groups};

/// What is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Requests {
    /// Distinct requests.
    pub templates: Vec<Template>,
    /// Which template each request of the run uses: entry `number % order.len()`. Weights are
    /// already spread out in it. Empty means all use template 0.
    pub order: Vec<u32>,
    /// Where the requests of each template go: 0 is the Plan's target, and the others follow in their order. Empty means all
    /// go to the target, or a journey says where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<u32>,
    /// Method of the first template, for reports.
    pub method: String,
    /// HTTP minor version of the request line: 0 or 1.
    pub minor_version: u8,
    /// Whether the requests carry a body.
    pub has_body: bool,
    /// Seed of `{rand:N}`.
    pub seed: u64,
    /// Which of them are reported apart as well.
    #[serde(default)]
    pub groups: groups::Groups,
    /// The rows that they take their data from.
    #[serde(skip)]
    pub data: Option<data::Data>,
}

impl Requests {
    /// Whether one request is longer than another of the same template, as they take their data from rows.
    pub fn vary_in_length(&self) -> bool {
        self.templates.iter().any(Template::is_variable)
    }

    /// The most bytes that a request of this template can have.
    pub fn most_bytes(&self, template: &Template) -> usize {
        match self.data.as_ref().and_then(|data| data.table.as_ref()) {
            Some(table) if template.is_variable() => Assembler::new(template)
                .most_bytes(template, |column| table.longest_bytes(column as usize)),
            _ => template.bytes.len(),
        }
    }
}

/// HTTP/2, begun with prior knowledge over plain TCP and by ALPN over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http2 {
    /// Exchanges in flight on each connection, at most; in closed loop the same as
    /// [`Load::pipeline`](super::Load::pipeline).
    pub streams: u32,
}

/// HTTP/3 (RFC 9114) over QUIC (RFC 9000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http3 {
    /// Exchanges in flight on each connection, at most; in closed loop the same as
    /// [`Load::pipeline`](super::Load::pipeline).
    pub streams: u32,
    /// The connection is closed after this long without a packet, ns; 0 never.
    pub idle_timeout_ns: u64,
    /// So many bytes of one response may be on their way.
    pub stream_window_bytes: u64,
    /// So many bytes of all responses on a connection may be.
    pub connection_window_bytes: u64,
    /// Datagrams of this many bytes; `None` for what the path turns out to carry, from 1,200 on.
    pub datagram_bytes: Option<u16>,
    /// What is sent is spread over the round trip, as browsers do (RFC 9002, 7.7), instead of sent at once.
    pub paces: bool,
    /// How large a dynamic table of field sections the server may use (RFC 9204, 3.2.3).
    pub qpack_table_bytes: u32,
}

impl Http3 {
    /// More streams on a connection are refused: each takes memory here.
    pub const STREAMS_MAX: u32 = Http2::STREAMS_MAX;

    /// What windows may have: so much can be on its way, and so much memory a server may ask for here.
    pub const WINDOW_BYTES: RangeInclusive<u64> = (1 << 10)..=(4 << 30);

    /// A path of QUIC carries datagrams of 1,200 bytes (RFC 9000, 14), and UDP over IPv4 no more than 65,507.
    pub const DATAGRAM_BYTES: RangeInclusive<u16> = 1200..=65_507;

    /// A larger dynamic table is refused: each connection may have one.
    pub const QPACK_TABLE_BYTES_MAX: u32 = 1 << 20;

    /// With so many streams, and everything else as it is unless asked for.
    pub fn with_streams(streams: u32) -> Self {
        Self {
            streams,
            idle_timeout_ns: 30_000_000_000,
            stream_window_bytes: 16 << 20,
            connection_window_bytes: 64 << 20,
            datagram_bytes: None,
            paces: false,
            qpack_table_bytes: 0,
        }
    }
}

impl Http2 {
    /// More streams on a connection are refused: each takes memory here.
    pub const STREAMS_MAX: u32 = 100_000;
}
