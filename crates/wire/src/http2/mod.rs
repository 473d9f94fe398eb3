//! HTTP/2 (RFC 9113) and HPACK (RFC 7541).
//!
//! Reading order: [`frame`] (what goes over the wire), [`hpack`] (how fields are compressed),
//! [`field`] (what fields mean), [`error`] (everything that can go wrong, by name), [`request`]
//! (what a client sends), [`client`] (one connection of a client). `reader` cuts bytes into frames,
//! `blocks` reads header blocks, [`flow`], [`floods`] and [`settings`] are what both ends of a
//! connection share; the other end is `http2` of ablaze-target.

pub(crate) mod blocks;
pub mod client;
pub mod error;
pub mod field;
pub mod floods;
pub mod flow;
pub mod frame;
pub mod hpack;
pub mod reader;
pub mod request;
pub mod settings;
