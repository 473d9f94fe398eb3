//! The server over real sockets, on loopback, seen by a plain client.

#![allow(clippy::unwrap_used)]

mod conditions;
mod echo;
mod serve;
