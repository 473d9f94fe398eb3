//! What a file describes, as an experiment.

use std::path::{Path, PathBuf};

use ablaze_model::experiment::{Experiment, Speaks, Target};
use ablaze_model::spec::TargetSpec;

use super::file::Described;
use super::fleet::{self, FleetOptions};
use super::of_all_loads;
use super::options::{can_be_asked, placement};
use super::vary::Varied;
use crate::CommandError;

/// What the file is called in the folder of its results.
pub const FILE: &str = "experiment.toml";

/// Runs of each target, under one load and under each of several.
const REPEATS: (u32, u32) = (10, 1);

/// The folder of the file, whole, if it has a command to start: what that names is relative to the file.
fn directory(file: &Path, described: &Described) -> Option<PathBuf> {
    let starts = |target: &Target| matches!(target.source, TargetSpec::Command(_));
    if !described.varied.targets.iter().any(starts) {
        return None;
    }
    let file = std::path::absolute(file).ok()?;
    file.parent().map(Path::to_owned)
}

/// What a file describes, as an experiment to run.
///
/// # Errors
/// When its fleet cannot carry it out.
pub fn experiment(
    file: &Path,
    described: &Described,
    options: &FleetOptions,
) -> Result<Experiment, CommandError> {
    let by_fleet = options.or(&described.fleet).asked()?;
    let Varied { targets, loads, axes, path } = &described.varied;
    let specs = || loads.iter().map(|load| &load.spec);
    let all: Vec<Target> = of_all_loads(targets, loads).cloned().collect();
    can_be_asked(targets, loads)?;
    let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let (alone, each) = REPEATS;
    let default = if loads.len() == 1 { alone } else { each };
    if let Some(by_fleet) = &by_fleet {
        fleet::fits(by_fleet, &all, specs())?;
    }
    let placement = placement(&all, described.target_cpus.as_ref(), specs());
    Ok(Experiment {
        title: described.title.clone().unwrap_or(stem),
        placement: fleet::placement(placement, by_fleet.as_ref()),
        targets: targets.clone(),
        loads: loads.clone(),
        axes: axes.clone(),
        repeats: described.repeats.unwrap_or(default),
        seed: described.order_seed,
        path: path.clone(),
        restart: described.restart,
        ready_within_s: described.ready_within_ns.div_ceil(1_000_000_000),
        speaks: Speaks::of(described.https, specs()),
        directory: directory(file, described),
        fleet: by_fleet,
    })
}
