//! Which is better, and by how much: the targets of one load held against each other over paired
//! runs. The run is the unit; the pairs are the runs of one repeat. One metric decides, the others
//! are corrected for being many.

use ablaze_model::experiment::{Experiment, Figures, Results};
use ablaze_stats::compare::{Comparison as Ratio, NotComparable, Outcome, Pair, compare, holm};
use ablaze_stats::repeats::median;

use super::curve::{Pick, Point};

/// A figure of a run that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// CPU time of the server per request: what a response costs, whatever else runs.
    ServerCpu,
    /// Responses per second.
    Rate,
    /// Median latency.
    Median,
    /// 99th percentile of the latency.
    P99,
}

impl Metric {
    /// All of them, the one that decides first.
    pub const ALL: [Self; 4] = [Self::ServerCpu, Self::Rate, Self::Median, Self::P99];

    /// The same where clients are compared: what one of them costs the server is not its merit, the
    /// rate that it gets out of the same server is.
    const OF_CLIENTS: [Self; 4] = [Self::Rate, Self::Median, Self::P99, Self::ServerCpu];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ServerCpu => "CPU/request",
            Self::Rate => "rate",
            Self::Median => "p50",
            Self::P99 => "p99",
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Self::Rate
    }

    /// This figure of a run.
    pub fn of(self, run: &Figures) -> Option<f64> {
        match self {
            Self::ServerCpu => run.server_cpu_ns,
            Self::Rate => Some(run.rate_per_s),
            Self::Median => run.p50_ns.map(|ns| ns as f64),
            Self::P99 => run.p99_ns.map(|ns| ns as f64),
        }
    }
}

/// What the comparison of two targets by one metric came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first is better.
    Better,
    /// The first is worse.
    Worse,
    /// These runs do not show which.
    NoDifferenceShown,
}

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoInterval {
    /// What the pairs lack: too few of them, or a zero.
    Pairs(NotComparable),
    /// The runs were not taken in turns, so that nothing pairs them ([`Results::paired`]).
    NotInTurns {
        /// First / second of the medians, where both are above zero.
        plain: Option<f64>,
    },
}

impl std::fmt::Display for NoInterval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pairs(why) => why.fmt(f),
            Self::NotInTurns { .. } => f.write_str("runs not interleaved: no interval"),
        }
    }
}

/// One metric of two targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The metric.
    pub metric: Metric,
    /// Ratio first / second over the pairs with its interval, or why there is none.
    pub ratio: Result<Ratio, NoInterval>,
    /// The answer, corrected for the number of metrics; `None` without a ratio.
    pub answer: Option<Answer>,
}

/// Two targets against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// The first target, by its place.
    pub target: usize,
    /// What it is held against.
    pub control: usize,
    /// By each metric that all its runs have, the one that decides first.
    pub metrics: Vec<Compared>,
}

/// The targets of one load, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Each target's figures, in their order; `None` where nothing was measured.
    pub rows: Vec<Option<Point>>,
    /// Every target against the one that all are held against: the control, else the first.
    pub against: Vec<Against>,
}

impl Comparison {
    /// Compares the targets under the experiment's load number `load`; `control` is the place of
    /// the target that all are held against.
    pub fn of(experiment: &Experiment, results: &Results, load: usize, control: usize) -> Self {
        let targets = 0..experiment.targets.len();
        let runs = |target| results.of(target, load);
        let mut all: Vec<Against> = targets
            .clone()
            .filter(|target| *target != control)
            .map(|target| Against::of(experiment, results, load, (target, control)))
            .collect();
        correct(&mut all);
        Self {
            rows: targets.map(|target| Point::of(&runs(target), Pick::Median)).collect(),
            against: all,
        }
    }
}

impl Against {
    fn of(
        experiment: &Experiment,
        results: &Results,
        load: usize,
        (target, control): (usize, usize),
    ) -> Self {
        let metrics = metrics(experiment);
        let metrics = match results.paired(experiment, load, (target, control)) {
            Some(pairs) => of_pairs(metrics, &pairs),
            None => of_medians(metrics, &results.of(target, load), &results.of(control, load)),
        };
        Self { target, control, metrics }
    }

    /// The metric that decides.
    pub fn headline(&self) -> Option<&Compared> {
        self.metrics.first()
    }
}

/// By what the targets are compared, the metric that decides first.
fn metrics(experiment: &Experiment) -> [Metric; 4] {
    let mut clients = experiment.targets.iter().map(|target| target.client);
    let first = clients.next();
    match clients.all(|client| Some(client) == first) {
        true => Metric::ALL,
        false => Metric::OF_CLIENTS,
    }
}

fn of_pairs(metrics: [Metric; 4], pairs: &[(&Figures, &Figures)]) -> Vec<Compared> {
    let compared = |metric: Metric| {
        let pair = |(one, other): &(&Figures, &Figures)| {
            Some(Pair { target: metric.of(one)?, control: metric.of(other)? })
        };
        // A metric that a run does not have is none of these targets.
        let pairs: Option<Vec<Pair>> = pairs.iter().map(pair).collect();
        let ratio = compare(&pairs?).map_err(NoInterval::Pairs);
        Some(Compared { metric, ratio, answer: None })
    };
    metrics.into_iter().filter_map(compared).collect()
}

