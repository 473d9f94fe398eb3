//! `ablaze replay`: five published benchmarks, run again as they were, and then as
//! they should have been. [`documents`] has what they did and printed, [`again`] their own command
//! lines; the fair versions are files in `experiments/`, which `ablaze run` takes too.

mod again;
mod document;
mod documents;
mod page;
mod wrong;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ablaze_lab::experiment::{make_empty, new_numbered};
use ablaze_report::number::counted;
use ablaze_report::table::Table;
use clap::{ArgAction, CommandFactory, Parser};
use serde_json::json;

use crate::error::{INTERRUPTED, NOTHING_MEASURED, note};
use crate::experiments::fleet::FleetOptions;
use crate::experiments::pages;
use crate::experiments::profiles;
use crate::experiments::progress::LiveLine;
use crate::experiments::series::{self, Planned};
use crate::experiments::{described, own_program, parts};
use crate::lengths::in_words;
use crate::{CommandError, carry_out, terminal};
use again::Manner;
use document::Document;
use page::Replayed;

/// Repeats a published benchmark as it was run, and then fairly.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze replay",
    bin_name = "ablaze replay",
    about = "Repeat a published benchmark: first as it was run, then fairly.",
    override_usage = "ablaze replay [OPTIONS] NUMBER",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// The benchmark, 000 to 004; without it, lists them
    #[arg(value_name = "NUMBER")]
    number: Option<String>,
    /// Finish in 1 to 2 minutes, with fewer and shorter runs and less certainty
    #[arg(long, action = ArgAction::SetTrue)]
    quick: bool,
    /// Where to save the results; continues what is there [default: new]
    #[arg(long, value_name = "FOLDER", alias = "folder")]
    output: Option<PathBuf>,
    /// Print no progress
    #[arg(long, action = ArgAction::SetTrue)]
    quiet: bool,
}

const AFTER_HELP: &str = "\
A replay describes the benchmark, runs its command lines against a built-in server that stands in for
the original, prints the published figures beside the new ones, says what was wrong, and then
measures the same question fairly, with the files in experiments/ (`ablaze run FILE`).
docs/experiments.md lists every system. Programs that are not installed (ab, nginx) are skipped, and their rows say so.
Exit status: 0 success; 1 nothing measured; 2 usage; 130 interrupted (--output continues).";

