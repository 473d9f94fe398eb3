//! A search for the highest rate at which a target still meets its conditions: what is looked for, its stages, and
//! what it has come to.

use ablaze_stats::rate_search::{Found, Limits, Trial};
use serde::{Deserialize, Serialize};

use super::{ByFleet, Placement, Speaks, Target};
use crate::LoadSpec;
use crate::finding::{Finding, Verdict};
use crate::plan::{Arrivals, RateProfile};
use crate::spec::Shape;

/// A search gives up after this many stages.
const MOST_STAGES: u32 = 60;

/// A stage that needs more requests is at most this many times as long as others.
pub const LONGEST_STAGE: u64 = 10;

/// What is looked for, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The target.
    pub target: Target,
    /// What has to hold: `p99<20ms,errors<0.1%`.
    pub goal: String,
    /// The load of a stage, in open loop; rate and length are those of each stage.
    pub load: LoadSpec,
    /// The first rate tried.
    pub start_per_s: f64,
    /// Lower rates are not tried.
    pub lowest_per_s: f64,
    /// Higher rates are not tried.
    pub highest_per_s: f64,
    /// How near the highest rate that holds and the lowest that does not have to be.
    pub tolerance: f64,
    /// Length of a stage.
    pub stage_ns: u64,
    /// Length of a stage at a rate that was tried before.
    pub confirm_ns: u64,
    /// What is asked for of a target that is started here.
    pub path: String,
    /// Who gets which processors.
    pub placement: Placement,
    /// Whether a target that is started here is started anew for each stage.
    pub restart: bool,
    /// A target that does not respond within this time, in seconds, has failed.
    pub ready_within_s: u64,
    /// What a target that is started here is to speak.
    #[serde(default)]
    pub speaks: Speaks,
    /// A stage lasts until so many requests are due, and at most [`LONGEST_STAGE`] times its length.
    #[serde(default)]
    pub fewest_requests: u64,
    /// The machines that carry each stage out together; `None` for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<ByFleet>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The rate asked for.
    pub asked_per_s: f64,
    /// Whether the rate was tried before.
    pub confirming: bool,
    /// How it went.
    pub trial: Trial,
    /// Why it does not hold.
    pub why: Option<String>,
    /// Whether it had too few requests to be judged: then it does not count as one that holds.
    pub undecided: bool,
    /// The file of its run in the folder's `runs`; `None` where there is none.
    pub run: Option<String>,
    /// What was measured; `None` when it could not be. Of a target that exited, what came until then.
    pub measured: Option<Measured>,
}

/// What a stage measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Responses per second in its second half.
    pub answered_per_s: f64,
    /// The figure of each condition, in words.
    pub figures: Vec<Option<String>>,
    /// The same as numbers, as each condition compares them: ns, per second, percent or a number of requests.
    pub values: Vec<Option<f64>>,
    /// Conditions on percentiles for which there were too few responses.
    pub unsupported: Vec<String>,
    /// Whether the run is to be believed.
    pub verdict: Verdict,
    /// What was found in it.
    pub findings: Vec<Finding>,
}

/// What a search has come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Searched {
    /// The stages, in their order.
    pub stages: Vec<Stage>,
    /// The answer; `None` when there is none yet, or cannot be.
    pub found: Option<Found>,
    /// Whether it was ended before its end.
    pub interrupted: bool,
    /// Why it could not go on.
    pub gone: Option<String>,
}

impl Search {
    /// Where it looks, and how long.
    pub fn limits(&self) -> Limits {
        Limits {
            start_per_s: self.start_per_s,
            lowest_per_s: self.lowest_per_s,
            highest_per_s: self.highest_per_s,
            tolerance: self.tolerance,
            most_trials: MOST_STAGES,
        }
    }

