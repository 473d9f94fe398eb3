//! The folder of a search: what was looked for, every stage as soon as it has ended, and why one
//! could not be measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ablaze_model::experiment::{Search, Searched, plain_rate};
use ablaze_model::spec::Blob;
use ablaze_model::{Assessed, Run};
use ablaze_report::system_error::reason;

use crate::experiment::document::{self, NamesFiles};
use crate::experiment::folder::{
    FAILED, RUNS, error, keep_run, kept_run, make_empty, new_numbered, read, write,
};
use crate::experiment::{FolderError, FormerWords};

/// What was looked for.
const SEARCH: &str = "search.json";

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
        let (folder, before) = Self::open(path, former)?;
        if before != *search {
            let another = || "holds the results of another search; use a new folder".to_owned();
            let why = document::changed_file(&before, search).unwrap_or_else(another);
            return Err(error(path, why));
        }
        Ok(folder)
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
        Ok((Self { path: path.to_owned(), failed }, search))
    }

    fn begin(path: PathBuf, search: &Search) -> Result<Self, FolderError> {
        let folder = Self { path, failed: BTreeMap::new() };
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
        self.path.join(RUNS).join(format!("{}.json", stem(number, asked_per_s)))
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
        if self.failed.remove(&stem(number, asked_per_s)).is_some() {
            write(&self.path.join(FAILED), &self.failed)?;
        }
        Ok(())
    }

    /// Notes why a stage could not be measured.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn note_failure(
        &mut self,
        number: usize,
        asked_per_s: f64,
        why: &str,
    ) -> Result<(), FolderError> {
        self.failed.insert(stem(number, asked_per_s), why.to_owned());
        write(&self.path.join(FAILED), &self.failed)
    }

    /// What is kept of a stage: its run, or why there is none. `None` when it was not run.
    ///
    /// # Errors
    /// When its file is damaged.
    pub fn stage(
        &self,
        number: usize,
        asked_per_s: f64,
    ) -> Result<Option<Result<Run, String>>, FolderError> {
        if let Some(run) = kept_run(&self.file(number, asked_per_s))? {
            return Ok(Some(Ok(run)));
        }
        Ok(self.failed.get(&stem(number, asked_per_s)).map(|why| Err(why.clone())))
    }

    /// The run of the stage that stands for the search on its page.
    ///
    /// # Errors
    /// When its file is damaged.
    pub fn shown_run(&self, searched: &Searched) -> Result<Option<Run>, FolderError> {
        let Some(at) = searched.shown_stage() else { return Ok(None) };
        Ok(self.stage(at + 1, searched.stages[at].asked_per_s)?.and_then(Result::ok))
    }
}

fn stem(number: usize, asked_per_s: f64) -> String {
    format!("{number:02}-{}", plain_rate(asked_per_s))
}
