//! `ablaze report`: saved results shown again, saved runs in other formats. What is shown is
//! computed anew from the runs; a run that does not fit the command saved with it is named (D36).

mod together;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ablaze_lab::experiment::Folder;
use ablaze_lab::search::{Setting, StageFolder, Watch, run};
use ablaze_lab::target::ThisProgram;
use ablaze_model::Run;
use ablaze_model::experiment::Stage;
use ablaze_report::experiment::curve::Pick;
use ablaze_report::exporters::{self, Exported, Kind};
use ablaze_report::page::runs_json;
use ablaze_report::system_error::reason;
use clap::{ArgAction, CommandFactory, Parser};

use crate::error::{FAIL_IF_MET, NOTHING_MEASURED};
use crate::experiments::conditions::Conditions;
use crate::experiments::described::FILE;
use crate::experiments::former::Former;
use crate::experiments::shown::Showing;
use crate::experiments::{file, saved};
use crate::outputs::{Files, Outputs};
use crate::report_options::ReportOptions;
use crate::{CommandError, experiments, outcome, terminal, verdict};

/// Shows saved results again.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze report",
    bin_name = "ablaze report",
    about = "Show saved results again: experiment folders, and runs saved as JSON.",
    override_usage = "ablaze report [OPTIONS] FOLDER…\n       ablaze report [OPTIONS] RUN.json…",
    after_help = after_help(),
    disable_version_flag = true,
    max_term_width = 100
)]
pub(super) struct CommandLine {
    /// Folders of compare, sweep, find or run, and files saved with -o RUN.json
    #[arg(value_name = "FOLDER|RUN.json")]
    paths: Vec<PathBuf>,
    /// Save it to a file, in the format of its extension. Repeatable
    #[arg(short, long = "output", value_name = "FILE")]
    pub(super) outputs: Vec<PathBuf>,
    /// Format of `-o -`, which prints that of a run
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Print as JSON
    #[arg(long, action = ArgAction::SetTrue)]
    pub(super) json: bool,
    /// Merge shards of one run: the same work at the same time
    #[arg(long, action = ArgAction::SetTrue)]
    merge: bool,
    /// Show the evidence of rules that found nothing, too
    #[arg(long, action = ArgAction::SetTrue)]
    explain: bool,
    /// Which repeat a sweep draws: median or best [default: median]
    #[arg(long, value_name = "WHICH", value_parser = ["median", "best"], default_value = "median", hide_default_value = true, hide_possible_values = true)]
    pick: String,
    /// Rank targets even if they did different work
    #[arg(long, action = ArgAction::SetTrue)]
    allow_unequal: bool,
    /// Exit with status 3 if this holds, as for load and compare. Repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Exit with status 3 unless these hold, as for load. Repeatable
    #[arg(long, value_name = "CONDITIONS")]
    slo: Vec<String>,
}

fn after_help() -> String {
    let formats = |kind| exporters::extensions(kind);
    AFTER_HELP
        .replace("{of a run}", &formats(Kind::Run))
        .replace("{of an experiment}", &formats(Kind::Experiment))
        .replace("{of several runs}", &formats(Kind::Runs))
}

const AFTER_HELP: &str = "\
Figures, verdict and findings are recomputed from the saved data.
  ablaze report compare-1
  ablaze report run.json -o run.csv -o run.html
  ablaze report before.json after.json -o both.html
  ablaze report --merge left.json right.json -o whole.json
Formats of -o by extension: {of an experiment};
of one saved run {of a run};
several runs together make a page: {of several runs}.
Exit status: 0 shown; 1 nothing was measured, or a file not written; 2 usage; 3 a check failed or
a --fail-if was met, or --slo was not.";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze report` with the words behind `report`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match crate::usage::parsed::<CommandLine>("report", arguments) {
        Ok(line) => report(&line).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
}

/// What lies at a path.
pub(super) enum Saved {
    /// A saved run.
    Run(Box<Run>),
    /// The folder of an experiment.
    Experiment(PathBuf),
    /// The folder of a search.
    Search(PathBuf),
}

fn report(line: &CommandLine) -> Result<ExitCode, CommandError> {
    if line.paths.is_empty() {
        return Err(CommandError::usage(
            "missing argument: the folder of an experiment, or the file of a saved run",
        ));
    }
    let saved = line.paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    if line.merge || (saved.len() > 1 && !line.outputs.is_empty()) {
        let runs = together::only_runs(&line.paths, saved)?;
        return match line.merge {
            true => Ok(ExitCode::from(of_run(together::merged(runs)?, None, line)?)),
            false => together::kept_in_one(runs, line),
        };
    }
    let several = saved.len() > 1;
    let mut worst = 0;
    for (path, saved) in line.paths.iter().zip(saved) {
        if several && !line.json {
            terminal::print(&format!("{}\n", path.display()));
        }
        if !line.slo.is_empty() && !matches!(saved, Saved::Run(_)) {
            return Err(CommandError::usage(
                "--slo is for saved runs; an experiment takes --fail-if, and a search has its own conditions",
            ));
        }
        let status = match saved {
            Saved::Run(run) => of_run(*run, Some(path), line)?,
            Saved::Experiment(folder) => of_experiment(&folder, line)?,
            Saved::Search(folder) => of_search(&folder, line)?,
        };
        worst = worst.max(status);
        if several && !line.json {
            terminal::print("\n");
        }
    }
    Ok(ExitCode::from(worst))
}

