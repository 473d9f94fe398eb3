//! What the commands of several runs share: targets, loads and files become an experiment, which
//! [`ablaze_lab`] runs as `ablaze load` would; the results are shown and saved.

pub mod ab_client;
pub mod asked;
pub mod both;
pub mod client;
pub mod conditions;
pub mod described;
pub mod file;
mod file_loads;
mod file_values;
pub mod fleet;
pub mod former;
pub mod loads;
pub mod options;
pub mod pages;
pub mod parts;
pub mod profiles;
pub mod progress;
pub mod saved;
pub mod search;
pub mod series;
pub mod shown;
pub mod shown_file;
pub mod targets;
pub mod vary;
pub mod words;

use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::Path;

use ablaze_lab::experiment::{Folder, FolderError, run};
use ablaze_lab::target::{IssuedPem, ThisProgram};
use ablaze_lab::{beside, profiles as profiled};
use ablaze_model::experiment::{
    Description, Experiment, JudgedTogether, Load, Results, Speaks, Target,
};
use ablaze_model::spec::Secrets;
use ablaze_report::experiment::{charts, csv, page};
use ablaze_report::exporters::{Contents, Exported};
use ablaze_report::file::write_atomically;
use ablaze_report::page::Page;
use ablaze_target::tls::Identity;

use crate::carry_out::listen_for_interrupts;
use crate::error::note;
use crate::exports::github;
use crate::outputs::Files;
use crate::web::plan::PlanPage;
use crate::{CommandError, outlets, terminal};
use both::Both;
use client::Native;
use conditions::Conditions;
use former::Former;
use options::ExperimentOptions;
use progress::LiveLine;
use vary::Varied;

/// An experiment from its options.
///
/// # Errors
/// When nothing is to be repeated, or a target cannot speak what the loads do.
pub fn experiment(
    title: &str,
    options: &ExperimentOptions,
    varied: Varied,
    repeats: u32,
) -> Result<Experiment, CommandError> {
    if repeats == 0 {
        return Err(CommandError::usage("--repeat 0 measures nothing: use 1 or more"));
    }
    let Varied { targets, loads, axes, path } = varied;
    let speaks = Speaks::of(options.https, loads.iter().map(|load| &load.spec));
    let all: Vec<Target> = of_all_loads(&targets, &loads).cloned().collect();
    options::can_speak(&all, speaks)?;
    let paths: Vec<&str> = loads.iter().map(|load| load.path.as_deref().unwrap_or(&path)).collect();
    options::note_without_effect(&all, &paths, "use --path /");
    options::can_be_asked(&targets, &loads)?;
    let by_fleet = options.fleet.asked()?;
    if let Some(by_fleet) = &by_fleet {
        fleet::fits(by_fleet, &all, loads.iter().map(|load| &load.spec))?;
    }
    let placement = fleet::placement(options.placement(&all, &loads), by_fleet.as_ref());
    Ok(Experiment {
        title: title.to_owned(),
        targets,
        loads,
        axes,
        repeats,
        seed: options.order_seed,
        path,
        placement,
        restart: !options.keep_running,
        ready_within_s: options.ready_within.div_ceil(1_000_000_000),
        speaks,
        directory: None,
        fleet: by_fleet,
    })
}

/// The targets, and what they are under each load.
pub fn of_all_loads<'a>(
    targets: &'a [Target],
    loads: &'a [Load],
) -> impl Iterator<Item = &'a Target> {
    targets.iter().chain(loads.iter().flat_map(|load| &load.targets))
}

