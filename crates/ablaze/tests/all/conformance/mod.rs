//! The command as a client of the servers people run: HTTP/1.1 over both versions of TLS, HTTP/2 over
//! TLS and without. Every response has to be counted right, and no server may have had to complain.
//!
//! A server that is not installed is skipped; with ABLAZE_ALL_SERVERS=1, as .ci/full sets it, that is a
//! failure.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod by_crate;
mod cases;
mod http3;
mod http3_matrix;
mod javascript;
mod otlp_collector;
mod programs;
mod proxies;
mod scratch;
mod server;
