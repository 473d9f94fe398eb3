//! `ablaze run FILE.hurl`: one iteration of a journey by one user, through the engine that loads, and told step by step.

use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ablaze_load::planning::{self, OptionNames};
use ablaze_model::Run;
use ablaze_model::plan::Plan;
use ablaze_model::plan::journey::{Trace, Traced};
use ablaze_model::printable::{printable, printable_lines};
use ablaze_model::spec::{HttpVersion, Secrets};
use ablaze_report::number::{counted, time};
use clap::{ArgAction, Parser};

use crate::carry_out::{Silent, carry_out};
use crate::error::{INTERRUPTED, NOTHING_MEASURED, note};
use crate::native::{self, ConnectionOptions, JourneyOptions, Options, TlsOptions};
use crate::{CommandError, outcome, terminal, values};

#[derive(Debug, Parser)]
#[command(
    name = "ablaze run",
    bin_name = "ablaze run",
    about = "Walk a journey once and say what came back.",
    override_usage = "ablaze run [OPTIONS] FILE.hurl [URL]",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// File of the journey, in Hurl's format
    #[arg(value_name = "FILE.hurl")]
    file: PathBuf,
    /// The server, where the URLs of the steps are paths alone
    url: Option<String>,
    /// Walk this file first; its captures and cookies stay
    #[arg(long, value_name = "FILE")]
    setup: Option<PathBuf>,
    /// Rows of a .csv, .tsv or .jsonl file as variables; the first is taken
    #[arg(long, value_name = "FILE")]
    feed: Option<PathBuf>,
    /// Take the row in this line of --feed instead
    #[arg(long, value_name = "N", requires = "feed")]
    feed_line: Option<u32>,
    /// Timeout of a request, connecting included; 0: none [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    timeout: Option<u64>,
    /// HTTP version of the requests, 1.0, 1.1, 2 or 3 [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = values::http_version)]
    http: Option<HttpVersion>,
    /// Show requests and the heads of responses
    #[arg(short, long, visible_alias = "verbose", action = ArgAction::SetTrue)]
    very_verbose: bool,
    #[command(flatten)]
    journey: JourneyOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    tls: TlsOptions,
}

const AFTER_HELP: &str = "\
The same file under load: `ablaze load --journey FILE.hurl`. docs/journeys.md describes the format.
Exit status: 0 every step did what the file says; 1 it did not; 2 usage; 130 interrupted.";

/// Whether the words are about a journey.
pub(super) fn is_meant(arguments: &[OsString]) -> bool {
    arguments.iter().any(|word| word.to_string_lossy().ends_with(".hurl"))
}

