//! How far an experiment is, on stderr: how long it will take, what is running, what is left, when it ends. One
//! line written over itself on a terminal; elsewhere a line per run that has ended.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ablaze_lab::experiment::Observer;
use ablaze_lab::search::Watch;
use ablaze_model::experiment::{Experiment, Outcome, SKIPPED, Stage, Trial};
use ablaze_model::printable::printable;
use ablaze_report::number::{counted, rate, time};
use ablaze_stats::rate_search::Trial as StageTrial;

use crate::error::note;
use crate::lengths::{BESIDE_A_RUN, in_words};

/// How often the line is written anew while a run lasts.
const TICK: Duration = Duration::from_secs(1);

/// Shows one line, which goes on counting while a run lasts.
pub struct LiveLine {
    /// Nobody wants to hear of it.
    quiet: bool,
    /// A line can be written over.
    live: bool,
    shared: Arc<Shared>,
    ticking: Option<JoinHandle<()>>,
    /// Runs performed here, and the time they took: a continued experiment has others, too.
    carried_out: u32,
    began: Instant,
    last: String,
    /// Whether it was said how long it will take.
    announced: bool,
    /// The run under way, of how many.
    number: usize,
    of: usize,
    /// What it is part of, and how long the parts behind it take.
    place: String,
    behind: Duration,
}

/// What is shown, by whoever writes it.
#[derive(Default)]
struct Shared {
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Default)]
struct Line {
    text: String,
    /// When everything ends, as far as that can be foreseen.
    ends: Option<Instant>,
    shown: bool,
    over: bool,
}

impl Line {
    fn show(&mut self) {
        if self.text.is_empty() {
            return;
        }
        self.shown = true;
        let left = self.ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        let left = left.map_or(String::new(), |left| format!(" · {} left", in_words(left)));
        // Without wrapping (?7l): a narrow terminal clips it instead of scrolling.
        let _ = write!(std::io::stderr(), "\r\x1b[?7l{}{left}\x1b[K\x1b[?7h", self.text);
    }
}

