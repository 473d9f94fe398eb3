//! The crate from the outside, in one program, so that it is linked once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod behaviour;
mod codings;
mod compiled;
mod cookie_files;
mod jars;
mod oracle;
mod parse;
mod paths;
mod properties;
mod redirects;
mod requests;
mod sent;
mod support;
mod templates;

#[global_allocator]
static COUNTING: ablaze_testing::allocations::Counting = ablaze_testing::allocations::Counting;
