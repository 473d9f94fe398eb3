//! The engine against scripted peers, in simulated time: what it counts and what it times is
//! compared with what the script did, to the nanosecond.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used, clippy::panic)]

mod addresses;
pub mod http2;
mod http2_goaway;
mod http2_limits;
pub mod http2_peer;
mod http2_uploads;
pub mod http3;
mod interim;
mod invariants;
mod open_loop;
mod pipelining;
pub(crate) mod plans;
mod repeating;
mod stopping;
mod stream_waits;
pub(crate) mod support;
mod surplus;
mod timeouts;
mod unfinished;
mod warmup;
mod watching;

mod broken_responses;
mod closing;
mod counting;
mod early_responses;
mod faults;
mod framing;
mod giving_up;
mod groups;
mod held;
mod in_flight;
mod late_end;
mod latency;
pub(crate) mod numbered;
mod one_at_a_time;
mod pieces;
mod ramp;
mod rate_changes;
mod unsent;
mod variety;
mod whole_requests;
mod workers;
