//! A sweep that takes longer than anybody may have meant is refused before it starts, with the time that it would take.

use std::time::Duration;

use ablaze_model::experiment::Experiment;

use crate::CommandError;
use crate::experiments::progress::{in_words, length};

/// The longest that a sweep may take without `--yes`.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// Refuses an experiment that takes longer than [`LONGEST`] by its options.
///
/// # Errors
/// When it does.
pub fn refuse_if_long(experiment: &Experiment) -> Result<(), CommandError> {
    let Some(long) = length(experiment).filter(|length| *length > LONGEST) else { return Ok(()) };
    let runs = experiment.trials().len();
    Err(CommandError::usage(format!(
        "{runs} runs would take about {}, more than an hour: use fewer values or a shorter -d, or add --yes",
        in_words(long)
    )))
}
