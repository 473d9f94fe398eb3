//! HTTP/2 (RFC 9113) and HPACK (RFC 7541).
//!
//! Reading order: [`frame`] (what goes over the wire), [`hpack`] (how fields are compressed),
//! [`field`] (what fields mean), [`error`] (everything that can go wrong, by name), [`request`]
//! (what a client sends), [`client`] (one connection of a client). `reader` cuts bytes into
//! frames, `flow`, `floods` and [`settings`] are what both ends of a connection share.

pub mod client;
pub mod error;
pub mod field;
mod floods;
mod flow;
pub mod frame;
pub mod hpack;
mod reader;
pub mod request;
pub mod settings;