/// Runs it, with progress on stderr; the folder is the given one or a new `stem-N`. The file
/// that describes the experiment, if there is one, is kept with the results.
///
/// # Errors
/// When results cannot be kept.
pub fn carried_out(
    experiment: &Experiment,
    secrets: &Secrets,
    folder: Option<&Path>,
    quiet: bool,
    stem: &Path,
    (asked, file): (&Description, Option<&str>),
    page: Option<&PlanPage>,
) -> Result<(Folder, Results), CommandError> {
    let folder = match folder {
        Some(path) => Folder::at(path, experiment, &mut Former::default()),
        None => Folder::numbered(stem, experiment),
    };
    let mut folder = folder.map_err(|error| CommandError::usage(error.to_string()))?;
    if let Some(text) = file {
        let text = shown_file::without_secrets(text);
        write_atomically(&folder.path().join(described::FILE), text.as_bytes())
            .map_err(|error| CommandError::machine(format!("cannot save the results: {error}")))?;
    }
    asked::keep(asked, folder.path())?;
    listen_for_interrupts()?;
    let mut progress = LiveLine::new(quiet);
    let mut client = Native::new(secrets).shown_on(page).by(experiment.fleet.as_ref())?;
    let mut observers = Both { line: &mut progress, page };
    let results = run(experiment, &mut folder, own_program()?, &mut client, &mut observers);
    progress.finish();
    let results = results.map_err(|error| {
        CommandError::machine(format!(
            "cannot read the results: {error}; delete what is damaged, or use --folder with another"
        ))
    })?;
    told_if_unsaved(&folder);
    Ok((folder, results))
}

/// What could not be saved: the report has it all the same.
pub fn told_if_unsaved(folder: &Folder) {
    if let Some(unsaved) = folder.unsaved() {
        outlets::lost(&CommandError::machine(format!(
            "cannot save {unsaved}; the experiment ends here, and this run is in the report only"
        )));
    }
}

/// Runs it as the options of its command say: title and note of its page, its folder or a new `stem-N`, progress or
/// none.
///
/// # Errors
/// When results cannot be kept.
pub fn as_asked(
    experiment: &Experiment,
    secrets: &Secrets,
    options: &ExperimentOptions,
    stem: &str,
    page: Option<&PlanPage>,
) -> Result<(Folder, Results), CommandError> {
    let asked = asked::here(&options.title, &options.note);
    let folder = options.folder.as_deref();
    carried_out(experiment, secrets, folder, options.quiet, Path::new(stem), (&asked, None), page)
}

/// What an experiment gave and where it is kept.
pub struct Kept {
    contents: Contents,
    has_page: bool,
}

impl Kept {
    /// What is printed of it: its report in words or as JSON.
    pub fn report(&self, showing: shown::Showing) -> &str {
        if showing.json { &self.contents.json } else { &self.contents.text }
    }

    /// Sends the browsers that follow to the finished page, and waits until they have it: behind everything else.
    pub fn end_page(&self, page: Option<&PlanPage>) {
        if let Some(page) = page {
            page.end(self.contents.page.as_ref().ok());
        }
    }
}

/// Puts the page of an experiment into its folder and what was asked for into files, before the report is
/// printed: nothing that becomes of standard output can take them then. What cannot be written is told.
pub fn kept(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
    judged: &JudgedTogether,
    (showing, conditions): (shown::Showing, &Conditions),
    files: &Files,
) -> Kept {
    let contents = contents(experiment, folder, results, judged, (showing, conditions));
    let has_page = pages::keep(folder.path(), &contents)
        && outlets::attempt("a flame graph", || profiles::keep_graphs(experiment, folder));
    files.keep_files(&Exported::Experiment(&contents));
    Kept { contents, has_page }
}

/// Says behind the report where page and runs are, and writes to those files that are none.
pub fn told_at_the_end(kept: &Kept, folder: &Folder, showing: shown::Showing, files: &Files) {
    if !showing.json {
        told_where(folder.path(), kept.has_page);
    }
    files.keep_streams(&Exported::Experiment(&kept.contents));
    github::tell_of(&kept.contents);
}

/// Where page and runs are.
pub fn told_where(folder: &Path, has_page: bool) {
    let path = folder.display();
    if has_page {
        terminal::print(&format!("  page {path}/index.html · Markdown {path}/BENCH.md\n"));
    }
    terminal::print(&format!("  runs {path}/runs\n"));
}

