//! Runs an experiment, trial by trial. What has ended is on disk before the next begins, so
//! neither Ctrl-C nor a target that dies takes anything away.

use std::collections::BTreeMap;
use std::time::Duration;

use ablaze_model::experiment::{
    ByFleet, Counted, Experiment, Figures, Outcome, Results, SKIPPED, Target, Tool, Trial,
    of_control,
};
use ablaze_model::run::Ended;
use ablaze_model::spec::TargetSpec;
use ablaze_model::{LoadSpec, Run};
use ablaze_report::number::{counted, time};
use ablaze_verdict::live;

use super::{Folder, FolderError, PrintedRun, figures};
use crate::aim::aimed;
use crate::saved;
use crate::search::recovery::{self, Recovery};
use crate::target::{self, Certificate, Response, Serving, Site, ThisProgram};

/// Performs runs.
pub trait Runner {
    /// Runs this load, with a profiler if `profiled`.
    ///
    /// # Errors
    /// When the run could not take place, or was interrupted.
    fn run(&mut self, load: &LoadSpec, profiled: bool) -> Result<Run, Failure>;

    /// Has another client do what this load asks for. `server` gives the CPU time of the server's
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
        Err(Failure::Impossible(format!("running {} is not supported here", tool.name())))
    }

    /// What the load's URL responds with, for a control that is to do the same. `None` without a
    /// response.
    fn response_of(&mut self, load: &LoadSpec) -> Option<Response>;
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

    /// A run that is kept cannot be read, and takes place again.
    fn measures_again(&mut self, _why: &str) {}
}

/// Runs the trials that are not in the folder yet.
///
/// # Errors
/// None at present: a run that cannot be read is made again. If it cannot be written any more the experiment ends, with the run in hand
/// in its results ([`Folder::unsaved`]): more that cannot be kept is not worth the time.
pub fn run(
    experiment: &Experiment,
    folder: &mut Folder,
    program: ThisProgram,
    client: &mut dyn Runner,
    observer: &mut dyn Observer,
) -> Result<Results, FolderError> {
    let trials = experiment.trials();
    let mut targets = Targets::new(experiment, folder, program);
    let mut results = Results::default();
    for (at, &trial) in trials.iter().enumerate() {
        match folder.figures(experiment, trial) {
            Ok(Some(figures)) => {
                results.trials.push((trial, Outcome::Measured(Box::new(figures))));
                continue;
            }
            Ok(None) => {}
            Err(error) => observer.measures_again(&error.to_string()),
        }
        observer.begins(experiment, trial, at + 1, trials.len());
        let (outcome, kept) = match targets.measured(trial, client, false) {
            Ok((Measured::Run(run), counters)) => {
                let run = live::assessed(*run);
                let kept = folder.keep(experiment, trial, &run);
                let kept = kept
                    .and_then(|()| folder.keep_counters(experiment, trial, counters.as_deref()));
                let (counted, kept) = apart(kept);
                (Outcome::Measured(Box::new(Figures { counted, ..figures::of_run(&run) })), kept)
            }
            Ok((Measured::Printed(run, figures), counters)) => {
                let kept = folder.keep_printed(experiment, trial, &run);
                let kept = kept
                    .and_then(|()| folder.keep_counters(experiment, trial, counters.as_deref()));
                let (counted, kept) = apart(kept);
                (Outcome::Measured(Box::new(Figures { counted, ..*figures })), kept)
            }
            Err(Failure::Interrupted) => {
                results.interrupted = true;
                break;
            }
            Err(Failure::Impossible(mut why)) => {
                let mut kept = Ok(());
                if let Some(run) = targets.until_exit.take() {
                    let partial = folder.keep_partial(experiment, trial, &live::assessed(run));
                    match partial {
                        Ok(file) => why = format!("{why}: saved as {file}"),
                        Err(error) => kept = Err(error),
                    }
                }
                let noted = folder.note_failure(experiment, trial, &why);
                (Outcome::Failed(why), kept.and(noted))
            }
        };
        observer.ended(experiment, trial, &outcome);
        results.trials.push((trial, outcome));
        if let Err(error) = kept {
            // Nor could any other be saved, but what there is is worth a report.
            let name = &experiment.targets[trial.target].name;
            let what = format!("repeat {} of {name}: {error}", trial.repeat + 1);
            folder.lacks(what.clone());
            results.unsaved = Some(what);
            break;
        }
    }
    Ok(results)
}

