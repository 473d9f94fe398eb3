//! `ablaze load`: the native command line.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Refusal;

/// Runs `ablaze load` with the words behind `load`.
pub fn main(_arguments: &[OsString]) -> ExitCode {
    Refusal::usage("`ablaze load` is not in this version").report()
}
