//! Rates over concurrency: the shape of one curve, and curves made of whole reports.

use std::collections::BTreeMap;

use ablaze_stats::repeats::{self, median};

use super::comparison::{Member, may_be_two};
use super::differences::{are_repeats, in_responses};
use super::work::Responses;
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
    /// Those that were left out of the points, as they are of other work.
    pub others: &'a [OtherWork],
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
        Self { curves, members: &[], others: &[], requests_per_point, best_of_line }
    }

    /// Measurements.
    pub fn of_members(measured: &'a Measured, best_of_line: Option<usize>) -> Self {
        let Measured { curves, members, others } = measured;
        Self { curves, members, others, requests_per_point: None, best_of_line }
    }

    /// The least and the most that a point's rate may be taken for. Of two runs nobody knows which one was disturbed.
    pub fn bounds(&self, curve: &Curve, (asked, per_s): (u64, f64)) -> (f64, f64) {
        let there = self.at(curve, asked).map(|member| member.rate_per_s);
        match there.collect::<Vec<f64>>()[..] {
            [one, other] => (one.min(other), one.max(other)),
            _ => (per_s, per_s),
        }
    }

    fn at(&self, curve: &Curve, asked: u64) -> impl Iterator<Item = &'a Member> {
        let (members, name) = (self.members, curve.name.clone());
        members
            .iter()
            .filter(move |member| member.curve == name && member.concurrency == Some(asked))
    }

    /// Whether the rate of a point is one of what was asked for, and not of error pages or of requests without a response, as
    /// far as its runs tell: most of them. Of printed rates that is not known.
    pub fn is_served(&self, curve: &Curve, asked: u64) -> bool {
        let (mut served, mut all) = (0, 0);
        for member in self.at(curve, asked) {
            all += 1;
            served += usize::from(!is_of_failures(member));
        }
        all == 0 || served * 2 > all
    }

    /// A curve without the points that are not served.
    pub fn served(&self, curve: &Curve) -> Curve {
        let points = curve.points.iter().copied();
        let points = points.filter(|(asked, _)| self.is_served(curve, *asked)).collect();
        Curve { name: curve.name.clone(), points }
    }

    /// What was found, graver than a note, in the runs of a curve at a concurrency.
    pub fn found_at(&self, curve: &Curve, asked: u64) -> Vec<DiagnosisId> {
        let circumstances = self.at(curve, asked).filter_map(Member::circumstances);
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

/// Curves of measurements, and what they are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// One for each target.
    pub curves: Vec<Curve>,
    /// What their points stand for.
    pub members: Vec<Member>,
    /// What is no point of theirs.
    pub others: Vec<OtherWork>,
}

/// A measurement along a curve that was answered otherwise than those around it: its rate is that of other work.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherWork {
    /// The curve.
    pub curve: String,
    /// The concurrency.
    pub asked: u64,
    /// The others against this one.
    pub difference: String,
}

/// One curve for each target, if its runs differ in concurrency alone and all belong to one. The median of repeats is the
/// point. Printed reports of the same concurrency that are no repeats are a comparison. Those that were answered otherwise
/// than the others of their curve are left out of it; a Run says itself what was found in it, which belongs to its point.
pub fn of_members(members: &[Member], are_runs: bool) -> Option<Measured> {
    let mut targets: Vec<(&str, BTreeMap<u64, Vec<&Member>>)> = Vec::new();
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
        targets[at].1.entry(asked).or_default().push(member);
    }
    let mut measured = Measured { curves: Vec::new(), members: Vec::new(), others: Vec::new() };
    for (name, mut points) in targets {
        if !are_runs {
            let repeats = |runs: &Vec<&Member>| runs.iter().all(|run| is_repeat(runs[0], run));
            if !points.values().all(repeats) {
                return None;
            }
            measured.others.extend(without_other_work(&mut points));
        }
        if points.len() < POINTS {
            return None;
        }
        let point = |(asked, runs): (&u64, &Vec<&Member>)| {
            let rates: Vec<f64> = runs.iter().map(|run| run.rate_per_s).collect();
            Some((*asked, median(&rates)?))
        };
        let curve =
            Curve { name: name.to_owned(), points: points.iter().filter_map(point).collect() };
        measured.curves.push(curve);
    }
    let is_other = |member: &&Member| {
        let same = |other: &OtherWork| {
            other.curve == member.curve && Some(other.asked) == member.concurrency
        };
        measured.others.iter().any(same)
    };
    measured.members = members.iter().filter(|member| !is_other(member)).cloned().collect();
    (!measured.curves.is_empty()).then_some(measured)
}

fn is_repeat(one: &Member, other: &Member) -> bool {
    one.identity == other.identity && !may_be_two(one, other) && are_repeats(one, other)
}

/// Takes the points away that were answered otherwise than those with success, or than most.
fn without_other_work(points: &mut BTreeMap<u64, Vec<&Member>>) -> Vec<OtherWork> {
    let mut kinds: Vec<(&Member, usize)> = Vec::new();
    for one in points.values().map(|runs| runs[0]) {
        match kinds.iter_mut().find(|(kind, _)| in_responses(kind, one).is_none()) {
            Some((_, points)) => *points += 1,
            None => kinds.push((one, 1)),
        }
    }
    // However many points failed, what was to be measured is a success; of equal ones `rev` leaves the first.
    let key = |(kind, points): &(&Member, usize)| (is_successful(kind), *points);
    let Some((usual, _)) = kinds.into_iter().rev().max_by_key(key) else { return Vec::new() };
    let mut others = Vec::new();
    points.retain(|asked, runs| {
        let difference = in_responses(usual, runs[0]);
        others.extend(difference.clone().map(|difference| OtherWork {
            curve: usual.curve.clone(),
            asked: *asked,
            difference,
        }));
        difference.is_none()
    });
    others
}

/// Most of its requests got the page that was asked for, as far as that is known.
fn is_successful(member: &Member) -> bool {
    member.work.as_ref().is_some_and(|work| {
        let failed = work.without_response.is_some_and(|(failed, all)| failed * 2 > all);
        !failed && matches!(work.responses, Responses::Good(share) if share > 0.5)
    })
}

/// Most of what came of a Run is error pages, or requests without a response. A status that was expected is none.
fn is_of_failures(member: &Member) -> bool {
    let (Some(work), Some(known)) = (&member.work, member.circumstances()) else { return false };
    let unanswered = work.without_response.is_some_and(|(failed, all)| failed * 2 > all);
    let errors = matches!(work.responses, Responses::Good(share) if share <= 0.5);
    unanswered || errors && known.found.contains(&DiagnosisId::D04)
}

/// How far rates lie apart, as a share of the lowest.
pub fn spread(rates: &[f64]) -> Option<f64> {
    let least = rates.iter().copied().reduce(f64::min).filter(|least| *least > 0.0)?;
    Some(rates.iter().copied().fold(0.0, f64::max) / least - 1.0)
}
