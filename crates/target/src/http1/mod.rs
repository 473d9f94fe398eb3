//! HTTP/1 as a server speaks it, without any I/O: bytes in, responses out. One codec for all I/O
//! models, so that they answer alike to the byte.
//!
//! [`protocol`] is one connection's state; it finds requests ([`known_head`], [`upload`] for bodies that come
//! in parts), asks the handler, and has the response put into bytes by [`rendering`], [`response`] and
//! [`chunks`] into an [`output`] that the model writes.

pub mod chunks;
pub mod date;
pub mod filler;
pub mod known_head;
pub mod output;
pub mod protocol;
pub mod reason;
pub mod rendering;
pub mod response;
pub mod upload;
