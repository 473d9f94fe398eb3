//! What the command says instead of running: one line that names what happened, to what, and
//! what to do, and the exit status that goes with it.

use std::fmt;
use std::process::ExitCode;

use ablaze_model::printable::printable_lines;
use ablaze_model::spec::{BlobError, SecretMissing};
use ablaze_report::shown_command::message_without_secrets;

/// Exit status when nothing could be measured.
pub const NOTHING_MEASURED: u8 = 1;
/// Exit status of a usage error.
pub const USAGE: u8 = 2;
/// Exit status when a `--fail-if` was met.
pub const FAIL_IF_MET: u8 = 3;
/// Exit status of a run whose verdict is INVALID, under `--strict`.
pub const NOT_TO_BE_BELIEVED: u8 = 4;
/// Exit status after Ctrl-C: 128 + SIGINT, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// One line for the person, and an exit status for the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// The line, without `ablaze: ` in front.
    pub line: String,
    /// The native exit status.
    pub status: u8,
    /// What it was about, for front ends that word it or number it as another tool does.
    pub about: About,
}

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The command line, or a file it names.
    Usage,
    /// The host name has no address.
    UnknownHost,
    /// This machine refused something the run cannot do without.
    Machine,
}

impl CommandError {
    /// The command line, or a file it names, cannot be used.
    pub fn usage(line: impl Into<String>) -> Self {
        Self { line: line.into(), status: USAGE, about: About::Usage }
    }

    /// The host name has no address.
    pub fn unknown_host(line: impl Into<String>) -> Self {
        Self { line: line.into(), status: NOTHING_MEASURED, about: About::UnknownHost }
    }

    /// This machine refused something the run cannot do without.
    pub fn machine(line: impl Into<String>) -> Self {
        Self { line: line.into(), status: NOTHING_MEASURED, about: About::Machine }
    }

    /// Prints the line to stderr and gives the exit status.
    pub fn report(&self) -> ExitCode {
        note(&self.line);
        ExitCode::from(self.status)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl std::error::Error for CommandError {}

impl From<ablaze_load::Error> for CommandError {
    fn from(error: ablaze_load::Error) -> Self {
        let line = error.to_string();
        match error {
            ablaze_load::Error::UnknownHost(_) => Self::unknown_host(line),
            ablaze_load::Error::Machine(_) => Self::machine(line),
            // `Usage`, and what a later version of that crate may add.
            _ => Self::usage(line),
        }
    }
}

impl From<SecretMissing> for CommandError {
    fn from(error: SecretMissing) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<BlobError> for CommandError {
    fn from(error: BlobError) -> Self {
        Self::usage(error.to_string())
    }
}

/// Prints a line to stderr, marked as ours.
pub fn note(line: &str) {
    use std::io::Write;
    // With stderr closed there is no one left to tell.
    let _ =
        writeln!(std::io::stderr(), "ablaze: {}", printable_lines(&message_without_secrets(line)));
}
