//! Far ends by hand, for the tests of several crates and for fuzz targets: some do to the engine and to the servers what
//! the bytes of an input say (`choices`), some what a test says.
//!
//! [`worker`] holds the engine's worker against a peer of plain HTTP/1 or HTTP/2, which sends whatever it likes, in any
//! pieces, and ends in any way; [`sums`] is what must hold of every run.
//!
//! [`client`] holds the engine's TLS against a server, and [`server`] the servers' against a client, that speak TLS well
//! but for what is done to their records: they are cut, joined, reordered, dropped, sent twice, put between others,
//! changed and sealed again with the right keys, at every state of a connection. That peer is rustls itself; `tap` is what
//! lets its records be had in the clear and sealed again, `tampering` is what is done to them.
//!
//! [`quic`] holds both sides of HTTP/3, with the QUIC below them, against a peer that makes a real handshake, in simulated time.
//!
//! What tests script: [`tls_peer`] is a server behind TLS for the engine over the simulated network, [`tls_client`] a client for
//! servers behind TLS over sockets, [`authority`] makes certificates, [`hostile_http2`] is a server over sockets that speaks
//! HTTP/2 frame by frame, and [`hostile_http3`] one that speaks HTTP/3 so, over UDP.

// A test that cannot go on panics, and so does what it calls.
#![allow(clippy::unwrap_used)]

pub mod authority;
pub mod choices;
pub mod client;
mod far_http1;
mod far_http2;
pub mod hostile_http2;
pub mod hostile_http3;
pub mod plans;
pub mod quic;
pub mod server;
pub mod sums;
pub mod tampering;
pub mod tap;
pub mod tls_client;
pub mod tls_peer;
pub mod worker;
