//! An experiment: targets × loads × repeats. What it is, and how it is run: whole runs, the
//! targets of one load right after each other in random order, so that whatever drifts on the
//! machine meets all of them alike.

pub(crate) mod document;
mod figures;
pub(crate) mod folder;
mod printed;
mod running;

use ablaze_model::LoadSpec;
use ablaze_stats::repeats::interleaved;
use serde::{Deserialize, Serialize};

use crate::target::{Placement, Speaks, Target};

pub use document::FormerWords;
pub use figures::Figures;
pub use folder::{Folder, FolderError, keep_printed, new_numbered};
pub use printed::PrintedRun;
pub(crate) use running::aside;
pub use running::{Failure, Observer, Runner, run};

/// What is to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What the page is called.
    pub title: String,
    /// The targets, in the order in which tables show them.
    pub targets: Vec<Target>,
    /// The loads, in the order in which they are applied.
    pub loads: Vec<Load>,
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

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Figures>),
    /// It was not, or not to its end, and why.
    Failed(String),
}

/// How the reason begins where a trial was skipped because a program is missing.
pub const SKIPPED: &str = "skipped: ";

/// What an experiment has come to so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// In the order in which they were run.
    pub trials: Vec<(Trial, Outcome)>,
    /// Whether it was ended before its end.
    pub interrupted: bool,
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

    /// Whether nothing is run for it: every target is a saved run.
    pub fn is_saved(&self) -> bool {
        self.targets.iter().all(|target| target.saved_runs().is_some())
    }

    /// How often a target meets each load.
    pub fn repeats_of(&self, target: usize) -> u32 {
        self.targets[target].saved_runs().map_or(self.repeats, |files| files.len() as u32)
    }

    /// The name of a trial's files.
    pub fn stem(&self, trial: Trial) -> String {
        let name = crate::target::file_name(&self.targets[trial.target].name);
        let label_of = |load: &Load| crate::target::file_name(&load.label);
        let mut label = label_of(&self.loads[trial.load]);
        // Long values may differ where names of files do not.
        if self.loads[..trial.load].iter().any(|before| label_of(before) == label) {
            label = format!("{label}.{}", trial.load + 1);
        }
        format!("{}-{name}-{label}-{}", trial.target + 1, trial.repeat + 1)
    }
}

impl Results {
    /// The figures of one target under one load, in the order of the repeats.
    pub fn of(&self, target: usize, load: usize) -> Vec<&Figures> {
        let mut of: Vec<(u32, &Figures)> = self
            .trials
            .iter()
            .filter(|(trial, _)| trial.target == target && trial.load == load)
            .filter_map(|(trial, outcome)| match outcome {
                Outcome::Measured(figures) => Some((trial.repeat, &**figures)),
                Outcome::Failed(_) => None,
            })
            .collect();
        of.sort_by_key(|(repeat, _)| *repeat);
        of.into_iter().map(|(_, figures)| figures).collect()
    }

    /// The repeats in which both targets were measured under this load, as pairs.
    pub fn pairs(&self, one: usize, other: usize, load: usize) -> Vec<(&Figures, &Figures)> {
        let find = |wanted: Trial| {
            self.trials.iter().find_map(|(trial, outcome)| match outcome {
                Outcome::Measured(figures) if *trial == wanted => Some(&**figures),
                _ => None,
            })
        };
        let mut repeats: Vec<u32> = self.trials.iter().map(|(trial, _)| trial.repeat).collect();
        repeats.sort_unstable();
        repeats.dedup();
        let pair = |repeat| {
            let one = find(Trial { repeat, load, target: one })?;
            Some((one, find(Trial { repeat, load, target: other })?))
        };
        repeats.into_iter().filter_map(pair).collect()
    }

    /// Trials that were measured.
    pub fn measured(&self) -> impl Iterator<Item = (Trial, &Figures)> {
        self.trials.iter().filter_map(|(trial, outcome)| match outcome {
            Outcome::Measured(figures) => Some((*trial, &**figures)),
            Outcome::Failed(_) => None,
        })
    }

