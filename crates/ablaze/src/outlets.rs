//! The outlets of a report: standard output, standard error, files. Every outlet is tried, whatever
//! became of the others; what could not be written is named on stderr and costs the exit status, as
//! with coreutils. Outlets belong to the process, and so does the memory of what was lost.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use ablaze_model::printable;
use ablaze_report::system_error::reason;
use ablaze_sys::standard::stdout_was_closed;

use crate::CommandError;
use crate::error::{INTERRUPTED, NOT_TO_BE_BELIEVED, note};

/// Exit status when something that was asked for could not be written.
const NOT_WRITTEN: u8 = 1;
/// What is said rather than that: an end that was asked for, and a result that is INVALID.
const BEFORE_IT: [u8; 2] = [INTERRUPTED, NOT_TO_BE_BELIEVED];

/// Something that was asked for could not be written.
static LOST: AtomicBool = AtomicBool::new(false);
/// Standard output failed, and that was said.
static STDOUT_TOLD: AtomicBool = AtomicBool::new(false);

/// Something that was asked for could not be written: says so on stderr and remembers it for
/// [`status`].
pub fn lost(error: &CommandError) {
    note(&error.line);
    remember_loss();
}

/// As [`lost`], for a front end that has said so in another tool's words.
pub fn remember_loss() {
    LOST.store(true, Ordering::Relaxed);
}

/// Whether standard output has failed to take something, other than for a reader that went away.
pub fn stdout_failed() -> bool {
    STDOUT_TOLD.load(Ordering::Relaxed)
}

/// The exit status of this process: that of the command, unless something could not be written. If several apply, the order is
/// 130, 4, 1, 3.
pub fn status(of_command: ExitCode) -> ExitCode {
    let comes_first = BEFORE_IT.map(ExitCode::from).contains(&of_command);
    match LOST.load(Ordering::Relaxed) && !comes_first {
        true => ExitCode::from(NOT_WRITTEN),
        false => of_command,
    }
}

/// Does one of several things, so that its failure does not keep the others from being done: an error is
/// [`lost`], and so is `what`, such as `page.html`, if making it panics. Whether it was done.
pub fn attempt(what: &str, write: impl FnOnce() -> Result<(), CommandError>) -> bool {
    // What the closure was about to change is written nowhere after a panic.
    let done = catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| {
        Err(CommandError::machine(format!(
            "{what} was lost to a bug in ablaze: see the panic \
            above"
        )))
    });
    match done {
        Ok(()) => true,
        Err(error) => {
            lost(&error);
            false
        }
    }
}

/// Writes text to standard output. Here and in [`print_report`], text of others in it commands no terminal.
pub fn print(text: &str) {
    write(printable::report(text).as_bytes(), "");
}

/// Writes a run's report to standard output. `kept` names the files that have it; where there are none,
/// a failure comes with the advice to ask for one.
pub fn print_report(text: &str, kept: &[String]) {
    write(printable::report(text).as_bytes(), &advice(kept));
}

/// The same of a report that has colours of ablaze's, and none of others.
pub fn print_coloured_report(text: &str, kept: &[String]) {
    write(printable::coloured_report(text).as_bytes(), &advice(kept));
}

fn advice(kept: &[String]) -> String {
    match kept {
        [] => ": use -o FILE".to_owned(),
        kept => format!("; the report is saved in {}", kept.join(", ")),
    }
}

/// Writes to standard output what `content` writes, in one piece: its very bytes, but that a terminal gets those
/// of others spelled out.
pub fn print_with(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    if io::stdout().is_terminal() || stdout_was_closed() {
        let mut bytes = Vec::new();
        let written = content(&mut bytes);
        write(printable::printable_lines(&String::from_utf8_lossy(&bytes)).as_bytes(), "");
        return told(written, "");
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written = content(&mut out).and_then(|()| out.flush());
    // What was not taken is not tried again.
    drop(out.into_parts());
    told(written, "");
}

/// Writes bytes to standard output as they are, also to a terminal: for what a client was asked to fetch. Whether they were
/// taken; a reader that went away takes none.
pub fn print_raw(bytes: &[u8]) -> bool {
    let mut out = io::stdout().lock();
    let written = match stdout_was_closed() && !bytes.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::EBADF)),
        false => out.write_all(bytes).and_then(|()| out.flush()),
    };
    let taken = written.is_ok();
    told(written, ": use -o FILE");
    taken
}

fn write(bytes: &[u8], advice: &str) {
    if stdout_was_closed() && !bytes.is_empty() {
        return told(Err(io::Error::from_raw_os_error(libc::EBADF)), advice);
    }
    let mut out = io::stdout().lock();
    told(out.write_all(bytes).and_then(|()| out.flush()), advice);
}

/// What became of writing to standard output. A reader that went away has what it wanted: no failure.
fn told(written: io::Result<()>, advice: &str) {
    let Err(error) = written else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        return;
    }
    remember_loss();
    if !STDOUT_TOLD.swap(true, Ordering::Relaxed) {
        note(&format!("cannot write to standard output ({}){advice}", reason(&error)));
    }
}