    /// What is asked for in a stage: exactly what its words say.
    pub fn stage_load(&self, asked_per_s: f64, confirming: bool) -> LoadSpec {
        let length_ms = self.length_ns(asked_per_s, confirming) / 1_000_000;
        let shown = plain_rate(asked_per_s);
        let mut load = self.load.clone();
        load.shape = Shape::Open {
            rate: RateProfile::constant(shown.parse().unwrap_or(asked_per_s)),
            arrivals: self.arrivals(),
            connections: load.shape.connections(),
        };
        load.limits.requests = None;
        load.limits.duration_ns = Some(length_ms * 1_000_000);
        load.words.0.extend(["--rate".to_owned(), format!("{shown}/s")]);
        load.words.0.extend(["--duration".to_owned(), format!("{length_ms}ms")]);
        load
    }

    /// How long a stage lasts: longer at a rate of which its length has too few requests.
    pub fn length_ns(&self, asked_per_s: f64, confirming: bool) -> u64 {
        let needed_ns = (self.fewest_requests as f64 / asked_per_s * 1e9).ceil() as u64;
        let longest_ns = self.stage_ns.saturating_mul(LONGEST_STAGE);
        let length_ns = if confirming { self.confirm_ns } else { self.stage_ns };
        length_ns.max(needed_ns.min(longest_ns))
    }

    /// The conditions as they were written, each by itself.
    pub fn conditions(&self) -> Vec<&str> {
        self.goal.split(',').map(str::trim).collect()
    }

    /// The most connections that were asked for, if any.
    pub fn connections(&self) -> Option<u32> {
        match self.load.shape {
            Shape::Open { connections, .. } | Shape::Closed { connections } => connections,
        }
    }

    /// How requests are spaced.
    pub fn arrivals(&self) -> Arrivals {
        match self.load.shape {
            Shape::Open { arrivals, .. } => arrivals,
            Shape::Closed { .. } => Arrivals::Constant,
        }
    }
}

impl Searched {
    /// The last stage at this rate that went this way: what is shown of a rate.
    pub fn stage_at(&self, per_s: f64, trial: Trial) -> Option<&Stage> {
        self.stages.iter().rev().find(|stage| stage.asked_per_s == per_s && stage.trial == trial)
    }

    /// The stages that held, of rates that hold: those that were contradicted by as many stages at the same rate, or by more,
    /// are left out.
    pub fn holding(&self) -> impl Iterator<Item = &Stage> {
        self.stages.iter().filter(|stage| self.is_holding(stage))
    }

    fn is_holding(&self, stage: &Stage) -> bool {
        let went = |trial| self.went(stage.asked_per_s, trial);
        stage.trial == Trial::Holds && went(Trial::Holds) > went(Trial::Fails)
    }

    /// How many stages at a rate went so.
    fn went(&self, per_s: f64, trial: Trial) -> usize {
        let at_it = self.stages.iter().filter(|of| of.asked_per_s == per_s);
        at_it.filter(|of| of.trial == trial).count()
    }

    /// The highest rate of a search without an answer that holds so far, per second: below all that do not.
    pub fn highest_so_far_per_s(&self) -> Option<f64> {
        let fails = |stage: &&Stage| {
            self.went(stage.asked_per_s, Trial::Fails) > self.went(stage.asked_per_s, Trial::Holds)
        };
        let per_s = |stage: &Stage| stage.asked_per_s;
        let lowest = self.stages.iter().filter(fails).map(per_s).fold(f64::INFINITY, f64::min);
        self.holding().map(per_s).filter(|held| *held < lowest).reduce(f64::max)
    }

    /// The place of the stage that stands for the search: the last that held at a rate that holds, else the last.
    pub fn shown_stage(&self) -> Option<usize> {
        let last_held = self.stages.iter().rposition(|stage| self.is_holding(stage));
        last_held.or(self.stages.len().checked_sub(1))
    }

    /// Whether the question was answered.
    pub fn is_answered(&self) -> bool {
        matches!(self.found, Some(Found::Limit { .. } | Found::HighestHolds { .. }))
    }
}

/// A rate with three digits behind the point at most.
pub fn plain_rate(per_s: f64) -> String {
    let text = format!("{per_s:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
