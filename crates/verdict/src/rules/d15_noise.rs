//! D15: rates are compared without knowing how far two runs of the same lie apart.

use std::collections::BTreeMap;

use super::comparison::{Comparison, Member};
use crate::DiagnosisId::D15;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Sweep};
use crate::words::{amount, counted, decimal, percent};

/// Fewer runs of the same show no spread.
const RUNS: usize = 3;
/// Differences of single runs up to here are no differences.
const SMALL: f64 = 0.05;

/// Noise does not make so many times the rate.
const FAR_APART: f64 = 2.0;

const REMEDY: &str = "Run each at least three times, better ten, in turns (A B A B …), show all runs, and call \
                      one faster only where the difference is larger than the spread.";

pub fn of_comparison(comparison: &Comparison, best_of_line: Option<usize>) -> Option<Finding> {
    let mut targets: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    for member in &comparison.members {
        targets.entry(&member.identity).or_default().push(member);
    }
    if targets.values().all(|runs| runs.len() >= RUNS) || targets.len() < 2 {
        return wide_spread(&targets);
    }
    let single = targets.values().filter(|runs| runs.len() == 1).count();
    let mut evidence = match (single == targets.len(), targets.len()) {
        (true, 2) => "One run of each of the two is shown.".to_owned(),
        (true, number) => format!("One run of each of the {number} is shown."),
        (false, number) => format!("Fewer than {RUNS} runs of some of the {number} are shown."),
    };
    evidence.push_str(&best_of(best_of_line));
    let close = close_pairs(&comparison.members);
    for (slower, faster) in &close {
        let apart = faster.rate_per_s / slower.rate_per_s - 1.0;
        evidence.push_str(&format!(
            "\n{} and {} ({} and {}/s) differ by {}, {} per request.",
            slower.name,
            faster.name,
            rate(slower.rate_per_s),
            rate(faster.rate_per_s),
            percent(apart),
            gap(slower, faster),
        ));
    }
    if let ([one, other], true) = (comparison.members.as_slice(), close.is_empty()) {
        let (slower, faster) =
            if one.rate_per_s <= other.rate_per_s { (one, other) } else { (other, one) };
        evidence.push_str(&format!(
            " {} / {} = {:.2}; the gap is {} per request.",
            rate(faster.rate_per_s),
            rate(slower.rate_per_s),
            faster.rate_per_s / slower.rate_per_s,
            gap(slower, faster),
        ));
    }
    let severity = if far_apart(&comparison.members) && best_of_line.is_none() {
        Severity::Note
    } else {
        Severity::Suspect
    };
    let cause = "Two runs of the very same easily differ by some percent; a single run does not tell how \
                 much of a difference is that.";
    Some(Finding::new(D15, severity, evidence, cause, REMEDY))
}

/// What one request takes longer on the slower: `264 µs`.
fn gap(slower: &Member, faster: &Member) -> String {
    format!("{} µs", amount(1e6 / slower.rate_per_s - 1e6 / faster.rate_per_s))
}

fn rate(per_s: f64) -> String {
    decimal(per_s, 2)
}

/// No two rates are nearer than noise could ever bring them.
fn far_apart(members: &[Member]) -> bool {
    let mut rates: Vec<f64> = members.iter().map(|member| member.rate_per_s).collect();
    rates.sort_by(f64::total_cmp);
    rates.windows(2).all(|pair| pair[1] > FAR_APART * pair[0])
}

/// Neighbours in rate that did the same work and lie close.
fn close_pairs(members: &[Member]) -> Vec<(&Member, &Member)> {
    let mut sorted: Vec<&Member> = members.iter().filter(|m| m.rate_per_s > 0.0).collect();
    sorted.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    pairs
        .filter(|(slower, faster)| faster.rate_per_s <= slower.rate_per_s * (1.0 + SMALL))
        .collect()
}

