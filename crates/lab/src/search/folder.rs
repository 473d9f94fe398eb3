//! The folder of a search: what was looked for, every stage as soon as it has ended, and why one
//! could not be measured.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use ablaze_model::experiment::{Search, Searched, plain_rate};
use ablaze_model::spec::Blob;
use ablaze_model::{Assessed, Run};
use ablaze_report::system_error::reason;

use crate::experiment::document::{self, NamesFiles};
use crate::experiment::folder::{
    FAILED, RUNS, error, keep_run, kept_run, make_empty, new_numbered, read, taken, write,
};
use crate::experiment::{FolderError, FormerWords};

/// What was looked for.
const SEARCH: &str = "search.json";

/// Why a search could not go on.
const ENDED: &str = "ended.json";

impl NamesFiles for Search {
    fn files(&self) -> Vec<&Blob> {
        self.load.blobs().into_iter().chain(self.target.source.blobs()).collect()
    }

    fn files_mut(&mut self) -> Vec<&mut Blob> {
        self.load.blobs_mut().into_iter().chain(self.target.source.blobs_mut()).collect()
    }
}

/// A folder of stages.
#[derive(Debug)]
pub struct StageFolder {
    path: PathBuf,
    failed: BTreeMap<String, String>,
    ended: Option<String>,
    unsaved: Option<String>,
    /// Held while stages are written into it.
    _lock: Option<File>,
}

/// A stage of which there is no whole run.
#[derive(Debug, Clone)]
pub struct Unmeasured {
    /// Why there is none.
    pub why: String,
    /// What came until the target exited, if it did.
    pub until_exit: Option<Box<Run>>,
}

