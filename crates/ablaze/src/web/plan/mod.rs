//! The page of what has several runs: the plan with what is done of it, the results so far, the run under way, and how long
//! it will go on. What is drawn is drawn between runs; during one, a few figures are replaced once a second.

mod now;
mod overview;
mod time_left;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ablaze_model::experiment::{
    Experiment, Outcome, Results, Search, Searched, Stage, Target, Trial,
};
use ablaze_model::{Plan, printable};
use ablaze_report::experiment::curve::Pick;
use ablaze_report::experiment::{page as of_experiments, search_page};
use ablaze_report::number::rate;
use ablaze_report::page::live::{self, Controls, Part, State};
use ablaze_report::page::{self, Page, Section};

use super::{Orders, Web, WebOptions};
use crate::CommandError;
use crate::carry_out::{Silent, Watcher, own_command_line};
use crate::lengths::in_words;
use now::Now;
use time_left::TimeLeft;

/// The places of the page, from the top down.
const PLACES: [&str; 5] = ["state", "now", "results", "plan", "before"];

/// The page, for whoever has something to post on it.
#[derive(Clone)]
pub struct PlanPage(Arc<Inner>);

struct Inner {
    web: Web,
    shown: Mutex<Shown>,
}

/// What is shown.
#[derive(Default)]
struct Shown {
    /// `part 2 of 6: connections kept · `
    place: String,
    /// What is under way: `run 3 of 20 · mine · 10 connections`.
    what: String,
    /// How much is over, if that can be told.
    share: Option<f64>,
    left: TimeLeft,
    results: Results,
    searched: Searched,
    /// Sections of the parts that are over.
    before: Vec<Section>,
}

impl PlanPage {
    /// Serves the page if it was asked for, and says where. Without a title it has the names of the targets.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn asked(
        options: WebOptions,
        title: &str,
        targets: &[Target],
    ) -> Result<Option<Self>, CommandError> {
        let Some(address) = options.web else { return Ok(None) };
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let mut page =
            Page::new(&if title.is_empty() { names.join(", ") } else { title.to_owned() });
        page.sections.push(page::section::command(&own_command_line().0));
        let empty = PLACES.map(|id| Part { id, html: String::new() });
        let first = live::write(&page, &empty, Controls::Stop);
        let web = Web::begin(address, Orders::Interrupting, first)?;
        let shown = Shown { what: "Preparing…".to_owned(), ..Shown::default() };
        let page = Self(Arc::new(Inner { web, shown: Mutex::new(shown) }));
        page.post_state();
        Ok(Some(page))
    }

    /// The watcher of a run that is part of it.
    pub fn watcher(page: Option<&Self>, plan: &Plan) -> Box<dyn Watcher> {
        match page {
            Some(page) => Box::new(Now::new(page.clone(), plan)),
            None => Box::new(Silent),
        }
    }

    /// A trial begins: the `number`th of `of`.
    pub fn begins(&self, experiment: &Experiment, trial: Trial, number: usize, of: usize) {
        let mut shown = self.shown();
        let name = &experiment.targets[trial.target].name;
        let label = &experiment.loads[trial.load].label;
        shown.what = format!("run {number} of {of} · {name} · {label}");
        shown.share = Some((number - 1) as f64 / of as f64);
        shown.left.begins(experiment, number - 1);
        let plan = overview::of(experiment, &shown.results, Some((trial, number - 1)));
        drop(shown);
        self.post_state();
        self.0.web.board.post(vec![Part::of("plan", &[plan])]);
    }

    /// It has ended.
    pub fn ended(&self, experiment: &Experiment, trial: Trial, outcome: &Outcome) {
        let mut shown = self.shown();
        shown.left.ended(trial.load);
        shown.results.trials.push((trial, outcome.clone()));
        let sections = of_experiments::so_far(experiment, &shown.results, Pick::Median);
        let plan = overview::of(experiment, &shown.results, None);
        drop(shown);
        self.0.web.board.post(vec![Part::of("results", &sections), Part::of("plan", &[plan])]);
    }

    /// A stage of a search begins.
    pub fn stage_begins(&self, search: &Search, number: usize, asked_per_s: f64) {
        let most = search.limits().most_trials;
        let asked = rate(asked_per_s);
        self.shown().what = format!("stage {number}, {most} at most · {asked}/s requested");
        self.post_state();
    }

    /// It has ended.
    pub fn stage_ended(&self, search: &Search, stage: &Stage) {
        let mut shown = self.shown();
        shown.searched.stages.push(stage.clone());
        let sections = search_page::so_far(search, &shown.searched);
        drop(shown);
        self.0.web.board.post(vec![Part::of("results", &sections)]);
    }

    /// A part of a series begins: which of how many; those behind it take so long, as far as they were asked to.
    pub fn part_begins(&self, heading: &str, (number, of): (usize, usize), behind: Duration) {
        let mut shown = self.shown();
        let heading = printable::printable(heading);
        shown.place = format!("part {number} of {of}: {heading} · ");
        (shown.results, shown.left) = (Results::default(), TimeLeft::before(behind));
    }

    /// It has ended, and came to this.
    pub fn part_ended(&self, section: &Section) {
        let mut shown = self.shown();
        shown.before.push(section.clone());
        let before = Part::of("before", &shown.before);
        drop(shown);
        self.0.web.board.post(vec![before, Part::of("results", &[])]);
    }

    /// All is over: browsers go to the finished page, if there is one, and are waited for.
    pub fn end(&self, page: Option<&Page>) {
        self.0.web.board.finish(false, || page.map(Page::html));
        self.0.web.linger(0);
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        // What a thread that panicked has left is shown until it is replaced.
        self.0.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts what is under way, and how long all of it will take.
    fn post_state(&self) {
        let shown = self.shown();
        let mut state = State {
            text: format!("{}{}", shown.place, shown.what),
            share: shown.share,
            ..State::default()
        };
        if let Some((left, how)) = shown.left.left() {
            state.rows.push(("time left".to_owned(), format!("about {}: {how}", in_words(left))));
        }
        drop(shown);
        self.0.web.board.post(vec![state.part("state")]);
    }
}