/// Of runs that nothing pairs: the plain ratio, and no answer.
fn of_medians(metrics: [Metric; 4], ones: &[&Figures], others: &[&Figures]) -> Vec<Compared> {
    let compared = |metric: Metric| {
        let of = |runs: &[&Figures]| {
            let figures: Option<Vec<f64>> = runs.iter().map(|run| metric.of(run)).collect();
            median(&figures?)
        };
        let (one, other) = (of(ones)?, of(others)?);
        let plain = (one > 0.0 && other > 0.0).then(|| one / other);
        Some(Compared { metric, ratio: Err(NoInterval::NotInTurns { plain }), answer: None })
    };
    metrics.into_iter().filter_map(compared).collect()
}

/// The metric that decides is one question for each target, the others are many: each group is
/// corrected for its size.
fn correct(all: &mut [Against]) {
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for against in all {
        let mut metrics = against.metrics.iter_mut();
        first.extend(metrics.next());
        others.extend(metrics);
    }
    for group in [first, others] {
        let with_ratio: Vec<(&mut Compared, Ratio)> =
            group.into_iter().filter_map(|c| c.ratio.ok().map(|ratio| (c, ratio))).collect();
        let p_values: Vec<f64> = with_ratio.iter().map(|(_, ratio)| ratio.p_value).collect();
        for ((compared, ratio), p_value) in with_ratio.into_iter().zip(holm(&p_values)) {
            let more_is_better = compared.metric.more_is_better();
            compared.answer = Some(match (ratio.outcome_among_several(p_value), more_is_better) {
                (Outcome::NoDifferenceShown, _) => Answer::NoDifferenceShown,
                (Outcome::More, true) | (Outcome::Less, false) => Answer::Better,
                (Outcome::More, false) | (Outcome::Less, true) => Answer::Worse,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::experiment::{Outcome as TrialOutcome, Trial};
    use ablaze_testing::experiments;

    /// Runs of two targets: the second's rate is `ratio` times the first's, with some noise.
    fn results(repeats: u32, ratio: f64) -> Results {
        let mut results = Results::default();
        for repeat in 0..repeats {
            let noise = 1.0 + f64::from(repeat % 3) * 0.002;
            for (target, rate) in [(0, 10_000.0), (1, 10_000.0 * ratio * noise)] {
                let figures = Box::new(experiments::figures(rate));
                let trial = Trial { repeat, load: 0, target };
                results.trials.push((trial, TrialOutcome::Measured(figures)));
            }
        }
        results
    }

    fn compared(repeats: u32, ratio: f64) -> Comparison {
        Comparison::of(&experiments::experiment(), &results(repeats, ratio), 0, 0)
    }

    #[test]
    fn a_clear_difference_is_shown_in_every_metric() {
        let comparison = compared(10, 0.8);
        let against = &comparison.against[0];
        assert_eq!((against.target, against.control, against.metrics.len()), (1, 0, 4));
        assert!(against.metrics.iter().all(|c| c.answer == Some(Answer::Worse)), "{against:?}");
        let headline = against.headline().unwrap();
        assert_eq!(headline.metric, Metric::ServerCpu);
        assert!((headline.ratio.unwrap().ratio - 1.25).abs() < 0.01);
    }

    #[test]
    fn the_same_twice_is_no_difference_and_few_runs_are_not_enough() {
        let comparison = compared(10, 0.998);
        let responses: Vec<_> = comparison.against[0].metrics.iter().map(|c| c.answer).collect();
        assert_eq!(responses, [Some(Answer::NoDifferenceShown); 4]);
        let few = compared(5, 0.5);
        let headline = few.against[0].headline().unwrap();
        assert_eq!(
            headline.ratio,
            Err(NoInterval::Pairs(NotComparable::NotEnoughRuns { pairs: 5 }))
        );
        assert_eq!(headline.answer, None);
    }

    #[test]
    fn a_metric_that_was_not_seen_does_not_decide() {
        let mut results = results(8, 0.8);
        if let TrialOutcome::Measured(figures) = &mut results.trials[3].1 {
            figures.server_cpu_ns = None;
        }
        let comparison = Comparison::of(&experiments::experiment(), &results, 0, 0);
        assert_eq!(comparison.against[0].headline().unwrap().metric, Metric::Rate);
    }

    #[test]
    fn clients_are_compared_by_the_rate_that_they_get() {
        let mut experiment = experiments::experiment();
        experiment.targets[1].client = ablaze_model::experiment::Tool::Ab;
        let comparison = Comparison::of(&experiment, &results(8, 0.8), 0, 0);
        assert_eq!(comparison.against[0].headline().unwrap().metric, Metric::Rate);
    }

    #[test]
    fn a_run_that_failed_takes_its_pair_away_and_no_more() {
        let mut results = results(8, 0.8);
        results.trials[3].1 = TrialOutcome::Failed("gone".to_owned());
        let comparison = Comparison::of(&experiments::experiment(), &results, 0, 0);
        assert_eq!(comparison.against[0].headline().unwrap().ratio.unwrap().pairs, 7);
        assert_eq!(comparison.rows[0].as_ref().unwrap().rates_per_s.len(), 8);
    }
}
