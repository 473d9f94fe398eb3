//! `ablaze gurl` without `-bench`, row by row of gurl's options, against a server that records what it is asked. What is
//! asserted is what gurl's source (its last version, 44ac4b5) does, or what docs/gurl.md says instead.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod options;
mod pipelines;
mod responses;
mod server;

use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, Ran};

/// Runs `ablaze gurl` to its end.
pub fn gurl(words: &[&str]) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_ablaze")).arg("gurl").args(words).stdin(Stdio::null()).ran()
}
