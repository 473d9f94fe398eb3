//! Several experiments after one another, each in a folder of its own below one that has the page of
//! them all: the parts of a file, and the fair versions of a replay.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ablaze_lab::experiment::{Folder, make_empty, run};
use ablaze_model::LoadSpec;
use ablaze_model::experiment::{Experiment, JudgedTogether, Results, file_name};
use ablaze_model::spec::Secrets;
use ablaze_report::experiment::page;
use ablaze_report::file::write_atomically;
use ablaze_report::junit::Suite;
use ablaze_report::page::{Block, Section};

use super::both::Both;
use super::client::Native;
use super::conditions::Conditions;
use super::former::Former;
use super::parts::Part;
use super::progress::LiveLine;
use super::shown::{self, Showing};
use super::shown_file;
use super::{asked, beside_each_other, contents, described, own_program, pages, told_if_unsaved};
use crate::CommandError;
use crate::carry_out::listen_for_interrupts;
use crate::lengths::{BESIDE_A_RUN, in_words};
use crate::web::plan::PlanPage;

/// One experiment of a series.
#[derive(Debug)]
pub struct Planned {
    /// What its page calls it.
    pub heading: String,
    /// What it is about; empty if nobody said.
    pub about: String,
    /// What to do.
    pub experiment: Experiment,
    /// The secrets that its loads refer to.
    pub secrets: Secrets,
    /// The file that says so.
    pub text: String,
    /// What has to hold of it.
    pub conditions: Conditions,
    /// Whether flame graphs of its targets are taken behind it.
    pub profiled: bool,
}

/// One experiment that was run, or as much of it as was finished before Ctrl-C.
#[derive(Debug)]
pub struct Done {
    /// What was to be done.
    pub planned: Planned,
    /// Where its runs are.
    pub folder: Folder,
    /// What it came to.
    pub results: Results,
    /// What was found in the runs together.
    pub judged: JudgedTogether,
}

impl Planned {
    /// A part of a file, with the experiment that it describes.
    pub fn of(experiment: Experiment, part: Part) -> Self {
        let about = [part.described.about, part.about].into_iter().flatten();
        Self {
            heading: part.name.unwrap_or_else(|| experiment.title.clone()),
            about: about.collect::<Vec<_>>().join(" "),
            experiment,
            secrets: part.described.secrets,
            text: part.text,
            conditions: Conditions::default(),
            profiled: false,
        }
    }

    /// How long it takes, about; `None` where a load lasts as long as its requests take.
    pub fn length(&self) -> Option<Duration> {
        let one = |load: &LoadSpec| {
            let ns = load.limits.duration_ns? + load.limits.warmup_ns;
            Some(Duration::from_nanos(ns) + BESIDE_A_RUN)
        };
        let loads: Option<Duration> =
            self.experiment.loads.iter().map(|load| one(&load.spec)).sum();
        // With a profiler each target runs once more, and once without.
        let runs = self.experiment.repeats + if self.profiled { 2 } else { 0 };
        Some(loads? * self.experiment.targets.len() as u32 * runs)
    }
}

impl Done {
    /// Its report in words.
    pub fn in_words(&self) -> String {
        let showing = Showing::default();
        shown::either(&self.planned.experiment, &self.results, &self.judged, showing)
    }

    /// Whether ratios may be shown: the targets did the same work.
    pub fn ranked(&self) -> bool {
        Showing::default().ranks(&self.judged)
    }

    /// What had to hold of it, as the cases of a test.
    pub fn suite(&self) -> Suite {
        let Planned { heading, experiment, conditions, .. } = &self.planned;
        let unequal = Showing::default().unequal(&self.judged);
        let suite = conditions.suite(experiment, &self.results, &self.judged, unequal);
        Suite { name: heading.clone(), ..suite }
    }

    /// Its figures as JSON, under its heading: they lie in the page.
    pub fn figures(&self) -> (String, String) {
        let showing = Showing { json: true, ..Showing::default() };
        let Planned { heading, experiment, conditions, .. } = &self.planned;
        let figures = shown::either(experiment, &self.results, &self.judged, showing);
        let unequal = showing.unequal(&self.judged);
        let figures = conditions.in_json(&figures, experiment, &self.results, unequal);
        (heading.clone(), figures)
    }

    /// What a page of several says of it.
    pub fn section(&self) -> Section {
        let Planned { heading, about, experiment, conditions, .. } = &self.planned;
        let mut section =
            page::section_of(heading, experiment, &self.results, &self.judged, self.ranked());
        if !about.is_empty() {
            section.blocks.insert(0, Block::Text(about.clone()));
        }
        let unequal = Showing::default().unequal(&self.judged);
        let checks = conditions.rows(experiment, &self.results, unequal);
        section.blocks.extend(page::checked(&checks).into_iter().flat_map(|checks| checks.blocks));
        // A run that cannot be read back is told by the part's own page.
        let profiled = ablaze_lab::profiles::kept(experiment, &self.folder).unwrap_or_default();
        let graphs = ablaze_report::experiment::profiles::section(experiment, &profiled);
        section.blocks.extend(graphs.into_iter().flat_map(|graphs| graphs.blocks));
        let own = folder_name(heading);
        let text = "Every run, its distributions and its command:";
        section.with(Block::Remark(format!("{text} `{}/index.html`", own.display())))
    }
}

