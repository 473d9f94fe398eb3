//! How long a search will take: usually, by going through it with targets that hold up to one rate and not above it, and
//! at most, by its number of stages.

use std::time::Duration;

use ablaze_model::experiment::Search;
use ablaze_stats::rate_search::{Next, RateSearch, Trial};

use crate::lengths::{BESIDE_A_RUN, in_words};

/// Targets that are gone through, their limits evenly spread from the lowest to the highest rate, in magnitude.
const TARGETS: usize = 101;
/// Of them, a tenth takes less time than is said to be usual, and a tenth more.
const USUAL: [usize; 2] = [10, 90];

/// `usually 35 s to 1 min 01 s; at most 60 stages, 6 min 24 s`, without what it waits for the target between stages.
pub fn in_short(search: &Search) -> String {
    let [from, to] = usual(search).map(|length| in_words(length.max(Duration::from_secs(1))));
    let usual = if from == to { from } else { format!("{from} to {to}") };
    let stages = search.limits().most_trials;
    format!("usually {usual}; at most {stages} stages, {}", in_words(at_most(search)))
}

/// One stage, with what it takes to begin and end it.
fn stage(search: &Search, asked_per_s: f64, confirming: bool) -> Duration {
    let measured_ns = search.length_ns(asked_per_s, confirming);
    Duration::from_nanos(measured_ns.saturating_add(search.load.limits.warmup_ns)) + BESIDE_A_RUN
}

/// No stage is longer than one that confirms the lowest rate, or than one that does not.
fn at_most(search: &Search) -> Duration {
    let lowest = search.limits().lowest_per_s;
    let longest = stage(search, lowest, true).max(stage(search, lowest, false));
    longest.saturating_mul(search.limits().most_trials)
}

fn usual(search: &Search) -> [Duration; 2] {
    let limits = search.limits();
    let magnitudes = (limits.highest_per_s / limits.lowest_per_s).ln();
    let mut lengths: Vec<Duration> = (0..TARGETS)
        .map(|target| {
            let share = target as f64 / (TARGETS - 1) as f64;
            with_limit(search, limits.lowest_per_s * (magnitudes * share).exp())
        })
        .collect();
    lengths.sort_unstable();
    USUAL.map(|of_hundred| lengths[of_hundred * (TARGETS - 1) / 100])
}

/// The length of a search whose target holds up to this rate.
fn with_limit(search: &Search, limit_per_s: f64) -> Duration {
    let mut state = RateSearch::new(search.limits());
    let (mut tried, mut length) = (Vec::new(), Duration::ZERO);
    while let Next::Try(asked_per_s) = state.next() {
        length = length.saturating_add(stage(search, asked_per_s, tried.contains(&asked_per_s)));
        tried.push(asked_per_s);
        state.tell(if asked_per_s <= limit_per_s { Trial::Holds } else { Trial::Fails });
    }
    length
}
