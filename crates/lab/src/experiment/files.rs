//! The folders of results, made, and the files of runs in them: how a run is written, and read back. Used by the folders
//! of experiments and of searches.

use std::fs::File;
use std::path::{Path, PathBuf};

use ablaze_model::experiment::Target;
use ablaze_model::json_error::in_words;
use ablaze_model::spec::TargetSpec;
use ablaze_model::{Assessed, Run};
use ablaze_report::system_error::reason;
use ablaze_report::{file, hlog, json};

use super::folder::error;
use super::{FolderError, PrintedRun};

/// Keeps a run in this file, with its distributions in one for HDR tools beside it.
pub(crate) fn keep_run(path: &Path, assessed: &Assessed) -> Result<(), FolderError> {
    let kept = |path: &Path, text: String| {
        file::write_report(path, &text).map_err(|failure| error(path, failure.problem()))
    };
    kept(&path.with_extension("hlog"), hlog::write(&assessed.run))?;
    kept(path, json::write(assessed))
}

/// Keeps a run of another client in this file, with what it printed in a text beside it.
///
/// # Errors
/// When it cannot be written.
pub fn keep_printed(path: &Path, run: &PrintedRun) -> Result<(), FolderError> {
    let beside = path.with_extension("txt");
    file::write_report(&beside, &run.text())
        .map_err(|failure| error(&beside, failure.problem()))?;
    write(path, run)
}

/// The run in this file; `None` when there is none.
pub(crate) fn kept_run(path: &Path) -> Result<Option<Run>, FolderError> {
    let Some(text) = text(path)? else { return Ok(None) };
    let saved = json::load(&text).map_err(|failure| error(path, failure))?;
    Ok(Some(saved.run))
}

/// Whether a run went to another host or port than this target, which runs already: files may have been copied.
pub(crate) fn is_of_another(target: &Target, run: &Run) -> bool {
    let TargetSpec::Url { url, .. } = &target.source else { return false };
    let loaded = &run.plan.target;
    (&loaded.host, loaded.port) != (&url.host, url.port)
}

/// The text of a file; `None` when there is none.
fn text(path: &Path) -> Result<Option<String>, FolderError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(failure) => Err(error(path, reason(&failure))),
    }
}

pub(crate) fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, FolderError> {
    let Some(text) = text(path)? else { return Ok(None) };
    let damaged =
        |failure: serde_json::Error| error(path, format!("is damaged: {}", in_words(&failure)));
    serde_json::from_str(&text).map(Some).map_err(damaged)
}

pub(crate) fn write(path: &Path, value: &impl serde::Serialize) -> Result<(), FolderError> {
    let mut text = serde_json::to_string_pretty(value).map_err(|failure| error(path, failure))?;
    text.push('\n');
    file::write_report(path, &text).map_err(|failure| error(path, failure.problem()))
}

/// Makes the first of `stem-1`, `stem-2`, … that does not exist yet.
///
/// # Errors
/// When it cannot be made.
pub fn new_numbered(stem: &Path) -> Result<PathBuf, FolderError> {
    let name = stem.file_name().map_or_else(|| "results".into(), |name| name.to_string_lossy());
    let mut number = 1;
    loop {
        let path = stem.with_file_name(format!("{name}-{number}"));
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(taken) if taken.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(failure) => return Err(error(&path, reason(&failure))),
        }
    }
}

/// Takes a folder for this process, for as long as what is returned lives: two that write runs into one folder would each
/// overwrite the other's. Where the file system knows no locks, nothing is taken.
///
/// # Errors
/// When another process has it.
pub(crate) fn taken(path: &Path) -> Result<Option<File>, FolderError> {
    use rustix::fs::{FlockOperation, flock};
    let Ok(folder) = File::open(path) else { return Ok(None) };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(folder)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(error(
            path,
            "another ablaze writes its results there: wait until it has ended, or use a new folder",
        )),
        Err(_) => Ok(None),
    }
}

/// Makes the folder that `option` names, which may be there already if nothing is in it: what is
/// written there replaces files of the same names.
///
/// # Errors
/// When it cannot be made, is a file, or holds anything.
pub fn make_empty(path: &Path, option: &str) -> Result<(), FolderError> {
    let refused = |failure: std::io::Error| match failure.kind() {
        std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory => {
            error(path, format!("not a folder; use {option} with another name"))
        }
        _ => {
            let why = reason(&failure);
            error(path, format!("cannot make the folder ({why}); use {option} with another name"))
        }
    };
    std::fs::create_dir_all(path).map_err(refused)?;
    let mut entries = std::fs::read_dir(path).map_err(refused)?;
    let Some(first) = entries.next() else { return Ok(()) };
    let name = first.map_err(refused)?.file_name();
    let name = name.to_string_lossy();
    let why = format!("holds other files ({name}); use {option} with a new or empty folder");
    Err(error(path, why))
}
