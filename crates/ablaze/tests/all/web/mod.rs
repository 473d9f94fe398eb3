//! `--web`: what browsers are shown while something runs, what they can do, and who is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod access;
mod experiments;
mod foreign;
mod in_a_browser;
mod runs;
mod support;
