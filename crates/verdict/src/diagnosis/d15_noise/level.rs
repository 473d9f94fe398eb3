//! Repeats that lie on two levels, one behind the other: the first runs on one, all later ones on another; or each slower, or
//! faster, than the one before it. Noise comes and goes; this is a change.

use super::{Repeats, in_turns, started};
use crate::DiagnosisId::D15;
use crate::finding::{Finding, Severity};
use crate::rules::comparison::Member;
use crate::words::{counted, rate};

/// Fewer repeats show no two levels.
const FEWEST_RUNS: usize = 5;
/// That so many runs come in the order of their rates happens by chance once in 360 times.
const FEWEST_OF_A_TREND: usize = 6;
/// So many of them on each.
const FEWEST_OF_A_LEVEL: usize = 2;
/// So many on each, and others in turns with them that did not change, are no chance.
const FEWEST_TO_TELL: usize = 3;
/// Rates up to this factor apart are the same.
const SAME: f64 = 1.1;
/// The levels lie apart by this factor at least, and by so many times, in logarithms, what runs of one differ by.
const FACTOR: f64 = 1.2;
const TIMES_THE_SPREAD: f64 = 3.0;

/// The runs of a target lie on two levels, one behind the other. Where those of all targets do at the same time, in turns, what
/// changed is not the target, and pairs of runs are compared on one level.
pub(super) fn found(targets: &[Repeats<'_>]) -> Option<Finding> {
    let changes: Vec<_> = targets.iter().filter_map(|runs| change(runs)).collect();
    let first = changes.first()?;
    let alike =
        |change: &Change| change.at.abs_diff(first.at) <= 1 && change.is_slower == first.is_slower;
    let turns = in_turns(targets);
    if turns && changes.len() == targets.len() && changes.iter().all(alike) {
        return None;
    }
    let evidence: Vec<&str> = changes.iter().map(|change| change.said.as_str()).collect();
    let rest = targets.iter().filter(|runs| change(runs).is_none());
    let rest: Option<Vec<Vec<f64>>> = rest.map(in_time).collect();
    let only_here = |change: &Change, rest: &[Vec<f64>]| {
        turns && !rest.is_empty() && rest.iter().all(|rates| change.left_alone(rates))
    };
    let cause = match (changes.as_slice(), rest) {
        ([change], Some(rest)) if only_here(change, &rest) => {
            "In between, something changed that did not show in the rates of those measured in turns with it: this target's state, \
             its data, the processes that serve it, or what only it has too little of, such as the time of its CPUs. A figure of \
             all its runs mixes what was before and behind it."
        }
        _ => {
            "In between, something changed, in a target, on a machine, or in what else runs there: which it was the rates do not \
             tell. A figure of all runs mixes what was before and behind it."
        }
    };
    let fix = "See what became of the target between these runs, and what else ran on its CPUs. Measure it in one state: with the \
               server started anew for each run, or after it has served for a while.";
    Some(Finding::new(D15, Severity::Suspect, evidence.join("\n"), cause, fix))
}

/// Where the level of the repeats of a target changed.
struct Change {
    /// So many runs are on the first level.
    at: usize,
    /// From this one on they are on the second.
    from: usize,
    runs: usize,
    is_slower: bool,
    /// As a sentence.
    said: String,
}

impl Change {
    /// Whether another target, whose runs in turns with these came to such rates, did not change in this direction, in rounds enough to tell that from chance.
    fn left_alone(&self, rates: &[f64]) -> bool {
        let [before, after] = [extent(&rates[..self.at]), extent(&rates[self.from..])];
        let stayed = match self.is_slower {
            true => after[0] * SAME >= before[0],
            false => after[1] <= before[1] * SAME,
        };
        stayed && self.at >= FEWEST_TO_TELL && self.runs - self.from >= FEWEST_TO_TELL
    }
}

/// The rates of runs in the order in which they were made.
fn in_time(runs: &Repeats<'_>) -> Option<Vec<f64>> {
    let mut in_time: Vec<(u64, &Member)> =
        runs.iter().map(|run| Some((started(run)?, *run))).collect::<Option<_>>()?;
    in_time.sort_unstable_by_key(|(started, _)| *started);
    Some(in_time.iter().map(|(_, run)| run.rate_per_s).collect())
}

/// `None` where the order of the runs is not known, or they lie on one level.
fn change(runs: &Repeats<'_>) -> Option<Change> {
    let rates = in_time(runs)?;
    if rates.len() < FEWEST_RUNS {
        return None;
    }
    two_levels(runs, &rates).or_else(|| trend(runs, &rates))
}

/// Repeats on one level, and later ones on another.
fn two_levels(runs: &Repeats<'_>, rates: &[f64]) -> Option<Change> {
    // The change may fall into a run, which is on neither level then.
    let ends = FEWEST_OF_A_LEVEL..=rates.len() - FEWEST_OF_A_LEVEL;
    let split = |skipped: usize| ends.clone().map(move |at| (at, at + skipped));
    let (at, from) = split(0)
        .chain(split(1))
        .filter(|(_, from)| ends.contains(from))
        .find(|(at, from)| are_levels(extent(&rates[..*at]), extent(&rates[*from..])))?;
    let (before, after) = (extent(&rates[..at]), extent(&rates[from..]));
    let said = format!(
        "The first {} of {} came to {} to {}/s, and the last {} to {} to {}/s.",
        counted(at as u64, "run"),
        runs[0].name,
        rate(before[0]),
        rate(before[1]),
        rates.len() - from,
        rate(after[0]),
        rate(after[1])
    );
    Some(Change { at, from, runs: rates.len(), is_slower: after[1] < before[0], said })
}

/// Each run slower, or each faster, than the one before it.
fn trend(runs: &Repeats<'_>, rates: &[f64]) -> Option<Change> {
    let (first, last) = (*rates.first()?, *rates.last()?);
    let is_slower = last < first;
    let steps =
        |is_step: fn(&f64, &f64) -> bool| rates.windows(2).all(|pair| is_step(&pair[0], &pair[1]));
    let goes_on =
        if is_slower { steps(|one, next| next < one) } else { steps(|one, next| next > one) };
    let factor = if is_slower { first / last } else { last / first };
    if rates.len() < FEWEST_OF_A_TREND || !goes_on || factor < FACTOR {
        return None;
    }
    let how = if is_slower { "slower" } else { "faster" };
    let said = format!(
        "Each of the {} of {} was {how} than the one before it: {} to {}/s.",
        counted(rates.len() as u64, "run"),
        runs[0].name,
        rate(first),
        rate(last)
    );
    let at = rates.len() / 2;
    Some(Change { at, from: at, runs: rates.len(), is_slower, said })
}

/// The least and the most.
fn extent(rates: &[f64]) -> [f64; 2] {
    rates.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], rate| {
        [least.min(*rate), most.max(*rate)]
    })
}

