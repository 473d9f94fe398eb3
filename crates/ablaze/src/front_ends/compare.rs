//! `ablaze compare`: targets against each other over interleaved runs, with an interval or none.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use ablaze_lab::experiment::Load;
use ablaze_model::LoadSpec;
use ablaze_model::spec::Secrets;
use ablaze_report::exporters::Kind;
use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::error::FAIL_IF_MET;
use crate::experiments::conditions::Conditions;
use crate::experiments::loads;
use crate::experiments::options::{ExperimentOptions, LOAD, RUN_LENGTH, load_words};
use crate::experiments::shown::{self, Showing};
use crate::outputs::Files;
use crate::{CommandError, experiments, outlets, terminal};

/// Runs of each target unless the command line says otherwise: enough for an interval.
const REPEATS: u32 = 10;

/// What is compared, beside what all experiments have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
struct CompareOptions {
    /// Rank targets even if they did not do the same work
    #[arg(long, action = ArgAction::SetTrue)]
    allow_unequal: bool,
    /// End with status 3 if shown: 'mine / nginx rate < 0.95'. Repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Profile one more run of each target: flame graphs of each and both
    #[arg(long, action = ArgAction::SetTrue)]
    profile: bool,
}

const AFTER_HELP: &str = "\
Every target runs --repeat times (10 unless given), for 3 s unless -d or -n says otherwise, in turns
and in random order; a run is one sample. The last target is what the others are held against: with
--control that is nginx. The ratio is the median of the pairs' ratios with its 99 % bootstrap
interval; CPU time of the server per request decides where it can be seen, else the rate. Fewer than
6 pairs are not enough.
Saved runs are targets too; of one NAME= several are repeats. Nothing is run for them: unless they
were taken in turns there is a ratio without an interval, and the verdict is SUSPECT.
  ablaze compare serve:epoll-et serve:fiber-asm --control nginx
  ablaze compare --start 'mine=./server -p {port}' --control nginx --path / -c 100
  ablaze compare before.json after.json
A --fail-if is met when the whole interval is on its side, or when there is none; of saved runs
not taken in turns the plain ratio decides.
Exit status: 0 answered; 1 nothing could be measured, or not all could be written; 2 usage; 3 a
--fail-if was met; 130 interrupted.";

fn command() -> Command {
    let command = Command::new("ablaze compare")
        .bin_name("ablaze compare")
        .override_usage("ablaze compare [OPTIONS] TARGET TARGET…")
        .after_help(AFTER_HELP)
        .disable_version_flag(true)
        .max_term_width(100);
    let command = CompareOptions::augment_args(ExperimentOptions::augment_args(command));
    let command = LOAD.iter().fold(command, |command, group| group(command));
    // Each group of options brings a description of its own.
    command
        .about("Compare targets over interleaved runs: which is better, by how much, how certain.")
        .mut_arg("duration", |argument| argument.help(RUN_LENGTH))
}

/// Runs `ablaze compare` with the words behind `compare`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let program = OsString::from("ablaze compare");
    let matches = match command().try_get_matches_from(std::iter::once(&program).chain(arguments)) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return terminal::print(&error.render().to_string());
        }
        Err(error) => return crate::usage::refusal(&error, "compare").report(),
    };
    compared(&matches).unwrap_or_else(|error| error.report())
}

fn compared(matches: &ArgMatches) -> Result<ExitCode, CommandError> {
    let read = |error: clap::Error| CommandError::usage(error.to_string());
    let options = ExperimentOptions::from_arg_matches(matches).map_err(read)?;
    let compare = CompareOptions::from_arg_matches(matches).map_err(read)?;
    let mut secrets = Secrets::default();
    let targets = options.targets_or_saved(&mut secrets)?;
    if targets.len() < 2 {
        return Err(CommandError::usage(
            "a comparison needs two targets: URLs, serve:MODEL, --start 'NAME=COMMAND {port}', \
             --control nginx, saved runs",
        ));
    }
    let repeats = options.repeat.unwrap_or(REPEATS);
    let words = load_words(matches);
    let load = match targets.iter().all(|target| target.saved_runs().is_some()) {
        true => nothing_to_load(&words, &options)?,
        false => loads::one(words).read(&mut secrets)?,
    };
    let conditions = Conditions::fail_if(&compare.fail_if)?;
    let experiment = experiments::experiment("comparison", &options, targets, vec![load], repeats)?;
    conditions.fit(&experiment)?;
    let files = Files::checked(&options.outputs, Kind::Experiment)?;
    let folder = options.folder.as_deref();
    let stem = Path::new("compare");
    let (folder, mut results) =
        experiments::carried_out(&experiment, &secrets, folder, options.quiet, stem, None)?;
    if compare.profile && !results.interrupted {
        crate::experiments::profiles::take(&experiment, &secrets, &folder, options.quiet)?;
        results.interrupted = crate::carry_out::interrupted();
    }
    let several = experiments::beside_each_other(&experiment, &folder, &results)?;
    let allow_unequal = compare.allow_unequal;
    let showing = Showing { json: options.json, allow_unequal, ..Showing::default() };
    let kept = experiments::kept(&experiment, &folder, &results, several.as_ref(), showing, &files);
    terminal::print(&shown::comparison(&experiment, &results, several.as_ref(), showing));
    if !showing.json {
        outlets::attempt("what the profiles say", || {
            experiments::profiles::words(&experiment, &folder).map(|words| outlets::print(&words))
        });
    }
    experiments::print_chart(&experiment, &results, several.as_ref(), showing);
    experiments::told_at_the_end(&kept, &folder, showing, &files);
    experiments::told_if_interrupted(&folder, &results);
    let status = shown::status(&experiment, &results);
    let unequal = showing.unequal(several.as_ref());
    let fails = status == 0 && conditions.fail(&experiment, &results, &unequal);
    Ok(ExitCode::from(if fails { FAIL_IF_MET } else { status }))
}

/// Saved runs were loaded before.
fn nothing_to_load(words: &[String], options: &ExperimentOptions) -> Result<Load, CommandError> {
    let repeat = options.repeat.map(|_| "--repeat");
    if let Some(word) = words.first().map(String::as_str).or(repeat) {
        return Err(CommandError::usage(format!(
            "{word}: every target is a saved run, so nothing is run; leave it out, or name a target \
             that can be loaded"
        )));
    }
    Ok(Load { label: "saved".to_owned(), x: None, spec: LoadSpec::default() })
}
