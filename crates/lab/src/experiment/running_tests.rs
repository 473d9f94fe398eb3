//! Experiments against runs that a test makes up: order, repeats, failures, going on.

use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_model::plan::{Arrivals, Load, RateProfile};

use ablaze_testing::Scratch;

use super::*;
use crate::experiment::document::Former;
use ablaze_testing::experiments;

/// When the next run begins: no two begin at the same nanosecond.
static BEGINS_UNIX_NS: AtomicU64 = AtomicU64::new(1_795_000_000_000_000_000);

/// Gives the same saved run for everything, begun at another time, and remembers what it was asked.
struct Saved {
    asked: Vec<String>,
    interrupt_at: Option<usize>,
    /// The folder of runs, which the third run finds to be a file: as full as a disk can be.
    broken: Option<std::path::PathBuf>,
}

impl Saved {
    fn new() -> Self {
        Self { asked: Vec::new(), interrupt_at: None, broken: None }
    }
}

impl Runner for Saved {
    fn run(&mut self, load: &LoadSpec, _profiled: bool) -> Result<Run, Failure> {
        let destination = load.destination.url.as_ref().unwrap();
        let url = &destination.shown;
        if self.interrupt_at == Some(self.asked.len()) {
            return Err(Failure::Interrupted);
        }
        self.asked.push(url.clone());
        if let Some(runs) = self.broken.take_if(|_| self.asked.len() == 3) {
            std::fs::rename(&runs, runs.with_extension("before")).unwrap();
            std::fs::write(&runs, "").unwrap();
        }
        if url.contains("gone") {
            return Err(Failure::Impossible("gone refused the connection".to_owned()));
        }
        let saved = &ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
        let mut run = ablaze_report::json::load(saved).unwrap().run;
        run.ended = Ended::Complete;
        run.started_unix_ns = BEGINS_UNIX_NS.fetch_add(10_000_000_000, Ordering::Relaxed);
        let connections = load.closed_connections();
        run.plan.load = Load::Closed { connections, pipeline: 1 };
        let target = &mut run.plan.target;
        (target.url, target.host) = (url.clone(), destination.host.clone());
        target.port = destination.port;
        Ok(run)
    }

    fn response_of(&mut self, _load: &LoadSpec) -> Option<Response> {
        None
    }
}

struct Nobody;

impl Observer for Nobody {
    fn begins(&mut self, _: &Experiment, _: Trial, _: usize, _: usize) {}
    fn ended(&mut self, _: &Experiment, _: Trial, _: &Outcome) {}
}

fn carried_out(experiment: &Experiment, scratch: &Scratch, client: &mut Saved) -> Results {
    let mut folder = Folder::at(&scratch.join("kept"), experiment, &mut Former).unwrap();
    run(experiment, &mut folder, ThisProgram::nowhere(), client, &mut Nobody).unwrap()
}

#[test]
fn an_interrupted_experiment_goes_on_where_it_stopped() {
    let scratch = Scratch::new("resumes");
    let experiment = experiments::experiment();
    let mut first = Saved { interrupt_at: Some(4), ..Saved::new() };
    let results = carried_out(&experiment, &scratch, &mut first);
    assert!(results.interrupted);
    assert_eq!(results.trials.len(), 4);
    let mut second = Saved::new();
    let results = carried_out(&experiment, &scratch, &mut second);
    assert_eq!((second.asked.len(), results.interrupted), (2, false));
    assert_eq!(results.trials.len(), 6);
    assert_eq!(results.pairs(0, 1, 0).len(), 3);
    let (folder, read_back) = Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    assert_eq!(read_back, experiment);
    assert_eq!(folder.results(&read_back).unwrap(), results);
}

/// Answers single requests slowly at first: a queue is worked off.
struct Queued {
    inner: Saved,
    singles: Vec<usize>,
}

