//! `--profile` end to end: a function that burns a known part of the server's CPU time is found in the
//! flame graph and in the differential with that part. Where the kernel forbids samples, the refusal and
//! its fix are what is asserted; which of the two it was is printed.
//!
//! What takes long or needs a quiet machine runs only with ABLAZE_LONG_TESTS=1, as .ci/full does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod comparing;
mod exact;
mod loading;
mod support;
