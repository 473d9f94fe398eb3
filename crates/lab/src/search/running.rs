//! Runs a search, stage by stage.

use std::time::Duration;

use ablaze_model::experiment::{Measured, Search, Searched, Stage};
use ablaze_model::run::Ended;
use ablaze_model::{Assessed, LoadSpec, Run};
use ablaze_report::condition::ConditionError;
use ablaze_stats::rate_search::{Next, RateSearch, Trial};
use ablaze_verdict::live;

use crate::aim::aimed;

use super::{Goal, StageFolder};
use crate::experiment::{Failure, FolderError, Runner};
use crate::target::{Certificate, Response, Serving, Site, ThisProgram};

/// Hears how far a search is.
pub trait Watch {
    /// A stage begins: the `number`th.
    fn begins(&mut self, number: usize, asked_per_s: f64, confirming: bool);

    /// It has ended.
    fn ended(&mut self, number: usize, stage: &Stage);
}

/// What a search runs with.
pub struct Setting<'a> {
    /// This program, whose `serve` runs the built-in models.
    pub program: ThisProgram,
    /// Performs the runs; `None` to look only at what is kept.
    pub client: Option<&'a mut dyn Runner>,
    /// Hears how far it is.
    pub watch: &'a mut dyn Watch,
    /// Waits while a target that was asked too much works off what it has taken.
    pub rest: fn(Duration),
}

/// Why a search cannot run.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// What has to hold cannot be read.
    #[error("{0}")]
    Goal(#[from] ConditionError),
    /// The folder cannot be written or read.
    #[error("{0}")]
    Folder(#[from] FolderError),
}

/// Runs the stages that are not in the folder yet, until there is an answer.
///
/// # Errors
/// When the goal cannot be read, or the folder cannot be written or is damaged.
pub fn run(
    search: &Search,
    folder: &mut StageFolder,
    setting: Setting<'_>,
) -> Result<Searched, SearchError> {
    let goal: Goal = search.goal.parse()?;
    let mut target = Target::new(search, folder, setting.program.clone());
    let Setting { mut client, watch, rest, .. } = setting;
    let mut state = RateSearch::new(search.limits());
    let mut searched = Searched::default();
    loop {
        let asked_per_s = match state.next() {
            Next::Try(asked_per_s) => asked_per_s,
            Next::Done(found) => {
                searched.found = Some(found);
                break;
            }
        };
        let number = searched.stages.len() + 1;
        let confirming = searched.stages.iter().any(|stage| stage.asked_per_s == asked_per_s);
        let kept = match (folder.stage(number, asked_per_s)?, &client) {
            // It ended the search: the cause has been fixed if the search is continued.
            (Some(Err(_)), Some(_)) if is_gone(&searched.stages) => None,
            (kept, _) => kept,
        };
        let carried_out_here = kept.is_none();
        let result = match (kept, client.as_deref_mut()) {
            (Some(result), _) => result.map(live::assessed),
            (None, None) => {
                searched.interrupted = true;
                break;
            }
            (None, Some(client)) => {
                watch.begins(number, asked_per_s, confirming);
                let load = search.stage_load(asked_per_s, confirming);
                match target.measured(&load, client) {
                    Ok(run) => {
                        let run = live::assessed(run);
                        folder.keep(number, asked_per_s, &run)?;
                        Ok(run)
                    }
                    Err(Failure::Interrupted) => {
                        searched.interrupted = true;
                        break;
                    }
                    Err(Failure::Impossible(why)) => {
                        folder.note_failure(number, asked_per_s, &why)?;
                        Err(why)
                    }
                }
            }
        };
        let stage = stage(&goal, asked_per_s, confirming, &result);
        if carried_out_here {
            watch.ended(number, &stage);
            if let Some(time) = backlog(&stage, search).filter(|_| !target.starts_anew()) {
                rest(time);
            }
        }
        let gone = match &result {
            Err(why) if is_gone(&searched.stages) => Some(why.clone()),
            _ => None,
        };
        state.tell(stage.trial);
        searched.stages.push(stage);
        if gone.is_some() {
            searched.gone = gone;
            break;
        }
    }
    Ok(searched)
}

/// A target that could not be measured at its first stage, or at two in a row, is not there: a lower
/// rate will not bring it back.
fn is_gone(before: &[Stage]) -> bool {
    before.last().is_none_or(|last| last.measured.is_none())
}

fn stage(
    goal: &Goal,
    asked_per_s: f64,
    confirming: bool,
    result: &Result<Assessed, String>,
) -> Stage {
    match result {
        Err(why) => Stage {
            asked_per_s,
            confirming,
            trial: Trial::Fails,
            why: Some(why.clone()),
            measured: None,
        },
        Ok(run) => {
            let judged = goal.judge(run, asked_per_s);
            let measured = Measured {
                answered_per_s: judged.answered_per_s,
                figures: judged.figures,
                unsupported: goal.unsupported(&run.run).into_iter().map(str::to_owned).collect(),
                verdict: run.judged.verdict,
                findings: run.judged.findings.clone(),
            };
            Stage {
                asked_per_s,
                confirming,
                trial: judged.trial,
                why: judged.why,
                measured: Some(measured),
            }
        }
    }
}

/// How long a target needs for what it had not answered yet at the end of a stage that asked for
/// too much; at most the length of a stage.
fn backlog(stage: &Stage, search: &Search) -> Option<Duration> {
    let measured = stage.measured.as_ref().filter(|_| stage.trial != Trial::Holds)?;
    let times = stage.asked_per_s / measured.answered_per_s.max(1.0) - 1.0;
    let length_ns = if stage.confirming { search.confirm_ns } else { search.stage_ns };
    Some(Duration::from_nanos((length_ns as f64 * times.clamp(0.0, 1.0)) as u64))
}

/// The target, while it runs.
struct Target<'a> {
    search: &'a Search,
    site: Site,
    serving: Option<Serving>,
}

impl<'a> Target<'a> {
    fn new(search: &'a Search, folder: &StageFolder, program: ThisProgram) -> Self {
        let site = Site {
            program,
            path: search.path.clone(),
            cpus: search.placement.target.clone(),
            // Whole: nginx takes what is relative to lie in its own folder.
            folder: std::path::absolute(folder.path())
                .unwrap_or_else(|_| folder.path().to_owned())
                .join("targets"),
            ready_within: Duration::from_secs(search.ready_within_s),
            response: Response::default(),
            speaks: search.speaks,
            directory: None,
            control_speaks: search.speaks,
            certificate: Certificate::default(),
        };
        Self { search, site, serving: None }
    }

    fn starts_anew(&self) -> bool {
        self.search.restart && self.search.target.is_started_here()
    }

    fn measured(&mut self, load: &LoadSpec, client: &mut dyn Runner) -> Result<Run, Failure> {
        let impossible = |why: String| Failure::Impossible(why);
        let mut serving = match self.serving.take() {
            Some(serving) => serving,
            None => Serving::start(&self.search.target, &self.site)
                .map_err(|error| impossible(error.to_string()))?,
        };
        let load = aimed(load, &serving, &self.search.placement.client)?;
        let run = client.run(&load, false);
        if let Some(status) = serving.ended() {
            let name = &self.search.target.name;
            return Err(impossible(format!("{name} exited during the stage ({status})")));
        }
        if !self.starts_anew() {
            self.serving = Some(serving);
        }
        match run? {
            run if run.ended == Ended::Interrupted => Err(Failure::Interrupted),
            run => Ok(run),
        }
    }
}

#[cfg(test)]
#[path = "running_tests.rs"]
mod tests;
