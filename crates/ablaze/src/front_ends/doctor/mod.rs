//! `ablaze doctor`: looks at this machine before a run and says what will get in the way and how to fix it. It
//! finds facts, has the checks judge them, and prints what they say; it changes nothing.

mod json;
mod text;

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_model::plan::RateProfile;
use clap::{CommandFactory, Parser};

use crate::doctor::checks;
use crate::doctor::facts::{Facts, LoadToCheck};
use crate::{terminal, usage, values};

/// The command line of `ablaze doctor`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze doctor",
    bin_name = "ablaze doctor",
    about = "Check this machine for what would distort a measurement, and say how to fix it.",
    override_usage = "ablaze doctor [OPTIONS] [URL]",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// URL to load: also checks what listens there and whether the load fits
    url: Option<String>,
    /// Connections of the planned load [default: 50 with a URL and no --rate]
    #[arg(short, long, value_name = "N", value_parser = values::small_count)]
    connections: Option<u32>,
    /// Requests per second of the planned load, such as 1000/s or 10/ms
    #[arg(short, long, value_name = "RATE", value_parser = values::rate)]
    rate: Option<RateProfile>,
    /// The planned load opens a connection for each request
    #[arg(long)]
    no_keepalive: bool,
    /// Print JSON, including the facts
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
doctor takes a quarter of a second, changes nothing, and connects to nothing; it prints commands but
does not run them. It also lists what it cannot read. docs/doctor.md describes each check.
Exit status: 0 checked, with or without problems (--json counts them); 1 could not check; 2 usage.";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze doctor` with the words behind `doctor`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("doctor", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.connections == Some(0) {
        return crate::CommandError::usage("0 connections send nothing: use -c 1 or more").report();
    }
    let asked = LoadToCheck {
        url: line.url.as_deref(),
        connections: line.connections,
        rate_per_s: line.rate.map(|rate| rate.from_per_s.max(rate.to_per_s)),
        keep_alive: !line.no_keepalive,
    };
    let facts = match Facts::gather(asked) {
        Ok(facts) => facts,
        Err(error) => return error.report(),
    };
    let checks = checks::judge(&facts);
    let write = if line.json { json::write } else { text::write };
    terminal::print(&write(&facts, &checks))
}
