//! `ablaze find`: the highest rate at which a target still meets the conditions.

mod length;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ablaze_lab::search::{Goal, Setting, StageFolder, run};
use ablaze_load::planning;
use ablaze_model::LoadSpec;
use ablaze_model::experiment::{LONGEST_STAGE, Load, Search, Searched, Speaks, Target};
use ablaze_model::spec::Secrets;
use ablaze_report::exporters::{self, Exported, Kind};
use ablaze_report::number::{counted, rate, time_exact};
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::carry_out::listen_for_interrupts;
use crate::error::{INTERRUPTED, NOTHING_MEASURED, note};
use crate::experiments::both::BothOfSearch;
use crate::experiments::client::Native;
use crate::experiments::fleet::{self, FleetOptions};
use crate::experiments::former::Former;
use crate::experiments::options::{
    CpuList, can_be_asked, can_be_loaded, can_speak, cpus, note_without_effect, placement,
};
use crate::experiments::progress::LiveLine;
use crate::experiments::search::contents;
use crate::experiments::{pages, targets, words};
use crate::exports::github;
use crate::native::options::{ConnectionOptions, MachineOptions, RequestOptions, TlsOptions};
use crate::native::{CheckOptions, Http3Options};
use crate::outputs::Files;
use crate::web::WebOptions;
use crate::web::plan::PlanPage;
use crate::{CommandError, experiments, native, outlets, terminal, values};

/// How long a stage is unless the command line says otherwise.
const STAGE_NS: u64 = 2_000_000_000;
/// A stage that confirms is longer by this factor.
const CONFIRMING: u64 = 3;
/// A stage is at least so many times as long as the longest time that is permitted: what piles up
/// has to be seen within it.
const TIMES_THE_LIMIT: f64 = 10.0;
/// The first rate tried, per second.
const START_PER_S: f64 = 1000.0;
/// The two rates of the answer are this near.
const TOLERANCE: f64 = 0.02;

/// What is looked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
struct FindOptions {
    /// The target: a URL, or serve:MODEL[,option=value…]; NAME= in front names it
    #[arg(value_name = "TARGET", help_heading = "Arguments")]
    target: Option<String>,
    /// Conditions that must hold: 'p99<20ms,errors<0.1%'
    #[arg(long, value_name = "CONDITIONS")]
    slo: Option<String>,
    /// Start the target: 'mine=./server -p {port}'
    #[arg(long, value_name = "NAME=COMMAND", conflicts_with = "target")]
    start: Option<String>,
    /// Use TLS for a target started here, with a generated certificate
    #[arg(long, action = ArgAction::SetTrue)]
    https: bool,
    /// Lowest and first rate [default: what --slo can be judged at, 1000/s]
    #[arg(long, value_name = "RATE", value_parser = values::per_second)]
    from: Option<f64>,
    /// Highest rate to try [default: 10M/s]
    #[arg(long, value_name = "RATE", value_parser = values::per_second, default_value = "10M", hide_default_value = true)]
    to: f64,
    /// Length of a stage [default: 2s, or 10 times the longest time in --slo]
    #[arg(short, long, value_name = "TIME", value_parser = values::duration_ns)]
    duration: Option<u64>,
    /// Length of a stage that confirms a rate [default: 3 times -d]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    confirm: Option<u64>,
    /// Path to request from a target started here [default: /hello]
    #[arg(long, value_name = "PATH", default_value = "/hello", hide_default_value = true)]
    path: String,
    /// Start the target once instead of before every stage
    #[arg(long, action = ArgAction::SetTrue)]
    keep_running: bool,
    /// CPUs for a target started here [default: one per thread, up to half]
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    target_cpus: Option<CpuList>,
    /// How long to wait for a target to respond once started
    #[arg(long, value_name = "TIME", value_parser = values::some_time_ns, default_value = "10s")]
    ready_within: u64,
    /// Title of the page [default: the target and its conditions]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    title: String,
    /// A note below the title of the page: what it is about
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
    /// Where to save the stages; continues what is there [default: new]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Save the report to a file.
    #[arg(short, long = "output", value_name = "FILE", help = exporters::help_of_output(Kind::Experiment))]
    outputs: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long, action = ArgAction::SetTrue)]
    json: bool,
    /// Print no progress
    #[arg(long, action = ArgAction::SetTrue)]
    quiet: bool,
    #[command(flatten)]
    web: WebOptions,
    #[command(flatten)]
    fleet: FleetOptions,
}

/// The options of the load that a search leaves to the command line.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
struct StageLoad {
    /// Most connections to open [default: as many as this machine permits]
    #[arg(short, long, value_name = "N", value_parser = values::small_count)]
    connections: Option<u32>,
    /// Requests in flight on each HTTP/2 or 3 connection [default: 1]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    streams: Option<u32>,
    /// Spacing of the requests: constant or poisson [default: constant]
    #[arg(long, value_name = "HOW", value_parser = ["constant", "poisson"], hide_possible_values = true)]
    arrivals: Option<String>,
    /// Warm-up before each stage, not measured [default: 0]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    warmup: Option<u64>,
    /// Timeout of a request [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    timeout: Option<u64>,
    /// Expected statuses [default: 2xx,3xx]
    #[arg(long, value_name = "STATUSES")]
    expect: Option<String>,
}