impl StageFolder {
    /// Makes the first of `stem-1`, `stem-2`, … that does not exist yet, with the search in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn numbered(stem: &Path, search: &Search) -> Result<Self, FolderError> {
        Self::begin(new_numbered(stem)?, search)
    }

    /// Makes this folder, or goes on with the one that is there: then the search has to be the
    /// same.
    ///
    /// # Errors
    /// When it cannot be written, or holds something else.
    pub fn at(
        path: &Path,
        search: &Search,
        former: &mut dyn FormerWords,
    ) -> Result<Self, FolderError> {
        if !Self::is_one(path) {
            if crate::experiment::Folder::is_one(path) {
                return Err(error(path, "holds the results of an experiment; use a new folder"));
            }
            make_empty(path, "--folder")?;
            return Self::begin(path.to_owned(), search);
        }
        let lock = taken(path)?;
        let (folder, before) = Self::open(path, former)?;
        if before != *search {
            let another = || "holds the results of another search; use a new folder".to_owned();
            let why = document::changed_file(&before, search).unwrap_or_else(another);
            return Err(error(path, why));
        }
        Ok(Self { _lock: lock, ..folder })
    }

    /// Whether this folder is one of a search.
    pub fn is_one(path: &Path) -> bool {
        path.join(SEARCH).exists()
    }

    /// Opens a folder of stages; `former` reads what format 1 kept as words.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn open(path: &Path, former: &mut dyn FormerWords) -> Result<(Self, Search), FolderError> {
        let search = document::open(&path.join(SEARCH), former)?
            .ok_or_else(|| error(path, format!("no results here: {SEARCH} is missing")))?;
        let failed = read(&path.join(FAILED))?.unwrap_or_default();
        let ended = read(&path.join(ENDED))?;
        Ok((Self { path: path.to_owned(), failed, ended, unsaved: None, _lock: None }, search))
    }

    fn begin(path: PathBuf, search: &Search) -> Result<Self, FolderError> {
        let lock = taken(&path)?;
        let folder =
            Self { path, failed: BTreeMap::new(), ended: None, unsaved: None, _lock: lock };
        let runs = folder.path.join(RUNS);
        std::fs::create_dir_all(&runs).map_err(|failure| error(&runs, reason(&failure)))?;
        document::save(&folder.path.join(SEARCH), search)?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a stage: the `number`th, from 1, at this rate.
    pub fn file(&self, number: usize, asked_per_s: f64) -> PathBuf {
        self.path.join(RUNS).join(run_name(number, asked_per_s))
    }

    /// Keeps a stage.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(
        &mut self,
        number: usize,
        asked_per_s: f64,
        run: &Assessed,
    ) -> Result<(), FolderError> {
        keep_run(&self.file(number, asked_per_s), run)?;
        self.goes_on();
        let partial = self.partial(number, asked_per_s);
        for of_before in [partial.with_extension("hlog"), partial] {
            // Where the target exited before. That there is none is the rule.
            let _ = std::fs::remove_file(of_before);
        }
        if self.failed.remove(&stem(number, asked_per_s)).is_some() {
            write(&self.path.join(FAILED), &self.failed)?;
        }
        Ok(())
    }

    /// Notes why a stage could not be measured, and keeps what came until the target exited.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn note_failure(
        &mut self,
        number: usize,
        asked_per_s: f64,
        (why, until_exit): (&str, Option<&Assessed>),
    ) -> Result<(), FolderError> {
        if let Some(run) = until_exit {
            keep_run(&self.partial(number, asked_per_s), run)?;
        }
        self.goes_on();
        self.failed.insert(stem(number, asked_per_s), why.to_owned());
        write(&self.path.join(FAILED), &self.failed)
    }

    fn partial(&self, number: usize, asked_per_s: f64) -> PathBuf {
        self.path.join(RUNS).join(until_exit_name(number, asked_per_s))
    }

    /// Notes why the search could not go on.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(super) fn note_end(&mut self, why: &str) -> Result<(), FolderError> {
        self.ended = Some(why.to_owned());
        write(&self.path.join(ENDED), &self.ended)
    }

    /// Why the search could not go on behind its last stage.
    pub(super) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// There is a stage behind its end.
    fn goes_on(&mut self) {
        if self.ended.take().is_some() {
            let _ = std::fs::remove_file(self.path.join(ENDED));
        }
    }

    /// What could not be kept in it, and why: that stage then is nowhere else than in what was searched.
    pub fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// Remembers that.
    pub(super) fn lacks(&mut self, what: String) {
        self.unsaved = Some(what);
    }

    /// Whether nothing is kept of a later stage.
    pub(super) fn is_last(&self, number: usize) -> bool {
        let number_of = |name: &str| name.split('-').next().and_then(|digits| digits.parse().ok());
        let entries = std::fs::read_dir(self.path.join(RUNS)).into_iter().flatten().flatten();
        let mut numbers =
            entries.filter_map(|entry| number_of(&entry.file_name().to_string_lossy()));
        let later = |other: usize| other > number;
        !numbers.any(later) && !self.failed.keys().filter_map(|stem| number_of(stem)).any(later)
    }

    /// What is kept of a stage: its run, or why there is none. `None` when it was not run.
    ///
    /// # Errors
    /// When its file is damaged.
    pub fn stage(
        &self,
        number: usize,
        asked_per_s: f64,
    ) -> Result<Option<Result<Run, Unmeasured>>, FolderError> {
        if let Some(run) = kept_run(&self.file(number, asked_per_s))? {
            return Ok(Some(Ok(run)));
        }
        let Some(why) = self.failed.get(&stem(number, asked_per_s)) else { return Ok(None) };
        let until_exit = kept_run(&self.partial(number, asked_per_s))?.map(Box::new);
        Ok(Some(Err(Unmeasured { why: why.clone(), until_exit })))
    }

    /// The run of the stage that stands for the search on its page.
    ///
    /// # Errors
    /// When its file is damaged.
    pub fn shown_run(&self, searched: &Searched) -> Result<Option<Run>, FolderError> {
        let Some(at) = searched.shown_stage() else { return Ok(None) };
        let kept = self.stage(at + 1, searched.stages[at].asked_per_s)?;
        Ok(kept
            .and_then(|kept| kept.or_else(|none| none.until_exit.map(|run| *run).ok_or(())).ok()))
    }
}

/// The name of the file of a stage.
pub(super) fn run_name(number: usize, asked_per_s: f64) -> String {
    format!("{}.json", stem(number, asked_per_s))
}

/// The name of the file with what came until the target exited.
pub(super) fn until_exit_name(number: usize, asked_per_s: f64) -> String {
    format!("{}.until-exit.json", stem(number, asked_per_s))
}

fn stem(number: usize, asked_per_s: f64) -> String {
    format!("{number:02}-{}", plain_rate(asked_per_s))
}

#[cfg(test)]
mod tests {
    use ablaze_testing::Scratch;
    use ablaze_testing::experiments::search;

    use super::*;
    use crate::experiment::document::Former;

    #[test]
    fn a_folder_with_other_files_is_refused_and_left_as_it_is() {
        let scratch = Scratch::new("others");
        std::fs::write(scratch.join("index.html"), "keep").unwrap();
        let refused =
            StageFolder::at(scratch.path(), &search("p99<20ms"), &mut Former).unwrap_err();
        assert!(refused.to_string().contains("holds other files (index.html)"), "{refused}");
        assert!(!scratch.join("search.json").exists());
    }
}
