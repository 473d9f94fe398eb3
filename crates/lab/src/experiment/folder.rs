//! The folder of an experiment's results: what was to be done, every run as soon as it has ended,
//! and what failed. Everything else can be made from it again, so that an experiment which was
//! interrupted goes on where it stopped.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use ablaze_model::experiment::{Axis, Counted, Experiment, Figures, Outcome, Results, Tool, Trial};
use ablaze_model::{Assessed, Run};
use ablaze_report::experiment::pooled::{Pooled, shown_loads};
use ablaze_report::file;
use ablaze_report::system_error::reason;
use ablaze_verdict::live;

use super::document::{self, FormerWords};
pub(crate) use super::files::{is_of_another, keep_run, kept_run, read, taken, write};
pub use super::files::{keep_printed, make_empty, new_numbered};
use super::{PrintedRun, figures};

/// What was to be done.
pub(crate) const EXPERIMENT: &str = "experiment.json";
/// Trials that failed.
pub(crate) const FAILED: &str = "failed.json";
/// The folder of the runs in it.
pub(crate) const RUNS: &str = "runs";

/// The folder of what built-in servers counted during the runs.
const COUNTERS: &str = "counters";

/// A folder of results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    failed: BTreeMap<String, String>,
    unsaved: Option<String>,
    /// Held while runs are written into it.
    _lock: Option<File>,
}

/// What is wrong with a folder of results.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct FolderError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

pub(crate) fn error(path: &Path, why: impl ToString) -> FolderError {
    FolderError { path: path.to_owned(), why: why.to_string() }
}

/// That a folder is not one of an experiment; where its parts are, if they are below it.
fn missing(path: &Path) -> String {
    let below = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_part = |entry: &std::fs::DirEntry| Folder::is_one(&entry.path());
    let mut parts: Vec<String> =
        below.filter(is_part).map(|entry| format!("`{}`", entry.path().display())).collect();
    // The page of them all is beside the parts of a file; elsewhere they have nothing to do with each other.
    parts.retain(|_| path.join("index.html").exists());
    parts.sort_unstable();
    let own = if parts.is_empty() { "" } else { "; each part has its own: " };
    format!("no results here: {EXPERIMENT} is missing{own}{}", parts.join(", "))
}

