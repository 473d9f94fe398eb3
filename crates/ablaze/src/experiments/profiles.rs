//! `ablaze compare --profile`: one more run of each target with the profiler, and the graphs of them.

use ablaze_lab::experiment::Folder;
use ablaze_lab::profiles;
use ablaze_model::experiment::Experiment;
use ablaze_model::spec::Secrets;
use ablaze_report::experiment::profiles as drawn;
use ablaze_report::file::write_report;

use super::client::Native;
use super::own_program;
use crate::CommandError;
use crate::error::note;

/// Performs the profiled runs; says which targets could not be profiled.
///
/// # Errors
/// When they cannot be kept.
pub fn take(
    experiment: &Experiment,
    secrets: &Secrets,
    folder: &Folder,
    quiet: bool,
) -> Result<(), CommandError> {
    if !quiet {
        note(
            "comparison done; now profiling: one run of each target with a profiler and one \
             without",
        );
    }
    let failed = profiles::take(experiment, folder, &own_program()?, &mut Native::new(secrets))
        .map_err(|error| CommandError::machine(format!("cannot save the profiles: {error}")))?;
    for (target, why) in failed {
        note(&format!("{}: not profiled: {why}", experiment.targets[target].name));
    }
    Ok(())
}

/// What they came to, for the terminal.
///
/// # Errors
/// When one cannot be read back.
pub fn words(experiment: &Experiment, folder: &Folder) -> Result<String, CommandError> {
    let runs = profiles::kept(experiment, folder).map_err(unreadable)?;
    let mut text = drawn::words(experiment, &runs).join("\n");
    if !text.is_empty() {
        text = format!("profiles, each from a separate pair of runs\n{text}\n");
    }
    Ok(text)
}

/// Puts the flame graphs into the folder, as files that can be zoomed and searched.
///
/// # Errors
/// When one cannot be written.
pub fn keep_graphs(experiment: &Experiment, folder: &Folder) -> Result<(), CommandError> {
    let runs = profiles::kept(experiment, folder).map_err(unreadable)?;
    for (name, svg) in drawn::files(experiment, &runs) {
        write_report(&folder.path().join(name), &svg).map_err(|error| {
            CommandError::machine(format!("cannot save a flame graph: {error}"))
        })?;
    }
    Ok(())
}

fn unreadable(error: ablaze_lab::experiment::FolderError) -> CommandError {
    CommandError::machine(format!("cannot read a profiled run: {error}"))
}