/// One run of a target beside the trials, under the first load, with a profiler.
pub(crate) fn aside(
    experiment: &Experiment,
    folder: &Folder,
    program: ThisProgram,
    target: usize,
    client: &mut dyn Runner,
) -> Result<Run, Failure> {
    let trial = Trial { repeat: 0, load: 0, target };
    match Targets::new(experiment, folder, program).measured(trial, client, true)?.0 {
        Measured::Run(run) => Ok(*run),
        Measured::Printed(..) => {
            let name = &experiment.targets[target].name;
            Err(Failure::Impossible(format!("{name} is loaded by another program than ablaze")))
        }
    }
}

/// One run, as its client leaves it.
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
    /// Each as it was started, a control with the response that it gives.
    serving: BTreeMap<usize, ((Started, Option<Response>), Serving)>,
    /// What the first of the others responds, as it was started then.
    responses: Vec<(Started, Response)>,
    /// The run whose target exited in the middle of it.
    until_exit: Option<Run>,
    /// What the run before left in flight at a target that goes on.
    left: Option<Left>,
    /// Targets whose command does not exist, and what was said of it: they are not tried again.
    never: Vec<(Target, String)>,
}

/// An open loop whose requests were not all answered when it ended.
struct Left {
    /// Where it went, and how.
    load: LoadSpec,
    /// Few responses were faster.
    fastest_ns: u64,
}

impl Left {
    /// What this run left, if it did.
    fn behind(load: &LoadSpec, run: &Run) -> Option<Self> {
        let in_flight = run.record.unfinished.saturating_sub(run.record.never_sent);
        let is_open = run.plan.load.is_open() && run.plan.journey.is_none();
        let fastest_ns = run.record.answered.processing.quantile_ns(FEW_FASTER)?;
        (is_open && in_flight > 0).then(|| Self { load: load.clone(), fastest_ns })
    }

    /// Waits until the target has worked that off: the next run would have it as its own.
    fn worked_off(&self, client: &mut dyn Runner) -> Result<(), Failure> {
        let single = recovery::single(&self.load);
        let mut probe = || client.run(&single, false);
        let recovery = Recovery::of(self.fastest_ns);
        // Who does not get there shows it in the next run.
        recovery.wait(0.0, LONGEST_WAIT, std::thread::sleep, &mut probe).map(drop)
    }
}

/// So few of the responses of a run were faster than what it is waited for.
const FEW_FASTER: f64 = 0.01;
/// It is waited for that long.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A target as it is under a load, and the path that is asked for there.
type Started = (Target, String);

impl<'a> Targets<'a> {
    fn new(experiment: &'a Experiment, folder: &Folder, program: ThisProgram) -> Self {
        let site = Site {
            program,
            path: experiment.path.clone(),
            cpus: experiment.placement.target.clone(),
            // Whole: nginx takes what is relative to lie in its own folder.
            folder: std::path::absolute(folder.path())
                .unwrap_or_else(|_| folder.path().to_owned())
                .join("targets"),
            ready_within: Duration::from_secs(experiment.ready_within_s),
            response: Response::default(),
            speaks: experiment.speaks,
            address: ByFleet::listens(experiment.fleet.as_ref()),
            directory: experiment.directory.clone(),
            control_speaks: of_control(&experiment.targets, experiment.speaks),
            certificate: Certificate::default(),
        };
        Self {
            experiment,
            site,
            serving: BTreeMap::new(),
            responses: Vec::new(),
            until_exit: None,
            left: None,
            never: Vec::new(),
        }
    }

