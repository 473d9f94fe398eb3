//! Datagrams as they come to an endpoint, and as they leave it.

use std::net::{IpAddr, SocketAddr};

/// Datagrams of one size from one client; the last may be shorter.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// Their payloads.
    pub bytes: &'a [u8],
    /// Size of each.
    pub segment_bytes: usize,
    /// Who sent them.
    pub from: SocketAddr,
    /// The address of this machine at which they came, where the owner does not know it anyway.
    pub at: Option<IpAddr>,
    /// What the network noted on them (RFC 3168): the two lowest bits of the type of service.
    pub ecn: u8,
}

/// Datagrams to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// To whom.
    pub to: SocketAddr,
    /// From which address of this machine: where what came on the connection came at.
    pub from: Option<IpAddr>,
    /// Size of each; the last may be shorter.
    pub segment_bytes: usize,
    /// The two lowest bits of the type of service.
    pub ecn: u8,
}

/// What QUIC wants to be sent.
pub fn leaving(transmit: &quinn_proto::Transmit) -> Transmit {
    Transmit {
        to: transmit.destination,
        from: transmit.src_ip,
        segment_bytes: transmit.segment_size.unwrap_or(transmit.size),
        ecn: transmit.ecn.map_or(0, |ecn| ecn as u8),
    }
}
