//! Where `s` saves the figures so far: as text, and as a page in each of the formats of `-o` that hold a page.

use std::path::{Path, PathBuf};

use ablaze_report::exporters::{self, Exported, Exporter, Kind};
use ablaze_report::file::write_report;
use ablaze_report::page::Page;

/// The files of `s`.
#[derive(Debug)]
pub struct Saving {
    text: PathBuf,
    pages: Vec<(PathBuf, &'static dyn Exporter)>,
}

impl Saving {
    /// Beside the files of `-o`: `run-so-far.txt` and `run-so-far.html` beside `run.json`; also `run-so-far.md` where `-o`
    /// has a `run.md`. Without any, in the working directory.
    pub fn beside(outputs: &[PathBuf]) -> Self {
        let files = || outputs.iter().filter(|path| path.as_os_str() != "-");
        let first = files().next().map_or_else(|| PathBuf::from("ablaze"), PathBuf::clone);
        let mut pages: Vec<(PathBuf, &'static dyn Exporter)> = files()
            .filter_map(|path| Some((so_far(path, None), exporters::of_path(path).ok()?)))
            .filter(|(_, exporter)| exporter.fits(Kind::Runs))
            .collect();
        let page = so_far(&first, Some("html"));
        if let Ok(html) = exporters::of_path(&page)
            && !pages.iter().any(|(_, exporter)| exporter.extensions() == html.extensions())
        {
            pages.insert(0, (page, html));
        }
        Self { text: so_far(&first, Some("txt")), pages }
    }

    /// Replaces the files; what came of it, in a line.
    pub fn save(&self, text: &str, page: &Page) -> String {
        let mut saved = Vec::new();
        match self.write(text, page, &mut saved) {
            Ok(()) => format!("saved {}", saved.join(", ")),
            Err(problem) => problem,
        }
    }

    fn write(&self, text: &str, page: &Page, saved: &mut Vec<String>) -> Result<(), String> {
        let mut write = |path: &Path, contents: &str| {
            write_report(path, contents).map_err(|error| error.to_string())?;
            saved.push(path.display().to_string());
            Ok::<(), String>(())
        };
        write(&self.text, text)?;
        for (path, exporter) in &self.pages {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let export = exporter.export(&Exported::Runs(page), &stem)?;
            write(path, &export.text)?;
            for (name, contents) in &export.beside {
                write(&path.with_file_name(name), contents)?;
            }
        }
        Ok(())
    }
}

/// `run-so-far.html` beside `run.html`, or with another extension.
fn so_far(path: &Path, extension: Option<&str>) -> PathBuf {
    let part =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let extension = extension.map_or_else(|| part(path.extension()), str::to_owned);
    path.with_file_name(format!("{}-so-far.{extension}", part(path.file_stem())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(outputs: &[&str]) -> Vec<String> {
        let outputs: Vec<PathBuf> = outputs.iter().map(PathBuf::from).collect();
        let Saving { text, pages } = Saving::beside(&outputs);
        let pages = pages.iter().map(|(path, _)| path);
        [&text].into_iter().chain(pages).map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn text_and_a_page_are_saved_beside_the_files_of_the_run() {
        assert_eq!(names(&[]), ["ablaze-so-far.txt", "ablaze-so-far.html"]);
        assert_eq!(names(&["-"]), ["ablaze-so-far.txt", "ablaze-so-far.html"]);
        assert_eq!(names(&["out/run.json"]), ["out/run-so-far.txt", "out/run-so-far.html"]);
        // A run that goes on has no verdict: a format that holds a judged run is not written.
        assert_eq!(
            names(&["a.md", "b.html", "c.csv"]),
            ["a-so-far.txt", "a-so-far.md", "b-so-far.html"]
        );
    }
}
