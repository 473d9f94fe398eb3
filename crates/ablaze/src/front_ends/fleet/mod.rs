//! `ablaze fleet`: prints the Run of a worker that could not hand it over, on the host where it waits (`collect`), and the
//! manifest of what `--fleet` would make (`--print`).

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::fleet::{Place, kept};
use crate::{terminal, usage};

/// The command line of `ablaze fleet`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze fleet",
    bin_name = "ablaze fleet",
    about = "Print the run of a worker that lost its coordinator, or the Job that a fleet would be.",
    override_usage = "ablaze fleet collect NAME > run.json\n       ablaze fleet --print k8s,n=4,image=IMAGE > job.yaml",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// What to do: collect
    #[arg(value_name = "collect", value_parser = ["collect"], required_unless_present = "print")]
    what: Option<String>,
    /// The run's name, as `ablaze load --fleet` told it
    #[arg(value_name = "NAME", required_unless_present = "print")]
    name: Option<String>,
    /// Print the manifest of the Job that `--fleet WHERE` would make
    #[arg(long, value_name = "WHERE", value_parser = Place::parse, conflicts_with = "what")]
    print: Option<Place>,
}

const AFTER_HELP: &str = "\
`ablaze load --fleet` does this itself for workers that it lost. A run waits for
ten minutes, or as long as its worker's --keep says, and is gone once it was printed. A Job made
from what --print wrote is used by `--fleet k8s,job=NAME`, which never deletes it.
Exit status: 0 printed; 1 there is none; 2 usage.";

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
    let printed = match &line.print {
        Some(place) => place.manifest(),
        None => kept::fetch(line.name.as_deref().unwrap_or_default()),
    };
    match printed {
        Ok(document) => terminal::print(&document),
        Err(error) => error.report(),
    }
}
