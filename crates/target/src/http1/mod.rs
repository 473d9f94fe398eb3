//! HTTP/1 as a server speaks it, without any I/O: bytes in, answers out. One codec for all I/O
//! models, so that they answer alike to the byte.
//!
//! [`protocol`] is one connection's state; it finds requests ([`known_head`], [`upload`] for bodies that come
//! in parts), asks the handler, and has the answer put into bytes by [`rendering`], [`answer`] and
//! [`chunks`] into an [`output`] that the model writes.

pub mod answer;
pub mod chunks;
pub mod date;
pub mod filler;
pub mod known_head;
pub mod output;
pub mod protocol;
pub mod reason;
pub mod rendering;
pub mod upload;
