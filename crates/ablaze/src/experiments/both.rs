//! The progress line and the live page of an experiment or a search, which hear the same.

use std::time::Duration;

use ablaze_lab::experiment::Observer;
use ablaze_lab::search::Watch;
use ablaze_model::experiment::{Experiment, Outcome, Search, Stage, Trial};

use super::progress::LiveLine;
use crate::web::plan::PlanPage;

/// Those of an experiment.
pub struct Both<'a> {
    /// The line.
    pub line: &'a mut LiveLine,
    /// The page, if there is one.
    pub page: Option<&'a PlanPage>,
}

impl Observer for Both<'_> {
    fn begins(&mut self, experiment: &Experiment, trial: Trial, number: usize, of: usize) {
        Observer::begins(self.line, experiment, trial, number, of);
        self.page.iter().for_each(|page| page.begins(experiment, trial, number, of));
    }

    fn ended(&mut self, experiment: &Experiment, trial: Trial, outcome: &Outcome) {
        Observer::ended(self.line, experiment, trial, outcome);
        self.page.iter().for_each(|page| page.ended(experiment, trial, outcome));
    }

    fn measures_again(&mut self, why: &str) {
        Observer::measures_again(self.line, why);
    }
}

/// Those of a search.
pub struct BothOfSearch<'a> {
    /// What is searched.
    pub search: &'a Search,
    /// The line.
    pub line: &'a mut LiveLine,
    /// The page, if there is one.
    pub page: Option<&'a PlanPage>,
}

impl Watch for BothOfSearch<'_> {
    fn begins(&mut self, number: usize, asked_per_s: f64, confirming: bool) {
        Watch::begins(self.line, number, asked_per_s, confirming);
        let say = |page: &&PlanPage| page.stage_begins(self.search, number, asked_per_s);
        self.page.iter().for_each(say);
    }

    fn measures_again(&mut self, why: &str) {
        Watch::measures_again(self.line, why);
    }

    fn ended(&mut self, number: usize, stage: &Stage) {
        Watch::ended(self.line, number, stage);
        self.page.iter().for_each(|page| page.stage_ended(self.search, stage));
    }

    fn waits(&mut self, at_most: Duration) {
        self.line.waits(at_most);
    }
}
