//! The files of `-o` for experiments and searches: whether they can be written is asked before the
//! first run, and each is replaced whole.

use std::path::{Path, PathBuf};

use ablaze_chart::Chart;
use ablaze_report::page::{Markdown, Page};
use ablaze_report::{Format, file};

use crate::Refusal;

/// What was asked for.
#[derive(Debug, Default)]
pub struct Files(Vec<(PathBuf, Format)>);

/// What an experiment or a search gives to be kept.
pub struct Contents {
    /// Its page.
    pub page: Page,
    /// Its one chart; what is several experiments has several.
    pub chart: Option<Chart>,
    /// Its figures as JSON.
    pub json: String,
    /// Its runs as CSV; none of several experiments.
    pub csv: Option<String>,
    /// Its report in words.
    pub text: String,
}

impl Files {
    /// Checks that every file of an experiment can be written.
    ///
    /// # Errors
    /// When one has no format that fits, or cannot be written.
    pub fn checked(paths: &[PathBuf]) -> Result<Self, Refusal> {
        Self::checked_among(paths, &[])
    }

    /// The same for several experiments in one, which have neither one chart nor one table.
    ///
    /// # Errors
    /// As above.
    pub fn checked_of_parts(paths: &[PathBuf]) -> Result<Self, Refusal> {
        Self::checked_among(paths, &[Format::Svg, Format::Csv])
    }

    fn checked_among(paths: &[PathBuf], without: &[Format]) -> Result<Self, Refusal> {
        let checked = |path: &PathBuf| {
            let usage = |error: file::FileError| Refusal::usage(format!("--output {error}"));
            let format = Format::of_path(path).map_err(usage)?;
            if format == Format::Hlog {
                return Err(Refusal::usage(format!(
                    "--output {}: a .hlog is of one run; those of the runs lie beside them in the \
                     results' folder",
                    path.display()
                )));
            }
            if without.contains(&format) {
                return Err(Refusal::usage(format!(
                    "--output {}: a file with parts is several experiments: use .html .md .json .txt",
                    path.display()
                )));
            }
            file::check_writable(path).map_err(usage)?;
            if format == Format::Markdown {
                file::check_writable(&path.with_extension("svg")).map_err(usage)?;
            }
            Ok((path.clone(), format))
        };
        paths.iter().map(checked).collect::<Result<_, _>>().map(Self)
    }

    /// Writes every file; one that fails does not keep the others from being written.
    ///
    /// # Errors
    /// The first failure.
    pub fn keep(&self, contents: &Contents) -> Result<(), Refusal> {
        let mut first = Ok(());
        for (path, format) in &self.0 {
            first = first.and(contents.keep_in(path, *format));
        }
        first
    }
}

impl Contents {
    fn keep_in(&self, path: &Path, format: Format) -> Result<(), Refusal> {
        match format {
            Format::Json => written(path, &self.json),
            Format::Csv => written(path, self.csv.as_deref().unwrap_or_default()),
            Format::Text | Format::Hlog => written(path, &self.text),
            Format::Html => written(path, &self.page.html()),
            Format::Svg => {
                written(path, &self.chart.as_ref().map(Chart::svg_file).unwrap_or_default())
            }
            Format::Markdown => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                let Markdown { text, files } = self.page.markdown(&stem.unwrap_or_default());
                for (name, contents) in files {
                    written(&path.with_file_name(name), &contents)?;
                }
                written(path, &text)
            }
        }
    }
}

/// Puts a page and its twin in Markdown into the folder of its results.
///
/// # Errors
/// When they cannot be written.
pub fn keep_page(folder: &Path, page: &Page) -> Result<(), Refusal> {
    let markdown = page.markdown("BENCH");
    let mut files =
        vec![("index.html".to_owned(), page.html()), ("BENCH.md".to_owned(), markdown.text)];
    files.extend(markdown.files);
    for (name, contents) in files {
        file::write_atomically(&folder.join(name), contents.as_bytes())
            .map_err(|error| Refusal::machine(format!("the page is not kept: {error}")))?;
    }
    Ok(())
}

fn written(path: &Path, contents: &str) -> Result<(), Refusal> {
    file::write_atomically(path, contents.as_bytes())
        .map_err(|error| Refusal::machine(format!("the report is not kept: {error}")))
}
