//! D15: rates are compared without knowing how far two runs of the same lie apart.

mod curves;
mod level;
mod pairs;

use std::collections::BTreeMap;

use ablaze_stats::repeats::median;

use self::curves::on_curves;
use self::pairs::{close_pairs, is_asked, rates_are_asked, twice};
use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D15;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, counts_runs};
use crate::rules::comparison::{Comparison, Member, may_be_two};
use crate::rules::differences::{are_incomparable, are_repeats};
use crate::words::{amount, counted, grouped, percent, rate};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D15,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms {
        comparison: Some(on_comparison),
        curves: Some(on_curves),
        command: Some(on_command),
        ..Forms::NONE
    },
};

/// Fewer runs of the same show no spread.
const RUNS: usize = 3;
/// Differences of single runs up to here are no differences.
const SMALL: f64 = 0.05;

/// Runs of different targets further apart than this were not taken in turns.
const HOURS_APART: f64 = 1.0;

/// Noise never changes a rate by this factor.
const FAR_APART: f64 = 2.0;

const NO_SPREAD: &str = "Each point is a single figure without a spread.";
const CHANGES: &str = "Something changes from run to run, which the rates do not tell: the target itself, other processes, CPU \
                       frequency, other guests of the host.";
const SPREAD_REMEDY: &str = "Report the median and all runs, and do not call a difference smaller than this spread an \
     improvement.";
const PAIRS_REMEDY: &str = "Report the median and all runs. Runs in turns make pairs: the interval of their ratio says \
     whether a difference is shown.";
const LATER: &str = "In between, software, load from neighbours or temperature may have changed, \
                     which could account for a difference.";
const REMEDY: &str = "Run each at least three times, preferably ten, alternating (A B A B …), \
                      show all runs, and call one faster only if the difference is larger than \
                      the spread.";

const TWICE: &str =
    "No two runs print the same figures: it is the same output, under two names or pasted again.";
const UNSAID_OF: &str = "the text does not say";
const UNSAID: &str = "Runs of one target show how far two runs of the same lie apart, and runs of two how far these do: here the figures \
                      may be either.";
const SAY: &str = "Write above each report what it is of (`## nginx`, `run 2`), or keep each in a file of that name \
                   (nginx-run-2.txt).";
const TWICE_REMEDY: &str =
    "Leave one of the two out, or put the report of the other run in its place, and compare then.";
const TIMES_REMEDY: &str = "Compare the times, of at least three runs of each, alternating (A B A B …); or measure without a rate \
                            and without pauses, where the rates can be compared.";

/// Runs of the same.
type Repeats<'a> = Vec<&'a Member>;

/// The runs of one target by the work they did: under another load, or of other responses, they are no repeats.
fn of_equal_work<'a>(runs: &[&'a Member]) -> Vec<Repeats<'a>> {
    let mut kinds: Vec<Repeats<'a>> = Vec::new();
    for run in runs {
        match kinds.iter_mut().find(|kind| are_repeats(kind[0], run)) {
            Some(kind) => kind.push(run),
            None => kinds.push(vec![run]),
        }
    }
    kinds
}

/// The kinds of work of all targets. Of saved runs, of which each target has repeats enough, single ones of other work do not
/// count: they are told by D05.
fn kinds<'a>(targets: &[Repeats<'a>]) -> Vec<Repeats<'a>> {
    let each: Vec<Vec<Repeats<'a>>> = targets.iter().map(|runs| of_equal_work(runs)).collect();
    let is_enough = |runs: &Repeats<'_>| runs.len() >= RUNS;
    let saved = targets.iter().flatten().all(|run| run.circumstances().is_some());
    let leaves_out = saved && each.iter().all(|kinds| kinds.iter().any(is_enough));
    each.into_iter().flatten().filter(|runs| !leaves_out || is_enough(runs)).collect()
}

