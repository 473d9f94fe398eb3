//! Carries an experiment out, trial by trial. What has ended is on disk before the next begins, so
//! neither Ctrl-C nor a target that dies takes anything away.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ablaze_model::run::Ended;
use ablaze_model::spec::TargetSpec;
use ablaze_model::{LoadSpec, Run};
use ablaze_verdict::live;

use super::{
    Experiment, Figures, Folder, FolderError, Outcome, PrintedRun, Results, SKIPPED, Trial,
};
use crate::aim::aimed;
use crate::saved;
use crate::subject::{Answer, Certificate, Serving, Site, Tool, of_control};

/// Carries out one run.
pub trait Tester {
    /// Carries this load out, with a profiler beside it if it is to be `profiled`.
    ///
    /// # Errors
    /// When the run could not take place, or was interrupted.
    fn run(&mut self, load: &LoadSpec, profiled: bool) -> Result<Run, Failure>;

    /// Has another tester do what this load asks for. `server` gives the CPU time of the server's
    /// process so far, ns.
    ///
    /// # Errors
    /// When it is not installed, cannot be asked for this, or printed no report.
    fn run_by(
        &mut self,
        tool: Tool,
        _load: &LoadSpec,
        _server: &dyn Fn() -> Option<u64>,
    ) -> Result<PrintedRun, Failure> {
        Err(Failure::Impossible(format!("{} cannot be run here", tool.name())))
    }

    /// What the load's URL answers, for a control that is to do the same. `None` when it does not.
    fn answer_of(&mut self, load: &LoadSpec) -> Option<Answer>;
}

/// Why there is no run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The person at the terminal wants to stop.
    Interrupted,
    /// It could not take place, and why.
    Impossible(String),
}

/// Hears how far an experiment is.
pub trait Observer {
    /// A trial begins: the `number`th of `of`.
    fn begins(&mut self, experiment: &Experiment, trial: Trial, number: usize, of: usize);

    /// It has ended.
    fn ended(&mut self, experiment: &Experiment, trial: Trial, outcome: &Outcome);
}

/// Carries out the trials that are not in the folder yet.
///
/// # Errors
/// When the folder cannot be written: results that cannot be kept are not worth the time.
pub fn conduct(
    experiment: &Experiment,
    folder: &mut Folder,
    program: PathBuf,
    tester: &mut dyn Tester,
    observer: &mut dyn Observer,
) -> Result<Results, FolderError> {
    let trials = experiment.trials();
    let mut targets = Targets::new(experiment, folder, program);
    let mut results = Results::default();
    for (at, &trial) in trials.iter().enumerate() {
        if let Some(figures) = folder.figures(experiment, trial)? {
            results.trials.push((trial, Outcome::Measured(Box::new(figures))));
            continue;
        }
        observer.begins(experiment, trial, at + 1, trials.len());
        let outcome = match targets.measured(trial, tester, false) {
            Ok(Measured::Run(run)) => {
                let run = live::assessed(*run);
                folder.keep(experiment, trial, &run)?;
                Outcome::Measured(Box::new(Figures::of(&run)))
            }
            Ok(Measured::Printed(run, figures)) => {
                folder.keep_printed(experiment, trial, &run)?;
                Outcome::Measured(figures)
            }
            Err(Failure::Interrupted) => {
                results.interrupted = true;
                break;
            }
            Err(Failure::Impossible(why)) => {
                folder.note_failure(experiment, trial, &why)?;
                Outcome::Failed(why)
            }
        };
        observer.ended(experiment, trial, &outcome);
        results.trials.push((trial, outcome));
    }
    Ok(results)
}

/// One run of a target beside the trials, under the first load, with a profiler.
pub(crate) fn aside(
    experiment: &Experiment,
    folder: &Folder,
    program: PathBuf,
    subject: usize,
    tester: &mut dyn Tester,
) -> Result<Run, Failure> {
    let trial = Trial { repeat: 0, load: 0, subject };
    match Targets::new(experiment, folder, program).measured(trial, tester, true)? {
        Measured::Run(run) => Ok(*run),
        Measured::Printed(..) => {
            let name = &experiment.subjects[subject].name;
            Err(Failure::Impossible(format!("{name} is loaded by another program")))
        }
    }
}

