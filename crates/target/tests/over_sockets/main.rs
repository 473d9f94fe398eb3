//! The servers over real sockets, on loopback: `serve` and `echo` for the built-in one, `hostile`
//! for the misbehaving one, all through the plain `client`.

#![allow(clippy::unwrap_used)]

mod client;
mod conditions;
mod echo;
mod hostile;
mod serve;