const LOAD: [fn(Command) -> Command; 7] = [
    words::group::<StageLoad>,
    words::group::<RequestOptions>,
    words::group::<CheckOptions>,
    words::group::<ConnectionOptions>,
    words::group::<TlsOptions>,
    words::group::<Http3Options>,
    words::group::<MachineOptions>,
];

const AFTER_HELP: &str = "\
The rate is doubled until it does not hold, then the gap is halved down to 2 %, and both ends are
confirmed in longer stages. A rate holds when at least 98 % of it is answered, every condition
holds, the stage is not INVALID and has enough requests to tell (errors<1%: 100). Conditions use
the metrics of --fail-if: rate mean p99 (or any pN) max errors unexpected status.NNN checks lag
cpu (the client's per request). If the client is the limit, there is no answer.
  ablaze find :8080/ --slo 'p99<20ms,errors<0.1%'
  ablaze find serve:epoll-et,delay=10ms,in-service=8 --slo 'p99<50ms'
Exit status: 0 found; 1 no answer, or a file not written; 2 usage; 130 interrupted.";

/// Its options.
pub fn command() -> Command {
    let command = Command::new("ablaze find")
        .bin_name("ablaze find")
        .override_usage("ablaze find [OPTIONS] --slo CONDITIONS TARGET")
        .after_help(AFTER_HELP)
        .disable_version_flag(true)
        .max_term_width(100);
    let command = FindOptions::augment_args(command);
    let command = LOAD.iter().fold(command, |command, group| group(command));
    // Each group of options brings a description of its own.
    command.about("Find the highest rate at which a target still meets your conditions.")
}

/// Runs `ablaze find` with the words behind `find`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match crate::usage::matched(command(), "find", arguments) {
        Ok(matches) => found(&matches).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
}

fn found(matches: &ArgMatches) -> Result<ExitCode, CommandError> {
    let options = FindOptions::from_arg_matches(matches)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    let Some(slo) = &options.slo else {
        return Err(CommandError::usage(
            "missing conditions: use --slo, such as --slo 'p99<20ms,errors<0.1%'",
        ));
    };
    let goal: Goal = slo.parse().map_err(|error| CommandError::usage(format!("--slo {error}")))?;
    let mut secrets = Secrets::default();
    let search = search(&options, &goal, words::of(matches, &LOAD), &mut secrets)?;
    let files = Files::checked(&options.outputs, Kind::Experiment)?;
    let targets = std::slice::from_ref(&search.target);
    let page = PlanPage::asked(options.web, &options.title, targets)?;
    let page = page.as_ref();
    let folder = match &options.folder {
        Some(path) => StageFolder::at(path, &search, &mut Former::default()),
        None => StageFolder::numbered(Path::new("find"), &search),
    };
    let mut folder = folder.map_err(|error| CommandError::usage(error.to_string()))?;
    experiments::asked::keep(
        &experiments::asked::here(&options.title, &options.note),
        folder.path(),
    )?;
    listen_for_interrupts()?;
    let mut progress = LiveLine::new(options.quiet);
    let [stage, again] = [search.stage_ns, search.confirm_ns].map(time_exact);
    progress.announce(&format!(
        "stages of {stage}, {again} at a rate tried before, or until {} are due",
        counted(search.fewest_requests, "request")
    ));
    progress.announce(&length::in_short(&search));
    let mut client = Native::new(&secrets).shown_on(page).by(search.fleet.as_ref())?;
    let mut watch = BothOfSearch { search: &search, line: &mut progress, page };
    let setting = Setting {
        program: experiments::own_program()?,
        client: Some(&mut client),
        watch: &mut watch,
        rest: |time: Duration| std::thread::sleep(time),
    };
    let searched = run(&search, &mut folder, setting);
    progress.finish();
    let searched = searched.map_err(|error| CommandError::machine(error.to_string()))?;
    if let Some(unsaved) = folder.unsaved() {
        outlets::lost(&CommandError::machine(format!(
            "cannot save {unsaved}; the search ends here, and this stage is in the report only"
        )));
    }
    let path = folder.path();
    let contents = contents(&search, &folder, &searched);
    let has_page = pages::keep(path, &contents);
    let exported = Exported::Experiment(&contents);
    files.keep_files(&exported);
    terminal::print(if options.json { &contents.json } else { &contents.text });
    if !options.json {
        experiments::told_where(path, has_page);
    }
    if folder.unsaved().is_some() {
        note(&format!(
            "once it can be written, repeat the command with --folder {} to continue",
            path.display()
        ));
    } else if searched.interrupted {
        note(&format!(
            "interrupted; to continue, repeat the command with --folder {}",
            path.display()
        ));
    }
    files.keep_streams(&exported);
    github::tell_of(&contents);
    page.iter().for_each(|page| page.end(contents.page.as_ref().ok()));
    Ok(if folder.unsaved().is_some() {
        ExitCode::from(NOTHING_MEASURED)
    } else {
        status(&searched)
    })
}

