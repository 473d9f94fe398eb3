//! HTTP/3 over QUIC for both ends of a load, sans I/O: datagrams go in and come out, times are told. It stands between the codecs
//! of `ablaze-wire` and whoever has sockets: the engine's workers and the servers of `ablaze-target`.
//!
//! QUIC itself is `quinn-proto`'s: the state machine of a connection with its streams, loss recovery and keys (RFC 9000,
//! 9001, 9002). What is said on the streams is ours (RFC 9114, 9204).

pub mod client;
pub mod clock;
pub mod codes;
pub mod datagrams;
mod own_stream;
mod padding;
pub mod server;
pub mod transport;
pub mod unpaced;

/// QUIC itself.
pub use quinn_proto;
