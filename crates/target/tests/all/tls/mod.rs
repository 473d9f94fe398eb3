//! TLS on the built-in servers. `piecewise`: without sockets, in pieces of any length, and against
//! bytes that are no TLS. `parts`: handshake messages that come in parts. `sockets`: every I/O model that
//! speaks it. `refusals`: what does not go together is told before the start. `programs`: curl, openssl
//! and ab as clients.

#![allow(clippy::unwrap_used)]

mod parts;
mod piecewise;
mod programs;
mod refusals;
mod sockets;
