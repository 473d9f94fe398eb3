//! https through the whole command, against a real nginx with certificates made for the test, and
//! beside the real ab where that is installed.

// Helpers of tests are no tests to clippy; here, too, a panic is the way to fail.
#![allow(clippy::unwrap_used)]

mod ab;
mod alt_svc;
mod http2;
mod http3_commands;
mod http3_faults;
mod http3_handshake;
mod http3_silence;
mod http3_wildcard;
mod interruption;
mod journeys;
mod messages;
mod mistakes;
mod nginx;
mod proxies;
mod proxy;
mod runs;
