//! How far an experiment is, on stderr: what is running, what is left, when it ends. Written over
//! itself on a terminal; elsewhere only what failed is told.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use ablaze_lab::Experiment;
use ablaze_lab::experiment::{Observer, Outcome, SKIPPED, Trial};
use ablaze_lab::search::{Stage, Watch};
use ablaze_report::number::{grouped, time};

use crate::refusal::note;

/// A line on stderr that is written over itself; silent when asked to be, and where there is no
/// terminal.
pub struct Spoken {
    shown: bool,
    quiet: bool,
}

impl Spoken {
    /// With nothing shown yet.
    pub fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Self { shown: false, quiet: quiet || dumb || !std::io::stderr().is_terminal() }
    }

    /// Shows this instead of what stood there.
    pub fn show(&mut self, line: &str) {
        if !self.quiet {
            self.shown = true;
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        }
    }

    /// Takes the line away.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// How far an experiment is, in one line.
pub struct LiveLine {
    spoken: Spoken,
    began: Instant,
    /// Runs carried out here, and the time they took: an experiment that goes on has others.
    carried_out: u32,
    left: usize,
    last: String,
    /// What it is part of, and how long the parts behind it take.
    place: String,
    behind: Duration,
}

impl LiveLine {
    /// Silent when asked to be, and where there is no terminal.
    pub fn new(quiet: bool) -> Self {
        Self {
            spoken: Spoken::new(quiet),
            began: Instant::now(),
            carried_out: 0,
            left: 0,
            last: String::new(),
            place: String::new(),
            behind: Duration::ZERO,
        }
    }

    /// The same for a part of something: `part 2 of 6 · `, after which others take so long.
    pub fn within(self, place: String, behind: Duration) -> Self {
        Self { place, behind, ..self }
    }

    /// Takes the line away.
    pub fn finish(&mut self) {
        self.spoken.finish();
    }

    fn time_left(&self) -> String {
        match self.carried_out {
            0 => String::new(),
            runs => {
                let each = self.began.elapsed() / runs;
                format!(" · {} left", in_words(each * self.left as u32 + self.behind))
            }
        }
    }
}

impl Observer for LiveLine {
    fn begins(&mut self, experiment: &Experiment, trial: Trial, number: usize, of: usize) {
        self.left = of + 1 - number;
        let name = &experiment.subjects[trial.subject].name;
        let label = &experiment.loads[trial.load].label;
        let (left, last, place) = (self.time_left(), &self.last, &self.place);
        self.spoken.show(&format!("{place}run {number} of {of} · {name} · {label}{left}{last}"));
    }

    fn ended(&mut self, experiment: &Experiment, trial: Trial, outcome: &Outcome) {
        self.carried_out += 1;
        match outcome {
            Outcome::Measured(figures) => {
                let p99 =
                    figures.p99_ns.map_or(String::new(), |ns| format!(", p99 {}", time(ns as f64)));
                let rate = grouped(figures.rate_per_s.round() as u64);
                self.last = format!(" · the last {rate}/s{p99}");
            }
            Outcome::Failed(why) => {
                let name = &experiment.subjects[trial.subject].name;
                let label = &experiment.loads[trial.load].label;
                if why.starts_with(SKIPPED) {
                    // Once: it is the same for every run.
                    if trial.repeat == 0 && trial.load == 0 {
                        self.finish();
                        note(&format!("{name} {why}"));
                    }
                    return;
                }
                self.finish();
                note(&format!("{name}, {label}, run {}: {why}", trial.repeat + 1));
            }
        }
    }
}

impl Watch for LiveLine {
    fn begins(&mut self, number: usize, asked_per_s: f64, confirming: bool) {
        let again = if confirming { " again" } else { "" };
        let rate = grouped(asked_per_s.round() as u64);
        let line = format!("stage {number} · {rate}/s{again}{}", self.last);
        self.spoken.show(&line);
    }

    fn ended(&mut self, number: usize, stage: &Stage) {
        let rate = grouped(stage.asked_per_s.round() as u64);
        if let (None, Some(why)) = (&stage.measured, &stage.why) {
            self.finish();
            note(&format!("stage {number}, {rate}/s: {why}"));
        }
        let held = if stage.why.is_none() { "held" } else { "did not hold" };
        self.last = format!(" · {rate}/s {held}");
    }
}

/// A length of time as people tell it.
pub fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        let told = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!([told(5), told(65), told(3725)], ["5 s", "1 min 05 s", "1 h 02 min"]);
    }
}
