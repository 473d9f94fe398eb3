//! Profiled runs of a comparison's targets: one more run of each, with one without a profiler beside it, so that the
//! runs that are compared have no profiler.

use std::path::PathBuf;

use ablaze_model::Run;
use ablaze_model::experiment::{Experiment, file_name};
use ablaze_verdict::live;

use crate::experiment::{Failure, Folder, FolderError, Runner};
use crate::experiment::{aside, folder};
use crate::target::ThisProgram;

/// The folder of the profiled runs.
const PROFILES: &str = "profiles";

/// Performs the profiled runs that are not in the folder yet. Gives the targets that could not be
/// profiled, and why.
///
/// # Errors
/// When the folder cannot be written.
pub fn take(
    experiment: &Experiment,
    folder: &Folder,
    program: &ThisProgram,
    client: &mut dyn Runner,
) -> Result<Vec<(usize, String)>, FolderError> {
    let mut failed = Vec::new();
    let place = folder.path().join(PROFILES);
    std::fs::create_dir_all(&place).map_err(|failure| folder::error(&place, failure))?;
    for target in 0..experiment.targets.len() {
        let path = file(experiment, folder, target);
        if path.exists() {
            continue;
        }
        match aside(experiment, folder, program.clone(), target, client) {
            Ok(run) => folder::keep_run(&path, &live::assessed(run))?,
            Err(Failure::Interrupted) => break,
            Err(Failure::Impossible(why)) => failed.push((target, why)),
        }
    }
    Ok(failed)
}

fn file(experiment: &Experiment, folder: &Folder, target: usize) -> PathBuf {
    let name = file_name(&experiment.targets[target].name);
    folder.path().join(PROFILES).join(format!("{}-{name}.json", target + 1))
}

/// The profiled runs that the folder has, by target.
///
/// # Errors
/// When one cannot be read back.
pub fn kept(experiment: &Experiment, folder: &Folder) -> Result<Vec<(usize, Run)>, FolderError> {
    let mut runs = Vec::new();
    for target in 0..experiment.targets.len() {
        let run = folder::kept_run(&file(experiment, folder, target))?;
        runs.extend(run.filter(|run| run.profiling.is_some()).map(|run| (target, run)));
    }
    Ok(runs)
}
