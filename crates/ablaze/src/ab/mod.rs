//! `ablaze ab`: ab's command line and ab's report.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Refusal;

/// Runs `ablaze ab` with the words behind `ab`.
pub fn main(_arguments: &[OsString]) -> ExitCode {
    Refusal::usage("`ablaze ab` is not in this version").report()
}
