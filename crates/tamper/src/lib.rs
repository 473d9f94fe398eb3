//! TLS against a peer that speaks it well but for what is done to its records: they are cut, joined,
//! reordered, dropped, sent twice, put between others, changed and sealed again with the right keys, at
//! every state of a connection. For tests and for the fuzz targets `tls_client` and `tls_server`.
//!
//! The peer is rustls itself. `tap` is what lets its records be had in the clear and sealed again,
//! `tampering` does to them what the bytes of an input say (`choices`); [`client`] holds the engine's TLS
//! against such a server, [`server`] the servers' against such a client.

pub mod choices;
pub mod client;
pub mod server;
pub mod tampering;
pub mod tap;