impl Runner for Queued {
    fn run(&mut self, load: &LoadSpec, profiled: bool) -> Result<Run, Failure> {
        let mut run = self.inner.run(load, profiled)?;
        if load.limits.requests == Some(1) {
            let singles = self.singles.last_mut().expect("a run came before");
            *singles += 1;
            run.record.answered.total.clear();
            run.record.answered.total.record(if *singles < 3 { 900_000_000 } else { 400_000 });
            return Ok(run);
        }
        self.singles.push(0);
        run.plan.load = Load::Open {
            rate: RateProfile::constant(2_000.0),
            arrivals: Arrivals::Constant,
            connections: 100,
            bounded: false,
        };
        (run.record.unfinished, run.record.never_sent) = (50, 0);
        Ok(run)
    }

    fn response_of(&mut self, _load: &LoadSpec) -> Option<Response> {
        None
    }
}

#[test]
fn what_a_run_at_a_rate_left_is_worked_off_before_the_next() {
    let scratch = Scratch::new("left");
    let experiment = experiments::experiment();
    let mut folder = Folder::at(&scratch.join("kept"), &experiment, &mut Former).unwrap();
    let mut client = Queued { inner: Saved::new(), singles: Vec::new() };
    let program = ThisProgram::nowhere();
    let results = run(&experiment, &mut folder, program, &mut client, &mut Nobody).unwrap();
    assert_eq!(results.measured().count(), 6);
    // Two are slow, and three in a row have to be as fast; behind the last run nothing follows.
    assert_eq!(client.singles, [5, 5, 5, 5, 5, 0]);
}

/// A copy of a run in the place of another is no repeat.
#[test]
fn a_run_that_is_there_twice_counts_once() {
    let scratch = Scratch::new("twice");
    let experiment = experiments::experiment();
    carried_out(&experiment, &scratch, &mut Saved::new());
    let (folder, experiment) = Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    let trials = experiment.trials();
    let [first, last] = [trials[0], trials[5]].map(|trial| folder.file(&experiment, trial));
    std::fs::copy(&first, &last).unwrap();
    let results = folder.results(&experiment).unwrap();
    assert_eq!((results.measured().count(), results.interrupted), (5, false));
    let why: Vec<&str> = results.failed().map(|(_, why)| why).collect();
    let stem = experiment.stem(trials[0]);
    assert_eq!(why, [format!("left out: its file and that of `{stem}` hold the same run")]);
    // One that is not there was not interrupted: later ones are.
    std::fs::remove_file(&first).unwrap();
    let results = folder.results(&experiment).unwrap();
    assert_eq!(results.measured().count(), 5);
}

/// A run of another target is none of this one, and is measured again.
#[test]
fn a_run_of_another_target_does_not_count() {
    let scratch = Scratch::new("foreign");
    let experiment = experiments::experiment();
    carried_out(&experiment, &scratch, &mut Saved::new());
    let (folder, experiment) = Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    let of = |target| experiment.trials().into_iter().find(|trial| trial.target == target).unwrap();
    let [own, foreign] = [of(0), of(1)].map(|trial| folder.file(&experiment, trial));
    std::fs::copy(&foreign, &own).unwrap();
    std::fs::remove_file(&foreign).unwrap();
    let results = folder.results(&experiment).unwrap();
    let why: Vec<&str> = results.failed().map(|(_, why)| why).collect();
    assert!(
        matches!(why[..], [why] if why.ends_with("is a run of http://other/, another target")),
        "{why:?}"
    );
    let mut again = Saved::new();
    carried_out(&experiment, &scratch, &mut again);
    again.asked.sort();
    assert_eq!(again.asked, ["http://one/", "http://other/"]);
}

/// Two at once would each overwrite what the other measured.
#[test]
fn a_folder_that_another_writes_into_is_refused() {
    let scratch = Scratch::new("locked");
    let experiment = experiments::experiment();
    let at = || Folder::at(&scratch.join("kept"), &experiment, &mut Former);
    let first = at().unwrap();
    let why = at().unwrap_err().to_string();
    assert!(why.contains("another ablaze writes its results there"), "{why}");
    // Reading takes nothing.
    Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    drop(first);
    at().unwrap();
}

