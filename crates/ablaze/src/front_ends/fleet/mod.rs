//! `ablaze fleet collect`: prints the Run of a worker that could not hand it over, on the host where it waits.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::fleet::kept;
use crate::{terminal, usage};

/// The command line of `ablaze fleet`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze fleet",
    bin_name = "ablaze fleet",
    about = "Print the run of a worker that lost its coordinator, on the worker's host.",
    override_usage = "ablaze fleet collect NAME > run.json",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// What to do: collect
    #[arg(value_name = "collect", value_parser = ["collect"])]
    what: String,
    /// The run's name, as `ablaze load --fleet` told it
    #[arg(value_name = "NAME")]
    name: String,
}

const AFTER_HELP: &str = "\
`ablaze load --fleet` does this itself for workers that it lost. A run waits for ten minutes, and is
gone once it was printed. Exit status: 0 printed; 1 there is none; 2 usage.";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze fleet` with the words behind `fleet`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("fleet", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    match kept::fetch(&line.name) {
        Ok(document) => terminal::print(&document),
        Err(error) => error.report(),
    }
}
