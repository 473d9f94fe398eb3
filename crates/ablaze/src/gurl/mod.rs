//! `ablaze gurl`: gurl's command line and gurl's report.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Refusal;

/// Runs `ablaze gurl` with the words behind `gurl`.
pub fn main(_arguments: &[OsString]) -> ExitCode {
    Refusal::usage("`ablaze gurl` is not in this version").report()
}