#[test]
fn a_target_that_fails_is_named_and_takes_no_other_away() {
    let scratch = Scratch::new("fails");
    let mut experiment = experiments::experiment();
    experiment.targets[1] = experiments::running("other", "http://gone/");
    let results = carried_out(&experiment, &scratch, &mut Saved::new());
    assert_eq!((results.of(0, 0).len(), results.of(1, 0).len()), (3, 0));
    let failed: Vec<_> = results.failed().map(|(_, why)| why).collect();
    assert_eq!(failed, ["gone refused the connection"; 3]);
    assert!(results.pairs(0, 1, 0).is_empty());
    let (folder, experiment) = Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    assert_eq!(folder.results(&experiment).unwrap().failed().count(), 3);
}

/// A full disk or a copy that broke off leaves half a file: the others are worth their report, and it is measured again.
#[test]
fn a_file_that_broke_off_takes_no_other_away() {
    let scratch = Scratch::new("broken");
    let experiment = experiments::experiment();
    let whole = carried_out(&experiment, &scratch, &mut Saved::new());
    let (folder, experiment) = Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    let trials = experiment.trials();
    let break_off = |trial| {
        let file = folder.file(&experiment, trial);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        file
    };
    let broken = break_off(trials[2]);
    let results = folder.results(&experiment).unwrap();
    assert_eq!((results.measured().count(), results.interrupted), (5, false));
    let failed: Vec<_> = results.failed().map(|(_, why)| why.to_owned()).collect();
    let name = broken.file_name().unwrap().to_string_lossy();
    assert!(failed[0].starts_with("left out: ") && failed[0].contains(&*name), "{failed:?}");
    let mut again = Saved::new();
    assert_eq!(carried_out(&experiment, &scratch, &mut again).trials.len(), whole.trials.len());
    assert_eq!((again.asked.len(), folder.results(&experiment).unwrap().failed().count()), (1, 0));
    // Of none that can be read there is no report.
    trials.iter().for_each(|trial| drop(break_off(*trial)));
    folder.results(&experiment).unwrap_err();
}

/// A target asked by 1 and by 100 does other work, as was wanted; only under one load would it be unfair.
#[test]
fn work_is_compared_under_each_load_and_not_between_them() {
    let scratch = Scratch::new("loads");
    let mut experiment = experiments::experiment();
    experiment.loads = vec![experiments::load(1), experiments::load(100)];
    let results = carried_out(&experiment, &scratch, &mut Saved::new());
    let (folder, experiment) = Folder::open(&scratch.join("kept"), &mut Former).unwrap();
    let judged = crate::beside::judged(&experiment, &folder, &results).unwrap();
    let unequal = judged.unequal_work();
    assert!(unequal.is_empty(), "{unequal:?}");
}

#[test]
fn a_folder_keeps_to_its_experiment() {
    let scratch = Scratch::new("another");
    let experiment = experiments::experiment();
    Folder::at(&scratch.join("kept"), &experiment, &mut Former).unwrap();
    let other = Experiment { repeats: 4, ..experiment };
    let refused = Folder::at(&scratch.join("kept"), &other, &mut Former).unwrap_err().to_string();
    assert!(refused.contains("another experiment"), "{refused}");
    // Nor is it that of a search.
    std::fs::remove_file(scratch.join("kept").join("experiment.json")).unwrap();
    std::fs::write(scratch.join("kept").join("search.json"), "{}").unwrap();
    let refused = Folder::at(&scratch.join("kept"), &other, &mut Former).unwrap_err().to_string();
    assert!(refused.contains("results of a search"), "{refused}");
    assert!(Folder::open(&scratch.join("kept").join("nowhere"), &mut Former).is_err());
}

