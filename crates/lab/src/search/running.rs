//! Runs a search, stage by stage.

use std::time::Duration;

use ablaze_model::experiment::{ByFleet, Measured, Search, Searched, Stage};
use ablaze_model::run::Ended;
use ablaze_model::{Assessed, LoadSpec, Run};
use ablaze_report::condition::ConditionError;
use ablaze_stats::rate_search::{Next, RateSearch, Trial};
use ablaze_verdict::live;

use crate::aim::aimed;

use super::folder::{self, Unmeasured};
use super::recovery::{self, Recovery, Waited};
use super::{Goal, StageFolder};
use crate::experiment::running::until_exit;
use crate::experiment::{Failure, FolderError, Runner};
use crate::target::{Certificate, Response, Serving, Site, ThisProgram};

/// Hears how far a search is.
pub trait Watch {
    /// A stage begins: the `number`th.
    fn begins(&mut self, number: usize, asked_per_s: f64, confirming: bool);

    /// It has ended.
    fn ended(&mut self, number: usize, stage: &Stage);

    /// A target that was asked too much is waited for, at most so long.
    fn waits(&mut self, _at_most: Duration) {}

    /// A stage that is kept cannot be read, and takes place again.
    fn measures_again(&mut self, _why: &str) {}
}

/// What a search runs with.
pub struct Setting<'a> {
    /// This program, whose `serve` runs the built-in models.
    pub program: ThisProgram,
    /// Performs the runs; `None` to look only at what is kept.
    pub client: Option<&'a mut dyn Runner>,
    /// Hears how far it is.
    pub watch: &'a mut dyn Watch,
    /// Waits between the requests that a target is tried with while it works off what it has taken.
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
    let mut recovery = Recovery::default();
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
        let kept = match folder.stage(number, asked_per_s) {
            Ok(kept) => kept,
            // It takes place again.
            Err(error) if client.is_some() => {
                watch.measures_again(&error.to_string());
                None
            }
            Err(error) if searched.stages.is_empty() => return Err(error.into()),
            Err(error) => {
                searched.gone = Some(format!("stage {number} cannot be read: {error}"));
                break;
            }
        };
        let kept = match (kept, &client) {
            // It ended the search: the cause has been fixed if the search is continued.
            (Some(Err(none)), Some(_))
                if none.until_exit.is_none()
                    && is_gone(&searched.stages)
                    && folder.is_last(number) =>
            {
                None
            }
            (kept, _) => kept,
        };
        if let Some(kept) = kept {
            let result = kept.map(live::assessed).map_err(|none| none.into());
            let stage = stage(&goal, (number, asked_per_s), confirming, &result);
            state.tell(stage.trial);
            searched.stages.push(stage);
            continue;
        }
        let Some(client) = client.as_deref_mut() else {
            searched.gone = match folder.is_last(number) {
                true => ended_before(folder, &searched.stages),
                false => Some(format!(
                    "the file of stage {number} is missing, and which stages followed depends on it"
                )),
            };
            searched.interrupted = searched.gone.is_none();
            break;
        };
        match target.is_ready(
            &mut recovery,
            searched.stages.last(),
            (&mut *client, &mut *watch, rest),
        ) {
            Ok(Waited::Recovered) => {}
            // The single requests of a client that has no processor are late as well: they say nothing of the target.
            Ok(Waited::InVain(_)) if client_was_the_limit(&searched) => {}
            Ok(Waited::InVain(why)) => {
                let kept = folder.note_end(&why);
                searched.gone = Some(why);
                keep_or_lack(kept, folder, number);
                break;
            }
            Err(_) => {
                searched.interrupted = true;
                break;
            }
        }
        watch.begins(number, asked_per_s, confirming);
        let load = search.stage_load(asked_per_s, confirming);
        let (result, kept) = match target.measured(&load, client) {
            Ok(run) => {
                let run = live::assessed(run);
                let kept = folder.keep(number, asked_per_s, &run);
                (Ok(run), kept)
            }
            Err(NoRun::Interrupted) => {
                searched.interrupted = true;
                break;
            }
            Err(NoRun::Impossible(none)) => {
                let noted = (none.why.as_str(), none.until_exit.as_deref());
                let kept = folder.note_failure(number, asked_per_s, noted);
                (Err(none), kept)
            }
        };
        let stage = stage(&goal, (number, asked_per_s), confirming, &result);
        watch.ended(number, &stage);
        // A target that keeps running is asked before the next stage whether it is there.
        let gone = match &result {
            Err(none) if !recovery.is_known() && is_gone_behind(&searched.stages, none) => {
                Some(none.why.clone())
            }
            _ => None,
        };
        state.tell(stage.trial);
        searched.stages.push(stage);
        let kept = kept.and_then(|()| gone.as_ref().map_or(Ok(()), |why| folder.note_end(why)));
        if keep_or_lack(kept, folder, number) {
            searched.gone = folder.unsaved().map(|what| format!("cannot save {what}"));
            break;
        }
        if gone.is_some() {
            searched.gone = gone;
            break;
        }
    }
    Ok(searched)
}

/// Whether the last stage was bounded by the client.
fn client_was_the_limit(searched: &Searched) -> bool {
    searched.stages.last().is_some_and(|stage| stage.trial == Trial::LimitedByClient)
}

/// Remembers what could not be kept, and says whether there is any.
fn keep_or_lack(kept: Result<(), FolderError>, folder: &mut StageFolder, number: usize) -> bool {
    let lacks = kept.is_err();
    if let Err(error) = kept {
        folder.lacks(format!("stage {number}: {error}"));
    }
    lacks
}

