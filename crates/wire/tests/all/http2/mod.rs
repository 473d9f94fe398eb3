//! The HTTP/2 codec against sentences of RFC 9113 and 7541, against itself with bytes in pieces,
//! and against other implementations: `h2` as the server, `fluke-hpack` for header blocks.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

mod conversation;
pub(crate) mod frames;
mod hostile;
mod hpack_examples;
mod hpack_oracle;
mod peer;
mod pieces;
mod requests;
mod states;
mod uploads;