    /// One run, of a target that is up, and what that counted if it is stopped behind it.
    fn measured(
        &mut self,
        trial: Trial,
        client: &mut dyn Runner,
        profiled: bool,
    ) -> Result<(Measured, Option<String>), Failure> {
        let target = self.experiment.target_of(trial);
        if let Some(files) = target.saved_runs() {
            return files
                .get(trial.repeat as usize)
                .ok_or_else(|| Failure::Impossible("no such saved run".to_owned()))
                .and_then(|file| saved::read(file).map_err(Failure::Impossible))
                .map(|run| (Measured::Run(Box::new(run)), None));
        }
        if let Some((_, why)) = self.never.iter().find(|(never, _)| never == target) {
            return Err(Failure::Impossible(why.clone()));
        }
        if let Some(package) = target::missing(target) {
            return Err(Failure::Impossible(format!("{SKIPPED}install {package}")));
        }
        if let Some(left) = self.left.take() {
            left.worked_off(client)?;
        }
        self.prepare_for(trial.load);
        let load = &self.experiment.loads[trial.load].spec;
        let is_control = matches!(target.source, TargetSpec::Nginx { .. });
        if is_control {
            self.learn_the_response(trial.load, client);
        }
        let response = is_control.then(|| self.site.response.clone());
        let wanted = ((target.clone(), self.site.path.clone()), response);
        let mut serving = match self.serving.remove(&trial.target) {
            Some((started, serving)) if started == wanted => serving,
            // It is another under this load: what runs is stopped first.
            running => {
                drop(running);
                self.started(target)?
            }
        };
        let load = aimed(load, &serving, &self.experiment.placement.client)?;
        let measured = match target.client {
            Tool::Ablaze => Measured::Run(Box::new(client.run(&load, profiled)?)),
            tool => {
                let server = || serving.cpu_ns();
                let run = client.run_by(tool, &load, &server)?;
                let none = || {
                    Failure::Impossible(format!(
                        "{} printed no report{}",
                        tool.name(),
                        run.last_words()
                    ))
                };
                let figures = run.figures().ok_or_else(none)?;
                Measured::Printed(Box::new(run), Box::new(figures))
            }
        };
        if let Some(status) = serving.ended() {
            let mut why = format!("{} exited during the run ({status})", target.name);
            if let Measured::Run(run) = measured {
                why.push_str(&until_exit(&run));
                self.until_exit = Some(*run);
            }
            return Err(Failure::Impossible(why));
        }
        if matches!(&measured, Measured::Run(run) if run.ended == Ended::Interrupted) {
            return Err(Failure::Interrupted);
        }
        let goes_on = !(self.experiment.restart && target.is_started_here());
        if let (true, Measured::Run(run)) = (goes_on, &measured) {
            self.left = Left::behind(&load, run);
        }
        if self.experiment.restart {
            return Ok((measured, serving.stopped()));
        }
        self.serving.insert(trial.target, (wanted, serving));
        Ok((measured, None))
    }

    /// What is asked for of targets under this load, and what a control speaks there.
    fn prepare_for(&mut self, load: usize) {
        let experiment = self.experiment;
        self.site.path = experiment.path_under(load).to_owned();
        self.site.control_speaks = of_control(experiment.targets_under(load), experiment.speaks);
    }

    fn started(&mut self, target: &Target) -> Result<Serving, Failure> {
        Serving::start(target, &self.site).map_err(|error| {
            if error.is_final() {
                self.never.push((target.clone(), error.to_string()));
            }
            Failure::Impossible(error.to_string())
        })
    }

    /// The control does what the first of the others does.
    fn learn_the_response(&mut self, load: usize, client: &mut dyn Runner) {
        let mut others = self.experiment.targets_under(load).iter();
        let Some(other) = others
            .find(|other| !matches!(other.source, TargetSpec::Nginx { .. } | TargetSpec::Saved(_)))
        else {
            return;
        };
        let asked = (other.clone(), self.site.path.clone());
        if let Some((_, response)) = self.responses.iter().find(|(of, _)| *of == asked) {
            self.site.response = response.clone();
            return;
        }
        self.site.response = Response::default();
        let load = &self.experiment.loads[load].spec;
        if let Ok(serving) = Serving::start(other, &self.site)
            && let Ok(load) = aimed(load, &serving, &[])
            && let Some(response) = client.response_of(&load)
        {
            self.site.response = response;
        }
        self.responses.push((asked, self.site.response.clone()));
    }
}

/// What a server counted, if that was kept, and whether everything was.
fn apart(kept: Result<Option<Counted>, FolderError>) -> (Option<Counted>, Result<(), FolderError>) {
    match kept {
        Ok(counted) => (counted, Ok(())),
        Err(error) => (None, Err(error)),
    }
}

/// How much came before the target exited: ` after 800 responses, all within the first 200 ms`.
pub(crate) fn until_exit(run: &Run) -> String {
    let (record, slices) = (&run.record, &run.record.slices);
    let responses = counted(record.responses, "response");
    match slices.slices.iter().rposition(|slice| slice.responses > 0) {
        Some(last) => {
            let until_ns = (last as u64 + 1) * slices.slice_ns;
            format!(" after {responses}, all within the first {}", time(until_ns as f64))
        }
        None => format!(" after {responses}"),
    }
}

#[cfg(test)]
#[path = "running_tests.rs"]
mod tests;
