//! `ablaze vegeta attack` and `ablaze vegeta report`: vegeta's command lines, its results and its reports, in front of
//! ablaze's engine. What differs from vegeta is in docs/vegeta.md.
//!
//! [`targets`] reads what is attacked, [`attack`] attacks, [`report`] reads results.

mod attack;
mod report;
mod targets;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::borrowed::{self, VEGETA};
use crate::{CommandError, terminal};

const HELP: &str = "\
Attack HTTP servers as vegeta does, and report on the results.

  echo 'GET http://127.0.0.1:8080/' | ablaze vegeta attack -rate=100 -duration=5s > results.json
  ablaze vegeta report -type=text results.json
  ablaze vegeta report -type='hist[0,1ms,10ms]' results.json

`ablaze vegeta attack -h` and `ablaze vegeta report -h` have the options.
What differs from vegeta: docs/vegeta.md
";

/// Runs `ablaze vegeta` with the words behind `vegeta`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let first = arguments.first().map(|word| word.to_string_lossy().into_owned());
    let done = match first.as_deref() {
        None | Some("-h" | "-help" | "--help") => return terminal::print(HELP),
        Some("attack") => attack::main(arguments),
        Some("report") => report::main(&arguments[1..]),
        Some(other) => Err(refused(other)),
    };
    done.unwrap_or_else(|error| error.report())
}

/// The options of `attack`, for completions.
pub fn command() -> clap::Command {
    borrowed::command(&VEGETA)
}

fn refused(word: &str) -> CommandError {
    let instead = match word {
        "encode" => "results are JSON already; vegeta's own files are read by `vegeta encode`",
        "plot" => "for a page with charts use `ablaze load --rate N -o FILE.html URL`",
        "-cpus" => "for threads use `ablaze vegeta attack --threads N`",
        _ => "expected attack or report",
    };
    VEGETA.usage(format!("vegeta's command {word} is not supported: {instead}"))
}
