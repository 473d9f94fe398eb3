//! `ablaze sweep`: several targets over several loads, interleaved, as a table and a curve each.

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_model::LoadSpec;
use ablaze_model::spec::Secrets;
use ablaze_report::experiment::curve::Pick;
use ablaze_report::exporters::Kind;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::experiments::conditions::Conditions;
use crate::experiments::options::{ExperimentOptions, LOAD, RUN_LENGTH, load_words};
use crate::experiments::shown::{self, Showing};
use crate::experiments::vary::{self, Varied};
use crate::outputs::Files;
use crate::web::plan::PlanPage;
use crate::{CommandError, experiments, terminal};

/// What is swept, beside what all experiments have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
struct SweepOptions {
    /// Axis: an option of load or serve, env:NAME, path or {NAME}. Repeatable
    #[arg(long, value_name = "NAME=LIST")]
    vary: Vec<String>,
    /// Which repeat is drawn: median or best [default: median]
    #[arg(long, value_name = "WHICH", value_parser = ["median", "best"], default_value = "median", hide_default_value = true, hide_possible_values = true)]
    pick: String,
    /// Start even if it takes more than an hour
    #[arg(long, action = ArgAction::SetTrue)]
    yes: bool,
}

const AFTER_HELP: &str = "\
Each target runs under each load --repeat times [default: 1] for 3 s, or as -d or -n says; the
targets of a load run one after another in random order. Each run is saved in the folder when it
ends; repeat the command with --folder to continue after an interruption. Lists are the axes; with
two there is a chart for each value of the second. --vary size=1,1k is the option `size` of built-in
servers and every {size} in a target, header or body (docs/sweeping.md has the whole rule).
  ablaze sweep -c 1,2,5,10,20,50,100 serve:epoll-lt serve:epoll-et --control nginx
  ablaze sweep --vary threads=1,2,4 serve:epoll-et
  ablaze sweep --vary env:GOMAXPROCS=1,2 --start 'mine=./server {port}'
Exit status: 0 success; 1 a target not measured, or a file not written; 2 usage; 130 interrupted.";

/// Its options.
pub fn command() -> Command {
    let command = Command::new("ablaze sweep")
        .bin_name("ablaze sweep")
        .override_usage("ablaze sweep -c 1,2,5,… [OPTIONS] TARGET…")
        .after_help(AFTER_HELP)
        .disable_version_flag(true)
        .max_term_width(100);
    let command = SweepOptions::augment_args(ExperimentOptions::augment_args(command));
    let list = || clap::builder::NonEmptyStringValueParser::new();
    LOAD.iter()
        .fold(command, |command, group| group(command))
        // Each group of options brings a description of its own.
        .about(
            "Load several targets over a range of loads, or of options of the server, interleaved.",
        )
        .mut_arg("connections", |argument| {
            argument.value_name("N…").value_parser(list()).help("Connections, such as 1,2,5,10")
        })
        .mut_arg("duration", |argument| argument.help(RUN_LENGTH))
        .mut_arg("arrivals", |argument| {
            argument.help("Spacing of --rates: constant or poisson [default: constant]")
        })
        // A list of rates has no two between which there could be steps.
        .mut_arg("steps", |argument| argument.hide(true))
        .mut_arg("rate", |argument| {
            argument
                .long("rates")
                .alias("rate")
                .value_name("LIST")
                .value_parser(list())
                .help("Open loop at these rates, such as 1k,2k,5k")
        })
}

/// Runs `ablaze sweep` with the words behind `sweep`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match crate::usage::matched(command(), "sweep", arguments) {
        Ok(matches) => swept(&matches).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
}

/// Every cell of the sweep that these words ask for.
fn varied(
    options: &ExperimentOptions,
    mut words: Vec<String>,
    sweep: &SweepOptions,
    secrets: &mut Secrets,
) -> Result<Varied, CommandError> {
    let wanted = vary::of_words(&mut words, &sweep.vary)?;
    if wanted.is_empty() {
        return Err(CommandError::usage(
            "nothing to sweep over: use -c 1,2,5,10, --rates or --vary",
        ));
    }
    let scene = options.scene(words);
    let mut targets = |settings: &_, secrets: &mut _| options.targets_with(settings, secrets);
    let repeats = options.repeat.unwrap_or(1) as usize;
    let enough = |load: &LoadSpec, runs: usize| match sweep.yes {
        true => Ok(()),
        false => vary::refuse_if_many(runs * repeats, load),
    };
    vary::cells(&wanted, &scene, secrets, &mut targets, &enough).map_err(|wrong| wrong.error)
}

fn swept(matches: &ArgMatches) -> Result<ExitCode, CommandError> {
    let read = |error: clap::Error| CommandError::usage(error.to_string());
    let options = ExperimentOptions::from_arg_matches(matches).map_err(read)?;
    let sweep = SweepOptions::from_arg_matches(matches).map_err(read)?;
    let mut secrets = Secrets::default();
    if options.targets.is_empty() && options.start.is_empty() && options.control.is_none() {
        return Err(CommandError::usage(
            "missing target: a URL, serve:MODEL or --start 'NAME=COMMAND {port}'",
        ));
    }
    let swept = varied(&options, load_words(matches), &sweep, &mut secrets)?;
    let repeats = options.repeat.unwrap_or(1);
    let experiment = experiments::experiment("sweep", &options, swept, repeats)?;
    if !sweep.yes {
        vary::refuse_if_long(&experiment)?;
    }
    let files = Files::checked(&options.outputs, Kind::Experiment)?;
    let page = PlanPage::asked(options.web, &options.title, &experiment.targets)?;
    let page = page.as_ref();
    let (folder, results) = experiments::as_asked(&experiment, &secrets, &options, "sweep", page)?;
    let pick = if sweep.pick == "best" { Pick::Best } else { Pick::Median };
    let showing = Showing { json: options.json, pick, ..Showing::default() };
    let judged = experiments::beside_each_other(&experiment, &folder, &results)?;
    let kept = experiments::kept(
        &experiment,
        &folder,
        &results,
        &judged,
        (showing, &Conditions::default()),
        &files,
    );
    terminal::print(kept.report(showing));
    experiments::print_chart(&experiment, &results, &judged, showing);
    experiments::told_at_the_end(&kept, &folder, showing, &files);
    experiments::told_if_interrupted(&folder, &results);
    kept.end_page(page);
    Ok(ExitCode::from(shown::status(&experiment, &results)))
}
