//! HTTP/2 (RFC 9113) and HPACK (RFC 7541).
//!
//! Reading order: [`frame`] (what goes over the wire), [`hpack`] (how fields are compressed),
//! [`field`] (what fields mean), [`error`] (everything that can go wrong, by name), [`request`]
//! (what a client sends), [`client`] and [`server`] (one connection, seen
//! from either end). `reader` cuts bytes into
//! frames, `blocks` reads header blocks, `flow`, `floods` and [`settings`] are what both ends of a connection share.

mod blocks;
pub mod client;
pub mod error;
pub mod field;
pub mod floods;
pub mod flow;
pub mod frame;
pub mod hpack;
pub mod reader;
pub mod request;
pub mod server;
pub mod settings;
