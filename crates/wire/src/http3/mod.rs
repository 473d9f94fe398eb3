//! HTTP/3 (RFC 9114) and QPACK (RFC 9204), sans I/O: what goes over the streams of a QUIC connection. QUIC itself, which
//! carries and protects them, is somebody else's.
//!
//! Reading order: [`varint`] (numbers), [`frame`] (what a stream is cut into), [`qpack`] (how fields are compressed),
//! [`settings`], [`control`] (the streams that the peer opens), [`request`] and [`response`] (the stream of a request), [`server`] (the same as a
//! server reads it), [`error`]
//! (everything that can go wrong, by name). What fields mean is the same as in HTTP/2: [`crate::http2::field`].

pub mod control;
pub mod error;
pub mod frame;
pub mod qpack;
pub mod request;
pub mod response;
pub mod server;
pub mod settings;
pub mod varint;
