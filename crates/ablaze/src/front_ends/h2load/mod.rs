//! `ablaze h2load`: h2load's command line and its report, in front of ablaze's engine. What its words mean is
//! [`H2LOAD`]'s, what differs from h2load is in docs/h2load.md.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use ablaze_model::plan::{ClockStarts, Plan};
use ablaze_model::spec::{Blob, Feed};
use ablaze_model::{LoadSpec, Run};
use ablaze_report::file;
use ablaze_report::h2load::{self as report, Opening};

use crate::borrowed::run::{self, FrontEnd, Read};
use crate::borrowed::{self, H2LOAD, Tool, connection_rate, uris};
use crate::carry_out::interrupted;
use crate::{CommandError, outlets};

/// Runs `ablaze h2load` with the words behind `h2load`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    h2load(arguments).unwrap_or_else(|error| error.report())
}

/// Its options, for completions.
pub fn command() -> clap::Command {
    borrowed::command(&H2LOAD)
}

fn h2load(arguments: &[OsString]) -> Result<ExitCode, CommandError> {
    let (words, asked) = match run::read(&H2LOAD, H2load::HELP, arguments)? {
        Read::Run(words, asked) => (words, asked),
        Read::Done(status) => return Ok(status),
    };
    let opening = connection_rate(&words).map_err(|line| H2LOAD.usage(line))?;
    let mut front_end = H2load {
        uris: uris(&words).map_err(|line| H2LOAD.usage(line))?,
        opening: opening.map(|(connections, period_ns)| Opening { connections, period_ns }),
        log: words.last("log-file").map(PathBuf::from),
    };
    if let Some(path) = &front_end.log {
        file::check_writable(path).map_err(|error| H2LOAD.usage(format!("--log-file {error}")))?;
    }
    run::run(&mut front_end, &words, &asked)
}

/// What h2load does in its own way.
struct H2load {
    /// What is asked for in turn.
    uris: Vec<String>,
    /// `-r`.
    opening: Option<Opening>,
    /// `--log-file`.
    log: Option<PathBuf>,
}

impl FrontEnd for H2load {
    const TOOL: &'static Tool = &H2LOAD;
    const HELP: &'static str = "\
Load a server as h2load does, over HTTP/2 unless --h1 is given, and print its report; what ablaze
knows beside that goes to stderr.

  ablaze h2load -n 100000 -c 100 -m 10 https://127.0.0.1:8443/
  ablaze h2load -D 30 -c 100 -t 2 --warm-up-time=5 --h1 http://127.0.0.1:8080/
";

    fn adapt(&mut self, spec: &mut LoadSpec) -> Result<(), CommandError> {
        // h2load's clock includes connecting; with -r the connections come while it runs.
        spec.connections.clock_starts = ClockStarts::BeforeConnecting;
        spec.keep_every_request = self.log.is_some();
        if self.uris.len() > 1 && spec.requests.urls.is_none() {
            let lines = self.uris.join("\n").into_bytes();
            spec.requests.urls = Some(Feed::of(Blob::new("URIs", lines)));
        }
        Ok(())
    }

    fn heading(&self, plan: &Plan) -> String {
        report::heading(plan, self.opening)
    }

    fn report(&self, run: &Run) -> String {
        report::write(run)
    }

    fn keep(&self, run: &Run) {
        if let Some(path) = &self.log {
            outlets::attempt("--log-file", || {
                file::write_report_unless(path, &report::log(run), &interrupted)
                    .map_err(|error| CommandError::machine(format!("cannot save the log: {error}")))
            });
        }
    }
}