fn on_comparison(comparison: &Comparison, best_of_line: Option<usize>) -> Option<Finding> {
    if comparison.members.iter().all(|member| member.of_several) {
        return None;
    }
    let mut targets: BTreeMap<&str, Repeats<'_>> = BTreeMap::new();
    for member in &comparison.members {
        targets.entry(&member.identity).or_default().push(member);
    }
    let targets: Vec<Repeats<'_>> = targets.into_values().collect();
    let apart = apart_in_time(&targets);
    let kinds = kinds(&targets);
    if let Some(evidence) = twice(&comparison.members) {
        return Some(Finding::new(D15, Severity::Suspect, evidence, TWICE, TWICE_REMEDY));
    }
    let is_unsaid = kinds.iter().any(|runs| runs.iter().any(|run| may_be_two(runs[0], run)));
    if is_unsaid {
        let reports = counted(comparison.members.len() as u64, "report");
        let what = if targets.len() == 1 { "whether they" } else { "which of them" };
        let best = best_of(best_of_line);
        let evidence = format!("{reports}; {UNSAID_OF} {what} are of one target.{best}");
        let severity = if best.is_empty() { Severity::Note } else { Severity::Suspect };
        return Some(Finding::new(D15, severity, evidence, UNSAID, SAY));
    }
    let repeated = kinds.iter().all(|runs| runs.len() >= RUNS);
    if apart.is_none() && (repeated || targets.len() < 2) {
        let found = of_repeats(&kinds);
        return found.map(|finding| without_others(finding, comparison.members.len(), &kinds));
    }
    if repeated {
        return apart.map(|evidence| Finding::new(D15, Severity::Suspect, evidence, LATER, REMEDY));
    }
    let single = kinds.iter().all(|runs| runs.len() == 1);
    let mut evidence = match (single, kinds.len()) {
        _ if targets.len() == 1 => counted(targets[0].len() as u64, "run") + " of one target.",
        (true, 2) => "Only one run of each of the two is shown.".to_owned(),
        (true, number) if number == targets.len() => {
            format!("Only one run of each of the {number} is shown.")
        }
        (true, number) => format!(
            "Only one run of each of the {number} kinds of work of {} targets is shown.",
            targets.len()
        ),
        (false, number) => {
            let few = kinds.iter().filter(|runs| runs.len() < RUNS).count();
            let of = if few == number { "each" } else { "some" };
            let targets = match targets.len() {
                all if all == number => format!("{all} targets"),
                all => format!("{number} kinds of work of {all} targets"),
            };
            format!("Fewer than {RUNS} runs of {of} of the {targets} are shown.")
        }
    };
    evidence.push_str(&best_of(best_of_line));
    evidence.extend(apart.iter().map(|apart| format!(" {apart}")));
    if rates_are_asked(&comparison.members) {
        let cause = "At a rate that is asked for, or with users that pause, the rates tell how much was sent, and not which target \
                     is faster: only the times do, and those of single runs differ by chance, too.";
        return Some(Finding::new(D15, Severity::Note, evidence, cause, TIMES_REMEDY));
    }
    let close = close_pairs(&comparison.members);
    for (slower, faster) in &close {
        if are_incomparable(slower, faster) {
            evidence.push_str(&format!("\n{}", not_comparable(slower, faster)));
            continue;
        }
        let apart = faster.rate_per_s / slower.rate_per_s - 1.0;
        evidence.push_str(&format!(
            "\n{} and {} ({} and {}/s) differ by {}, {} from one response to the next.",
            named("A", slower, &kinds),
            named("a", faster, &kinds),
            rate(slower.rate_per_s),
            rate(faster.rate_per_s),
            percent(apart),
            gap(slower, faster),
        ));
    }
    let apart_by = (comparison.members.as_slice(), close.is_empty() && targets.len() > 1);
    if let ([one, other], true) = apart_by
        && one.rate_per_s.min(other.rate_per_s) > 0.0
        && one.concurrency == other.concurrency
        && !is_asked(one)
        && !is_asked(other)
    {
        let (slower, faster) =
            if one.rate_per_s <= other.rate_per_s { (one, other) } else { (other, one) };
        evidence.push(' ');
        evidence.push_str(&match are_incomparable(slower, faster) {
            true => not_comparable(one, other),
            false => format!(
                "{} / {} = {}; the gap is {} from one response to the next.",
                rate(faster.rate_per_s),
                rate(slower.rate_per_s),
                amount(faster.rate_per_s / slower.rate_per_s),
                gap(slower, faster),
            ),
        });
    }
    let clear = far_apart(&comparison.members) && best_of_line.is_none() && apart.is_none();
    let severity = if clear { Severity::Note } else { Severity::Suspect };
    let cause = "Two identical runs easily differ by a few percent; a single run does not tell \
                 how much of a difference that accounts for.";
    Some(Finding::new(D15, severity, evidence, cause, REMEDY))
}

