//! The results of an experiment as they are printed: a comparison where the targets meet one load,
//! a sweep where they meet several.

use ablaze_model::experiment::{Experiment, JudgedTogether, Results, Tool, Unequal};
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
/// Of ab's responses that is not known: it counts all that are not 2xx together, redirects and error pages.
pub fn answered(experiment: &Experiment, results: &Results, target: usize) -> bool {
    let counts_expected = experiment.targets[target].client == Tool::Ablaze;
    let mut runs = results.measured().filter(|(trial, _)| trial.target == target);
    runs.any(|(_, run)| match counts_expected {
        true => run.responses > run.unexpected,
        false => run.responses > 0,
    })
}

/// The exit status that results deserve by themselves: something was measured of every target that was not skipped because a
/// program is missing, and every run could be saved.
pub fn status(experiment: &Experiment, results: &Results) -> u8 {
    let measured = |target: usize| answered(experiment, results, target);
    let left_out = |target: usize| results.skipped(target).is_some();
    let mut targets = 0..experiment.targets.len();
    let enough = targets.clone().any(measured) && targets.all(|at| measured(at) || left_out(at));
    match (results.interrupted, enough && results.unsaved.is_none()) {
        (true, _) => INTERRUPTED,
        (false, true) => 0,
        (false, false) => NOTHING_MEASURED,
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::experiment::{Figures, Outcome, SKIPPED, Trial};
    use ablaze_testing::experiments;

    use super::*;

    /// One run of each target; of the first, `unexpected` of 10,000 responses were not expected.
    fn results(unexpected: u64, other: Outcome) -> Results {
        let figures = Figures { unexpected, ..experiments::figures(1e3) };
        let outcomes = [Outcome::Measured(Box::new(figures)), other].into_iter().enumerate();
        let trial = |target: usize| Trial { repeat: 0, load: 0, target };
        let trials = outcomes.map(|(target, outcome)| (trial(target), outcome)).collect();
        Results { trials, ..Results::default() }
    }

    fn measured() -> Outcome {
        Outcome::Measured(Box::new(experiments::figures(1e3)))
    }

    #[test]
    fn error_pages_alone_are_nothing_measured() {
        let experiment = experiments::experiment();
        assert_eq!(status(&experiment, &results(9_999, measured())), 0);
        assert_eq!(status(&experiment, &results(10_000, measured())), NOTHING_MEASURED);
        let mut sweep = experiments::experiment();
        sweep.loads.push(experiments::load(20));
        assert_eq!(status(&sweep, &results(9_999, measured())), 0);
        assert_eq!(status(&sweep, &results(10_000, measured())), NOTHING_MEASURED);
        // What ab counts as not 2xx can be redirects, which are expected.
        let mut by_ab = experiments::experiment();
        by_ab.targets[0].client = Tool::Ab;
        assert_eq!(status(&by_ab, &results(10_000, measured())), 0);
    }

    #[test]
    fn a_comparison_wants_every_target_that_is_installed() {
        let experiment = experiments::experiment();
        let failed = Outcome::Failed("refused the connection".to_owned());
        assert_eq!(status(&experiment, &results(0, failed)), NOTHING_MEASURED);
        let skipped = Outcome::Failed(format!("{SKIPPED}install nginx"));
        assert_eq!(status(&experiment, &results(0, skipped)), 0);
        let interrupted = Results { interrupted: true, ..results(0, measured()) };
        assert_eq!(status(&experiment, &interrupted), INTERRUPTED);
        let unsaved = Results { unsaved: Some("full".to_owned()), ..results(0, measured()) };
        assert_eq!(status(&experiment, &unsaved), NOTHING_MEASURED);
    }
}
