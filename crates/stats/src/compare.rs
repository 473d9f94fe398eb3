//! Two targets, or two metrics of them, over paired runs: how many times as much, how certain, and
//! is there a difference at all. The run is the unit: a thousand requests of one run are not a
//! thousand independent facts (T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time",
//! ISMM 2013). Talks to nobody.

use crate::distribution::normal_quantile;
use crate::median::MedianBootstrap;

/// The level of confidence of a comparison.
pub const CONFIDENCE: f64 = 0.99;

/// Fewer pairs than this say too little: even if all point the same way, that happens by accident
/// once in 16 times or more (5 pairs: 2/2^5).
pub const MIN_PAIRS: usize = 6;

/// The chance with which the smallest difference that could have been shown would have been.
pub const POWER: f64 = 0.8;

/// One metric of two runs that belong together, being of the same repeat. Both above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The target in question.
    pub target: f64,
    /// What it is compared with.
    pub control: f64,
}

/// What the pairs say about the ratio target / control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// How many pairs there were.
    pub pairs: usize,
    /// The median of the pairs' ratios (on the logarithmic scale where it lies between two).
    pub ratio: f64,
    /// The lower end of the interval of the median ratio, at `CONFIDENCE`.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The level at which the interval would just exclude 1. For several comparisons: `holm`.
    pub p_value: f64,
    /// The smallest difference these runs could have shown, as a share (0.02: a ratio of 1.02, or
    /// of 1/1.02): had it been there, runs as noisy as these would have shown it with a chance of
    /// `POWER`.
    pub could_show: f64,
}

/// The answer of a comparison. Whether more is better depends on the metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The target has less than the control.
    Less,
    /// The target has more than the control.
    More,
    /// The runs do not show which has more: neither that both are equal nor that they differ.
    NoDifferenceShown,
}

/// Why runs could not be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotComparable {
    /// Fewer than `MIN_PAIRS` pairs.
    NotEnoughRuns {
        /// The number of pairs there are.
        pairs: usize,
    },
    /// A value is zero, negative or no number, so there is no ratio.
    NotPositive {
        /// Which pair, from 0.
        pair: usize,
    },
}

impl std::fmt::Display for NotComparable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotEnoughRuns { pairs } => {
                write!(f, "not enough runs: {pairs} of at least {MIN_PAIRS} pairs")
            }
            Self::NotPositive { pair } => {
                write!(f, "pair {} has a value that is not above zero: no ratio", pair + 1)
            }
        }
    }
}

impl std::error::Error for NotComparable {}

/// The median ratio target / control over `pairs` and its interval.
///
/// # Errors
/// `NotEnoughRuns` below `MIN_PAIRS` pairs; `NotPositive` where a ratio does not exist.
pub fn compare(pairs: &[Pair]) -> Result<Comparison, NotComparable> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if let Some(pair) = pairs.iter().position(|p| !usable(p.target) || !usable(p.control)) {
        return Err(NotComparable::NotPositive { pair });
    }
    let ratios: Vec<f64> = pairs.iter().map(|p| p.target.ln() - p.control.ln()).collect();
    let enough = if pairs.len() < MIN_PAIRS { None } else { MedianBootstrap::new(&ratios) };
    let bootstrap = enough.ok_or(NotComparable::NotEnoughRuns { pairs: pairs.len() })?;
    let (low, high) = bootstrap.interval(CONFIDENCE);
    Ok(Comparison {
        pairs: pairs.len(),
        ratio: bootstrap.median().exp(),
        low: low.exp(),
        high: high.exp(),
        p_value: bootstrap.p_value(0.0).min(1.0),
        could_show: could_show((high - low) / 2.0, CONFIDENCE).exp_m1(),
    })
}

/// The interval of the median ratio at another level of confidence than [`CONFIDENCE`]: that of one question
/// among several. `None` where [`compare`] has no answer either.
pub fn interval_at(pairs: &[Pair], confidence: f64) -> Option<(f64, f64)> {
    compare(pairs).ok()?;
    let ratios: Vec<f64> = pairs.iter().map(|p| p.target.ln() - p.control.ln()).collect();
    let (low, high) = MedianBootstrap::new(&ratios)?.interval(confidence);
    Some((low.exp(), high.exp()))
}

/// What [`Comparison::could_show`] is for one of several questions: the first to be answered by [`holm`] must be shown at
/// the level of [`CONFIDENCE`] divided by their number. `None` where [`compare`] has no answer either.
pub fn could_show_among(pairs: &[Pair], questions: usize) -> Option<f64> {
    let confidence = 1.0 - (1.0 - CONFIDENCE) / questions.max(1) as f64;
    let (low, high) = interval_at(pairs, confidence)?;
    Some(could_show((high.ln() - low.ln()) / 2.0, confidence).exp_m1())
}

/// The shift of a logarithm that an interval of this half width excludes with a chance of `POWER`:
/// at 99 % (z(0.995) + z(0.8)) standard errors, of which the half width is z(0.995) (J. Cohen, Statistical
/// Power Analysis, 2nd ed. 1988, chapter 2).
fn could_show(half_width: f64, confidence: f64) -> f64 {
    let level = normal_quantile(1.0 - (1.0 - confidence) / 2.0);
    half_width * (1.0 + normal_quantile(POWER) / level)
}

impl Comparison {
    /// The answer of this comparison alone.
    pub fn outcome(&self) -> Outcome {
        if self.high < 1.0 {
            Outcome::Less
        } else if self.low > 1.0 {
            Outcome::More
        } else {
            Outcome::NoDifferenceShown
        }
    }

    /// The answer when it is one of several, from its p-value as corrected by `holm`.
    pub fn outcome_among_several(&self, corrected_p_value: f64) -> Outcome {
        if corrected_p_value > 1.0 - CONFIDENCE {
            Outcome::NoDifferenceShown
        } else {
            self.outcome()
        }
    }
}

/// The p-values of several questions asked of the same runs, corrected for being many: a p-value at
/// or below a level then means that the chance of even one false answer is at most that level
/// (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6, 1979;
/// in the adjusted form of S. P. Wright, Biometrics 48, 1992). The order stays.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut ascending: Vec<usize> = (0..p_values.len()).collect();
    ascending.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest = 0.0f64;
    for (place, &question) in ascending.iter().enumerate() {
        let open = (p_values.len() - place) as f64;
        largest = largest.max((p_values[question] * open).min(1.0));
        corrected[question] = largest;
    }
    corrected
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
