//! `ablaze run`: runs the experiment that a file describes; [`journey`] walks a journey once.

mod journey;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ablaze_lab::experiment::new_numbered;
use ablaze_lab::target::is_installed;
use ablaze_model::experiment::{Experiment, Results};
use ablaze_model::printable::printable;
use ablaze_model::spec::TargetSpec;
use ablaze_report::experiment::curve::Pick;
use ablaze_report::experiment::page::repeat;
use ablaze_report::exporters::{self, Contents, Exported, Kind};
use ablaze_report::number::counted;
use ablaze_report::page::Page;
use ablaze_report::system_error::reason;
use clap::{ArgAction, CommandFactory, Parser};

use crate::error::{FAIL_IF_MET, INTERRUPTED, NOTHING_MEASURED, note};
use crate::experiments::conditions::Conditions;
use crate::experiments::described::experiment;
use crate::experiments::file::Described;
use crate::experiments::fleet::FleetOptions;
use crate::experiments::pages;
use crate::experiments::parts::{self, Part};
use crate::experiments::series::{self, Done, Planned};
use crate::experiments::shown::{self, Showing};
use crate::exports::github;
use crate::outputs::Files;
use crate::web::WebOptions;
use crate::web::plan::PlanPage;
use crate::{CommandError, experiments, terminal};

/// Runs the experiment that a file describes.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze run",
    bin_name = "ablaze run",
    about = "Run the experiment that a file describes, or walk a journey once.",
    override_usage = "ablaze run [OPTIONS] FILE.toml\n       ablaze run [OPTIONS] FILE.hurl [URL]",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// File that describes the experiment
    #[arg(value_name = "FILE.toml")]
    file: Option<PathBuf>,
    /// Where to save the results; continues what is there [default: new]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Run shorter, with less certainty: as the file says under `[quick]`
    #[arg(long, action = ArgAction::SetTrue)]
    quick: bool,
    /// Only check the file and print what would be done
    #[arg(long, action = ArgAction::SetTrue)]
    check: bool,
    /// Which repeat a sweep draws: median or best [default: median]
    #[arg(long, value_name = "WHICH", value_parser = ["median", "best"], default_value = "median", hide_default_value = true, hide_possible_values = true)]
    pick: String,
    /// Rank targets even if they did different work
    #[arg(long, action = ArgAction::SetTrue)]
    allow_unequal: bool,
    /// Exit with status 3 if shown: 'mine / nginx rate < 0.95'. Repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
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

const AFTER_HELP: &str = "\
A file has targets, a load and checks (docs/run.md lists every key):
  [targets.mine]
  start = \"./server -p {port}\"        # or url, or serve = \"epoll-et,threads=2\"
  [targets.nginx]
  control = \"nginx\"
  [load]
  connections = [1, 10, 100]          # a long option of load; a list is an axis
  [vary]
  threads = [1, 2]                    # an axis of the server's side (docs/sweeping.md)
  [checks]
  \"mine / nginx CPU/request\" = \"<= 1.15\"
  \"login.p99\" = \"< 300ms\"            # a figure of a step, a group or the run
A journey, FILE.hurl, has options of its own: `ablaze run FILE.hurl --help`.
Exit status: 0 success; 1 a target not measured, or a file not written; 2 usage; 3 a check failed or
a --fail-if was met; 130 interrupted (--folder continues).";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze run` with the words behind `run`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    if journey::is_meant(arguments) {
        return journey::main(arguments);
    }
    match crate::usage::parsed::<CommandLine>("run", arguments) {
        Ok(line) => run(&line).unwrap_or_else(|error| error.report()),
        Err(status) => status,
    }
}