/// `x`, or `a run of x` where there are others.
fn named(article: &str, member: &Member, kinds: &[Repeats<'_>]) -> String {
    let has_others = kinds
        .iter()
        .any(|runs| runs.len() > 1 && runs.iter().any(|run| std::ptr::eq(*run, member)));
    if has_others { format!("{article} run of {}", member.name) } else { member.name.clone() }
}

/// What stands in the place of a ratio.
fn not_comparable(one: &Member, other: &Member) -> String {
    format!("{} and {} are not comparable (D05).", one.name, other.name)
}

/// How much longer it is on the slower from one response to the next: `264 µs`. A request takes as many times that as there are in
/// flight.
fn gap(slower: &Member, faster: &Member) -> String {
    format!("{} µs", amount(1e6 / slower.rate_per_s - 1e6 / faster.rate_per_s))
}

/// No two rates are nearer than noise could ever bring them.
fn far_apart(members: &[Member]) -> bool {
    let mut rates: Vec<f64> = members.iter().map(|member| member.rate_per_s).collect();
    rates.sort_by(f64::total_cmp);
    rates.windows(2).all(|pair| pair[1] > FAR_APART * pair[0])
}

/// The longest time between the last run of one target and the first of another, if it is long.
fn apart_in_time(targets: &[Repeats<'_>]) -> Option<String> {
    let mut spans: Vec<(u64, u64)> = targets
        .iter()
        .filter_map(|runs| {
            let times = || runs.iter().filter_map(started);
            Some((times().min()?, times().max()?))
        })
        .collect();
    spans.sort_unstable();
    let gaps = spans.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].1));
    let hours = gaps.max()? as f64 / 3.6e12;
    (hours >= HOURS_APART).then(|| {
        let long = match hours {
            hours if hours < 48.0 => format!("{} hours", amount(hours)),
            hours => format!("{} days", amount(hours / 24.0)),
        };
        format!("They were measured {long} apart rather than alternating.")
    })
}

/// The spread of repeats, as a share of their median; their least, median and most.
fn spread(runs: &[&Member]) -> Option<(f64, [f64; 3])> {
    let rates: Vec<f64> = runs.iter().map(|member| member.rate_per_s).collect();
    let least = rates.iter().copied().reduce(f64::min)?;
    let most = rates.iter().copied().reduce(f64::max)?;
    let median = median(&rates).filter(|median| *median > 0.0)?;
    Some(((most - least) / median, [least, median, most]))
}