/// Runs them in turn, below this folder. Those that were not begun when Ctrl-C came are not in
/// the list. `begun` hears of each before it begins.
///
/// # Errors
/// When results cannot be kept.
pub fn carried_out(
    series: Vec<Planned>,
    folder: &Path,
    quiet: bool,
    page: Option<&PlanPage>,
    mut begun: impl FnMut(&Planned),
) -> Result<Vec<Done>, CommandError> {
    listen_for_interrupts()?;
    let lengths: Vec<Option<Duration>> = series.iter().map(Planned::length).collect();
    let of = series.len();
    if of > 1 {
        let whole: Option<Duration> = lengths.iter().copied().sum();
        let whole = whole.map_or(String::new(), |whole| format!(", about {}", in_words(whole)));
        LiveLine::new(quiet).announce(&format!("{of} parts{whole}"));
    }
    let mut done: Vec<Done> = Vec::new();
    for (at, planned) in series.into_iter().enumerate() {
        if done.last().is_some_and(|before| before.results.ended_early()) {
            break;
        }
        begun(&planned);
        let place = if of > 1 { format!("part {} of {of} · ", at + 1) } else { String::new() };
        let left = lengths[at + 1..].iter().flatten().sum();
        let progress = LiveLine::new(quiet).within(place, left);
        if let Some(page) = page {
            page.part_begins(&planned.heading, (at + 1, of), left);
        }
        let ended = one(planned, folder, (progress, page), quiet)?;
        if let Some(page) = page {
            page.part_ended(&ended.section());
        }
        done.push(ended);
    }
    Ok(done)
}

fn one(
    planned: Planned,
    folder: &Path,
    (mut progress, page): (LiveLine, Option<&PlanPage>),
    quiet: bool,
) -> Result<Done, CommandError> {
    let not_kept = |error: &dyn std::fmt::Display| {
        CommandError::machine(format!("cannot save the results: {error}"))
    };
    let path = folder.join(folder_name(&planned.heading));
    let experiment = &planned.experiment;
    let mut folder = Folder::at(&path, experiment, &mut Former::default())
        .map_err(|error| CommandError::usage(error.to_string()))?;
    let text = shown_file::without_secrets(&planned.text);
    write_atomically(&path.join(described::FILE), text.as_bytes())
        .map_err(|error| not_kept(&error))?;
    let asked = asked::here(&planned.heading, &planned.about);
    asked::keep(&asked, &path)?;
    let mut client = Native::new(&planned.secrets).shown_on(page).by(experiment.fleet.as_ref())?;
    let mut observers = Both { line: &mut progress, page };
    let results = run(experiment, &mut folder, own_program()?, &mut client, &mut observers);
    progress.finish();
    let mut results = results.map_err(|error| not_kept(&error))?;
    told_if_unsaved(&folder);
    if planned.profiled && !results.ended_early() {
        super::profiles::take(experiment, &planned.secrets, &folder, quiet)?;
        results.interrupted = crate::carry_out::interrupted();
    }
    let judged = beside_each_other(experiment, &folder, &results)?;
    let showing = Showing::default();
    let contents = contents(experiment, &folder, &results, &judged, (showing, &planned.conditions));
    pages::keep(folder.path(), &contents);
    super::profiles::keep_graphs(experiment, &folder)?;
    Ok(Done { planned, folder, results, judged })
}

/// Makes the folder of `--folder`. One that holds none of the parts has to be empty: their page
/// replaces files.
///
/// # Errors
/// When it holds something else, or cannot be made.
pub fn prepare(series: &[Planned], folder: &Path) -> Result<(), CommandError> {
    let begun = |part: &Planned| Folder::is_one(&folder.join(folder_name(&part.heading)));
    if series.iter().any(begun) {
        return Ok(());
    }
    make_empty(folder, "--folder").map_err(|error| CommandError::usage(error.to_string()))
}

/// `connections kept, 1 thread` as the name of a folder.
fn folder_name(heading: &str) -> PathBuf {
    let name = file_name(&heading.to_lowercase());
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_become_names_that_shells_like() {
        let name = |heading: &str| folder_name(heading).display().to_string();
        assert_eq!(name("Connections kept, 1 thread"), "connections-kept-1-thread");
        assert_eq!(name("1 MiB · every answer blocks"), "1-mib-every-answer-blocks");
    }
}