/// What of an experiment can be saved; without the page if a saved run cannot be read.
pub fn contents(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
    judged: &JudgedTogether,
    (showing, conditions): (shown::Showing, &Conditions),
) -> Contents {
    let as_words = shown::Showing { json: false, ..showing };
    let as_json = shown::Showing { json: true, ..showing };
    let unequal = showing.unequal(judged);
    let ranked = showing.ranks(judged);
    let mut text = shown::either(experiment, results, judged, as_words);
    text.push_str(&conditions.in_words(experiment, results, unequal));
    let json = shown::either(experiment, results, judged, as_json);
    let json = conditions.in_json(&json, experiment, results, unequal);
    let file = std::fs::read_to_string(folder.path().join(described::FILE)).unwrap_or_default();
    let shown = page::Shown {
        ranked,
        pick: showing.pick,
        printed: &text,
        figures: &json,
        asked: &asked::kept(folder.path()),
        file: &file,
        checks: &conditions.rows(experiment, results, unequal),
    };
    let page = page_of(experiment, folder, results, judged, shown)
        .map_err(|error| format!("cannot read a saved run: {error}"));
    Contents {
        page,
        chart: Some(charts::main(experiment, results, showing.pick, ranked)),
        json,
        csv: Some(csv::experiment(experiment, results)),
        text,
        suites: vec![conditions.suite(experiment, results, judged, unequal)],
    }
}

fn page_of(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
    judged: &JudgedTogether,
    shown: page::Shown<'_>,
) -> Result<Page, FolderError> {
    let runs = folder.pooled(experiment, results)?;
    let profiled = profiled::kept(experiment, folder)?;
    let reported = page::Reported { experiment, results, judged, runs: &runs, profiled: &profiled };
    Ok(page::of_experiment(reported, shown))
}

/// The chart below a report on a terminal that is wide enough for it.
pub fn print_chart(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    showing: shown::Showing,
) {
    let stdout = std::io::stdout();
    if showing.json || !stdout.is_terminal() {
        return;
    }
    let ranked = showing.ranks(judged);
    let width = ablaze_sys::terminal::width(&stdout).unwrap_or_default();
    let drawn = charts::terminal(experiment, results, showing.pick, ranked, width);
    if let Some(drawn) = drawn {
        terminal::print(&format!("{drawn}\n"));
    }
}

/// How an experiment that ended before its end is gone on with.
pub fn told_if_interrupted(folder: &Folder, results: &Results) {
    let path = folder.path().display();
    if folder.unsaved().is_some() {
        note(&format!(
            "once it can be written, repeat the command with --folder {path} to continue"
        ));
    } else if results.interrupted {
        note(&format!("interrupted; to continue, repeat the command with --folder {path}"));
    }
}

/// What was found in the runs together.
///
/// # Errors
/// When a kept run cannot be read back.
pub fn beside_each_other(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
) -> Result<JudgedTogether, CommandError> {
    beside::judged(experiment, folder, results)
        .map_err(|error| CommandError::machine(format!("cannot read a saved run: {error}")))
}

/// This program, which serves the built-in models and issues their certificates.
///
/// # Errors
/// When the system does not say which file it is.
pub fn own_program() -> Result<ThisProgram, CommandError> {
    let file = std::env::current_exe().map_err(|error| {
        CommandError::machine(format!("cannot find ablaze's own executable: {error}"))
    })?;
    Ok(ThisProgram { file, issue })
}

fn issue(address: IpAddr) -> Result<IssuedPem, String> {
    let identity = Identity::self_made(&[address])?;
    let pem = identity.pem().ok_or("the generated certificate has no PEM form")?;
    Ok(IssuedPem {
        certificate: pem.certificate.clone(),
        key: pem.key.clone(),
        authority: pem.authority.clone(),
    })
}
