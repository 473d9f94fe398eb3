//! Which two rates are held beside each other.

use super::SMALL;
use crate::rules::Pace;
use crate::rules::comparison::Member;

/// A rate that lies within this share of the one that was asked for is that rate.
const KEPT_UP: f64 = 0.02;

/// Targets that are neighbours in rate at the same concurrency and lie close; two runs of one target are its spread.
pub(super) fn close_pairs(members: &[Member]) -> Vec<(&Member, &Member)> {
    let mut sorted: Vec<&Member> = members.iter().filter(|m| m.rate_per_s > 0.0).collect();
    sorted.sort_by(|a, b| {
        a.concurrency.cmp(&b.concurrency).then(a.rate_per_s.total_cmp(&b.rate_per_s))
    });
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    pairs
        .filter(|(slower, faster)| slower.identity != faster.identity)
        .filter(|(slower, faster)| slower.concurrency == faster.concurrency)
        .filter(|(slower, faster)| !is_asked(slower) && !is_asked(faster))
        .filter(|(slower, faster)| faster.rate_per_s <= slower.rate_per_s * (1.0 + SMALL))
        .collect()
}

/// Whether all rates are what the load asks for, and none is what its target can do.
pub(super) fn rates_are_asked(members: &[Member]) -> bool {
    members.iter().all(is_asked)
}

/// Whether a rate is what the load asks for, and not what its target can do.
pub(super) fn is_asked(member: &Member) -> bool {
    let Some(work) = &member.work else { return false };
    let kept_up = |asked: f64| (member.rate_per_s - asked).abs() <= asked * KEPT_UP;
    match work.pace {
        Some(Pace::Pauses) => true,
        Some(Pace::AtMost(asked)) => kept_up(asked),
        _ => work.sent_per_s.is_some_and(kept_up),
    }
}

/// Two reports that are the same to the last digit.
pub(super) fn twice(members: &[Member]) -> Option<String> {
    let is_same = |one: &Member, other: &Member| {
        let measured = |member: &Member| {
            member.work.as_ref().is_some_and(|work| {
                // A saved run has far more figures.
                // Without times so many digits of the rate are those of one run.
                let is_exact = member.rate_per_s >= 1e3 && member.rate_per_s.fract() != 0.0;
                let has_figures = work.in_flight.is_some() || is_exact;
                work.circumstances.is_none() && work.taken_s.is_some() && has_figures
            })
        };
        measured(one)
            && one.rate_per_s == other.rate_per_s
            && one.requests == other.requests
            && one.concurrency == other.concurrency
            && one.work == other.work
    };
    let others = |at: usize| members[at + 1..].iter().map(move |other| (&members[at], other));
    let (one, other) =
        (0..members.len()).flat_map(others).find(|(one, other)| is_same(one, other))?;
    Some(format!("{} and {} are the same to the last digit.", one.name, other.name))
}