fn are_levels(one: [f64; 2], other: [f64; 2]) -> bool {
    let (slow, fast) = if one[0] < other[0] { (one, other) } else { (other, one) };
    let spread = (slow[1] / slow[0]).ln().max((fast[1] / fast[0]).ln());
    let apart = (fast[0] / slow[1]).ln();
    slow[0] > 0.0 && apart >= FACTOR.ln() && apart >= spread * TIMES_THE_SPREAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::Text;
    use crate::rules::{comparison, sample as rules_sample};

    #[test]
    fn a_change_is_told_from_noise() {
        let levels =
            |rates: &[f64], at: usize| are_levels(extent(&rates[..at]), extent(&rates[at..]));
        assert!(levels(&[9.0, 9.1, 9.2, 3.0, 3.1, 3.0, 3.1], 3));
        assert!(levels(&[3.0, 3.1, 9.0, 9.2, 9.1], 2));
        // 2,452 and 3,120/s, then 820 to 912/s.
        assert!(levels(&[2452.0, 3120.0, 832.0, 904.0, 820.0, 912.0, 872.0], 2));
        // Runs of one level differ as much.
        assert!(!levels(&[9.0, 6.0, 9.2, 3.0, 3.1, 3.0, 3.1], 3));
        assert!(!levels(&[9.0, 9.1, 9.2, 8.0, 8.1, 8.2, 8.1], 3));
        // One of the first is slow, too.
        assert!(!levels(&[9.0, 3.0, 9.2, 3.0, 3.1, 3.0, 3.1], 3));
    }
    #[test]
    fn repeats_that_become_slower_one_by_one_are_a_change() {
        let text = Text { reports: vec![rules_sample::ab()], ..Text::default() };
        let member = comparison::members(&text, 1).remove(0);
        let runs: Repeats<'_> = vec![&member];
        let found = trend(&runs, &[2934.0, 2000.0, 1500.0, 1000.0, 700.0, 521.0]).unwrap();
        assert!(
            found.is_slower
                && found.said.contains("was slower than the one before it: 2,934 to 521/s"),
            "{}",
            found.said
        );
        assert!(trend(&runs, &[2934.0, 2000.0, 1500.0, 1600.0, 700.0, 521.0]).is_none());
        assert!(trend(&runs, &[2934.0, 2000.0, 1500.0, 1000.0, 700.0]).is_none(), "chance");
        assert!(trend(&runs, &[1.0, 1.01, 1.02, 1.03, 1.04, 1.05]).is_none(), "hardly");
        assert!(!trend(&runs, &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5]).unwrap().is_slower);
    }

    #[test]
    fn what_others_in_turns_had_too_is_not_of_the_target() {
        let change = |at, runs| Change { at, from: at, runs, is_slower: true, said: String::new() };
        let steady = [5.0, 5.2, 5.1, 5.0, 5.1, 4.9];
        assert!(change(3, 6).left_alone(&steady));
        assert!(!change(3, 6).left_alone(&[5.0, 5.2, 5.1, 5.0, 5.1, 3.2]));
        // Two rounds may be chance.
        assert!(!change(4, 6).left_alone(&steady));
    }
}
