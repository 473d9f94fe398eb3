//! The one Run of a fleet: the Runs of its workers put together, each at its place in time by the coordinator's clock.

use ablaze_fleet::coordinator::WorkerOutcome;
use ablaze_lab::shards;
use ablaze_model::run::Ended;
use ablaze_model::{LoadSpec, Run, printable};
use ablaze_report::json;

use super::drive::Driven;
use crate::CommandError;
use crate::error::{INTERRUPTED, note};

/// What the workers did, as one Run.
///
/// # Errors
/// When none of them has handed over anything.
pub fn run_of(driven: Driven, load: &LoadSpec) -> Result<Run, CommandError> {
    let Driven { outcome, start_unix_ns } = driven;
    let mut runs = Vec::new();
    for worker in &outcome.workers {
        if let Some(why) = &worker.lost {
            note(&format!("worker {} was lost: {}", worker.name, printable::printable(why)));
        }
        let since_ns =
            worker.started_ns.zip(outcome.start_ns).map(|(at, start)| at.saturating_sub(start));
        if let Some(mut run) = loaded(worker)? {
            run.started_unix_ns = start_unix_ns + since_ns.unwrap_or(0);
            runs.push((worker.name.clone(), run));
        }
    }
    if runs.is_empty() {
        let error = CommandError::machine("no worker of the fleet has measured anything");
        return Err(match outcome.interrupted {
            true => CommandError { status: INTERRUPTED, ..error },
            false => error,
        });
    }
    let mut whole = shards::merged(runs).map_err(CommandError::machine)?;
    whole.command_line.clone_from(&load.words.0);
    whole.asked = Some(Box::new(load.kept()));
    if outcome.interrupted {
        whole.ended = Ended::Interrupted;
    }
    Ok(whole)
}

/// The Run that a worker handed over.
fn loaded(worker: &WorkerOutcome) -> Result<Option<Run>, CommandError> {
    let Some(document) = &worker.run else { return Ok(None) };
    let saved = json::load(document).map_err(|error| {
        let why = error.to_string();
        CommandError::machine(format!(
            "the run of worker {} cannot be read: {}",
            worker.name,
            printable::printable(&why)
        ))
    })?;
    Ok(Some(saved.run))
}
