//! D15 of rates over concurrency: single figures, or runs that may be repeated at each point.

use std::collections::BTreeMap;

use super::{CHANGES, LATER, NO_SPREAD, REMEDY, RUNS, Repeats, SMALL, SPREAD_REMEDY};
use super::{apart_in_time, best_of, of_equal_work, spread};
use crate::DiagnosisId::D15;
use crate::finding::{Finding, Severity};
use crate::printed::Curve;
use crate::rules::comparison::Member;
use crate::rules::curve::Curves;
use crate::words::{counted, grouped, percent, rate};

/// Curves of runs, which may be repeated at each point.
fn of_points(members: &[Member], curves: &[Curve], best_of_line: Option<usize>) -> Option<Finding> {
    let mut points: BTreeMap<(&str, Option<u64>), Repeats<'_>> = BTreeMap::new();
    let mut targets: BTreeMap<&str, Repeats<'_>> = BTreeMap::new();
    for member in members {
        points.entry((&member.curve, member.concurrency)).or_default().push(member);
        targets.entry(&member.curve).or_default().push(member);
    }
    let targets: Vec<Repeats<'_>> = targets.into_values().collect();
    if let Some(evidence) = apart_in_time(&targets) {
        return Some(Finding::new(D15, Severity::Suspect, evidence, LATER, REMEDY));
    }
    let mut kinds = Vec::new();
    for (at, runs) in points {
        kinds.extend(of_equal_work(&runs).into_iter().map(|runs| (at, runs)));
    }
    let points = kinds;
    let numbers = || points.iter().map(|(_, runs)| runs.len());
    let fewest = numbers().min()?;
    let spread = widest(&points);
    let alone = || {
        let evidence = spread.clone()?;
        Some(Finding::new(D15, Severity::Note, evidence, CHANGES, SPREAD_REMEDY))
    };
    if fewest >= RUNS {
        return alone();
    }
    let evidence = match numbers().max() {
        Some(1) => NO_SPREAD.to_owned(),
        _ => {
            let runs = counted(fewest as u64, "run");
            format!("Some points have only {runs}: too few to show a spread.")
        }
    };
    let Some(mut finding) = of_few_runs(curves, best_of_line, evidence) else { return alone() };
    if let Some(spread) = spread {
        finding.evidence = format!("{}\n{spread}", finding.evidence);
    }
    Some(finding)
}

/// The point whose repeats lie furthest apart, if they do.
fn widest(points: &[((&str, Option<u64>), Repeats<'_>)]) -> Option<String> {
    let spreads = points.iter().filter_map(|(at, runs)| Some((at, spread(runs)?)));
    let ((name, asked), (share, [least, _, most])) =
        spreads.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).filter(|(_, (share, _))| *share > SMALL)?;
    Some(format!(
        "Runs at the same point differ by up to {} of their median: {name} at c = {} ranged from \
         {} to {}/s.",
        percent(share),
        grouped(asked.unwrap_or(0)),
        rate(least),
        rate(most)
    ))
}

/// Curves: of runs, which may be repeated at each point, or a printed table of single figures.
pub(super) fn on_curves(shown: &Curves<'_>) -> Option<Finding> {
    let &Curves { curves, members, best_of_line, .. } = shown;
    if members.is_empty() {
        return of_few_runs(curves, best_of_line, NO_SPREAD.to_owned());
    }
    of_points(members, curves, best_of_line)
}

fn of_few_runs(
    curves: &[Curve],
    best_of_line: Option<usize>,
    mut evidence: String,
) -> Option<Finding> {
    if curves.len() < 2 && best_of_line.is_none() {
        return None;
    }
    evidence.push_str(&best_of(best_of_line));
    let severity = if best_of_line.is_some() { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(
        D15,
        severity,
        evidence,
        "Curves that cross or lie close together may do so by chance; these figures cannot tell.",
        "Show the median of at least three runs at each point, with the lowest and the highest.",
    ))
}
