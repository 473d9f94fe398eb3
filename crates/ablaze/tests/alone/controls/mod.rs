//! Controls of the verdict, end to end with the built command. Positive ones force a fault for
//! real, without root, and expect it as the root finding; negative ones do nothing wrong, and
//! expect nothing above a note.
//!
//! They stop processes and starve processors, so one runs at a time: each test holds
//! [`crate::alone`]. What takes minutes runs only with ABLAZE_LONG_TESTS=1, as .ci/full does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod comparison;
mod connecting;
mod cost;
mod lengths;
mod negative;
mod noise;
mod pauses;
mod processors;
mod quota;
mod rates;
mod responses;
mod support;
mod verdict;
mod wire;
