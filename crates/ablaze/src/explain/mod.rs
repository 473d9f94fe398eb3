//! `ablaze explain`: reads a text with reports of load testers in it and says what their numbers
//! do and do not mean. Only words in and words out: what is wrong with them, the rules of
//! `ablaze_verdict` know.

mod json;
pub mod text;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ablaze_report::system_error::reason;
use ablaze_verdict::printed::{self, Text};
use ablaze_verdict::rules;
use clap::Parser;
use clap::error::ErrorKind;

use crate::{Refusal, help, serve};

/// The command line of `ablaze explain`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze explain",
    bin_name = "ablaze explain",
    about = "Say what the numbers in a report of ab, gurl or ablaze do and do not mean.",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// A text with one or more reports in it: a log, a mail, a page of Markdown. `-` or nothing
    /// reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Nothing is measured and nothing is asked of the network: every finding shows the arithmetic on the
printed figures. A command line above a report is held against it; several reports, lone rates under
one command, and a table of rates over concurrency are compared. docs/diagnoses.md has a paragraph
on each finding.
Exit status: 0 answered; 1 nothing in the text could be read; 2 usage.";

/// Exit status when the text has nothing to explain.
const NOTHING_READ: u8 = 1;

/// Runs `ablaze explain` with the words behind `explain`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let program = OsString::from("ablaze explain");
    let line = match CommandLine::try_parse_from(std::iter::once(&program).chain(arguments)) {
        Ok(line) => line,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return help::print(&error.render().to_string());
        }
        Err(error) => return serve::usage(&error, "explain").report(),
    };
    let (name, bytes) = match input(line.file.as_deref()) {
        Ok(input) => input,
        Err(refusal) => return refusal.report(),
    };
    // Old pages come in any encoding; labels and figures are ASCII in all of them.
    let content = String::from_utf8_lossy(&bytes);
    let read = printed::read(&content);
    let judgement = rules::judge(&read);
    if judgement.is_empty() {
        return nothing_read(&name, &content, &read).report();
    }
    let answer =
        if line.json { json::write(&judgement) } else { text::write(&judgement, read.images) };
    help::print(&answer)
}

/// What is to be explained, and what to call it.
fn input(file: Option<&Path>) -> Result<(String, Vec<u8>), Refusal> {
    let file = file.filter(|file| *file != Path::new("-"));
    let Some(file) = file else {
        if io::stdin().is_terminal() {
            return Err(Refusal::usage(
                "no FILE, and nothing on standard input; see `ablaze explain --help`",
            ));
        }
        let mut bytes = Vec::new();
        return match io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => Ok(("standard input".to_owned(), bytes)),
            Err(error) => {
                Err(Refusal::usage(format!("standard input cannot be read: {}", reason(&error))))
            }
        };
    };
    let name = format!("`{}`", file.display());
    match std::fs::read(file) {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(Refusal::usage(format!(
            "{name} cannot be read: {}; check the path",
            reason(&error)
        ))),
    }
}

/// The line for a text in which nothing was recognised.
fn nothing_read(name: &str, content: &str, read: &Text) -> Refusal {
    let why = if content.trim_start().starts_with('{') {
        "it is JSON, and this reads what is printed on the terminal".to_owned()
    } else if read.images > 0 {
        format!(
            "figures in its pictures ({}) cannot be read: type them as a table, a row `c` of \
             concurrencies and a row of rates for each target",
            read.images
        )
    } else {
        "looked for the labels of ab and gurl (`Complete requests:`, `Requests per second:`), for the \
         report of ablaze, and for a table of rates over concurrency"
            .to_owned()
    };
    Refusal {
        line: format!("no report in {name}: {why}"),
        status: NOTHING_READ,
        ..Refusal::usage("")
    }
}
