//! HTTP/3 over QUIC against the other side of it, in memory and in simulated time.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

mod client;

#[global_allocator]
static COUNTING: ablaze_testing::allocations::Counting = ablaze_testing::allocations::Counting;
