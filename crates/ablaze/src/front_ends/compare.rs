//! `ablaze compare`: targets against each other over interleaved runs, with an interval or none.

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_model::LoadSpec;
use ablaze_model::experiment::Load;
use ablaze_model::spec::Secrets;
use ablaze_report::exporters::Kind;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::error::FAIL_IF_MET;
use crate::experiments::conditions::Conditions;
use crate::experiments::loads;
use crate::experiments::options::{ExperimentOptions, LOAD, RUN_LENGTH, load_words};
use crate::experiments::shown::{self, Showing};
use crate::experiments::vary::Varied;
use crate::outputs::Files;
use crate::web::plan::PlanPage;
use crate::{CommandError, experiments, outlets, terminal};

/// Runs of each target unless the command line says otherwise: enough for an interval.
const REPEATS: u32 = 10;

/// What is compared, beside what all experiments have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
struct CompareOptions {
    /// Rank targets even if they did different work
    #[arg(long, action = ArgAction::SetTrue)]
    allow_unequal: bool,
    /// Exit with status 3 if shown: 'mine / nginx rate < 0.95'. Repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Profile an extra run of each target; adds flame graphs
    #[arg(long, action = ArgAction::SetTrue)]
    profile: bool,
}

const AFTER_HELP: &str = "\
Each target runs --repeat times [default: 10] for 3 s, or as -d or -n says; the targets alternate in
random order, and each run is one sample. The others are compared with the last target: nginx with
--control. A ratio is the median over pairs of runs, with its 99 % bootstrap interval. The server's
CPU time per request decides where it can be measured, else the rate. At least 6 pairs are needed.
Saved runs can be targets; several with one NAME= are repeats. Saved runs alone are compared with
the first: after / before. If they were not interleaved, there is a ratio without an interval, and
the verdict is SUSPECT.
  ablaze compare serve:epoll-et serve:fiber-asm --control nginx
  ablaze compare --start 'mine=./server -p {port}' --control nginx --path / -c 100
  ablaze compare before.json after.json
A --fail-if is met when the whole interval meets it, or when there is no interval; for saved runs
that were not interleaved, the plain ratio decides.
Exit status: 0 success; 1 a target not measured, or a file not written; 2 usage; 3 a --fail-if was
met; 130 interrupted.";

/// Its options.
pub fn command() -> Command {
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
        .about(
            "Compare targets over interleaved runs: which is better, by how much, with what \
            certainty.",
        )
        .mut_arg("duration", |argument| argument.help(RUN_LENGTH))
}

/// Runs `ablaze compare` with the words behind `compare`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match crate::usage::matched(command(), "compare", arguments) {
        Ok(matches) => compared(&matches).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
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
             --control nginx or saved runs",
        ));
    }
    let repeats = options.repeat.unwrap_or(REPEATS);
    let words = load_words(matches);
    let load = match targets.iter().all(|target| target.saved_runs().is_some()) {
        true => nothing_to_load(&words, &options)?,
        false => loads::one(words).read(&mut secrets)?,
    };
    let conditions = Conditions::fail_if(&compare.fail_if)?;
    let path = options.path.clone();
    let measured = Varied { targets, loads: vec![load], axes: Vec::new(), path };
    let experiment = experiments::experiment("comparison", &options, measured, repeats)?;
    conditions.fit(&experiment)?;
    conditions.check_names(&experiment, &secrets)?;
    let files = Files::checked(&options.outputs, Kind::Experiment)?;
    if compare.profile && experiment.fleet.is_some() {
        return Err(CommandError::usage(
            "--profile and --fleet cannot be used together: profile on the machine itself",
        ));
    }
    let page = PlanPage::asked(options.web, &options.title, &experiment.targets)?;
    let page = page.as_ref();
    let (folder, mut results) =
        experiments::as_asked(&experiment, &secrets, &options, "compare", page)?;
    if compare.profile && !results.ended_early() {
        crate::experiments::profiles::take(&experiment, &secrets, &folder, options.quiet)?;
        results.interrupted = crate::carry_out::interrupted();
    }
    let judged = experiments::beside_each_other(&experiment, &folder, &results)?;
    let allow_unequal = compare.allow_unequal;
    let showing = Showing { json: options.json, allow_unequal, ..Showing::default() };
    let kept =
        experiments::kept(&experiment, &folder, &results, &judged, (showing, &conditions), &files);
    terminal::print(kept.report(showing));
    if !showing.json {
        outlets::attempt("what the profiles say", || {
            experiments::profiles::words(&experiment, &folder).map(|words| outlets::print(&words))
        });
    }
    experiments::print_chart(&experiment, &results, &judged, showing);
    experiments::told_at_the_end(&kept, &folder, showing, &files);
    experiments::told_if_interrupted(&folder, &results);
    let status = shown::status(&experiment, &results);
    let unequal = showing.unequal(&judged);
    let fails = status == 0 && conditions.fail(&experiment, &results, unequal);
    kept.end_page(page);
    Ok(ExitCode::from(if fails { FAIL_IF_MET } else { status }))
}

/// Saved runs were loaded before.
fn nothing_to_load(words: &[String], options: &ExperimentOptions) -> Result<Load, CommandError> {
    let repeat = options.repeat.map(|_| "--repeat");
    if let Some(word) = words.first().map(String::as_str).or(repeat) {
        return Err(CommandError::usage(format!(
            "{word} has no effect: every target is a saved run; remove it, or name a target to load"
        )));
    }
    Ok(Load { label: "saved".to_owned(), ..Load::of(LoadSpec::default()) })
}