/// The exit status that a search deserves.
fn status(searched: &Searched) -> ExitCode {
    ExitCode::from(match (searched.interrupted, searched.is_answered()) {
        (true, _) => INTERRUPTED,
        (false, true) => 0,
        (false, false) => NOTHING_MEASURED,
    })
}

/// The search that the options describe.
fn search(
    options: &FindOptions,
    goal: &Goal,
    words: Vec<String>,
    secrets: &mut Secrets,
) -> Result<Search, CommandError> {
    let target = target(options, secrets)?;
    if options.from.is_some_and(|from| from <= 0.0) {
        return Err(CommandError::usage("--from 0 sends nothing: use a rate above 0"));
    }
    if options.from.is_some_and(|from| options.to < from) {
        return Err(CommandError::usage("--to is below --from: swap them"));
    }
    let permitted_ns = goal.longest_limit_ns().unwrap_or(0.0) * TIMES_THE_LIMIT;
    let stage_ns = options.duration.unwrap_or(STAGE_NS.max(permitted_ns as u64));
    if stage_ns < 500_000_000 {
        return Err(CommandError::usage("a stage must be at least 500 ms long: use a longer -d"));
    }
    // A stage at a lower rate has too few requests to judge the rate by, however long it may be.
    let fewest_requests = goal.requests_wanted();
    let longest_s = stage_ns.saturating_mul(LONGEST_STAGE) as f64 / 1e9;
    let fewest_per_s = (fewest_requests as f64 / longest_s).max(1.0);
    let Some(asked_least_per_s) = goal.lowest_per_s(options.to) else {
        return Err(CommandError::usage(format!(
            "--slo asks for a higher rate than --to {}/s: raise --to",
            rate(options.to)
        )));
    };
    let lowest_per_s = options.from.unwrap_or(fewest_per_s.min(options.to)).max(asked_least_per_s);
    let start_per_s = options.from.unwrap_or(START_PER_S).max(asked_least_per_s);
    let load = load(words, start_per_s, secrets)?;
    let composed = planning::unaimed(&load, secrets)?;
    goal.check(&composed.requests.groups, composed.journey.as_ref())
        .map_err(|error| CommandError::usage(format!("--slo {error}")))?;
    let speaks = Speaks::of(options.https, [&load]);
    let targets = std::slice::from_ref(&target);
    can_speak(targets, speaks)?;
    note_without_effect(targets, &[&options.path], "use --path /");
    can_be_asked(targets, [&Load::of(load.clone())])?;
    let by_fleet = options.fleet.asked()?;
    if let Some(by_fleet) = &by_fleet {
        fleet::fits(by_fleet, targets, [&load])?;
    }
    let placement = placement(targets, options.target_cpus.as_ref(), [&load]);
    let placement = fleet::placement(placement, by_fleet.as_ref());
    Ok(Search {
        target,
        goal: goal.texts().join(","),
        load,
        start_per_s,
        lowest_per_s,
        highest_per_s: options.to,
        tolerance: TOLERANCE,
        stage_ns,
        confirm_ns: options.confirm.unwrap_or(stage_ns.saturating_mul(CONFIRMING)),
        path: options.path.clone(),
        placement,
        restart: !options.keep_running,
        ready_within_s: options.ready_within.div_ceil(1_000_000_000),
        speaks,
        fewest_requests,
        fleet: by_fleet,
    })
}

/// The load of a stage. What stands on the command line is about a load on a schedule; the words that
/// are kept have neither rate nor length.
fn load(words: Vec<String>, per_s: f64, secrets: &mut Secrets) -> Result<LoadSpec, CommandError> {
    let of_a_stage = ["--rate".to_owned(), format!("{per_s}/s")];
    let worded: Vec<String> = words.iter().cloned().chain(of_a_stage).collect();
    let load = native::of_words(&worded, secrets)?;
    Ok(LoadSpec { words: native::shown(&words), ..load })
}

fn target(options: &FindOptions, secrets: &mut Secrets) -> Result<Target, CommandError> {
    let target = match (&options.target, &options.start) {
        (Some(target), _) => targets::read(target, secrets)?,
        (None, Some(command)) => targets::started_by(command)?,
        (None, None) => {
            return Err(CommandError::usage(
                "missing target: a URL, serve:MODEL or --start 'NAME=COMMAND {port}'",
            ));
        }
    };
    can_be_loaded(&target)?;
    Ok(target)
}

#[cfg(test)]
mod tests;
