//! The formats of report files: one [`Exporter`] each, and the one table of them. Single runs,
//! experiments, searches and `ablaze report` all ask here which formats there are, whether one fits
//! what is reported, and for its text. Where that text goes is [`crate::file`]'s and the command's.
//!
//! To add one: a file in this folder with its `EXPORTER`, and its name in the list below.

mod contents;

use std::fmt;
use std::path::Path;

use ablaze_model::Assessed;

use crate::condition::Conditions;
use crate::file::{self, FileError};
use crate::page::Page;
use crate::table;

pub use contents::Contents;

/// Declares a module for each format, and the table, in the order in which help and messages name them.
macro_rules! exporters {
    ($($module:ident)*) => {
        $(mod $module;)*

        static TABLE: &[&dyn Exporter] = &[$($module::EXPORTER,)*];
    };
}

exporters! {
    html
    svg
    markdown
    json
    csv
    text
    hlog
    junit
}

/// A format of report files.
pub trait Exporter: Sync {
    /// The extensions of file names that ask for it, without the dot. Help names the first.
    fn extensions(&self) -> &'static [&'static str];

    /// What it is, in a few words for the help; empty where the extension says enough.
    fn about(&self) -> &'static str {
        ""
    }

    /// Whether it can hold this.
    fn fits(&self, kind: Kind) -> bool;

    /// Of a format that holds one run only: where it is to be found for the runs of an experiment.
    fn of_each_run(&self) -> &'static str {
        "`ablaze report RUN.json -o FILE` writes it for each of the runs in the results folder"
    }

    /// Extensions of the files that come to lie beside the first, under the same stem: whether they
    /// can be written is checked before the run, too.
    fn beside(&self) -> &'static [&'static str] {
        &[]
    }

    /// The text of the file, with the files beside it. `stem` is what their names begin with.
    ///
    /// # Errors
    /// Why there is none: a kept run cannot be read back, or the format cannot hold this.
    fn export(&self, what: &Exported<'_>, stem: &str) -> Result<Export, String>;
}

impl fmt::Debug for dyn Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exporter({})", self.extensions()[0])
    }
}

/// What can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One run.
    Run,
    /// Several runs on one page.
    Runs,
    /// An experiment or a search.
    Experiment,
    /// Several experiments of one file.
    Parts,
}

/// The result to export: a run, or several runs of an experiment.
#[derive(Debug, Clone, Copy)]
pub enum Exported<'a> {
    /// One run.
    Run {
        /// The run, judged.
        assessed: &'a Assessed,
        /// Whether the text says what each rule went by.
        explain: bool,
        /// What the run was to meet, or not to meet.
        conditions: &'a Conditions,
    },
    /// Several runs, by their page.
    Runs(&'a Page),
    /// An experiment, a search, or several experiments.
    Experiment(&'a Contents),
}

/// A file in some format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its text.
    pub text: String,
    /// Files that belong beside it: name and contents.
    pub beside: Vec<(String, String)>,
}

impl From<String> for Export {
    fn from(text: String) -> Self {
        Self { text, beside: Vec::new() }
    }
}

/// All formats.
pub fn all() -> &'static [&'static dyn Exporter] {
    TABLE
}

/// The formats that can hold this, by their extensions: `.html .svg .md`.
pub fn extensions(kind: Kind) -> String {
    listed(kind, |exporter| format!(".{}", exporter.extensions()[0]))
}

/// The same for a help text: `.html (a page with charts) .svg .md`.
pub fn help(kind: Kind) -> String {
    listed(kind, |exporter| match (exporter.extensions()[0], exporter.about()) {
        (extension, "") => format!(".{extension}"),
        (extension, about) => format!(".{extension} ({about})"),
    })
}

/// The help of `-o` of a command whose results are of this kind, in lines that fit behind the option.
pub fn help_of_output(kind: Kind) -> String {
    let text = format!("Save the report: {}. Repeatable", extensions(kind));
    table::sentence("", &text, 70).join("\n")
}

fn listed(kind: Kind, name: impl Fn(&dyn Exporter) -> String) -> String {
    let fitting = TABLE.iter().filter(|exporter| exporter.fits(kind));
    fitting.map(|exporter| name(*exporter)).collect::<Vec<_>>().join(" ")
}

/// The format that a file's extension asks for.
///
/// # Errors
/// When the extension is missing or unknown.
pub fn of_path(path: &Path) -> Result<&'static dyn Exporter, FileError> {
    of_path_for(path, Kind::Run)
}

/// The same; what is offered instead can hold this.
fn of_path_for(path: &Path, kind: Kind) -> Result<&'static dyn Exporter, FileError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let known = extensions(kind);
    let Some(extension) = extension else {
        let problem = format!("no file extension: it selects the format, use one of {known}");
        return Err(FileError::new(path, problem));
    };
    if extension == "ndjson" {
        let problem = "a .ndjson file is written while one run lasts, by `ablaze load`";
        return Err(FileError::new(path, problem));
    }
    let asked = |exporter: &&&dyn Exporter| exporter.extensions().contains(&&*extension);
    TABLE.iter().find(asked).copied().ok_or_else(|| {
        let too = if kind == Kind::Run { "; `ablaze load` writes .ndjson, too" } else { "" };
        let problem = format!("unknown report format .{extension}: use one of {known}{too}");
        FileError::new(path, problem)
    })
}

/// The format that a file's extension asks for, if it can hold this and the file can be written, with
/// all that will lie beside it. Changes nothing.
///
/// # Errors
/// Why not, with the path and the fix.
pub fn checked(path: &Path, kind: Kind) -> Result<&'static dyn Exporter, FileError> {
    let exporter = of_path_for(path, kind)?;
    if !exporter.fits(kind) {
        return Err(FileError::new(path, does_not_fit(exporter, kind)));
    }
    file::check_writable(path)?;
    for extension in exporter.beside() {
        file::check_writable(&path.with_extension(extension))?;
    }
    Ok(exporter)
}

fn does_not_fit(exporter: &dyn Exporter, kind: Kind) -> String {
    let (extension, fitting) = (exporter.extensions()[0], extensions(kind));
    match kind {
        Kind::Run => format!("a .{extension} file cannot hold one run: use one of {fitting}"),
        Kind::Runs => format!(
            "this format holds one run; several runs make a page ({fitting}); to combine shards \
             of one run, use --merge"
        ),
        Kind::Parts if exporter.fits(Kind::Experiment) => {
            format!("a file with parts is several experiments: use {fitting}")
        }
        Kind::Experiment | Kind::Parts => {
            format!("a .{extension} file holds one run; {}", exporter.of_each_run())
        }
    }
}

/// What an exporter says to what it does not fit, which [`checked`] lets nobody ask for.
fn unfit() -> String {
    "the format cannot represent this, which is a bug in ablaze".to_owned()
}

#[cfg(test)]
mod foreign_tests;
#[cfg(test)]
mod tests;
