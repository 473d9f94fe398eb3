//! A server in the background of the commands of a page: `ablaze serve`, which ends with its test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, Running};

/// A server that ends with its test.
pub struct Serving(Running);

impl Drop for Serving {
    fn drop(&mut self) {
        // `--stop-with-stdin`: it ends when its standard input does.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Serving {
    /// Starts one; `command` is an `ablaze serve` with `--stop-with-stdin`. It listens when this returns.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).start().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.contains("http://") || first.contains("https://"), "{command:?}: {first}");
        Self(child)
    }
}
