//! A sweep that takes longer than anybody may have meant is refused before it starts, with the time that it would take.

use std::time::Duration;

use ablaze_model::LoadSpec;
use ablaze_model::experiment::Experiment;

use crate::CommandError;
use crate::experiments::progress::length;
use crate::lengths::{BESIDE_A_RUN, in_words};

/// The longest that a sweep may take without `--yes`.
const LONGEST: Duration = Duration::from_secs(3600);

/// Refuses an experiment that takes longer than [`LONGEST`] by its options.
///
/// # Errors
/// When it does.
pub fn refuse_if_long(experiment: &Experiment) -> Result<(), CommandError> {
    length(experiment).map_or(Ok(()), |long| refuse(experiment.trials().len(), long))
}

/// The same for so many runs of which each is as long as this load, before the others are made.
///
/// # Errors
/// When they take longer.
pub fn refuse_if_many(runs: usize, load: &LoadSpec) -> Result<(), CommandError> {
    let Some(duration_ns) = load.limits.duration_ns else { return Ok(()) };
    let one = Duration::from_nanos(duration_ns + load.limits.warmup_ns) + BESIDE_A_RUN;
    refuse(runs, one.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX)))
}

fn refuse(runs: usize, long: Duration) -> Result<(), CommandError> {
    if long <= LONGEST {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "{runs} runs would take about {}, more than an hour: use fewer values or a shorter -d, or add --yes",
        in_words(long)
    )))
}