/// Repeats are there: some lie far apart, or those of different targets lie among each other.
fn of_repeats(targets: &[Repeats<'_>]) -> Option<Finding> {
    if let Some(found) = level::found(targets) {
        return Some(found);
    }
    let repeated: Vec<(&Repeats<'_>, f64, [f64; 3])> = targets
        .iter()
        .filter(|runs| runs.len() >= RUNS)
        .filter_map(|runs| spread(runs).map(|(share, extent)| (runs, share, extent)))
        .collect();
    let mut evidence: Vec<String> = repeated
        .iter()
        .filter(|(_, share, _)| *share > SMALL)
        .map(|(runs, share, [least, _, most])| {
            // A line, or the number of a run, is no name of them all.
            let name = &runs[0].name;
            let is_target = runs.iter().all(|run| run.name == *name && run.line.is_none());
            let is_named = is_target || !name.starts_with("line ") && !counts_runs(name);
            format!(
                "{}{} ranged from {} to {}/s: a spread of {} of the median.",
                counted(runs.len() as u64, "run"),
                if is_named { format!(" of {name}") } else { String::new() },
                rate(*least),
                rate(*most),
                percent(*share)
            )
        })
        .collect();
    if in_turns(targets) {
        return (!evidence.is_empty()).then(|| {
            Finding::new(D15, Severity::Note, evidence.join("\n"), CHANGES, PAIRS_REMEDY)
        });
    }
    let mut sorted: Vec<_> = repeated.iter().collect();
    sorted.sort_by(|a, b| a.2[1].total_cmp(&b.2[1]));
    for pair in sorted.windows(2) {
        let ((slower, _, [_, median1, most]), (faster, _, [least, median2, _])) =
            (pair[0], pair[1]);
        let apart = slower[0].identity != faster[0].identity;
        if least <= most && apart && !are_incomparable(slower[0], faster[0]) {
            evidence.push(format!(
                "The medians of {} and {} ({} and {}/s) differ by {}, but their runs overlap: the \
                 fastest of the first is {}/s, the slowest of the second {}/s.",
                slower[0].name,
                faster[0].name,
                rate(*median1),
                rate(*median2),
                percent(median2 / median1 - 1.0),
                rate(*most),
                rate(*least)
            ));
        }
    }
    (!evidence.is_empty())
        .then(|| Finding::new(D15, Severity::Note, evidence.join("\n"), CHANGES, SPREAD_REMEDY))
}

/// Says of how many runs its figures are not: too few of a kind of work, while a table beside it has them.
fn without_others(mut finding: Finding, all: usize, kinds: &[Repeats<'_>]) -> Finding {
    let compared: usize =
        kinds.iter().map(|runs| runs.len()).filter(|number| *number >= RUNS).sum();
    if compared < all {
        finding.evidence.push_str(&format!(
            "\n{} of the {} runs had another load or other responses than most of their target, and are not among these.",
            grouped((all - compared) as u64),
            grouped(all as u64)
        ));
    }
    finding
}

/// Whether the runs of several targets were taken in turns: then what the machine did to one it did to the others,
/// and pairs of runs show differences that are smaller than the spread.
fn in_turns(targets: &[Repeats<'_>]) -> bool {
    let began = |runs: &Repeats<'_>| {
        let mut began: Vec<u64> = runs.iter().filter_map(started).collect();
        began.sort_unstable();
        began
    };
    let began: Vec<Vec<u64>> = targets.iter().map(began).collect();
    let rounds = targets.iter().map(|runs| runs.len()).max().unwrap_or(0);
    let round = |at: usize| began.iter().filter_map(move |began| began.get(at));
    began.len() > 1
        && began.iter().zip(targets).all(|(began, runs)| began.len() == runs.len())
        && began.iter().all(|began| began.len() == rounds)
        && (1..rounds).all(|at| round(at - 1).max() < round(at).min())
}

/// When a run began, ns since 1970, where that is known.
fn started(member: &&Member) -> Option<u64> {
    Some(member.work.as_ref()?.circumstances.as_ref()?.started_unix_ns)
}

fn best_of(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| {
        format!(
            " Line {line} says that the best of several runs is shown: that keeps the luckiest \
             run and hides how much the others varied."
        )
    })
}

/// A text without figures that says how they were chosen.
fn on_command(command: &Command, best_of_line: Option<usize>) -> Option<Finding> {
    let line = best_of_line.filter(|line| line.abs_diff(command.line) <= 10)?;
    Some(Finding::new(
        D15,
        Severity::Suspect,
        best_of(Some(line)).trim().to_owned(),
        "The best run is the one in which the least went wrong, for the client as well as the \
         target.",
        "Show the median of at least three runs, with the lowest and the highest.",
    ))
}

#[cfg(test)]
mod tests;