/// One run, as its tester leaves it.
enum Measured {
    /// By ablaze.
    Run(Box<Run>),
    /// By another, with the figures in what it printed.
    Printed(Box<PrintedRun>, Box<Figures>),
}

/// The targets that run at the moment.
struct Targets<'a> {
    experiment: &'a Experiment,
    site: Site,
    serving: BTreeMap<usize, Serving>,
    answer_known: bool,
}

impl<'a> Targets<'a> {
    fn new(experiment: &'a Experiment, folder: &Folder, program: PathBuf) -> Self {
        let site = Site {
            program,
            path: experiment.path.clone(),
            cpus: experiment.placement.target.clone(),
            // Whole: nginx takes what is relative to lie in its own folder.
            folder: std::path::absolute(folder.path())
                .unwrap_or_else(|_| folder.path().to_owned())
                .join("targets"),
            ready_within: Duration::from_secs(experiment.ready_within_s),
            answer: Answer::default(),
            speaks: experiment.speaks,
            control_speaks: of_control(&experiment.subjects, experiment.speaks),
            certificate: Certificate::default(),
        };
        Self { experiment, site, serving: BTreeMap::new(), answer_known: false }
    }

    /// One run, of a target that is up.
    fn measured(
        &mut self,
        trial: Trial,
        tester: &mut dyn Tester,
        profiled: bool,
    ) -> Result<Measured, Failure> {
        let subject = &self.experiment.subjects[trial.subject];
        if let Some(files) = subject.saved_runs() {
            return files
                .get(trial.repeat as usize)
                .ok_or_else(|| Failure::Impossible("there is no such saved run".to_owned()))
                .and_then(|file| saved::read(file).map_err(Failure::Impossible))
                .map(|run| Measured::Run(Box::new(run)));
        }
        if let Some(package) = subject.missing() {
            return Err(Failure::Impossible(format!("{SKIPPED}install {package}")));
        }
        let load = &self.experiment.loads[trial.load].spec;
        if matches!(subject.source, TargetSpec::Nginx { .. }) {
            self.learn_the_answer(load, tester);
        }
        let mut serving = match self.serving.remove(&trial.subject) {
            Some(serving) => serving,
            None => Serving::start(subject, &self.site)
                .map_err(|error| Failure::Impossible(error.to_string()))?,
        };
        let load = aimed(load, &serving, &self.experiment.placement.tester)?;
        let measured = match subject.tester {
            Tool::Ablaze => Measured::Run(Box::new(tester.run(&load, profiled)?)),
            tool => {
                let server = || serving.cpu_ns();
                let run = tester.run_by(tool, &load, &server)?;
                let none = || Failure::Impossible(format!("{} printed no report", tool.name()));
                let figures = run.figures().ok_or_else(none)?;
                Measured::Printed(Box::new(run), Box::new(figures))
            }
        };
        if let Some(status) = serving.ended() {
            let why = format!("{} ended during the run ({status})", subject.name);
            return Err(Failure::Impossible(why));
        }
        if matches!(&measured, Measured::Run(run) if run.ended == Ended::Interrupted) {
            return Err(Failure::Interrupted);
        }
        if !self.experiment.restart {
            self.serving.insert(trial.subject, serving);
        }
        Ok(measured)
    }

    /// The control does what the first of the others does.
    fn learn_the_answer(&mut self, load: &LoadSpec, tester: &mut dyn Tester) {
        if std::mem::replace(&mut self.answer_known, true) {
            return;
        }
        let others = || self.experiment.subjects.iter();
        let Some(other) = others()
            .find(|other| !matches!(other.source, TargetSpec::Nginx { .. } | TargetSpec::Saved(_)))
        else {
            return;
        };
        if let Ok(serving) = Serving::start(other, &self.site)
            && let Ok(load) = aimed(load, &serving, &[])
            && let Some(answer) = tester.answer_of(&load)
        {
            self.site.answer = answer;
        }
    }
}

#[cfg(test)]
#[path = "conduct_tests.rs"]
mod tests;