impl LiveLine {
    /// Silent when asked to be; a line per run where there is no terminal.
    pub fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let live = !quiet && !dumb && std::io::stderr().is_terminal();
        let shared = Arc::new(Shared::default());
        let ticking = live.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || tick(&shared))
        });
        let (began, last) = (Instant::now(), String::new());
        let (place, behind) = (String::new(), Duration::ZERO);
        Self {
            quiet,
            live,
            shared,
            ticking,
            carried_out: 0,
            began,
            last,
            announced: false,
            number: 0,
            of: 0,
            place,
            behind,
        }
    }

    /// The same for a part of something: `part 2 of 6 · `, after which others take so long.
    pub fn within(mut self, place: String, behind: Duration) -> Self {
        self.place = place;
        self.behind = behind;
        self
    }

    /// Shows this, whatever it is, instead of what stood there.
    pub fn say(&mut self, text: &str) {
        match self.live {
            true => self.show(text.to_owned(), None),
            false => self.line_of_its_own(text),
        }
    }

    /// Says what will be done, in a line that stays.
    pub fn announce(&mut self, text: &str) {
        self.clear();
        let text = format!("{}{text}", self.place);
        self.line_of_its_own(&text);
    }

    fn line_of_its_own(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{}", printable(text));
        }
    }

    fn show(&mut self, text: String, left: Option<Duration>) {
        if !self.live {
            return;
        }
        let mut line = self.line();
        line.text = printable(&text).into_owned();
        line.ends = left.map(|left| Instant::now() + left);
        line.show();
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.shared.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line away, until the next run begins.
    fn clear(&mut self) {
        let mut line = self.line();
        line.text.clear();
        if std::mem::take(&mut line.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    /// Takes the line away.
    pub fn finish(&mut self) {
        self.clear();
        self.line().over = true;
        self.shared.changed.notify_all();
        if let Some(ticking) = self.ticking.take() {
            let _ = ticking.join();
        }
    }

    /// The time that the remaining runs take, by the runs so far, or else by their options.
    fn time_for(&self, runs: usize, asked: Duration) -> Duration {
        match self.carried_out {
            0 => asked,
            carried_out => self.began.elapsed() / carried_out * runs as u32,
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.finish();
    }
}

fn tick(shared: &Shared) {
    let mut line = shared.line.lock().unwrap_or_else(PoisonError::into_inner);
    while !line.over {
        line.show();
        let waited = shared.changed.wait_timeout(line, TICK);
        line = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Whether there is nothing to run for it.
fn is_saved(experiment: &Experiment, trial: &Trial) -> bool {
    experiment.targets[trial.target].saved_runs().is_some()
}

/// `12 runs, about 11 s`: the runs from this number on, by their options.
fn to_come(experiment: &Experiment, from: usize) -> Option<String> {
    let trials = experiment.trials();
    let here: Vec<&Trial> =
        trials.iter().skip(from).filter(|trial| !is_saved(experiment, trial)).collect();
    if here.is_empty() {
        return None;
    }
    let runs = counted(here.len() as u64, "run");
    let limits = |trial: &Trial| &experiment.loads[trial.load].spec.limits;
    if here.iter().any(|trial| limits(trial).duration_ns.is_none()) {
        return Some(format!("{runs}, each as long as its requests take"));
    }
    let length = asked_for(experiment, from) + BESIDE_A_RUN * here.len() as u32;
    // A count may end them earlier.
    let about = match here.iter().any(|trial| limits(trial).requests.is_some()) {
        true => "at most",
        false => "about",
    };
    Some(format!("{runs}, {about} {}", in_words(length.max(Duration::from_secs(1)))))
}

/// How long an experiment takes by its options; `None` where these do not say.
pub fn length(experiment: &Experiment) -> Option<Duration> {
    let says = |trial: &Trial| experiment.loads[trial.load].spec.limits.duration_ns.is_some();
    let trials = experiment.trials();
    let runs = trials.len() as u32;
    trials.iter().all(says).then(|| asked_for(experiment, 0) + BESIDE_A_RUN * runs)
}

/// How long the runs that are left take by their options; zero where these do not say.
fn asked_for(experiment: &Experiment, from: usize) -> Duration {
    let of = |trial: &Trial| {
        let limits = &experiment.loads[trial.load].spec.limits;
        limits.duration_ns.unwrap_or(0) + limits.warmup_ns
    };
    let live = |trial: &&Trial| experiment.targets[trial.target].saved_runs().is_none();
    Duration::from_nanos(experiment.trials().iter().skip(from).filter(live).map(of).sum())
}

/// Whoever asked for quiet is told, too: a file of theirs is written anew.
fn again(line: &mut LiveLine, why: &str) {
    line.clear();
    crate::error::note(&format!("{why}; it is measured again"));
}

impl Observer for LiveLine {
    fn begins(&mut self, experiment: &Experiment, trial: Trial, number: usize, of: usize) {
        if let Some(text) = to_come(experiment, number - 1).filter(|_| !self.announced) {
            self.announce(&text);
        }
        self.announced = true;
        // Saved runs are read, not run.
        let trials = experiment.trials();
        let saved =
            |trials: &[Trial]| trials.iter().filter(|trial| is_saved(experiment, trial)).count();
        (self.number, self.of) = (number - saved(&trials[..number]), of - saved(&trials));
        if is_saved(experiment, &trial) {
            return;
        }
        let name = &experiment.targets[trial.target].name;
        let label = &experiment.loads[trial.load].label;
        let asked = asked_for(experiment, number - 1);
        let left = self.time_for(of + 1 - number, asked) + self.behind;
        let left = Some(left).filter(|left| !left.is_zero());
        let (place, last) = (&self.place, &self.last);
        let (number, of) = (self.number, self.of);
        let text = format!("{place}run {number} of {of} · {name} · {label}{last}");
        self.show(text, left);
    }

    fn measures_again(&mut self, why: &str) {
        again(self, why);
    }

    fn ended(&mut self, experiment: &Experiment, trial: Trial, outcome: &Outcome) {
        if !is_saved(experiment, &trial) {
            self.carried_out += 1;
        }
        match outcome {
            Outcome::Measured(_) if is_saved(experiment, &trial) => {}
            Outcome::Measured(figures) => {
                let p99 =
                    figures.p99_ns.map_or(String::new(), |ns| format!(", p99 {}", time(ns as f64)));
                let rate = rate(figures.rate_per_s);
                self.last = format!(" · the last {rate}/s{p99}");
                if !self.live {
                    let name = &experiment.targets[trial.target].name;
                    let label = &experiment.loads[trial.load].label;
                    let place = format!("{}run {} of {}", self.place, self.number, self.of);
                    self.line_of_its_own(&format!("{place} · {name} · {label} · {rate}/s{p99}"));
                }
            }
            Outcome::Failed(why) => {
                let name = &experiment.targets[trial.target].name;
                let label = &experiment.loads[trial.load].label;
                if why.starts_with(SKIPPED) {
                    // Once: it is the same for every run.
                    if trial.repeat == 0 && trial.load == 0 {
                        self.clear();
                        note(&format!("{name} {why}"));
                    }
                    return;
                }
                self.clear();
                note(&format!("{name}, {label}, repeat {}: {why}", trial.repeat + 1));
            }
        }
    }
}

impl Watch for LiveLine {
    fn measures_again(&mut self, why: &str) {
        again(self, why);
    }

    fn begins(&mut self, number: usize, asked_per_s: f64, confirming: bool) {
        let again = if confirming { " again" } else { "" };
        let rate = rate(asked_per_s);
        let text = format!("stage {number} · {rate}/s{again}{}", self.last);
        self.show(text, None);
    }

    fn waits(&mut self, at_most: Duration) {
        let text = format!(
            "waiting until the target responds as before the first stage, at most {}{}",
            in_words(at_most),
            self.last
        );
        self.show(text, None);
    }

    fn ended(&mut self, number: usize, stage: &Stage) {
        let rate = rate(stage.asked_per_s);
        if let (None, Some(why)) = (&stage.measured, &stage.why) {
            self.clear();
            note(&format!("stage {number}, {rate}/s: {why}"));
        }
        // In the words of the table.
        let held = match stage.trial {
            _ if stage.undecided => "not judged",
            StageTrial::Holds => "held",
            StageTrial::Fails => "did not hold",
            StageTrial::LimitedByClient => "not offered",
        };
        if !self.live && stage.measured.is_some() {
            let why = stage.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
            self.line_of_its_own(&format!("stage {number} · {rate}/s {held}{why}"));
        }
        self.last = format!(" · {rate}/s {held}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_known_before_the_first_run_has_ended() {
        let mut secrets = ablaze_model::spec::Secrets::default();
        let mut target = |text: &str| super::super::targets::read(text, &mut secrets).unwrap();
        let targets = vec![target("a=:1/"), target("b=:2/")];
        let load = super::super::loads::one(["--warmup", "1s"].map(String::from).to_vec());
        let load = load.read(&mut secrets).unwrap();
        let experiment = Experiment {
            title: String::new(),
            targets,
            loads: vec![load],
            axes: Vec::new(),
            repeats: 5,
            seed: 1,
            path: "/".to_owned(),
            placement: ablaze_model::experiment::Placement::default(),
            restart: true,
            ready_within_s: 10,
            speaks: ablaze_model::experiment::Speaks::default(),
            directory: None,
            fleet: None,
        };
        assert_eq!(to_come(&experiment, 0).unwrap(), "10 runs, about 44 s");
        // Ten runs of 3 s and a second before each; two are over.
        assert_eq!(asked_for(&experiment, 2), Duration::from_secs(32));
    }
}