/// The page would replace an `index.html` of the user's, and the runs what is in `runs`.
#[test]
fn a_folder_with_other_files_is_refused_and_left_as_it_is() {
    let scratch = Scratch::new("others");
    let site = scratch.join("site");
    std::fs::create_dir(&site).unwrap();
    // An empty one will do.
    Folder::at(&site, &experiments::experiment(), &mut Former).unwrap();
    std::fs::remove_dir_all(&site).unwrap();
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("index.html"), "keep").unwrap();
    let refused = Folder::at(&site, &experiments::experiment(), &mut Former).unwrap_err();
    assert!(refused.to_string().contains("holds other files (index.html)"), "{refused}");
    assert!(refused.to_string().contains("--folder"), "{refused}");
    let names: Vec<_> = std::fs::read_dir(&site).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["index.html"]);
    let file = site.join("index.html");
    let refused = Folder::at(&file, &experiments::experiment(), &mut Former).unwrap_err();
    assert!(refused.to_string().contains("not a folder"), "{refused}");
}

#[test]
fn a_command_that_does_not_exist_is_started_once() {
    let scratch = Scratch::new("never");
    let mut experiment = experiments::experiment();
    let count = scratch.join("count");
    let line = format!("echo {{port}} >> '{}'; no-such-program-anywhere", count.display());
    experiment.targets[1].source = TargetSpec::Command(line);
    let results = carried_out(&experiment, &scratch, &mut Saved::new());
    let failed: Vec<&str> = results.failed().map(|(_, why)| why).collect();
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|why| why.contains("exit status: 127")), "{failed:?}");
    assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 1);
}

#[test]
fn a_run_that_cannot_be_saved_is_in_the_results_and_ends_the_experiment() {
    let scratch = Scratch::new("full");
    let experiment = experiments::experiment();
    let mut folder = Folder::at(&scratch.join("kept"), &experiment, &mut Former).unwrap();
    let mut client = Saved::new();
    client.broken = Some(scratch.join("kept").join("runs"));
    let program = ThisProgram::nowhere();
    let results = run(&experiment, &mut folder, program, &mut client, &mut Nobody).unwrap();
    // Nobody interrupted it.
    assert_eq!((results.measured().count(), results.interrupted), (3, false));
    assert_eq!((client.asked.len(), results.ended_early()), (3, true));
    let told = folder.unsaved().unwrap();
    assert_eq!(results.unsaved.as_deref(), Some(told));
    assert!(told.starts_with("repeat "), "{told}");
    assert_eq!(told.matches("/runs/").count(), 1, "{told}");
    // What there is can be judged and shown.
    std::fs::remove_file(scratch.join("kept").join("runs")).unwrap();
    std::fs::rename(scratch.join("kept").join("runs.before"), scratch.join("kept").join("runs"))
        .unwrap();
    crate::beside::judged(&experiment, &folder, &results).unwrap();
    let shown = folder.pooled(&experiment, &results).unwrap();
    assert!(!shown.is_empty());
    // And gone on with.
    drop(folder);
    let results = carried_out(&experiment, &scratch, &mut Saved::new());
    assert_eq!((results.measured().count(), results.interrupted), (6, false));
}

#[test]
fn what_was_measured_until_a_target_exited_is_kept_and_not_ranked() {
    let scratch = Scratch::new("exits");
    let experiment = experiments::experiment();
    let mut folder = Folder::at(&scratch.join("kept"), &experiment, &mut Former).unwrap();
    let trial = Trial { repeat: 0, load: 0, target: 1 };
    let mut saved = Saved::new();
    let mut load = experiment.loads[0].spec.clone();
    let (url, _) = ablaze_model::spec::UrlSpec::parse("http://other/").unwrap();
    load.destination.url = Some(url);
    let run = saved.run(&load, false).unwrap();
    let said = until_exit(&run);
    let responses = counted(run.record.responses, "response");
    assert!(said.starts_with(&format!(" after {responses}, all within the first ")), "{said}");
    let run = live::assessed(run);
    let file = folder.keep_partial(&experiment, trial, &run).unwrap();
    assert!(scratch.join("kept").join(&file).is_file(), "{file}");
    assert_eq!(folder.figures(&experiment, trial).unwrap(), None);
    // It ran to its end when it was tried again.
    folder.keep(&experiment, trial, &run).unwrap();
    assert!(!scratch.join("kept").join(&file).exists());
    assert!(folder.figures(&experiment, trial).unwrap().is_some());
}