/// Why a search that is only looked at went no further, if it was not interrupted.
fn ended_before(folder: &StageFolder, stages: &[Stage]) -> Option<String> {
    let noted = folder.ended().map(str::to_owned);
    // Folders of before have no note of it.
    noted.or_else(|| {
        let (last, before) = stages.split_last()?;
        (last.measured.is_none() && is_gone(before)).then(|| last.why.clone())?
    })
}

/// Whether a stage without a run ends the search. One of a target that exited, and responded until then, does not:
/// at a lower rate it may not exit.
fn is_gone_behind(before: &[Stage], none: &Lost) -> bool {
    none.until_exit.is_none() && is_gone(before)
}

/// A target that could not be measured at its first stage, or at two in a row, is not there: a lower
/// rate will not bring it back.
fn is_gone(before: &[Stage]) -> bool {
    before.last().is_none_or(|last| last.measured.is_none())
}

fn stage(
    goal: &Goal,
    (number, asked_per_s): (usize, f64),
    confirming: bool,
    result: &Result<Assessed, Lost>,
) -> Stage {
    let (run, lost) = match result {
        Ok(run) => (Some(run), None),
        Err(lost) => (lost.until_exit.as_deref(), Some(lost.why.clone())),
    };
    let judged = run.map(|run| goal.judge(run, asked_per_s));
    let (trial, why, undecided) = match (&judged, lost) {
        (_, Some(why)) => (Trial::Fails, Some(why), false),
        (Some(judged), None) => (judged.trial, judged.why.clone(), judged.undecided),
        (None, None) => (Trial::Fails, None, false),
    };
    let measured = judged.zip(run).map(|(judged, run)| Measured {
        answered_per_s: judged.answered_per_s,
        figures: judged.figures,
        values: judged.values,
        unsupported: goal.unsupported(&run.run).into_iter().map(str::to_owned).collect(),
        verdict: run.judged.verdict,
        findings: run.judged.findings.clone(),
    });
    let run = run.map(|_| match result {
        Ok(_) => folder::run_name(number, asked_per_s),
        Err(_) => folder::until_exit_name(number, asked_per_s),
    });
    Stage { asked_per_s, confirming, trial, why, undecided, run, measured }
}

/// A stage of which there is no whole run.
struct Lost {
    why: String,
    /// What came until the target exited.
    until_exit: Option<Box<Assessed>>,
}

impl From<Unmeasured> for Lost {
    fn from(kept: Unmeasured) -> Self {
        Self {
            why: kept.why,
            until_exit: kept.until_exit.map(|run| Box::new(live::assessed(*run))),
        }
    }
}

/// Why there is no run of a stage.
enum NoRun {
    Interrupted,
    Impossible(Lost),
}

impl From<Failure> for NoRun {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Interrupted => Self::Interrupted,
            Failure::Impossible(why) => Self::Impossible(Lost { why, until_exit: None }),
        }
    }
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
            address: ByFleet::listens(search.fleet.as_ref()),
            directory: None,
            control_speaks: search.speaks,
            certificate: Certificate::default(),
        };
        Self { search, site, serving: None }
    }

    fn starts_anew(&self) -> bool {
        self.search.restart && self.search.target.is_started_here()
    }

    /// Before a stage: whether a target that keeps running responds as it did before the first one, and how fast
    /// that was. What it has not worked off yet is waited for.
    fn is_ready(
        &mut self,
        recovery: &mut Recovery,
        before: Option<&Stage>,
        (client, watch, rest): (&mut dyn Runner, &mut dyn Watch, fn(Duration)),
    ) -> Result<Waited, Failure> {
        if self.starts_anew() {
            return Ok(Waited::Recovered);
        }
        let at_most = recovery::longest_wait(self.search.stage_ns);
        let per_s = before.map_or(self.search.start_per_s, |stage| stage.asked_per_s);
        let load = recovery::single(&self.search.stage_load(per_s, false));
        let mut probe = || {
            let mut serving = self.started()?;
            let load = aimed(&load, &serving, &self.search.placement.client)?;
            let run = client.run(&load, false);
            self.serving = serving.ended().is_none().then_some(serving);
            run
        };
        if !recovery.is_known() {
            recovery.learn(&mut probe)?;
            return Ok(Waited::Recovered);
        }
        let Some(before) = before.filter(|stage| stage.trial != Trial::Holds) else {
            return Ok(Waited::Recovered);
        };
        watch.waits(at_most);
        recovery.wait(before.asked_per_s, at_most, rest, &mut probe)
    }

    fn started(&mut self) -> Result<Serving, Failure> {
        match self.serving.take() {
            Some(serving) => Ok(serving),
            None => Serving::start(&self.search.target, &self.site)
                .map_err(|error| Failure::Impossible(error.to_string())),
        }
    }

    fn measured(&mut self, load: &LoadSpec, client: &mut dyn Runner) -> Result<Run, NoRun> {
        let mut serving = self.started()?;
        let load = aimed(load, &serving, &self.search.placement.client)?;
        let run = client.run(&load, false);
        if let Some(status) = serving.ended() {
            let mut why = format!("{} exited during the stage ({status})", self.search.target.name);
            if let Ok(run) = &run {
                why.push_str(&until_exit(run));
            }
            let until_exit = run.ok().map(|run| Box::new(live::assessed(run)));
            return Err(NoRun::Impossible(Lost { why, until_exit }));
        }
        if !self.starts_anew() {
            self.serving = Some(serving);
        }
        match run? {
            run if run.ended == Ended::Interrupted => Err(NoRun::Interrupted),
            run => Ok(run),
        }
    }
}

#[cfg(test)]
#[path = "running_tests.rs"]
mod tests;
