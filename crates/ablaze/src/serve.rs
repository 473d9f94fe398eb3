//! `ablaze serve`: a server to load.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Refusal;

/// Runs `ablaze serve` with the words behind `serve`.
pub fn main(_arguments: &[OsString]) -> ExitCode {
    Refusal::usage("`ablaze serve` is not in this version").report()
}
