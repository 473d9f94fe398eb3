//! The results of an experiment as they are printed: a comparison where the targets meet one load,
//! a sweep where they meet several.

use ablaze_model::experiment::{Experiment, JudgedTogether, Results, Unequal};
use ablaze_report::experiment::comparison::Comparison;
use ablaze_report::experiment::curve::{Curve, Pick};
use ablaze_report::experiment::{json, text};

use crate::error::{INTERRUPTED, NOTHING_MEASURED};

/// How results are to be shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Showing {
    /// As JSON.
    pub json: bool,
    /// Which repeat of a sweep's points is drawn.
    pub pick: Pick,
    /// Rank targets that did not do the same work.
    pub allow_unequal: bool,
}

impl Showing {
    /// The pairs of targets of which a difference in the work forbids a ratio; none if a ranking was requested anyway.
    pub fn unequal(self, judged: &JudgedTogether) -> &[Unequal] {
        if self.allow_unequal { &[] } else { &judged.unequal }
    }

    /// Whether ratios may be shown: all targets did the same work, or a ranking was requested anyway.
    pub fn ranks(self, judged: &JudgedTogether) -> bool {
        self.allow_unequal || judged.unequal_work().is_empty()
    }
}

/// Whether the results answer which target is better under one load.
pub fn is_comparison(experiment: &Experiment) -> bool {
    experiment.loads.len() == 1 && experiment.targets.len() > 1
}

/// The results in words or as JSON. The last target is what the others are held against.
pub fn comparison(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    showing: Showing,
) -> String {
    let control = experiment.control();
    let comparison = Comparison::of(experiment, results, 0, control);
    if showing.json {
        let ranked = showing.ranks(judged);
        return json::comparison(experiment, results, &comparison, judged, ranked);
    }
    text::comparison(experiment, results, &comparison, judged, showing.allow_unequal)
}

/// The results of a sweep, in words or as JSON.
pub fn sweep(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    showing: Showing,
) -> String {
    if showing.json {
        let curves = Curve::all(experiment, results, showing.pick);
        return json::sweep(experiment, results, &curves, judged);
    }
    text::sweep(experiment, results, judged, showing.pick)
}

/// Whichever these results are.
pub fn either(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    showing: Showing,
) -> String {
    match is_comparison(experiment) {
        true => comparison(experiment, results, judged, showing),
        false => sweep(experiment, results, judged, showing),
    }
}

/// Whether a response came as expected in a run of this target: as for a single run, error pages alone are nothing measured.
pub fn answered(results: &Results, target: usize) -> bool {
    let mut runs = results.measured().filter(|(trial, _)| trial.target == target);
    runs.any(|(_, run)| run.responses > run.unexpected)
}

/// The exit status that results deserve by themselves: a comparison wants every target that was not
/// skipped because a program is missing, a sweep something to draw, and both that every run could be saved.
pub fn status(experiment: &Experiment, results: &Results) -> u8 {
    let measured = |target: usize| answered(results, target);
    let mut targets = 0..experiment.targets.len();
    let enough = match is_comparison(experiment) {
        true => {
            let left_out = |target| results.skipped(target).is_some();
            targets.clone().any(measured) && targets.all(|s| measured(s) || left_out(s))
        }
        false => targets.any(measured),
    };
    match (results.interrupted, enough && results.unsaved.is_none()) {
        (true, _) => INTERRUPTED,
        (false, true) => 0,
        (false, false) => NOTHING_MEASURED,
    }
}