/// Repeats are there, and lie far apart.
fn wide_spread(targets: &BTreeMap<&str, Vec<&Member>>) -> Option<Finding> {
    let mut evidence = Vec::new();
    for runs in targets.values().filter(|runs| runs.len() >= RUNS) {
        let mut rates: Vec<f64> = runs.iter().map(|member| member.rate_per_s).collect();
        rates.sort_by(f64::total_cmp);
        let (least, most, median) = (rates[0], rates[rates.len() - 1], rates[rates.len() / 2]);
        let spread = (most - least) / median;
        if spread > SMALL {
            evidence.push(format!(
                "{} of the same, from {} on, lie between {} and {}/s: a spread of {} of the median.",
                counted(runs.len() as u64, "run"),
                runs[0].name,
                rate(least),
                rate(most),
                percent(spread)
            ));
        }
    }
    (!evidence.is_empty()).then(|| {
        Finding::new(
            D15,
            Severity::Note,
            evidence.join(" "),
            "Something besides the target changes from run to run: other processes, processor \
             frequency, what runs beside it on the host.",
            "Give the median and all runs, and call nothing faster by less than this spread.",
        )
    })
}

fn best_of(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| {
        format!(
            " Line {line} says that the best of several runs is shown: that keeps the luckiest run \
             and hides how far the others lay from it."
        )
    })
}

/// A table of single figures.
pub fn of_sweep(sweep: &Sweep, best_of_line: Option<usize>) -> Option<Finding> {
    if sweep.curves.len() < 2 && best_of_line.is_none() {
        return None;
    }
    let mut evidence = "One figure stands for each point, and no spread.".to_owned();
    evidence.push_str(&best_of(best_of_line));
    let severity = if best_of_line.is_some() { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(
        D15,
        severity,
        evidence,
        "Curves that cross or lie close may do so by accident, and nothing here tells.",
        "Show the median of at least three runs at each point, with the lowest and the highest.",
    ))
}

/// A text without figures that says how they were chosen.
pub fn of_command(command: &Command, best_of_line: Option<usize>) -> Option<Finding> {
    let line = best_of_line.filter(|line| line.abs_diff(command.line) <= 10)?;
    Some(Finding::new(
        D15,
        Severity::Suspect,
        best_of(Some(line)).trim().to_owned(),
        "The best run is the one in which least went wrong, for the tester as for the target.",
        "Show the median of at least three runs, with the lowest and the highest.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::{Printed, Report, Text};
    use crate::rules::{comparison, sample};

    fn with_rates(rates: &[(f64, &str)]) -> Option<Finding> {
        let report = |(rate, label): &(f64, &str)| {
            let mut report: Report = sample::ab();
            report.rate_per_s = Some(Printed { value: *rate, step: 0.01 });
            report.label = Some((*label).to_owned());
            report
        };
        let text = Text { reports: rates.iter().map(report).collect(), ..Text::default() };
        of_comparison(&comparison::of(&text)[0], None)
    }

    #[test]
    fn single_runs_are_noted_and_small_differences_suspected() {
        let finding = with_rates(&[(100.0, "a"), (400.0, "b")]).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        // 10 ms less 2.5 ms.
        assert!(finding.evidence.contains("= 4.00; the gap is 7,500 µs"), "{}", finding.evidence);
        let finding = with_rates(&[(100.0, "a"), (190.0, "b")]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        let finding = with_rates(&[(100.0, "a"), (102.0, "b")]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("differ by 2.0 %"), "{}", finding.evidence);
    }

    #[test]
    fn repeats_are_no_comparison() {
        assert_eq!(with_rates(&[(100.0, "a"), (101.0, "a"), (102.0, "a")]), None);
        assert_eq!(with_rates(&[(100.0, "Run 1"), (101.0, "Run 2"), (102.0, "Run 3")]), None);
        let finding = with_rates(&[(100.0, "a"), (110.0, "a"), (90.0, "a")]).unwrap();
        assert!(finding.evidence.contains("spread of 20.0 %"), "{}", finding.evidence);
        assert_eq!(
            with_rates(
                &[100.0, 101.0, 102.0, 200.0, 202.0, 204.0]
                    .map(|rate| { (rate, if rate < 150.0 { "a" } else { "b" }) })
            ),
            None
        );
    }
}
