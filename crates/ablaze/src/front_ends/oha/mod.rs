//! `ablaze oha`: oha's command line and its reports, in front of ablaze's engine. What its words mean is
//! [`OHA`]'s, what differs from oha is in docs/oha.md.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use ablaze_model::plan::ClockStarts;
use ablaze_model::{LoadSpec, Run};
use ablaze_report::file;
use ablaze_report::oha::{self as report, Unit};

use crate::borrowed::run::{self, FrontEnd, Read};
use crate::borrowed::{self, OHA, Tool, Words};
use crate::carry_out::interrupted;
use crate::{CommandError, outlets};

/// Runs `ablaze oha` with the words behind `oha`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    oha(arguments).unwrap_or_else(|error| error.report())
}

/// Its options, for completions.
pub fn command() -> clap::Command {
    borrowed::command(&OHA)
}

fn oha(arguments: &[OsString]) -> Result<ExitCode, CommandError> {
    match run::read(&OHA, Oha::HELP, arguments)? {
        Read::Run(words, asked) => {
            let mut front_end = Oha::of(&words).map_err(|line| OHA.usage(line))?;
            run::run(&mut front_end, &words, &asked)
        }
        Read::Done(status) => Ok(status),
    }
}

/// A form of oha's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Csv,
    Quiet,
}

/// What oha does in its own way.
struct Oha {
    format: Format,
    /// `-u`.
    unit: Option<Unit>,
    /// `--latency-correction`.
    corrected: bool,
    /// `-o`.
    file: Option<PathBuf>,
}

impl Oha {
    fn of(words: &Words) -> Result<Self, String> {
        // Others have been refused with the words.
        let format = match words.last("output-format") {
            None if words.is_on("json") => Format::Json,
            Some("json") => Format::Json,
            Some("csv") => Format::Csv,
            Some("quiet") => Format::Quiet,
            _ => Format::Text,
        };
        let unit = words.last("time-unit").and_then(Unit::named);
        let file = words.last("output").map(PathBuf::from);
        if let Some(path) = &file {
            file::check_writable(path).map_err(|error| format!("-o {error}"))?;
        }
        let corrected = words.is_on("latency-correction");
        Ok(Self { format, unit, corrected, file })
    }
}

impl FrontEnd for Oha {
    const TOOL: &'static Tool = &OHA;
    const HELP: &'static str = "\
Load a URL as oha does, and print its report; what ablaze knows beside that goes to stderr.

  ablaze oha -n 10000 -c 100 http://127.0.0.1:8080/
  ablaze oha -z 30s -q 1000 --latency-correction --output-format json http://127.0.0.1:8080/
";

    fn adapt(&mut self, spec: &mut LoadSpec) -> Result<(), CommandError> {
        // oha's times of the first requests have connecting in them.
        spec.connections.clock_starts = ClockStarts::BeforeConnecting;
        spec.keep_every_request = self.format == Format::Csv;
        Ok(())
    }

    fn report(&self, run: &Run) -> String {
        match self.format {
            Format::Text => report::text(run, self.unit, self.corrected),
            Format::Json => report::json(run, self.corrected),
            Format::Csv => report::csv(run),
            Format::Quiet => String::new(),
        }
    }

    fn prints_report(&self) -> bool {
        self.file.is_none()
    }

    fn keep(&self, run: &Run) {
        if let Some(path) = &self.file {
            outlets::attempt("-o", || {
                file::write_report_unless(path, &self.report(run), &interrupted).map_err(|error| {
                    CommandError::machine(format!("cannot save the report: {error}"))
                })
            });
        }
    }
}
