//! What happens to a Run: it is kept in files, printed, and held against the conditions of
//! `--fail-if`. Everything about that which can be wrong is found out before the run; what fails
//! later is reported by [`outlets`] and keeps nothing else from being written.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use ablaze_model::plan::Plan;
use ablaze_model::{Assessed, LoadSpec, Run};
use ablaze_report::condition::{ConditionError, Conditions, Metric};
use ablaze_report::exporters::{self, Exported, Exporter, Kind};
use ablaze_report::text::{self, Style};
use ablaze_report::{file, json, junit, page};

use crate::carry_out::interrupted;
use crate::error::note;
use crate::exports::github;
use crate::report_options::ReportOptions;
use crate::terminal::colour_wanted;
use crate::{CommandError, outlets};

/// The files of `-o`, of whatever kind of results.
#[derive(Debug, Default)]
pub struct Files(Vec<(PathBuf, &'static dyn Exporter)>);

impl Files {
    /// Checks that each has a format that can hold results of this kind, and can be written.
    ///
    /// # Errors
    /// When one has none, or cannot.
    pub fn checked(paths: &[PathBuf], kind: Kind) -> Result<Self, CommandError> {
        let checked = |path: &PathBuf| {
            if path.as_os_str() == STDOUT {
                return Err(CommandError::usage(
                    "-o - prints a single run: for other results use --json",
                ));
            }
            exporters::checked(path, kind)
                .map(|exporter| (path.clone(), exporter))
                .map_err(|error| CommandError::usage(format!("--output {error}")))
        };
        paths.iter().map(checked).collect::<Result<_, _>>().map(Self)
    }

    /// Writes every file that can be replaced as a whole, before anything is printed: nothing that becomes of
    /// standard output can take them then. What cannot be written is told, and does not keep the others
    /// from being written. Gives the names of those that were.
    pub fn keep_files(&self, what: &Exported<'_>) -> Vec<String> {
        self.keep(what, |path| !file::is_stream(path))
    }

    /// The same for FIFOs, devices and standard streams, when all is printed: their reader can be waited for in
    /// vain.
    pub fn keep_streams(&self, what: &Exported<'_>) {
        self.keep(what, file::is_stream);
    }

    fn keep(&self, what: &Exported<'_>, chosen: impl Fn(&Path) -> bool) -> Vec<String> {
        let chosen = self.0.iter().filter(|(path, _)| chosen(path));
        chosen
            .map(|(path, exporter)| (path.display().to_string(), path, *exporter))
            .filter(|(name, path, exporter)| {
                let stem = self.stem_beside(path, *exporter, what);
                outlets::attempt(name, || keep_in(path, *exporter, what, &stem))
            })
            .map(|(name, ..)| name)
            .collect()
    }

    /// What the names of the files beside one begin with: its whole name, where another file that was asked for has the
    /// name that the first of them would have (`-o x.md -o x.svg`). Of one run, both are the same chart.
    fn stem_beside(&self, path: &Path, exporter: &dyn Exporter, what: &Exported<'_>) -> String {
        let is_asked_for = |extension: &&str| {
            let name = path.with_extension(extension);
            self.0.iter().any(|(other, _)| *other == name)
        };
        let one_run = matches!(what, Exported::Run { .. });
        match !one_run && exporter.beside().iter().any(is_asked_for) {
            true => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            false => stem(path),
        }
    }
}

fn keep_in(
    path: &Path,
    exporter: &dyn Exporter,
    what: &Exported<'_>,
    stem: &str,
) -> Result<(), CommandError> {
    let export = exporter.export(what, stem).map_err(CommandError::machine)?;
    for (name, contents) in export.beside {
        outlets::attempt(&name, || written(&path.with_file_name(&name), &contents));
    }
    written(path, &export.text)
}

/// What was asked to be done with a Run.
#[derive(Debug)]
pub struct Outputs {
    files: Files,
    conditions: Conditions,
    json: bool,
    /// The format that standard output gets instead of the report.
    printed: Option<&'static dyn Exporter>,
    explain: bool,
}

/// The name by which `-o` means standard output.
const STDOUT: &str = "-";

/// The format of `-o -`, if that was asked for.
///
/// # Errors
/// When it has no format, one that there is not, or another has standard output.
fn printed(
    paths: &[PathBuf],
    format: Option<&str>,
    json: bool,
) -> Result<Option<&'static dyn Exporter>, CommandError> {
    let refused = |problem: String| Err(CommandError::usage(problem));
    let known = || exporters::extensions(Kind::Run).replace('.', "");
    match (paths.iter().filter(|path| path.as_os_str() == STDOUT).count(), format) {
        (0, None) => Ok(None),
        (0, Some(_)) => refused(
            "--format is the format of standard output and needs `-o -`; that of a file follows \
             from its extension"
                .to_owned(),
        ),
        (_, None) => refused(format!("-o - needs a format: --format, one of {}", known())),
        (2.., _) => refused("-o - is there more than once".to_owned()),
        (_, Some(_)) if json => {
            refused("--json and -o - both print to standard output: use one of them".to_owned())
        }
        (_, Some(format)) => match exporters::of_path(Path::new(&format!("run.{format}"))) {
            Ok(exporter) if exporter.beside().is_empty() => Ok(Some(exporter)),
            Ok(_) => refused(format!(
                "--format {format} has files beside it: name one, as in -o run.{format}"
            )),
            Err(_) => refused(format!("unknown --format '{format}': use one of {}", known())),
        },
    }
}

impl Outputs {
    /// Checks that every file can be written and every condition judged.
    ///
    /// # Errors
    /// When a file has no known format or cannot be written, or a condition cannot be read.
    pub fn checked(asked: &ReportOptions) -> Result<Self, CommandError> {
        Self::checked_without(asked, |_| false)
    }

    /// As [`Outputs::checked`], without the files that `others` write.
    ///
    /// # Errors
    /// As there.
    pub fn checked_without(
        asked: &ReportOptions,
        others: fn(&Path) -> bool,
    ) -> Result<Self, CommandError> {
        let printed = printed(&asked.outputs, asked.format.as_deref(), asked.json)?;
        let is_own = |path: &&PathBuf| path.as_os_str() != STDOUT && !others(path);
        let paths: Vec<PathBuf> = asked.outputs.iter().filter(is_own).cloned().collect();
        let files = Files::checked(&paths, Kind::Run)?;
        if asked.profile.is_some() {
            for path in &paths {
                let graph = format!("{}-flame-target.svg", stem(path));
                file::check_writable(&path.with_file_name(graph))
                    .map_err(|error| CommandError::usage(format!("--output {error}")))?;
            }
        }
        let fail_if = asked.fail_if.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>();
        let slo = asked.slo.iter().flat_map(|texts| texts.split(','));
        let slo = slo.map(str::parse).collect::<Result<Vec<_>, ConditionError>>();
        Ok(Self {
            files,
            conditions: Conditions {
                fail_if: fail_if.map_err(|error: ConditionError| {
                    CommandError::usage(format!("--fail-if {error}"))
                })?,
                slo: slo.map_err(|error| CommandError::usage(format!("--slo {error}")))?,
                strict: asked.strict,
            },
            json: asked.json,
            printed,
            explain: asked.explain,
        })
    }

    /// Whether every condition can be judged on this load.
    ///
    /// # Errors
    /// When one needs a schedule and there is none.
    pub fn check(&self, spec: &LoadSpec) -> Result<(), CommandError> {
        let lag =
            self.conditions.fail_if.iter().find(|condition| condition.metric() == Metric::Lag);
        match lag {
            Some(condition) if !spec.shape.is_open() => Err(CommandError::usage(format!(
                "--fail-if {}: only requests sent on a schedule have a lag: use --rate, too",
                condition.text()
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a run of this plan has what conditions are put on.
    ///
    /// # Errors
    /// When there is no such group or journey: the line has the names that there are.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), CommandError> {
        let fail_if = self.conditions.fail_if.iter().map(|condition| ("--fail-if", condition));
        let slo = self.conditions.slo.iter().map(|condition| ("--slo", condition));
        fail_if.chain(slo).try_for_each(|(option, condition)| {
            let checked = condition.check(&plan.requests.groups, plan.journey.as_ref());
            checked.map_err(|error| CommandError::usage(format!("{option} {error}")))
        })
    }

    /// Keeps and prints a run. Files come first, because nothing that becomes of standard output can
    /// take them then; FIFOs and the like last, because their reader can be waited for in vain.
    pub fn hand_over(&self, assessed: &Assessed) {
        let kept = self.keep_files(assessed);
        self.print(assessed, &kept);
        self.keep_streams(assessed);
    }

    /// Tells the job on GitHub Actions that this is a step of, if it is.
    pub fn tell_github(&self, assessed: &Assessed) {
        let suite = junit::of_run(assessed, &self.conditions);
        github::tell(&[suite], || Ok(page::markdown_of_run(assessed, "report").text));
    }

    /// Prints the native report, or JSON if that was asked for. `kept` names the files that have it.
    pub fn print(&self, assessed: &Assessed, kept: &[String]) {
        outlets::attempt("the report on standard output", || {
            let report = match (self.json, self.printed) {
                (true, _) => json::write(assessed),
                (_, Some(exporter)) => {
                    let exported = self.exported(assessed);
                    exporter.export(&exported, "run").map_err(CommandError::machine)?.text
                }
                (_, None) => text::write(assessed, &Style { explain: self.explain, ..style() }),
            };
            match style().colour {
                true => outlets::print_coloured_report(&report, kept),
                false => outlets::print_report(&report, kept),
            }
            Ok(())
        });
    }

    /// Writes every file that can be replaced as a whole, and the graphs beside the first output; the names
    /// of those that were written.
    pub fn keep_files(&self, assessed: &Assessed) -> Vec<String> {
        let kept = self.files.keep_files(&self.exported(assessed));
        outlets::attempt("the flame graphs", || {
            self.keep_graphs(&assessed.run);
            Ok(())
        });
        kept
    }

    /// Writes to every FIFO, device and standard stream.
    pub fn keep_streams(&self, assessed: &Assessed) {
        self.files.keep_streams(&self.exported(assessed));
    }

    fn exported<'a>(&'a self, assessed: &'a Assessed) -> Exported<'a> {
        Exported::Run { assessed, explain: self.explain, conditions: &self.conditions }
    }

    /// Flame graphs, beside the first file: `run-flame-target.svg` beside `run.json`.
    fn keep_graphs(&self, run: &Run) {
        let Some((path, _)) = self.files.0.first() else { return };
        for (of, svg) in page::profile::files(run) {
            let name = format!("{}-flame-{of}.svg", stem(path));
            outlets::attempt(&name, || written(&path.with_file_name(&name), &svg));
        }
    }

    /// Whether a condition of `--fail-if` is met, or one of `--slo` is not; each of them gets a line on stderr.
    pub fn fails(&self, run: &Run) -> bool {
        let mut fails = false;
        for judged in self.conditions.judged(run) {
            let Some(why) = judged.failure else { continue };
            note(&format!("{} {why}", judged.option));
            fails = true;
        }
        fails
    }
}

/// Replaces a file by a report.
///
/// # Errors
/// When it cannot be written.
fn written(path: &Path, contents: &str) -> Result<(), CommandError> {
    file::write_report_unless(path, contents, &interrupted)
        .map_err(|error| CommandError::machine(format!("cannot save the report: {error}")))
}

/// What the names of the files beside a page begin with.
fn stem(path: &Path) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_a_page_does_not_take_the_name_of_another_file() {
        let files = |names: &[&str]| {
            let of = |name: &&str| {
                let path = PathBuf::from(*name);
                let exporter = exporters::of_path(&path).expect("a format");
                (path, exporter)
            };
            Files(names.iter().map(of).collect())
        };
        let page = page::Page::new("several runs");
        let stem = |files: &Files| {
            let (path, exporter) = &files.0[0];
            files.stem_beside(path, *exporter, &Exported::Runs(&page))
        };
        assert_eq!(stem(&files(&["o/x.md", "o/x.svg"])), "x.md");
        assert_eq!(stem(&files(&["o/x.md", "o/y.svg", "x.svg"])), "x");
        assert_eq!(stem(&files(&["o/x.svg", "o/x.md"])), "x");
    }
}
