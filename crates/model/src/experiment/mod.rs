//! An experiment as data: targets × loads × repeats, what its runs came to, and a search for the highest
//! rate. `ablaze-lab` carries experiments out and keeps them; `ablaze-report` shows them.

mod axis;
mod by_fleet;
mod description;
mod figures;
mod groups;
mod judged;
mod placement;
mod results;
mod search;
mod target;

use std::path::PathBuf;

use ablaze_stats::repeats::interleaved;
use serde::{Deserialize, Serialize};

use crate::LoadSpec;

pub use axis::{Axis, AxisValue, Place, Slice};
pub use by_fleet::ByFleet;
pub use description::Description;
pub use figures::{Counted, Figures, Held};
pub use groups::GroupFigures;
pub use judged::{JudgedTogether, Unequal};
pub use placement::Placement;
pub use results::{Outcome, Results, SKIPPED};
pub use search::{LONGEST_STAGE, Measured, Search, Searched, Stage, plain_rate};
pub use target::{Speaks, Target, Tool, of_control, told_apart};

/// What is to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What the page is called.
    pub title: String,
    /// The targets, in the order in which tables show them.
    pub targets: Vec<Target>,
    /// The loads, in the order in which they are applied.
    pub loads: Vec<Load>,
    /// What the loads differ in: at most two axes, whose first varies fastest from load to load. Empty for a single
    /// load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    /// How often each target meets each load.
    pub repeats: u32,
    /// Of the random order.
    pub seed: u64,
    /// What is asked for of targets that are started here: `/hello`.
    pub path: String,
    /// Who gets which processors.
    pub placement: Placement,
    /// Whether a target that is started here is started anew for each run.
    pub restart: bool,
    /// A target that does not respond within this time, in seconds, has failed.
    pub ready_within_s: u64,
    /// What targets that are started here are to speak.
    #[serde(default)]
    pub speaks: Speaks,
    /// Where commands are started: the folder of the file that names them; `None` for where this program runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The machines that carry each run out together; `None` for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<ByFleet>,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// What tables call it: `c=100`.
    pub label: String,
    /// Its place on the axis of a curve: the number of connections, of threads, or the rate.
    pub x: Option<f64>,
    /// What is asked for, of whatever target.
    pub spec: LoadSpec,
    /// The targets as they are under this load, in their order; empty where they are those of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// What is asked for of targets that are started here; `None` for the path of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Load {
    /// A load under which targets are what they always are, without a label yet.
    pub fn of(spec: LoadSpec) -> Self {
        Self { label: String::new(), x: None, spec, targets: Vec::new(), path: None }
    }
}

/// One run of an experiment, by the places of its target and its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trial {
    /// Which repeat, from 0.
    pub repeat: u32,
    /// Which load.
    pub load: usize,
    /// Which target.
    pub target: usize,
}

impl Experiment {
    /// Every trial in its order: saved runs, which only have to be read; then repeat by repeat, load
    /// by load, the targets of each load shuffled.
    pub fn trials(&self) -> Vec<Trial> {
        let saved = |target: usize| {
            let files = self.targets[target].saved_runs().unwrap_or_default().len() as u32;
            (0..files).map(move |repeat| Trial { repeat, load: 0, target })
        };
        let mut trials: Vec<Trial> = (0..self.targets.len()).flat_map(saved).collect();
        // Each load of each repeat is a block of its own.
        let blocks = self.repeats as usize * self.loads.len();
        let turns = interleaved(self.targets.len(), blocks, self.seed).into_iter();
        let turns = turns.filter(|turn| self.targets[turn.target].saved_runs().is_none());
        trials.extend(turns.map(|turn| Trial {
            repeat: (turn.repeat / self.loads.len()) as u32,
            load: turn.repeat % self.loads.len(),
            target: turn.target,
        }));
        trials
    }

    /// The targets as they are under a load.
    pub fn targets_under(&self, load: usize) -> &[Target] {
        let own = &self.loads[load].targets;
        if own.is_empty() { &self.targets } else { own }
    }

    /// The target of a trial, as it is under the trial's load.
    pub fn target_of(&self, trial: Trial) -> &Target {
        &self.targets_under(trial.load)[trial.target]
    }

    /// What is asked for under a load of targets that are started here.
    pub fn path_under(&self, load: usize) -> &str {
        self.loads[load].path.as_deref().unwrap_or(&self.path)
    }

    /// Whether nothing is run for it: every target is a saved run.
    pub fn is_saved(&self) -> bool {
        self.targets.iter().all(|target| target.saved_runs().is_some())
    }

    /// The place of the target that the others are compared with: the last; of saved runs alone, which are named
    /// in the order of time, the first.
    pub fn control(&self) -> usize {
        if self.is_saved() { 0 } else { self.targets.len().saturating_sub(1) }
    }

    /// How often a target meets each load.
    pub fn repeats_of(&self, target: usize) -> u32 {
        self.targets[target].saved_runs().map_or(self.repeats, |files| files.len() as u32)
    }

    /// The name of a trial's files.
    pub fn stem(&self, trial: Trial) -> String {
        let name = file_name(&self.targets[trial.target].name);
        let label_of = |load: &Load| file_name(&load.label);
        let mut label = label_of(&self.loads[trial.load]);
        // Long values may differ where names of files do not.
        if self.loads[..trial.load].iter().any(|before| label_of(before) == label) {
            label = format!("{label}.{}", trial.load + 1);
        }
        format!("{}-{name}-{label}-{}", trial.target + 1, trial.repeat + 1)
    }
}

/// A name as part of a file's name: other characters than letters, digits, `-`, `_` and `.` become dashes, and
/// 60 are kept.
pub fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    name.chars().map(kept).take(60).collect()
}
