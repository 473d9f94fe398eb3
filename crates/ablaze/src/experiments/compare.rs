//! `ablaze compare`: targets against each other over interleaved runs, with an interval or none.

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_lab::comparison::Comparison;
use ablaze_lab::experiment::Load;
use ablaze_lab::subject::Source;
use ablaze_lab::{Experiment, text};
use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::options::{ExperimentOptions, LOAD, load_words};
use crate::refusal::{INTERRUPTED, NOTHING_MEASURED};
use crate::{Refusal, help};

/// Runs of each target unless the command line says otherwise: enough for an interval.
const REPEATS: u32 = 10;

/// What is compared, beside what all experiments have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
struct CompareOptions {
    /// Rank targets even if they did not do the same work
    #[arg(long, action = ArgAction::SetTrue)]
    allow_unequal: bool,
}

const AFTER_HELP: &str = "\
Every target runs --repeat times (10 unless given), in turns and in random order; a run is one
sample. The last target is what the others are held against: with --control that is nginx. The ratio
is the median of the pairs' ratios with its 99 % bootstrap interval; CPU time of the server per
request decides where it can be seen, else the rate. Fewer than 6 pairs are not enough.
  ablaze compare serve:epoll-et serve:fiber-asm --control nginx
  ablaze compare --start 'mine=./server -p {port}' --control nginx --path / -c 100
Exit status: 0 answered; 1 nothing could be measured; 2 usage; 130 interrupted.";

fn command() -> Command {
    let command = Command::new("ablaze compare")
        .bin_name("ablaze compare")
        .about("Compare targets over interleaved runs: which is better, by how much, how certain.")
        .override_usage("ablaze compare [OPTIONS] TARGET TARGET…")
        .after_help(AFTER_HELP)
        .disable_version_flag(true)
        .max_term_width(100);
    let command = CompareOptions::augment_args(ExperimentOptions::augment_args(command));
    LOAD.iter().fold(command, |command, group| group(command))
}

/// Runs `ablaze compare` with the words behind `compare`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let program = OsString::from("ablaze compare");
    let matches = match command().try_get_matches_from(std::iter::once(&program).chain(arguments)) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return help::print(&error.render().to_string());
        }
        Err(error) => return crate::serve::usage(&error, "compare").report(),
    };
    compared(&matches).unwrap_or_else(|refusal| refusal.report())
}

fn compared(matches: &ArgMatches) -> Result<ExitCode, Refusal> {
    let read = |error: clap::Error| Refusal::usage(error.to_string());
    let options = ExperimentOptions::from_arg_matches(matches).map_err(read)?;
    let compare = CompareOptions::from_arg_matches(matches).map_err(read)?;
    let subjects = options.subjects()?;
    if subjects.len() < 2 {
        return Err(Refusal::usage(
            "a comparison needs two targets: URLs, serve:MODEL, --start 'NAME=COMMAND {port}', \
             --control nginx",
        ));
    }
    if let Some(saved) = subjects.iter().find(|s| matches!(s.source, Source::Saved(_))) {
        return Err(Refusal::usage(format!(
            "{}: a saved run cannot be run again; `ablaze explain A.json B.json` holds saved runs \
             against each other",
            saved.name
        )));
    }
    let repeats = options.repeat.unwrap_or(REPEATS);
    let load = load(load_words(matches));
    let experiment = super::experiment("comparison", &options, subjects, vec![load], repeats)?;
    let (folder, results) = super::carried_out(&experiment, &options, "compare")?;
    let control = experiment.subjects.len() - 1;
    let comparison = Comparison::of(&experiment, &results, 0, control);
    let several = super::beside_each_other(&experiment, &folder, &results)?;
    help::print(&text::comparison(
        &experiment,
        &results,
        &comparison,
        several.as_ref(),
        compare.allow_unequal,
    ));
    help::print(&format!("  runs {}\n", folder.path().join("runs").display()));
    Ok(status(&experiment, &comparison, results.interrupted))
}

fn status(experiment: &Experiment, comparison: &Comparison, interrupted: bool) -> ExitCode {
    let measured = comparison.rows.iter().filter(|row| row.is_some()).count();
    ExitCode::from(match (interrupted, measured == experiment.subjects.len()) {
        (true, _) => INTERRUPTED,
        (false, true) => 0,
        (false, false) => NOTHING_MEASURED,
    })
}

/// The one load, named by what matters of it.
fn load(mut options: Vec<String>) -> Load {
    let value = |option: &str| {
        let at = options.iter().position(|word| word == option)?;
        options.get(at + 1).cloned()
    };
    let mut label = match value("--rate") {
        Some(rate) => format!("{rate} asked"),
        None => format!("c={}", value("--connections").unwrap_or_else(|| "50".to_owned())),
    };
    if options.iter().any(|word| word == "--no-keepalive") {
        label += " close";
    }
    if value("--duration").or(value("--requests")).is_none() {
        options.extend(["--duration".to_owned(), "3s".to_owned()]);
    }
    Load { label, x: None, options }
}