impl Folder {
    /// Makes the first of `stem-1`, `stem-2`, … that does not exist yet, with the experiment in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn numbered(stem: &Path, experiment: &Experiment) -> Result<Self, FolderError> {
        Self::begin(new_numbered(stem)?, experiment)
    }

    /// Makes this folder, or goes on with the one that is there: then the experiment has to be the
    /// same.
    ///
    /// # Errors
    /// When it cannot be written, or holds another experiment or anything else.
    pub fn at(
        path: &Path,
        experiment: &Experiment,
        former: &mut dyn FormerWords,
    ) -> Result<Self, FolderError> {
        if !Self::is_one(path) {
            if crate::search::StageFolder::is_one(path) {
                return Err(error(path, "holds the results of a search; use a new folder"));
            }
            make_empty(path, "--folder")?;
            return Self::begin(path.to_owned(), experiment);
        }
        let lock = taken(path)?;
        let (folder, before) = Self::open(path, former)?;
        if before != *experiment {
            let another = || "holds the results of another experiment; use a new folder".to_owned();
            let why = document::changed_file(&before, experiment).unwrap_or_else(another);
            return Err(error(path, why));
        }
        Ok(Self { _lock: lock, ..folder })
    }

    /// Whether this folder is one of an experiment.
    pub fn is_one(path: &Path) -> bool {
        path.join(EXPERIMENT).exists()
    }

    /// Opens a folder of results; `former` reads what format 1 kept as words.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn open(
        path: &Path,
        former: &mut dyn FormerWords,
    ) -> Result<(Self, Experiment), FolderError> {
        let mut experiment: Experiment = document::open(&path.join(EXPERIMENT), former)?
            .ok_or_else(|| error(path, missing(path)))?;
        if experiment.axes.is_empty() {
            // Older versions kept labels alone.
            experiment.axes.extend(Axis::of_labels(&experiment.loads));
        }
        let failed = read(&path.join(FAILED))?.unwrap_or_default();
        Ok((Self { path: path.to_owned(), failed, unsaved: None, _lock: None }, experiment))
    }

    fn begin(path: PathBuf, experiment: &Experiment) -> Result<Self, FolderError> {
        let lock = taken(&path)?;
        let folder = Self { path, failed: BTreeMap::new(), unsaved: None, _lock: lock };
        let runs = folder.path.join(RUNS);
        std::fs::create_dir_all(&runs).map_err(|failure| error(&runs, reason(&failure)))?;
        document::save(&folder.path.join(EXPERIMENT), experiment)?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What could not be kept in it, and why: the run in hand then is nowhere else than in the results.
    pub fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// Remembers that.
    pub(crate) fn lacks(&mut self, what: String) {
        self.unsaved = Some(what);
    }

    /// The file of a run.
    pub fn file(&self, experiment: &Experiment, trial: Trial) -> PathBuf {
        self.path.join(RUNS).join(format!("{}.json", experiment.stem(trial)))
    }

    /// Keeps a run that has ended, with its distributions in a file for HDR tools beside it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(
        &mut self,
        experiment: &Experiment,
        trial: Trial,
        run: &Assessed,
    ) -> Result<(), FolderError> {
        keep_run(&self.file(experiment, trial), run)?;
        let partial = self.partial(experiment, trial);
        for of_before in [partial.with_extension("hlog"), partial] {
            // Where the run failed before. That there is none is the rule.
            let _ = std::fs::remove_file(of_before);
        }
        if self.failed.remove(&experiment.stem(trial)).is_some() {
            write(&self.path.join(FAILED), &self.failed)?;
        }
        Ok(())
    }

    /// Keeps what was measured of a run until its target exited, under another name: it is no run of the
    /// experiment. Gives the name of its file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep_partial(
        &self,
        experiment: &Experiment,
        trial: Trial,
        run: &Assessed,
    ) -> Result<String, FolderError> {
        let path = self.partial(experiment, trial);
        keep_run(&path, run)?;
        Ok(format!("{RUNS}/{}", path.file_name().unwrap_or_default().display()))
    }

    fn partial(&self, experiment: &Experiment, trial: Trial) -> PathBuf {
        self.path.join(RUNS).join(format!("{}.until-exit.json", experiment.stem(trial)))
    }

    /// Keeps what the server of a run counted, as it wrote it; gives what of it reports show.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep_counters(
        &self,
        experiment: &Experiment,
        trial: Trial,
        counters: Option<&str>,
    ) -> Result<Option<Counted>, FolderError> {
        let Some(counters) = counters else { return Ok(None) };
        let path = self.counters_file(experiment, trial);
        std::fs::create_dir_all(self.path.join(COUNTERS))
            .map_err(|failure| error(&path, reason(&failure)))?;
        file::write_report(&path, counters).map_err(|failure| error(&path, failure.problem()))?;
        self.counted(experiment, trial)
    }

    fn counters_file(&self, experiment: &Experiment, trial: Trial) -> PathBuf {
        self.path.join(COUNTERS).join(format!("{}.json", experiment.stem(trial)))
    }

    fn counted(
        &self,
        experiment: &Experiment,
        trial: Trial,
    ) -> Result<Option<Counted>, FolderError> {
        #[derive(serde::Deserialize)]
        struct Counters {
            total: Counted,
        }
        let counters: Option<Counters> = read(&self.counters_file(experiment, trial))?;
        Ok(counters.map(|counters| counters.total))
    }

    /// Keeps a run of another client, with what it printed in a text beside it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_printed(
        &mut self,
        experiment: &Experiment,
        trial: Trial,
        run: &PrintedRun,
    ) -> Result<(), FolderError> {
        keep_printed(&self.file(experiment, trial), run)?;
        if self.failed.remove(&experiment.stem(trial)).is_some() {
            write(&self.path.join(FAILED), &self.failed)?;
        }
        Ok(())
    }

    /// Notes why a trial was not measured.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn note_failure(
        &mut self,
        experiment: &Experiment,
        trial: Trial,
        why: &str,
    ) -> Result<(), FolderError> {
        self.failed.insert(experiment.stem(trial), why.to_owned());
        write(&self.path.join(FAILED), &self.failed)
    }

    /// The run of a trial, if it was kept and is one of ablaze's own.
    ///
    /// # Errors
    /// When its file is damaged, or holds a run of another target.
    pub fn run(&self, experiment: &Experiment, trial: Trial) -> Result<Option<Run>, FolderError> {
        let target = &experiment.targets[trial.target];
        if target.client != Tool::Ablaze {
            return Ok(None);
        }
        let file = self.file(experiment, trial);
        match kept_run(&file)? {
            Some(run) if is_of_another(target, &run) => {
                let why = format!("is a run of {}, another target", run.plan.target.url);
                Err(error(&file, why))
            }
            run => Ok(run),
        }
    }

    /// The run of a trial by another client, if it was kept.
    ///
    /// # Errors
    /// When its file is damaged.
    pub fn printed(
        &self,
        experiment: &Experiment,
        trial: Trial,
    ) -> Result<Option<PrintedRun>, FolderError> {
        match experiment.targets[trial.target].client {
            Tool::Ablaze => Ok(None),
            Tool::Ab => read(&self.file(experiment, trial)),
        }
    }

    /// The figures of a trial, whoever carried it out; `None` if it was not kept.
    ///
    /// # Errors
    /// When its file is damaged.
    pub fn figures(
        &self,
        experiment: &Experiment,
        trial: Trial,
    ) -> Result<Option<Figures>, FolderError> {
        let figures = match self.run(experiment, trial)? {
            Some(run) => Some(figures::of_run(&live::assessed(run))),
            None => self.printed(experiment, trial)?.and_then(|run| run.figures()),
        };
        let counted = self.counted(experiment, trial)?;
        Ok(figures.map(|figures| Figures { counted, ..figures }))
    }

    /// What the experiment has come to so far. A run whose file is damaged counts as one that failed, for that reason.
    ///
    /// # Errors
    /// When files are damaged and no run can be read.
    pub fn results(&self, experiment: &Experiment) -> Result<Results, FolderError> {
        let (mut trials, mut damaged) = (Vec::new(), None);
        let mut measured = false;
        let mut begun: BTreeMap<u64, Trial> = BTreeMap::new();
        for trial in experiment.trials() {
            match self.figures(experiment, trial) {
                // A copy of another run is no repeat of it: no two begin at the same nanosecond.
                Ok(Some(figures))
                    if figures.started_unix_ns > 0
                        && begun.contains_key(&figures.started_unix_ns) =>
                {
                    let same = experiment.stem(begun[&figures.started_unix_ns]);
                    let why = format!("left out: its file and that of `{same}` hold the same run");
                    trials.push((trial, Outcome::Failed(why)));
                }
                Ok(Some(figures)) => {
                    begun.insert(figures.started_unix_ns, trial);
                    measured = true;
                    trials.push((trial, Outcome::Measured(Box::new(figures))));
                }
                Ok(None) => {
                    let why = self.failed.get(&experiment.stem(trial));
                    trials.extend(why.map(|why| (trial, Outcome::Failed(why.clone()))));
                }
                Err(error) => {
                    trials.push((trial, Outcome::Failed(format!("left out: {error}"))));
                    damaged = damaged.or(Some(error));
                }
            }
        }
        if let Some(error) = damaged.filter(|_| !measured) {
            return Err(error);
        }
        let interrupted = trials.len() < experiment.trials().len();
        Ok(Results { trials, interrupted, unsaved: None })
    }

    /// The runs of each target under each load that a page shows by itself.
    ///
    /// # Errors
    /// When a kept run is damaged.
    pub fn pooled(
        &self,
        experiment: &Experiment,
        results: &Results,
    ) -> Result<Vec<Pooled>, FolderError> {
        let mut pooled = Vec::new();
        for load in shown_loads(experiment) {
            for target in 0..experiment.targets.len() {
                pooled.extend(self.pooled_of(experiment, results, (target, load))?);
            }
        }
        Ok(pooled)
    }

    /// The runs of one target under one load, in the order of the repeats.
    fn pooled_of(
        &self,
        experiment: &Experiment,
        results: &Results,
        (target, load): (usize, usize),
    ) -> Result<Option<Pooled>, FolderError> {
        let measured = results.measured().map(|(trial, _)| trial);
        let mut trials: Vec<Trial> =
            measured.filter(|trial| (trial.target, trial.load) == (target, load)).collect();
        trials.sort_by_key(|trial| trial.repeat);
        let mut pooled: Option<Pooled> = None;
        for trial in trials {
            let Some(run) = self.run(experiment, trial)? else { continue };
            match &mut pooled {
                Some(pooled) => pooled.add(&run),
                None => pooled = Some(Pooled::of(target, load, run)),
            }
        }
        Ok(pooled)
    }
}
