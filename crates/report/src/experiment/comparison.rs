//! Which is better, and by how much: the targets of one load held against each other over paired
//! runs. The run is the unit; the pairs are the runs of one repeat. One metric decides, the others
//! are corrected for being many.

use ablaze_model::experiment::{Experiment, Figures, Results};
use ablaze_stats::compare::{
    CONFIDENCE, Comparison as Ratio, NotComparable, Outcome, Pair, compare, holm, interval_at,
};
use ablaze_stats::repeats::median;

use super::curve::{Pick, Point, is_most};

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
    /// The interval as widened by that correction, where the answer is another one by it.
    pub among_several: Option<AmongSeveral>,
    /// The figures that were compared.
    pairs: Vec<Pair>,
}

/// A question that is one of several asked of the same runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AmongSeveral {
    /// How many.
    pub questions: usize,
    /// The lower end of the interval that belongs to the corrected p-value.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
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
        let seen: Vec<Pair> = pairs.iter().filter_map(pair).collect();
        let ratio = compare(&seen).map_err(NoInterval::Pairs);
        // A metric that most runs do not have, or too few, is none of these targets.
        let all = seen.len() == pairs.len();
        if !(all || is_most(seen.len(), pairs.len()) && ratio.is_ok()) {
            return None;
        }
        Some(Compared { metric, ratio, answer: None, among_several: None, pairs: seen })
    };
    metrics.into_iter().filter_map(compared).collect()
}

/// Of runs that nothing pairs: the plain ratio, and no answer.
fn of_medians(metrics: [Metric; 4], ones: &[&Figures], others: &[&Figures]) -> Vec<Compared> {
    let compared = |metric: Metric| {
        let of = |runs: &[&Figures]| {
            let figures: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
            median(&figures).filter(|_| is_most(figures.len(), runs.len()))
        };
        let (one, other) = (of(ones)?, of(others)?);
        let plain = (one > 0.0 && other > 0.0).then(|| one / other);
        let ratio = Err(NoInterval::NotInTurns { plain });
        Some(Compared { metric, ratio, answer: None, among_several: None, pairs: Vec::new() })
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
            let outcome = ratio.outcome_among_several(p_value);
            if outcome != ratio.outcome() {
                let confidence = 1.0 - (1.0 - CONFIDENCE) * ratio.p_value / p_value;
                let ends = interval_at(&compared.pairs, confidence);
                let questions = p_values.len();
                compared.among_several =
                    ends.map(|(low, high)| AmongSeveral { questions, low, high });
            }
            compared.answer = Some(match (outcome, more_is_better) {
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
    fn a_metric_decides_by_the_runs_that_have_it_if_most_do() {
        let mut results = results(8, 0.8);
        let without = |results: &mut Results, trials: std::ops::Range<usize>| {
            for (_, outcome) in &mut results.trials[trials] {
                if let TrialOutcome::Measured(figures) = outcome {
                    figures.server_cpu_ns = None;
                }
            }
            Comparison::of(&experiments::experiment(), results, 0, 0)
        };
        let one = without(&mut results, 3..4);
        let headline = one.against[0].headline().unwrap();
        assert_eq!((headline.metric, headline.ratio.unwrap().pairs), (Metric::ServerCpu, 7));
        assert!(one.rows.iter().all(|row| row.as_ref().unwrap().server_cpu_ns.is_some()));
        // Five pairs are too few to compare.
        let many = without(&mut results, 3..8);
        assert_eq!(many.against[0].headline().unwrap().metric, Metric::Rate);
    }

    #[test]
    fn an_answer_that_changes_among_several_shows_the_wider_interval() {
        // Noise such that the rate differs with a chance between 1/100 and 1/300.
        let mut found = 0;
        for shift in 0..60 {
            let mut results = results(8, 1.0);
            for (at, (trial, outcome)) in results.trials.iter_mut().enumerate() {
                if let TrialOutcome::Measured(figures) = outcome {
                    let noise = (at * 7919 % 97) as f64 / 97.0 * 0.05;
                    let more = if trial.target == 1 { f64::from(shift) * 0.001 } else { 0.0 };
                    figures.rate_per_s *= 1.0 + noise + more;
                }
            }
            let comparison = Comparison::of(&experiments::experiment(), &results, 0, 0);
            for compared in &comparison.against[0].metrics {
                let ratio = compared.ratio.unwrap();
                let shown_as_one = ratio.outcome() != Outcome::NoDifferenceShown;
                let differs = shown_as_one && compared.answer == Some(Answer::NoDifferenceShown);
                assert_eq!(compared.among_several.is_some(), differs);
                if let Some(wider) = compared.among_several {
                    found += 1;
                    assert!(wider.low <= 1.0 && wider.high >= 1.0, "{compared:?}");
                    assert_eq!(wider.questions, 3);
                }
            }
        }
        assert!(found > 0);
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
