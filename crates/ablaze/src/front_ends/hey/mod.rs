//! `ablaze hey`: hey's command line and its reports, in front of ablaze's engine. What its words mean is
//! [`HEY`]'s, what differs from hey is in docs/hey.md.

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_model::plan::ClockStarts;
use ablaze_model::{LoadSpec, Run};
use ablaze_report::hey as report;

use crate::CommandError;
use crate::borrowed::run::{self, FrontEnd, Read};
use crate::borrowed::{self, HEY, Tool};

/// Runs `ablaze hey` with the words behind `hey`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    hey(arguments).unwrap_or_else(|error| error.report())
}

/// Its options, for completions.
pub fn command() -> clap::Command {
    borrowed::command(&HEY)
}

fn hey(arguments: &[OsString]) -> Result<ExitCode, CommandError> {
    let (words, asked) = match run::read(&HEY, Hey::HELP, arguments)? {
        Read::Run(words, asked) => (words, asked),
        Read::Done(status) => return Ok(status),
    };
    let lists_responses = words.last("o") == Some("csv");
    run::run(&mut Hey { lists_responses }, &words, &asked)
}

/// What hey does in its own way.
struct Hey {
    /// `-o csv`.
    lists_responses: bool,
}

impl FrontEnd for Hey {
    const TOOL: &'static Tool = &HEY;
    const HELP: &'static str = "\
Load a URL as hey does, and print its report; what ablaze knows beside that goes to stderr.

  ablaze hey -n 10000 -c 100 http://127.0.0.1:8080/
  ablaze hey -z 30s -c 100 -q 50 -m POST -T application/json -d '{}' http://127.0.0.1:8080/
";

    fn adapt(&mut self, spec: &mut LoadSpec) -> Result<(), CommandError> {
        // hey's times of the first requests have connecting in them.
        spec.connections.clock_starts = ClockStarts::BeforeConnecting;
        spec.keep_every_request = self.lists_responses;
        Ok(())
    }

    fn report(&self, run: &Run) -> String {
        if self.lists_responses { report::csv(run) } else { report::write(run) }
    }
}
