//! `ablaze demo`: a server, a few seconds of load, the report, and what to try next.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Refusal;

/// Runs `ablaze demo` with the words behind `demo`.
pub fn main(_arguments: &[OsString]) -> ExitCode {
    Refusal::usage("`ablaze demo` is not in this version").report()
}
