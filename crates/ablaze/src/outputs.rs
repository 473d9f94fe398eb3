//! What happens to a Run: it is kept in files, printed, and held against the conditions of
//! `--fail-if`. Everything about that which can be wrong is found out before the run; what goes wrong
//! all the same is told by [`outlets`], and keeps nothing else from being written.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use ablaze_model::Run;
use ablaze_report::condition::{Condition, Outcome};
use ablaze_report::text::{self, Style};
use ablaze_report::{Format, csv, file, hlog, json, page};

use crate::native::ReportOptions;
use crate::refusal::note;
use crate::{Refusal, outlets};

/// What was asked to be done with a Run.
#[derive(Debug)]
pub struct Outputs {
    files: Vec<(PathBuf, Format)>,
    conditions: Vec<Condition>,
    json: bool,
    explain: bool,
}

impl Outputs {
    /// Checks that every file can be written and every condition judged.
    ///
    /// # Errors
    /// When a file has no known format or cannot be written, or a condition cannot be read.
    pub fn checked(asked: &ReportOptions) -> Result<Self, Refusal> {
        let checked = |path: &PathBuf| {
            let format = Format::of_path(path)?;
            file::check_writable(path)?;
            if format == Format::Markdown {
                file::check_writable(&path.with_extension("svg"))?;
            }
            if asked.profile.is_some() {
                let graph = format!("{}-flame-target.svg", stem(path));
                file::check_writable(&path.with_file_name(graph))?;
            }
            Ok::<_, file::FileError>((path.clone(), format))
        };
        let files = asked.outputs.iter().map(checked).collect::<Result<Vec<_>, _>>();
        let conditions =
            asked.fail_if.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>();
        Ok(Self {
            files: files.map_err(|error| Refusal::usage(format!("--output {error}")))?,
            conditions: conditions.map_err(|error: ablaze_report::condition::ConditionError| {
                Refusal::usage(format!("--fail-if {error}"))
            })?,
            json: asked.json,
            explain: asked.explain,
        })
    }

    /// Keeps and prints a run. Files come first, because nothing that becomes of standard output can
    /// take them then; FIFOs and the like last, because their reader can be waited for in vain.
    pub fn hand_over(&self, run: &Run) {
        let kept = self.keep_files(run);
        self.print(run, &kept);
        self.keep_streams(run);
    }

    /// Prints the native report, or JSON if that was asked for. `kept` names the files that have it.
    pub fn print(&self, run: &Run, kept: &[String]) {
        outlets::attempt("the report on standard output", || {
            let report = match self.json {
                true => json::write(run),
                false => text::write(run, &Style { explain: self.explain, ..style() }),
            };
            outlets::print_report(&report, kept);
            Ok(())
        });
    }

    /// Writes every file that can be replaced as a whole, and the graphs beside the first output; the names
    /// of those that were written.
    pub fn keep_files(&self, run: &Run) -> Vec<String> {
        let kept = self.keep(run, |path| !file::is_stream(path));
        outlets::attempt("the flame graphs", || {
            self.keep_graphs(run);
            Ok(())
        });
        kept
    }

    /// Writes to every FIFO, device and standard stream.
    pub fn keep_streams(&self, run: &Run) {
        self.keep(run, file::is_stream);
    }

    fn keep(&self, run: &Run, chosen: impl Fn(&Path) -> bool) -> Vec<String> {
        let chosen = self.files.iter().filter(|(path, _)| chosen(path));
        chosen
            .map(|(path, format)| (path.display().to_string(), path, *format))
            .filter(|(name, path, format)| {
                outlets::attempt(name, || self.keep_in(run, path, *format))
            })
            .map(|(name, ..)| name)
            .collect()
    }

    /// Flame graphs, beside the first file: `run-flame-target.svg` beside `run.json`.
    fn keep_graphs(&self, run: &Run) {
        let Some((path, _)) = self.files.first() else { return };
        for (of, svg) in page::profile::files(run) {
            let name = format!("{}-flame-{of}.svg", stem(path));
            outlets::attempt(&name, || written(&path.with_file_name(&name), &svg));
        }
    }

    fn keep_in(&self, run: &Run, path: &Path, format: Format) -> Result<(), Refusal> {
        let text = match format {
            Format::Json => json::write(run),
            Format::Csv => csv::write(run),
            Format::Text => text::write(run, &Style { explain: self.explain, ..Style::default() }),
            Format::Hlog => hlog::write(run),
            Format::Html => page::of_run(run).html(),
            Format::Svg => page::charts::main(run).svg_file(),
            Format::Markdown => {
                let page::Markdown { text, files } = page::markdown_of_run(run, &stem(path));
                for (name, contents) in files {
                    outlets::attempt(&name, || written(&path.with_file_name(&name), &contents));
                }
                text
            }
        };
        written(path, &text)
    }

    /// Whether a condition of `--fail-if` is met; each one that is gets a line on stderr.
    pub fn fails(&self, run: &Run) -> bool {
        let mut fails = false;
        for condition in &self.conditions {
            match condition.judge(run) {
                Outcome::NotMet => {}
                Outcome::Met(text) | Outcome::Unknown(text) => {
                    note(&format!("--fail-if {text}"));
                    fails = true;
                }
            }
        }
        fails
    }
}

/// Replaces a file by a report.
///
/// # Errors
/// When it cannot be written.
pub fn written(path: &Path, contents: &str) -> Result<(), Refusal> {
    file::write_atomically(path, contents.as_bytes())
        .map_err(|error| Refusal::machine(format!("the report is not kept: {error}")))
}

/// What the names of the files beside a page begin with.
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// How stdout wants its report dressed.
fn style() -> Style {
    if !io::stdout().is_terminal() {
        return Style::default();
    }
    let width = ablaze_sys::terminal::width(io::stdout()).unwrap_or(Style::default().width);
    Style { colour: colour_wanted(), width, explain: false }
}

/// Whether terminals may be sent colours (no-color.org: not if NO_COLOR is set and not empty).
pub fn colour_wanted() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    !dumb && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