fn run(line: &CommandLine) -> Result<ExitCode, CommandError> {
    let Some(path) = &line.file else {
        return Err(CommandError::usage(
            "missing file: `ablaze run FILE.toml` for an experiment (docs/run.md), `ablaze run FILE.hurl` for a \
             journey (docs/journeys.md)",
        ));
    };
    let file = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        CommandError::usage(format!("cannot read `{file}`: {}", reason(&error)))
    })?;
    let mut parts = parts::read(&text, line.quick)
        .map_err(|error| CommandError::usage(format!("{file}, {error}")))?;
    if line.quick && !parts::has_quick(&text) {
        return Err(CommandError::usage(format!(
            "--quick has no effect: {file} has no [quick]; remove it, or add to the file what is shorter"
        )));
    }
    if parts.len() > 1 || parts.iter().any(|part| part.name.is_some()) {
        return several(line, path, parts, &text);
    }
    let Some(Part { described, .. }) = parts.pop() else { return Ok(ExitCode::SUCCESS) };
    let experiment = experiment(path, &described, &line.fleet)?;
    let conditions = conditions(line, path, &described, &experiment)?;
    if line.check {
        can_start(&experiment)?;
        return Ok(terminal::print(&what(&experiment, &conditions)));
    }
    let files = Files::checked(&line.outputs, Kind::Experiment)?;
    let stem = path.with_extension("");
    let about = described.about.clone().unwrap_or_default();
    let asked = experiments::asked::here(&experiment.title, &about);
    let page = PlanPage::asked(line.web, &experiment.title, &experiment.targets)?;
    let page = page.as_ref();
    let (folder, results) = experiments::carried_out(
        &experiment,
        &described.secrets,
        line.folder.as_deref(),
        line.quiet,
        &stem,
        (&asked, Some(&text)),
        page,
    )?;
    let judged = experiments::beside_each_other(&experiment, &folder, &results)?;
    let showing = Showing {
        json: line.json,
        pick: if line.pick == "best" { Pick::Best } else { Pick::Median },
        allow_unequal: line.allow_unequal,
    };
    let kept =
        experiments::kept(&experiment, &folder, &results, &judged, (showing, &conditions), &files);
    terminal::print(kept.report(showing));
    let unequal = showing.unequal(&judged);
    experiments::print_chart(&experiment, &results, &judged, showing);
    experiments::told_at_the_end(&kept, &folder, showing, &files);
    let quick = if line.quick { " --quick" } else { "" };
    let again = format!("ablaze run {file}{quick} --folder {}", folder.path().display());
    told_how_to_go_on(&results, &again);
    let status = shown::status(&experiment, &results);
    let fails = status == 0 && conditions.fail(&experiment, &results, unequal);
    kept.end_page(page);
    Ok(ExitCode::from(if fails { FAIL_IF_MET } else { status }))
}

/// What has to hold of an experiment, and what must not.
fn conditions(
    line: &CommandLine,
    path: &Path,
    described: &Described,
    experiment: &Experiment,
) -> Result<Conditions, CommandError> {
    for (at, check) in &described.checks {
        check.fits(experiment).map_err(|error| {
            CommandError::usage(format!("{}, line {at}: {error}", path.display()))
        })?;
    }
    let mut conditions = Conditions::fail_if(&line.fail_if)?;
    conditions.checks = described.checks.iter().map(|(_, check)| check.clone()).collect();
    conditions.fit(experiment)?;
    conditions.check_names(experiment, &described.secrets)?;
    Ok(conditions)
}

