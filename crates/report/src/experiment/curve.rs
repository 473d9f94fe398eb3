//! One target over several loads: a line of a sweep. Nothing is fitted: a point is the median of its
//! repeats, with all of them kept.

use ablaze_model::experiment::{Experiment, Figures, Results, Target};
use ablaze_model::finding::Verdict;
use ablaze_stats::repeats::median;

/// A target over the loads of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The target's name.
    pub name: String,
    /// One point per load, in their order; `None` where nothing was measured.
    pub points: Vec<Option<Point>>,
}

/// One target under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Responses per second of each repeat.
    pub rates_per_s: Vec<f64>,
    /// What is drawn: the median of the repeats, or the best of them.
    pub rate_per_s: f64,
    /// Median of the repeats' medians, ns.
    pub p50_ns: Option<f64>,
    /// Median of their 99th percentiles, ns; `None` where half of them or more have too few requests for it.
    pub p99_ns: Option<f64>,
    /// Median of the server's CPU time per request, ns.
    pub server_cpu_ns: Option<f64>,
    /// The worst of the runs' verdicts.
    pub verdict: Verdict,
    /// Errors of all repeats.
    pub errors: u64,
}

/// Which of a point's repeats is drawn. The others are kept and shown in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    /// The median: what an ordinary run gives.
    #[default]
    Median,
    /// The best, as many benchmark pages do. It rewards whoever has more repeats.
    Best,
}

impl Curve {
    /// The curves of an experiment, one per target.
    pub fn all(experiment: &Experiment, results: &Results, pick: Pick) -> Vec<Self> {
        let of = |target: usize| {
            let point = |load| Point::of(&results.of(target, load), pick);
            (0..experiment.loads.len()).map(point).collect()
        };
        let curve =
            |(at, target): (usize, &Target)| Self { name: target.name.clone(), points: of(at) };
        experiment.targets.iter().enumerate().map(curve).collect()
    }
}

impl Point {
    /// Of the repeats of one target under one load; `None` when there are none.
    pub fn of(runs: &[&Figures], pick: Pick) -> Option<Self> {
        let rates_per_s: Vec<f64> = runs.iter().map(|run| run.rate_per_s).collect();
        let rate_per_s = match pick {
            Pick::Median => median(&rates_per_s)?,
            Pick::Best => rates_per_s.iter().copied().reduce(f64::max)?,
        };
        let all = |figure: &dyn Fn(&Figures) -> Option<f64>| {
            let figures: Vec<f64> = runs.iter().filter_map(|run| figure(run)).collect();
            median(&figures).filter(|_| is_most(figures.len(), runs.len()))
        };
        Some(Self {
            rate_per_s,
            p50_ns: all(&|run| run.p50_ns.map(|ns| ns as f64)),
            p99_ns: all(&|run| run.p99_ns.map(|ns| ns as f64)),
            server_cpu_ns: all(&|run| run.server_cpu_ns),
            verdict: worst(runs),
            errors: runs.iter().map(|run| run.errors).sum(),
            rates_per_s,
        })
    }

    /// The slowest and the fastest repeat.
    pub fn extent(&self) -> (f64, f64) {
        let fold = |by: fn(f64, f64) -> f64| self.rates_per_s.iter().copied().reduce(by);
        (fold(f64::min).unwrap_or(self.rate_per_s), fold(f64::max).unwrap_or(self.rate_per_s))
    }
}

/// Whether so many of the runs stand for all of them: a figure that half of them lack is not theirs.
pub fn is_most(with: usize, all: usize) -> bool {
    with > 0 && with * 2 > all
}

/// The worst verdict of several runs.
pub fn worst(runs: &[&Figures]) -> Verdict {
    runs.iter().map(|run| run.verdict).max().unwrap_or(Verdict::Valid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_testing::experiments::figures;

    #[test]
    fn a_point_is_the_median_and_keeps_all() {
        let runs = [figures(90.0), figures(300.0), figures(100.0)];
        let runs: Vec<&Figures> = runs.iter().collect();
        let point = Point::of(&runs, Pick::Median).unwrap();
        assert_eq!((point.rate_per_s, point.extent()), (100.0, (90.0, 300.0)));
        assert_eq!(Point::of(&runs, Pick::Best).unwrap().rate_per_s, 300.0);
        assert_eq!(Point::of(&[], Pick::Median), None);
        assert_eq!(Point::of(&runs[..2], Pick::Median).unwrap().rate_per_s, 195.0);
    }

    #[test]
    fn a_percentile_that_one_run_does_not_support_is_none() {
        let mut short = figures(100.0);
        short.p99_ns = None;
        let long = figures(100.0);
        assert_eq!(Point::of(&[&short, &long], Pick::Median).unwrap().p99_ns, None);
    }
}
