//! `ablaze vegeta report`: vegeta's reports over results, its own and ours.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use ablaze_load::planning::sources;
use ablaze_report::file;
use ablaze_report::vegeta::{Buckets, Hit, Metrics, hdrplot, histogram, json, read, text};
use clap::Parser;

use crate::borrowed::{VEGETA, texts};
use crate::carry_out::interrupted;
use crate::error::note;
use crate::{CommandError, terminal, usage};

/// The command line of `ablaze vegeta report`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze vegeta report",
    bin_name = "ablaze vegeta report",
    about = "Report on results as `vegeta report` does: JSON or CSV, by vegeta or `ablaze vegeta attack`.",
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// Files of results [default: standard input]
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// text, json, `hist[BUCKETS]` or hdrplot
    #[arg(long = "type", value_name = "TYPE", default_value = "text")]
    kind: String,
    /// Buckets of a histogram, such as `[0,1ms,10ms]`
    #[arg(long, value_name = "BUCKETS")]
    buckets: Option<String>,
    /// Write the report to a file
    #[arg(long, value_name = "FILE")]
    output: Option<String>,
    /// No effect: the report is written once, when all results are read
    #[arg(long, value_name = "TIME")]
    every: Option<String>,
}

/// Runs it with the words behind `report`.
///
/// # Errors
/// When the results cannot be read, or the report not be written.
pub fn main(arguments: &[OsString]) -> Result<ExitCode, CommandError> {
    let arguments: Vec<OsString> = texts(arguments).iter().map(|word| dashes(word)).collect();
    let line: CommandLine = match usage::parsed("vegeta report", &arguments) {
        Ok(line) => line,
        Err(status) => return Ok(status),
    };
    if line.every.is_some() {
        note("-every has no effect: the report is written once, when all results are read");
    }
    let form = Form::of(&line).map_err(|text| VEGETA.usage(text))?;
    let mut hits = Vec::new();
    if line.files.is_empty() {
        hits.extend(results("stdin")?);
    }
    for file in &line.files {
        hits.extend(results(file)?);
    }
    let report = form.report(&Metrics::of(&hits));
    match line.output.as_deref().filter(|file| *file != "stdout") {
        None => Ok(terminal::print(&report)),
        Some(path) => {
            file::write_report_unless(Path::new(path), &report, &interrupted)
                .map_err(|error| VEGETA.usage(format!("--output {error}")))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Options of Go have one dash or two.
fn dashes(word: &str) -> OsString {
    match word.strip_prefix('-') {
        Some(name) if name.len() > 1 && !name.starts_with('-') => format!("--{name}").into(),
        _ => word.into(),
    }
}

fn results(file: &str) -> Result<Vec<Hit>, CommandError> {
    let failed = |why: String| VEGETA.usage(format!("`{file}`: {why}"));
    let bytes = match file {
        "stdin" | "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
            bytes
        }
        file => {
            let wrong = |error: CommandError| VEGETA.usage(error.line);
            let blob = sources::file(Path::new(file), "the results")
                .map_err(|error| wrong(error.into()))?;
            blob.bytes().map_err(|error| wrong(error.into()))?.to_vec()
        }
    };
    read(&bytes).map_err(|error| failed(error.to_string()))
}

/// Which report.
enum Form {
    Text,
    Json(Option<Buckets>),
    Histogram(Buckets),
    Plot,
}

impl Form {
    fn of(line: &CommandLine) -> Result<Self, String> {
        let buckets = |text: &str| {
            let wrong =
                || format!("bad buckets: {text}: expected ascending times as in [0,1ms,10ms]");
            Buckets::read(text).ok_or_else(wrong)
        };
        let given = line.buckets.as_deref().map(buckets).transpose()?;
        match (line.kind.as_str(), given) {
            ("text", _) => Ok(Self::Text),
            ("json", given) => Ok(Self::Json(given)),
            ("hdrplot", _) => Ok(Self::Plot),
            (kind, given) => match (kind.strip_prefix("hist"), given) {
                (Some(_), Some(given)) => Ok(Self::Histogram(given)),
                (Some(own), None) => Ok(Self::Histogram(buckets(own)?)),
                (None, _) => {
                    Err(format!("-type {kind}: expected text, json, hist[buckets] or hdrplot"))
                }
            },
        }
    }

    fn report(&self, metrics: &Metrics) -> String {
        match self {
            Self::Text => text(metrics),
            Self::Json(buckets) => json(metrics, buckets.as_ref()),
            Self::Histogram(buckets) => histogram(metrics, buckets),
            Self::Plot => hdrplot(metrics),
        }
    }
}