/// A file with parts: one experiment after the other, and a page of them all.
fn several(
    line: &CommandLine,
    path: &Path,
    parts: Vec<Part>,
    text: &str,
) -> Result<ExitCode, CommandError> {
    let about = parts.first().and_then(|part| part.described.about.clone()).unwrap_or_default();
    let mut series = Vec::new();
    for mut part in parts {
        // Said once, at the head of the page.
        part.described.about = None;
        let experiment = experiment(path, &part.described, &line.fleet)?;
        let conditions = conditions(line, path, &part.described, &experiment)?;
        series.push(Planned { conditions, ..Planned::of(experiment, part) });
    }
    if line.check {
        series.iter().try_for_each(|part| can_start(&part.experiment))?;
        let part = |part: &Planned| {
            let what = what(&part.experiment, &part.conditions);
            format!("{}: {what}", printable(&part.heading))
        };
        return Ok(terminal::print(&series.iter().map(part).collect::<String>()));
    }
    let files = Files::checked(&line.outputs, Kind::Parts)?;
    let title = series.first().map_or_else(String::new, |part| part.experiment.title.clone());
    let folder = match &line.folder {
        Some(folder) => {
            series::prepare(&series, folder)?;
            folder.clone()
        }
        None => new_numbered(&path.with_extension(""))
            .map_err(|error| CommandError::usage(error.to_string()))?,
    };
    let watched = PlanPage::asked(line.web, &title, &[])?;
    let watched = watched.as_ref();
    let done = series::carried_out(series, &folder, line.quiet, watched, |_| ())?;
    let (mut status, mut documents, mut words) = (0, Vec::new(), String::new());
    for done in &done {
        let Planned { experiment, conditions, .. } = &done.planned;
        let showing = Showing {
            json: line.json,
            pick: if line.pick == "best" { Pick::Best } else { Pick::Median },
            allow_unequal: line.allow_unequal,
        };
        let unequal = showing.unequal(&done.judged);
        let shown = |json| {
            let showing = Showing { json, ..showing };
            shown::either(experiment, &done.results, &done.judged, showing)
        };
        let result = conditions.in_json(&shown(true), experiment, &done.results, unequal);
        let result: serde_json::Value = serde_json::from_str(&result).unwrap_or_default();
        documents.push(serde_json::json!({ "part": done.planned.heading, "result": result }));
        let said = conditions.in_words(experiment, &done.results, unequal);
        let heading = printable(&done.planned.heading);
        let text = format!("{heading}\n{}{said}\n", shown(false));
        if !line.json {
            terminal::print(&text);
        }
        words.push_str(&text);
        let own = shown::status(experiment, &done.results);
        let fails = own == 0 && conditions.fail(experiment, &done.results, unequal);
        // An interruption tells more than a failed check, and that more than a part without responses.
        let rank = |status: u8| {
            [0, NOTHING_MEASURED, FAIL_IF_MET, INTERRUPTED].iter().position(|s| *s == status)
        };
        let own = if fails { FAIL_IF_MET } else { own };
        status = if rank(own) > rank(status) { own } else { status };
    }
    let mut page = Page::new(&title);
    page.about = about;
    page.sections = done.iter().map(Done::section).collect();
    let text = experiments::shown_file::without_secrets(text);
    page.sections.extend(repeat(&experiments::asked::here(&title, ""), &text));
    page.figures = done.iter().map(Done::figures).collect();
    page.explain_findings();
    let has_page = pages::keep_page(&folder, &page);
    let shown = folder.display();
    let json = format!("{:#}\n", serde_json::json!({ "parts": documents }));
    let suites = done.iter().map(Done::suite).collect();
    let contents = Contents { page: Ok(page), chart: None, json, csv: None, text: words, suites };
    let exported = Exported::Experiment(&contents);
    files.keep_files(&exported);
    if line.json {
        terminal::print(&contents.json);
    } else if has_page {
        terminal::print(&format!("  page {shown}/index.html · Markdown {shown}/BENCH.md\n"));
    }
    let quick = if line.quick { " --quick" } else { "" };
    let again = format!("ablaze run {}{quick} --folder {shown}", path.display());
    done.iter().for_each(|done| told_how_to_go_on(&done.results, &again));
    files.keep_streams(&exported);
    github::tell_of(&contents);
    watched.iter().for_each(|watched| watched.end(contents.page.as_ref().ok()));
    Ok(ExitCode::from(status))
}

/// The command that goes on with an experiment that ended before its end.
fn told_how_to_go_on(results: &Results, again: &str) {
    if results.unsaved.is_some() {
        note(&format!("once it can be written, to continue: `{again}`"));
    } else if results.interrupted {
        note(&format!("interrupted; to continue: `{again}`"));
    }
}

/// Whether the programs of the commands exist, as far as that is seen in their first words.
fn can_start(experiment: &Experiment) -> Result<(), CommandError> {
    for target in experiments::of_all_loads(&experiment.targets, &experiment.loads) {
        let TargetSpec::Command(command) = &target.source else { continue };
        let program = command.split_whitespace().next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
        // What the shell changes or knows by itself is left to it.
        if !program.chars().all(is_plain) || ["exec", "cd", "env", "command"].contains(&program) {
            continue;
        }
        let folder = experiment.directory.as_deref().unwrap_or(Path::new("."));
        let (exists, place) = match program.contains('/') {
            true => (folder.join(program).is_file(), format!("in {}", folder.display())),
            false => (is_installed(program), "on the PATH".to_owned()),
        };
        if !exists {
            return Err(CommandError::usage(format!(
                "target {}: no program `{program}` {place}; fix: build or install it, or correct `start`",
                target.name
            )));
        }
    }
    Ok(())
}

/// What would be done. A file from elsewhere is looked at with it: each text of the file stays on its line.
fn what(experiment: &Experiment, conditions: &Conditions) -> String {
    let (title, runs) = (printable(&experiment.title), experiment.trials().len() as u64);
    let mut lines = vec![format!("{title}: {}", counted(runs, "run"))];
    let targets = experiment.targets.iter();
    lines.extend(targets.map(|target| format!("  target {}", printable(&target.name))));
    lines.extend(experiment.loads.iter().map(|load| {
        let words = load.spec.words.0.join(" ");
        let (label, words) = (printable(&load.label), printable(&words));
        format!("  load {label}, {}: {words}", counted(experiment.repeats.into(), "time"))
    }));
    let checks = conditions.checks.iter();
    lines.extend(checks.map(|check| format!("  check {}", printable(&check.to_string()))));
    lines.join("\n") + "\n"
}
