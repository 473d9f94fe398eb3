//! The files of `-o` for experiments and searches: whether they can be written is asked before the
//! first run, and each is replaced whole.

use std::path::{Path, PathBuf};

use ablaze_chart::Chart;
use ablaze_report::page::{Markdown, Page};
use ablaze_report::{Format, file};

use crate::outputs::{stem, written};
use crate::{Refusal, outlets};

/// What was asked for.
#[derive(Debug, Default)]
pub struct Files(Vec<(PathBuf, Format)>);

/// What an experiment or a search gives to be kept.
pub struct Contents {
    /// Its page, or why there is none.
    pub page: Result<Page, Refusal>,
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

    /// Writes every file that can be replaced as a whole, before anything is printed: nothing that becomes of
    /// standard output can take them then. What cannot be written is told, and does not keep the others
    /// from being written.
    pub fn keep_files(&self, contents: &Contents) {
        self.keep(contents, |path| !file::is_stream(path));
    }

    /// The same for FIFOs and the like, when all is printed: their reader can be waited for in vain.
    pub fn keep_streams(&self, contents: &Contents) {
        self.keep(contents, file::is_stream);
    }

    fn keep(&self, contents: &Contents, chosen: impl Fn(&Path) -> bool) {
        for (path, format) in self.0.iter().filter(|(path, _)| chosen(path)) {
            outlets::attempt(&path.display().to_string(), || contents.keep_in(path, *format));
        }
    }
}

impl Contents {
    /// Puts the page and its twin in Markdown into the folder of its results; as [`keep_page`].
    pub fn keep_page(&self, folder: &Path) -> bool {
        match &self.page {
            Ok(page) => keep_page(folder, page),
            Err(refusal) => {
                outlets::lost(refusal);
                false
            }
        }
    }

    fn keep_in(&self, path: &Path, format: Format) -> Result<(), Refusal> {
        match format {
            Format::Json => written(path, &self.json),
            Format::Csv => written(path, self.csv.as_deref().unwrap_or_default()),
            Format::Text | Format::Hlog => written(path, &self.text),
            Format::Html => written(path, &self.page()?.html()),
            Format::Svg => {
                written(path, &self.chart.as_ref().map(Chart::svg_file).unwrap_or_default())
            }
            Format::Markdown => {
                let Markdown { text, files } = self.page()?.markdown(&stem(path));
                for (name, contents) in files {
                    outlets::attempt(&name, || written(&path.with_file_name(&name), &contents));
                }
                written(path, &text)
            }
        }
    }

    fn page(&self) -> Result<&Page, Refusal> {
        self.page.as_ref().map_err(Clone::clone)
    }
}

/// Puts a page and its twin in Markdown into the folder of its results. Whether all of it is there; what is
/// not is told.
pub fn keep_page(folder: &Path, page: &Page) -> bool {
    outlets::attempt("the page", || {
        let markdown = page.markdown("BENCH");
        let mut files =
            vec![("index.html".to_owned(), page.html()), ("BENCH.md".to_owned(), markdown.text)];
        files.extend(markdown.files);
        let mut kept = Ok(());
        for (name, contents) in files {
            let this = file::write_atomically(&folder.join(name), contents.as_bytes())
                .map_err(|error| Refusal::machine(format!("the page is not kept: {error}")));
            kept = kept.and(this);
        }
        kept
    })
}
