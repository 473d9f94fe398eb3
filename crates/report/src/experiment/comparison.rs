//! Which is better, and by how much: the targets of one load held against each other over paired
//! runs. The run is the unit; the pairs are the runs of one repeat. One metric decides, the others
//! are corrected for being many.

use ablaze_model::experiment::{Experiment, Figures, Results};
use ablaze_stats::compare::{
    CONFIDENCE, Comparison as Ratio, MIN_PAIRS, NotComparable, Outcome, Pair, compare,
    could_show_among, holm, interval_at,
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
    /// Some pairs lack the figure, and those that have it are too few.
    Missing {
        /// Pairs that lack it.
        missing: usize,
        /// Pairs that were measured.
        pairs: usize,
    },
    /// An open loop, whose whole rate both targets carried: the rate is the client's, not theirs.
    AsRequested,
    /// The runs were not taken in turns, so that nothing pairs them ([`Results::paired`]).
    NotInTurns {
        /// First / second of the medians, where both are above zero.
        plain: Option<f64>,
        /// There is one run of each: no order of them would make an interval.
        one_each: bool,
    },
}

impl std::fmt::Display for NoInterval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pairs(why) => why.fmt(f),
            Self::Missing { missing, pairs } => {
                write!(
                    f,
                    "missing in {missing} of {pairs} pairs; at least {MIN_PAIRS} must have it"
                )
            }
            Self::AsRequested => f.write_str("as requested in both, so no difference between them"),
            Self::NotInTurns { one_each: true, .. } => f.write_str("one run each: no interval"),
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
    /// By each metric that its runs have, the one that decides first.
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

/// The ratio of one metric over pairs of runs, or why there is none; `None` where no pair has the figure.
///
/// Pairs that lack it are left out, as long as most have it.
pub fn ratio_of(
    metric: Metric,
    pairs: &[(&Figures, &Figures)],
) -> Option<Result<(Ratio, Vec<Pair>), NoInterval>> {
    let as_requested =
        |(one, other): &&(&Figures, &Figures)| one.rate_as_requested && other.rate_as_requested;
    let requested = pairs.iter().filter(as_requested).count();
    // One that did not carry the rate is a difference.
    if metric == Metric::Rate && requested == pairs.len() && requested > 0 {
        return Some(Err(NoInterval::AsRequested));
    }
    let pair = |(one, other): &(&Figures, &Figures)| {
        Some(Pair { target: metric.of(one)?, control: metric.of(other)? })
    };
    let seen: Vec<Pair> = pairs.iter().filter_map(pair).collect();
    let missing = pairs.len() - seen.len();
    if missing == 0 {
        return Some(compare(&seen).map(|ratio| (ratio, seen)).map_err(NoInterval::Pairs));
    }
    let ratio = compare(&seen).ok().filter(|_| is_most(seen.len(), pairs.len()));
    let lacking = NoInterval::Missing { missing, pairs: pairs.len() };
    (!seen.is_empty()).then(|| ratio.map(|ratio| (ratio, seen)).ok_or(lacking))
}

fn of_pairs(metrics: [Metric; 4], pairs: &[(&Figures, &Figures)]) -> Vec<Compared> {
    let compared = |metric: Metric| {
        let (ratio, pairs) = match ratio_of(metric, pairs)? {
            Ok((ratio, pairs)) => (Ok(ratio), pairs),
            Err(why) => (Err(why), Vec::new()),
        };
        Some(Compared { metric, ratio, answer: None, among_several: None, pairs })
    };
    decisive_first(metrics.into_iter().filter_map(compared).collect())
}

/// What cannot decide comes last.
fn decisive_first(mut compared: Vec<Compared>) -> Vec<Compared> {
    compared.sort_by_key(|compared| {
        matches!(compared.ratio, Err(NoInterval::Missing { .. } | NoInterval::AsRequested))
    });
    compared
}

/// Of runs that nothing pairs: the plain ratio, and no answer.
fn of_medians(metrics: [Metric; 4], ones: &[&Figures], others: &[&Figures]) -> Vec<Compared> {
    let requested = [ones, others].iter().all(|runs| runs.iter().all(|run| run.rate_as_requested));
    let one_each = ones.len() == 1 && others.len() == 1;
    let compared = |metric: Metric| {
        let of = |runs: &[&Figures]| {
            let figures: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
            median(&figures).filter(|_| is_most(figures.len(), runs.len()))
        };
        let (one, other) = (of(ones)?, of(others)?);
        let plain = (one > 0.0 && other > 0.0).then(|| one / other);
        let ratio = match metric == Metric::Rate && requested {
            true => Err(NoInterval::AsRequested),
            false => Err(NoInterval::NotInTurns { plain, one_each }),
        };
        Some(Compared { metric, ratio, answer: None, among_several: None, pairs: Vec::new() })
    };
    decisive_first(metrics.into_iter().filter_map(compared).collect())
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
            if p_values.len() > 1
                && let Ok(ratio) = &mut compared.ratio
                && let Some(could_show) = could_show_among(&compared.pairs, p_values.len())
            {
                ratio.could_show = could_show;
            }
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
#[path = "comparison_tests.rs"]
mod tests;
