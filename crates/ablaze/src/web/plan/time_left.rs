//! How long an experiment will go on: by the runs that were like those to come, and by what was asked for where none was.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ablaze_model::experiment::Experiment;
use ablaze_stats::repeats::median;

use crate::lengths::BESIDE_A_RUN;

/// What took how long, and what is to come.
#[derive(Debug, Default)]
pub struct TimeLeft {
    /// Of the runs under each load, with what it took to start and stop their targets.
    took: BTreeMap<usize, Vec<f64>>,
    /// When the run under way began.
    begun: Option<Instant>,
    /// The loads of the run under way and of all behind it, with the lengths that were asked for, where they were.
    to_come: Vec<(usize, Option<Duration>)>,
    /// What comes behind the experiment.
    behind: Duration,
}

impl TimeLeft {
    /// Of an experiment that others follow, which take so long.
    pub fn before(behind: Duration) -> Self {
        Self { behind, ..Self::default() }
    }

    /// The trial of this place begins.
    pub fn begins(&mut self, experiment: &Experiment, at: usize) {
        self.begun = Some(Instant::now());
        let trials = experiment.trials();
        let is_run = |target: usize| experiment.targets[target].saved_runs().is_none();
        let to_come = trials[at..].iter().filter(|trial| is_run(trial.target)).map(|trial| {
            let limits = &experiment.loads[trial.load].spec.limits;
            let ns = limits.duration_ns.map(|ns| ns + limits.warmup_ns);
            (trial.load, ns.map(|ns| Duration::from_nanos(ns) + BESIDE_A_RUN))
        });
        self.to_come = to_come.collect();
    }

    /// It has ended; it was under this load.
    pub fn ended(&mut self, load: usize) {
        if let Some(begun) = self.begun.take() {
            self.took.entry(load).or_default().push(begun.elapsed().as_secs_f64());
        }
        if !self.to_come.is_empty() {
            self.to_come.remove(0);
        }
    }

    /// How long it will go on, and how that is known; `None` where it is not.
    pub fn left(&self) -> Option<(Duration, &'static str)> {
        let lengths: Option<Vec<(f64, bool)>> =
            self.to_come.iter().map(|(load, asked)| self.length_s(*load, *asked)).collect();
        let lengths = lengths.filter(|lengths| !lengths.is_empty())?;
        let sum_s: f64 = lengths.iter().map(|(seconds, _)| seconds).sum();
        let gone_s = self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        // A run that takes longer than others leaves those behind it as they are.
        let gone_s = gone_s.min(lengths[0].0);
        let left = Duration::from_secs_f64((sum_s - gone_s).max(0.0)) + self.behind;
        let all_seen = lengths.iter().all(|(_, seen)| *seen) && self.behind.is_zero();
        let none_seen = !lengths.iter().any(|(_, seen)| *seen);
        Some((
            left,
            match (all_seen, none_seen) {
                (true, _) => "by the median of the runs so far under the same load",
                (_, true) => "by the lengths that were asked for",
                _ => {
                    "by the median of the runs so far under the same load, and by the lengths asked for where there was none"
                }
            },
        ))
    }

    /// The length of a run under a load, seconds, and whether such a run was seen.
    fn length_s(&self, load: usize, asked: Option<Duration>) -> Option<(f64, bool)> {
        let seen =
            self.took.get(&load).and_then(|took| median(took)).map(|seconds| (seconds, true));
        seen.or_else(|| asked.map(|asked| (asked.as_secs_f64(), false)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_counts_and_else_what_was_asked_for() {
        let asked = Some(Duration::from_secs(3));
        let mut left =
            TimeLeft { to_come: vec![(0, asked), (0, asked), (1, asked)], ..TimeLeft::default() };
        assert_eq!(
            left.left(),
            Some((Duration::from_secs(9), "by the lengths that were asked for"))
        );
        left.took.insert(0, vec![10.0, 50.0, 4.0]);
        let (all, how) = left.left().unwrap();
        assert_eq!(all, Duration::from_secs(23));
        assert!(how.contains("median") && how.contains("asked for"), "{how}");
        left.to_come.pop();
        assert_eq!(left.left().unwrap().0, Duration::from_secs(20));
        // By a number of requests: nobody knows.
        left.to_come.push((2, None));
        assert_eq!(left.left(), None);
        let series = TimeLeft {
            behind: Duration::from_secs(60),
            took: left.took,
            to_come: vec![(0, None)],
            begun: None,
        };
        assert_eq!(series.left().unwrap().0, Duration::from_secs(70));
    }
}