fn read(path: &Path) -> Result<Saved, CommandError> {
    if path.is_dir() {
        return Ok(match StageFolder::is_one(path) {
            true => Saved::Search(path.to_owned()),
            false => Saved::Experiment(path.to_owned()),
        });
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        CommandError::usage(format!("cannot read `{}`: {}", path.display(), reason(&error)))
    })?;
    // A page has its run inside; of several each has a file of its own.
    let mut runs = runs_json(&text);
    let json = match (runs.next(), runs.next()) {
        (Some(_), Some(_)) => {
            return Err(CommandError::usage(format!(
                "`{}` is a page of several runs: pass their .json files",
                path.display()
            )));
        }
        (Some(run), None) => run,
        (None, _) => &text,
    };
    let saved = ablaze_report::json::load(json)
        .map_err(|error| CommandError::usage(format!("`{}`: {error}", path.display())))?;
    Ok(Saved::Run(Box::new(saved.run)))
}

/// A run, as `ablaze load` would have reported it; one that was put together has no file.
fn of_run(run: Run, path: Option<&Path>, line: &CommandLine) -> Result<u8, CommandError> {
    let outputs = Outputs::checked(&ReportOptions {
        outputs: line.outputs.clone(),
        format: line.format.clone(),
        json: line.json,
        explain: line.explain,
        fail_if: line.fail_if.clone(),
        slo: line.slo.clone(),
        ..ReportOptions::default()
    })?;
    if let Some(path) = path {
        saved::note_if_of_another_command(path, &run);
    }
    let assessed = verdict::assessed(run);
    outputs.hand_over(&assessed);
    let run = &assessed.run;
    Ok(match (outputs.fails(run), outcome::status(run)) {
        (_, NOTHING_MEASURED) => NOTHING_MEASURED,
        (true, _) => FAIL_IF_MET,
        (false, _) => 0,
    })
}

/// An experiment, as the command that carried it out would have reported it.
fn of_experiment(path: &Path, line: &CommandLine) -> Result<u8, CommandError> {
    let unreadable =
        |error: ablaze_lab::experiment::FolderError| CommandError::usage(error.to_string());
    let (folder, experiment) = Folder::open(path, &mut Former::default()).map_err(unreadable)?;
    let results = folder.results(&experiment).map_err(unreadable)?;
    let files = Files::checked(&line.outputs, Kind::Experiment)?;
    let mut conditions = Conditions::fail_if(&line.fail_if)?;
    conditions.fit(&experiment)?;
    // The file of an experiment was checked before it was run.
    if let Ok(text) = std::fs::read_to_string(path.join(FILE))
        && let Ok(described) = file::read(&text)
    {
        conditions.checks = described.checks.into_iter().map(|(_, check)| check).collect();
    }
    let judged = experiments::beside_each_other(&experiment, &folder, &results)?;
    let showing = Showing {
        json: line.json,
        pick: if line.pick == "best" { Pick::Best } else { Pick::Median },
        allow_unequal: line.allow_unequal,
    };
    let contents =
        experiments::contents(&experiment, &folder, &results, &judged, (showing, &conditions));
    let exported = Exported::Experiment(&contents);
    files.keep_files(&exported);
    terminal::print(if line.json { &contents.json } else { &contents.text });
    let unequal = showing.unequal(&judged);
    experiments::print_chart(&experiment, &results, &judged, showing);
    files.keep_streams(&exported);
    Ok(match results.measured().next() {
        None => NOTHING_MEASURED,
        Some(_) if conditions.fail(&experiment, &results, unequal) => FAIL_IF_MET,
        Some(_) => 0,
    })
}

/// A search, gone through again by what is kept of it.
fn of_search(path: &Path, line: &CommandLine) -> Result<u8, CommandError> {
    if !line.fail_if.is_empty() {
        return Err(CommandError::usage(
            "--fail-if is for runs and experiments; a search has its own conditions",
        ));
    }
    let unreadable = |error: &dyn std::fmt::Display| CommandError::usage(error.to_string());
    let (mut folder, search) =
        StageFolder::open(path, &mut Former::default()).map_err(|error| unreadable(&error))?;
    let files = Files::checked(&line.outputs, Kind::Experiment)?;
    let setting = Setting {
        program: ThisProgram::nowhere(),
        client: None,
        watch: &mut Nobody,
        rest: |_: Duration| {},
    };
    let searched = run(&search, &mut folder, setting).map_err(|error| unreadable(&error))?;
    let contents = experiments::search::contents(&search, &folder, &searched);
    let exported = Exported::Experiment(&contents);
    files.keep_files(&exported);
    terminal::print(if line.json { &contents.json } else { &contents.text });
    files.keep_streams(&exported);
    Ok(if searched.is_answered() { 0 } else { NOTHING_MEASURED })
}

/// A progress display for a search that is only read back.
struct Nobody;

impl Watch for Nobody {
    fn begins(&mut self, _number: usize, _asked_per_s: f64, _confirming: bool) {}
    fn ended(&mut self, _number: usize, _stage: &Stage) {}
}
