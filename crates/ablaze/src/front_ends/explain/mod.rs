//! `ablaze explain`: reads texts with reports of load testers in them, and runs that ablaze saved,
//! and says what their numbers do and do not mean. Only words in and words out: what is wrong with
//! them, the rules of `ablaze_verdict` know.

mod answer;
mod json;
mod of_several;
mod source;
pub mod text;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use answer::Answer;

use crate::{terminal, usage};

/// The command line of `ablaze explain`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze explain",
    bin_name = "ablaze explain",
    about = "Explain what the numbers in a report of ab, wrk or another load tester mean, and do not.",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// Texts with one or more reports in them (a log, a mail, a page of Markdown), and runs saved
    /// with -o run.json. `-` or nothing reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Measures nothing and does not use the network: every finding shows the arithmetic on the printed
or saved figures. A command line above a report, or saved with a run, is checked against it; several
reports, single rates under one command, and tables of rates over concurrency are compared. Read are
reports of ab, gurl, ablaze, wrk, wrk2, h2load, hey, oha, bombardier, vegeta and siege, the JSON of oha, bombardier,
vegeta and siege, and the runs inside of ablaze's own pages; times, names and marks before each line are skipped.
docs/diagnoses.md explains each finding.
Exit status: 0 explained; 1 no report found in a file; 2 usage error.";

/// Exit status when a file has nothing to explain.
const NOTHING_READ: u8 = 1;

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze explain` with the words behind `explain`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("explain", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let files = if line.files.is_empty() { vec![PathBuf::from("-")] } else { line.files };
    let mut status = ExitCode::SUCCESS;
    let mut sources = Vec::new();
    // One file that cannot be read does not keep back what is to be said of the others.
    for file in &files {
        match source::read(file) {
            Ok(read) => sources.extend(read),
            Err(error) => status = error.report(),
        }
    }
    if sources.is_empty() {
        return status;
    }
    let answer = Answer::of(sources);
    terminal::print(&if line.json { json::write(&answer) } else { text::write(&answer) });
    status
}
