//! Where a connection goes, where it comes from, and the socket options it gets.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// The peer of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// UDP over IPv4 or IPv6: a connected socket of datagrams.
    Udp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) | Self::Udp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A peer and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The peer.
    pub address: Address,
    /// Local addresses to bind to, in turn; empty leaves the choice to the kernel. Bound with
    /// `IP_BIND_ADDRESS_NO_PORT`, so that each gives a full range of ports per peer.
    pub local_addresses: Vec<IpAddr>,
    /// Local ports to bind to, in turn, instead of the kernel's ephemeral range.
    pub local_ports: Option<RangeInclusive<u16>>,
    /// Socket options.
    pub options: SocketOptions,
}

impl Endpoint {
    /// An endpoint with nothing special about it.
    pub fn new(address: Address) -> Self {
        Self {
            address,
            local_addresses: Vec::new(),
            local_ports: None,
            options: SocketOptions::default(),
        }
    }
}

/// Options set on every socket before it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// `TCP_NODELAY`.
    pub no_delay: bool,
    /// `SO_SNDBUF`, if given.
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF`, if given.
    pub receive_buffer_bytes: Option<u32>,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { no_delay: true, send_buffer_bytes: None, receive_buffer_bytes: None }
    }
}
