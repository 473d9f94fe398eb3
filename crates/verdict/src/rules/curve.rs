//! Rates over concurrency: the shape of one curve, and curves made of whole reports.

use std::collections::BTreeMap;

use ablaze_stats::repeats::{self, median};

use super::comparison::Member;
use crate::DiagnosisId;
use crate::printed::{Command, Curve, Sweep};

/// Fewer points show no shape.
const POINTS: usize = 3;

/// Curves, and what is known besides of the figures they are made of.
pub struct Curves<'a> {
    /// One for each target.
    pub curves: &'a [Curve],
    /// The measurements that the points stand for; none of a printed table.
    pub members: &'a [Member],
    /// How many requests each point of a printed table took.
    pub requests_per_point: Option<u64>,
    /// The line of a text that says that the best of several runs is shown.
    pub best_of_line: Option<usize>,
}

impl<'a> Curves<'a> {
    /// A printed table.
    pub fn of_table(
        curves: &'a [Curve],
        requests_per_point: Option<u64>,
        best_of_line: Option<usize>,
    ) -> Self {
        Self { curves, members: &[], requests_per_point, best_of_line }
    }

    /// What was found, graver than a note, in the runs of a curve at a concurrency.
    pub fn found_at(&self, curve: &Curve, asked: u64) -> Vec<DiagnosisId> {
        let there = self
            .members
            .iter()
            .filter(|member| member.curve == curve.name && member.concurrency == Some(asked));
        let circumstances = there.filter_map(Member::circumstances);
        let mut found: Vec<DiagnosisId> =
            circumstances.flat_map(|known| known.found.clone()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Neighbouring points of a curve.
pub fn steps(curve: &Curve) -> impl Iterator<Item = [(u64, f64); 2]> + '_ {
    curve.points.windows(2).map(|pair| [pair[0], pair[1]])
}

/// The smallest concurrency that reaches 95 % of the highest rate.
pub fn knee(curve: &Curve) -> Option<(u64, f64)> {
    let points: Vec<(f64, f64)> =
        curve.points.iter().map(|(concurrency, rate)| (*concurrency as f64, *rate)).collect();
    curve.points.get(repeats::knee(&points)?).copied()
}

/// How many requests each point of a table took: what the last command above it asks for.
pub fn requests_per_point(sweep: &Sweep, commands: &[Command]) -> Option<u64> {
    let above = commands.iter().rfind(|command| command.line < sweep.line)?;
    above.requests.filter(|requests| *requests > 1 && !above.timed)
}

/// One curve for each target, if its runs differ in concurrency alone and all belong to one.
/// Printed reports of the same concurrency are a comparison; runs may be repeated, and their
/// median is the point.
pub fn of_members(members: &[Member], repeats: bool) -> Option<Vec<Curve>> {
    let mut targets: Vec<(&str, BTreeMap<u64, Vec<f64>>)> = Vec::new();
    for member in members {
        if member.work.as_ref().is_some_and(|work| work.open_loop) {
            return None;
        }
        let asked = member.concurrency?;
        let known = targets.iter().position(|(name, _)| *name == member.curve);
        let at = known.unwrap_or_else(|| {
            targets.push((&member.curve, BTreeMap::new()));
            targets.len() - 1
        });
        let rates = targets[at].1.entry(asked).or_default();
        rates.push(member.rate_per_s);
        if rates.len() > 1 && !repeats {
            return None;
        }
    }
    let enough = !targets.is_empty() && targets.iter().all(|(_, points)| points.len() >= POINTS);
    let curve = |(name, points): (&str, BTreeMap<u64, Vec<f64>>)| Curve {
        name: name.to_owned(),
        points: points
            .into_iter()
            .filter_map(|(asked, rates)| Some((asked, median(&rates)?)))
            .collect(),
    };
    enough.then(|| targets.into_iter().map(curve).collect())
}

/// How far rates lie apart, as a share of the lowest.
pub fn spread(rates: &[f64]) -> Option<f64> {
    let least = rates.iter().copied().reduce(f64::min).filter(|least| *least > 0.0)?;
    Some(rates.iter().copied().fold(0.0, f64::max) / least - 1.0)
}