pub(super) fn main(arguments: &[OsString]) -> ExitCode {
    match crate::usage::parsed::<CommandLine>("run", arguments) {
        Ok(line) => walk(line).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
}

fn walk(line: CommandLine) -> Result<ExitCode, CommandError> {
    let mut options = Options::default();
    (options.load.connections, options.load.requests) = (Some(1), Some(1));
    options.load.timeout = line.timeout;
    options.machine.threads = Some(1);
    options.machine.no_monitor = true;
    options.request.journey_files = vec![line.file.into()];
    options.request.users.setup = line.setup;
    options.request.feed = line.feed;
    options.request.http = line.http;
    options.request.journey = line.journey;
    options.connection = line.connection;
    options.tls = line.tls;
    let mut secrets = Secrets::default();
    let spec = native::spec(line.url.as_deref(), &options, &mut secrets)?;
    let mut plan = planning::resolve(&spec, &secrets, &OptionNames::NATIVE)?.plan;
    plan.workers.count_reason.clear();
    if let Some(line) = line.feed_line {
        take_row(&mut plan, line)?;
    }
    trace(&mut plan, line.very_verbose);
    let run = carry_out(plan, &spec, &mut Silent)?;
    terminal::print(&summary(&run));
    Ok(ExitCode::from(match outcome::status(&run) {
        INTERRUPTED => INTERRUPTED,
        // A step that failed before its request was sent has said why.
        status if run.record.responses == 0 && run.record.finished() > 0 => {
            if let Some(text) = outcome::explanation(&run) {
                note(&text);
            }
            status
        }
        _ if run.record.journeys.as_ref().is_some_and(|journeys| journeys.whole == 1) => 0,
        _ => NOTHING_MEASURED,
    }))
}

/// Leaves the feed this row alone.
fn take_row(plan: &mut Plan, line: u32) -> Result<(), CommandError> {
    let Some(data) = &mut plan.requests.data else { return Ok(()) };
    let row = data.table.as_ref().and_then(|table| {
        let row = (0..table.rows()).find(|row| table.line(*row) == line)?;
        table.part(row, table.rows())
    });
    let Some(row) = row else {
        let file = printable(&data.name);
        let text = format!("--feed-line {line}: no row of `{file}` begins in that line");
        return Err(CommandError::usage(text));
    };
    (data.rows, data.table) = (1, Some(Arc::new(row)));
    Ok(())
}

/// The files that are walked, and their steps.
struct Told {
    file: String,
    /// What is walked first, and its steps.
    setup: Option<(String, Range<usize>)>,
    names: Vec<String>,
    is_verbose: bool,
}

impl Told {
    /// The file that a step stands in.
    fn file_of(&self, step: usize) -> &str {
        match &self.setup {
            Some((file, steps)) if steps.contains(&step) => file,
            _ => &self.file,
        }
    }
}

/// Has every step told on standard output.
fn trace(plan: &mut Plan, is_verbose: bool) {
    let site = format!("{}:{}", plan.target.host, plan.target.port);
    let Some(planned) = &mut plan.journey else { return };
    let Some(route) = planned.route.as_mut().and_then(Arc::get_mut) else { return };
    let file_of_setup = planned.users.setup.as_deref().map(|file| printable(file).into_owned());
    let by = Told {
        file: printable(&planned.name).into_owned(),
        setup: file_of_setup.zip(route.ways.setup.clone()),
        names: route.journey.steps.iter().map(|step| step.name.clone()).collect(),
        is_verbose,
    };
    let secrets = route.secrets.clone();
    let tell = move |what: Traced<'_>| {
        let mut text = told(&what, &by);
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            text = text.replace(secret.as_str(), "***");
        }
        terminal::print(&text);
    };
    terminal::print(&format!("{} to {site}\n", printable(&planned.name)));
    route.trace = Some(Trace(Arc::new(tell)));
}

fn told(what: &Traced<'_>, by: &Told) -> String {
    let Told { names, is_verbose, .. } = by;
    match what {
        Traced::Sent { step, redirects, request } => {
            let request = String::from_utf8_lossy(request);
            let first = request.lines().next().unwrap_or_default();
            let asked = first.rsplit_once(' ').map_or(first, |(asked, _)| asked);
            let name = names.get(*step).map_or("", String::as_str);
            let shown = if *is_verbose { lines(&request, "> ") } else { String::new() };
            match redirects {
                0 => format!("\n{}: {}\n{shown}", printable(name), printable(asked)),
                number => format!("  redirect {number}: {}\n{shown}", printable(asked)),
            }
        }
        Traced::Answered { head, body_bytes, total_ns } => {
            let head = String::from_utf8_lossy(head);
            let first = head.lines().next().unwrap_or_default();
            let status = first.split_once(' ').map_or(first, |(_, status)| status);
            let shown = if *is_verbose { lines(&head, "< ") } else { String::new() };
            let (bytes, took) = (counted(*body_bytes, "byte"), time(*total_ns as f64));
            format!("{shown}  {} in {took}, {bytes}\n", printable(status))
        }
        Traced::Captured { name, value } => {
            format!("  {} = {}\n", printable(name), printable(value))
        }
        Traced::Failed { step, failure } => {
            let file = by.file_of(*step);
            format!("  {file}:{}: {}\n", failure.line, printable(&failure.message))
        }
    }
}

/// Lines, each behind a mark.
fn lines(text: &str, mark: &str) -> String {
    let text = printable_lines(text.trim_end());
    text.lines().map(|line| format!("  {mark}{}\n", line.trim_end())).collect()
}

fn summary(run: &Run) -> String {
    let Some(journeys) = &run.record.journeys else { return String::new() };
    let asserts = journeys.asserts_passed + journeys.asserts_failed;
    let ended = match (journeys.whole, journeys.failed) {
        _ if run.record.users_out() > 0 => "failed in the setup".to_owned(),
        (1.., _) => {
            format!("passed in {}", time(journeys.duration.max_ns().unwrap_or(0) as f64))
        }
        (_, 1..) => "failed".to_owned(),
        _ => "unfinished".to_owned(),
    };
    format!(
        "\n{ended}: {}, {} passed of {}\n",
        counted(run.record.finished(), "request"),
        journeys.asserts_passed,
        counted(asserts, "assert")
    )
}