/// What says in a folder which replay it holds.
const KIND: &str = "replay.json";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze replay` with the words behind `replay`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match crate::usage::parsed::<CommandLine>("replay", arguments) {
        Ok(line) => run(&line).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
}

/// The documents, a line each.
fn list() -> String {
    let line = |document: &&Document| format!("  {}  {}\n", document.number, document.about);
    documents::ALL.iter().map(line).collect()
}

fn run(line: &CommandLine) -> Result<ExitCode, CommandError> {
    let Some(number) = line.number.as_ref().filter(|number| *number != "list") else {
        let text = "Published benchmarks to repeat with `ablaze replay NUMBER` (--quick takes a \
             minute):\n";
        return Ok(terminal::print(&format!("{text}{}", list())));
    };
    let document = documents::ALL.iter().find(|document| document.number == number);
    let document = document.ok_or_else(|| {
        CommandError::usage(format!(
            "unknown benchmark `{number}`; expected one of\n{}",
            list().trim_end()
        ))
    })?;
    carry_out::listen_for_interrupts()?;
    let folder = folder(document, line)?;
    let replayed = carried_out(document, &folder, line)?;
    let printed = report(&replayed);
    let has_page = pages::keep_page(&folder, &replayed.page(&printed));
    let path = folder.display();
    terminal::print(&closing(&replayed));
    if has_page {
        terminal::print(&format!("  page {path}/index.html · Markdown {path}/BENCH.md\n"));
    }
    if replayed.interrupted {
        let quick = if line.quick { " --quick" } else { "" };
        note(&format!("interrupted; to continue: `ablaze replay {number}{quick} --output {path}`"));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::from(if replayed.is_measured() { 0 } else { NOTHING_MEASURED }))
}

/// The folder of the results: a new one, or one that holds the same replay.
fn folder(document: &Document, line: &CommandLine) -> Result<PathBuf, CommandError> {
    let usage = |error: &dyn std::fmt::Display| CommandError::usage(error.to_string());
    let kind = json!({ "replay": document.number, "quick": line.quick });
    let path = match &line.output {
        None => new_numbered(Path::new(&format!("replay-{}", document.number)))
            .map_err(|error| usage(&error))?,
        Some(path) => path.clone(),
    };
    let named = |why: &str| CommandError::usage(format!("{}: {why}", path.display()));
    let file = path.join(KIND);
    if !file.exists() && line.output.is_some() {
        make_empty(&path, "--output").map_err(|error| usage(&error))?;
    }
    if let Ok(text) = std::fs::read_to_string(&file) {
        let before: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if before != kind {
            let quick = if before["quick"] == true { " --quick" } else { "" };
            let number = before["replay"].as_str().unwrap_or("another one").to_owned();
            return Err(named(&format!("holds replay {number}{quick}; use a new folder")));
        }
        return Ok(path);
    }
    ablaze_report::file::write_atomically(&file, format!("{kind:#}\n").as_bytes())
        .map_err(|error| CommandError::machine(format!("cannot save the results: {error}")))?;
    Ok(path)
}

/// Everything, in turn; what has been done is printed as soon as it is.
fn carried_out<'a>(
    document: &'a Document,
    folder: &Path,
    line: &CommandLine,
) -> Result<Replayed<'a>, CommandError> {
    let program = own_program()?;
    let (series, whole) = (planned(document, line.quick)?, planned(document, false)?);
    let found = wrong::found(document, &document.read());
    terminal::print(&format!("replay {}: {}\n", document.number, document.title));
    document.did.iter().for_each(|text| say("  ", text));
    let mut progress = LiveLine::new(line.quiet);
    let behind = series.iter().filter_map(Planned::length).sum();
    let manner = Manner { quick: line.quick, folder, program: &program, behind };
    let again = again::carried_out(document, manner, &mut progress);
    progress.finish();
    let (again, to_the_end) = again?;
    let shortened = if line.quick { costs(&again, &series, &whole) } else { String::new() };
    let mut replayed =
        Replayed { document, found, again, done: Vec::new(), shortened, interrupted: !to_the_end };
    terminal::print(&then_and_now(&replayed));
    if to_the_end {
        terminal::print(&format!("\nthe fair version: {}\n", document.asks));
        replayed.done = series::carried_out(series, folder, line.quiet, None, |_| ())?;
        let last = replayed.done.last();
        replayed.interrupted = last.is_some_and(|done| done.results.interrupted);
    }
    Ok(replayed)
}

/// The experiments of the fair version.
fn planned(document: &Document, quick: bool) -> Result<Vec<Planned>, CommandError> {
    let mut series = Vec::new();
    for (name, text) in document.files {
        let parts = parts::read(text, quick)
            .map_err(|error| CommandError::usage(format!("experiments/{name}, {error}")))?;
        for (at, mut part) in parts.into_iter().enumerate() {
            // Said once, at the first part of a file.
            part.described.about = part.described.about.filter(|_| at == 0);
            let here = FleetOptions::default();
            let experiment = described::experiment(Path::new(name), &part.described, &here)?;
            let planned = Planned::of(experiment, part);
            let profiled = document.profiled.contains(&planned.heading.as_str());
            series.push(Planned { profiled, ..planned });
        }
    }
    Ok(series)
}

/// Pairs of runs below which there is no interval.
const ENOUGH: u32 = 6;

/// What `--quick` costs, in sentences.
fn costs(again: &[again::Again], series: &[Planned], whole: &[Planned]) -> String {
    let length = |series: &[Planned]| in_words(series.iter().filter_map(Planned::length).sum());
    let few = series.iter().filter(|planned| planned.experiment.repeats < ENOUGH).count();
    let lines = page::lines_shortened(again).map_or(String::new(), |lines| format!("; {lines}"));
    let certainty = match few {
        0 => "the intervals are wider than with more and longer runs".to_owned(),
        few if few == series.len() => {
            format!(
                "with fewer than {ENOUGH} runs of each target, no part has intervals or a ranking"
            )
        }
        few => format!(
            "{few} of {} have fewer than {ENOUGH} runs of each target, and so no intervals and no \
             ranking; the intervals of the others are wider",
            counted(series.len() as u64, "part")
        ),
    };
    format!(
        "--quick: about {} of measuring instead of {}{lines}. As a result, {certainty}.",
        length(series),
        length(whole)
    )
}

/// The lines of then and now, and what was wrong, for the terminal.
fn then_and_now(replayed: &Replayed<'_>) -> String {
    let mut table = Table::new(&[0]);
    table.row(page::HEAD.map(String::from).to_vec(), "");
    replayed.rows().into_iter().for_each(|row| table.row(row, ""));
    let mut lines = vec![String::new()];
    lines.extend(table.lines());
    lines.push(String::new());
    if !replayed.shortened.is_empty() {
        lines.push(wrapped("  ", &replayed.shortened));
        lines.push(String::new());
    }
    lines.push("what was wrong with it".to_owned());
    for found in &replayed.found {
        let finding = &found.gravest;
        let evidence = finding.evidence.lines().next().unwrap_or_default();
        let text = format!("{} {}: {evidence}", finding.id, finding.id.name());
        lines.push(wrapped("  ", &text));
    }
    lines.extend(replayed.document.wrong.iter().map(|text| wrapped("  ", text)));
    lines.join("\n") + "\n"
}

/// The fair version, for the terminal.
fn closing(replayed: &Replayed<'_>) -> String {
    let mut text = String::new();
    if replayed.interrupted {
        text.push_str("\ninterrupted: partial results\n");
    }
    for done in &replayed.done {
        text.push_str(&format!("\n{}\n{}", done.planned.heading, done.in_words()));
        let Planned { experiment, .. } = &done.planned;
        text.push_str(&profiles::words(experiment, &done.folder).unwrap_or_default());
    }
    let rows = replayed.in_short();
    if !rows.is_empty() {
        let mut table = Table::new(&[0, 1, 2]);
        rows.into_iter().for_each(|row| table.row(row, ""));
        text.push_str(&format!("\nsummary\n{}\n", table.lines().join("\n")));
    }
    text
}

/// The whole report, for the page.
fn report(replayed: &Replayed<'_>) -> String {
    let parts = counted(replayed.done.len() as u64, "part");
    format!("{}\nthe fair version, {parts}\n{}", then_and_now(replayed), closing(replayed))
}

fn say(start: &str, text: &str) {
    terminal::print(&(wrapped(start, text) + "\n"));
}

fn wrapped(start: &str, text: &str) -> String {
    terminal::paragraph(start, text).trim_end().to_owned()
}