    /// Why a target was left out: `skipped: install nginx`. `None` if it was not.
    pub fn skipped(&self, target: usize) -> Option<&str> {
        let of = self.failed().filter(|(trial, _)| trial.target == target);
        of.map(|(_, why)| why).find(|why| why.starts_with(SKIPPED))
    }

    /// Trials that were not measured, and why.
    pub fn failed(&self) -> impl Iterator<Item = (Trial, &str)> {
        self.trials.iter().filter_map(|(trial, outcome)| match outcome {
            Outcome::Failed(why) => Some((*trial, why.as_str())),
            Outcome::Measured(_) => None,
        })
    }
}

#[cfg(test)]
pub(crate) mod sample {
    use ablaze_model::spec::{Shape, TargetSpec, UrlSpec};

    use super::*;

    /// A valid run at this rate.
    pub(crate) fn figures(rate_per_s: f64) -> Figures {
        Figures {
            responses: rate_per_s as u64 * 10,
            errors: 0,
            unexpected: 0,
            rate_per_s,
            mean_ns: Some(1e9 / rate_per_s),
            p50_ns: Some((1e9 / rate_per_s) as u64),
            p99_ns: Some((2e9 / rate_per_s) as u64),
            server_cpu_ns: Some(1e9 / rate_per_s),
            client_cpu_ns: Some(3_000.0),
            verdict: ablaze_verdict::Verdict::Valid,
            limit: ablaze_verdict::Limit::Server,
            findings: Vec::new(),
            started_unix_ns: 0,
            elapsed_ns: 10_000_000_000,
        }
    }

    /// A target that runs already.
    pub(crate) fn running(name: &str, url: &str) -> Target {
        let (url, _) = UrlSpec::parse(url).unwrap();
        Target::new(name, TargetSpec::Url { url, user: None })
    }

    /// A load of this many connections.
    pub(crate) fn load(connections: u32) -> Load {
        let shape = Shape::Closed { connections: Some(connections) };
        Load {
            label: format!("c={connections}"),
            x: Some(f64::from(connections)),
            spec: LoadSpec { shape, ..LoadSpec::default() },
        }
    }

    /// Two targets that run already, under one load, three times.
    pub(crate) fn experiment() -> Experiment {
        Experiment {
            title: "one and other".to_owned(),
            targets: vec![running("one", "http://one/"), running("other", "http://other/")],
            loads: vec![load(10)],
            repeats: 3,
            seed: 1,
            path: "/".to_owned(),
            placement: Placement::default(),
            restart: true,
            ready_within_s: 10,
            speaks: Speaks::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repeat_has_every_target_once_and_not_always_in_the_same_order() {
        let mut experiment = sample::experiment();
        experiment.repeats = 40;
        let trials = experiment.trials();
        assert_eq!(trials.len(), 80);
        assert!(trials.iter().map(|trial| trial.repeat).is_sorted());
        let first = trials.iter().step_by(2).filter(|trial| trial.target == 0).count();
        assert!((8..=32).contains(&first), "{first} of 40");
        assert_eq!(trials, experiment.trials(), "the same seed, the same order");
        let mut stems: Vec<String> = trials.iter().map(|trial| experiment.stem(*trial)).collect();
        stems.sort();
        stems.dedup();
        assert_eq!(stems.len(), 80);
    }

    #[test]
    fn loads_that_are_called_alike_have_files_of_their_own() {
        let mut experiment = sample::experiment();
        let long = |end: char| Load {
            label: format!("header={}{end}", "x".repeat(80)),
            ..experiment.loads[0].clone()
        };
        experiment.loads = vec![long('a'), long('b')];
        let mut stems: Vec<String> =
            experiment.trials().iter().map(|trial| experiment.stem(*trial)).collect();
        let trials = stems.len();
        stems.sort();
        stems.dedup();
        assert_eq!(stems.len(), trials);
    }
}
