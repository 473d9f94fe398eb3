//! Several measurements beside each other, for whoever compares them: experiments, and `explain`
//! with several files. Each Run is first reduced to a [`Member`], which is small enough to keep
//! hundreds of; printed reports give members too ([`crate::rules::members`]), and the same rules
//! judge both: unequal work (D05), noise (D15), the shape of curves (D16, D17, D39), paths that
//! were not exercised (D25).

mod member;

pub use member::member;

use crate::DiagnosisId;
use crate::finding::{Finding, Verdict};
use crate::printed::Curve;
use crate::rules::{self, Comparison, Judged, Member};

/// What measurements beside each other make.
#[derive(Debug, Clone, PartialEq)]
pub enum Several {
    /// Rates to be compared.
    Comparison(Judged<Comparison>),
    /// Rates over concurrency, a curve for each target.
    Curves(Judged<Vec<Curve>>),
}

impl Several {
    /// The gravest first.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Comparison(judged) => &judged.findings,
            Self::Curves(judged) => &judged.findings,
        }
    }

    /// The worst root finding.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.findings())
    }
}

/// Judges measurements beside each other: as curves, where each target was measured at three or
/// more concurrencies, else as a comparison. Runs with the same [`Member::identity`] are repeats.
/// `None` for fewer than two. `best_of_line` is the line of a text that says that the best of
/// several runs is shown.
pub fn beside_each_other(members: Vec<Member>, best_of_line: Option<usize>) -> Option<Several> {
    if members.len() < 2 {
        return None;
    }
    let runs = members.iter().all(|member| circumstances_of(member).is_some());
    Some(match rules::curves_of(&members, runs) {
        Some(curves) => {
            let findings = curve_findings(&members, &curves, best_of_line);
            Several::Curves(Judged::new(curves, findings))
        }
        None => {
            let comparison = Comparison { members };
            let findings = rules::comparison_findings(&comparison, best_of_line);
            Several::Comparison(Judged::new(comparison, findings))
        }
    })
}

fn circumstances_of(member: &Member) -> Option<&rules::Circumstances> {
    member.work.as_ref()?.circumstances.as_ref()
}

fn curve_findings(
    members: &[Member],
    curves: &[Curve],
    best_of_line: Option<usize>,
) -> Vec<Finding> {
    let at = |curve: &Curve, asked: u64| -> Vec<DiagnosisId> {
        let there = members
            .iter()
            .filter(|member| member.curve == curve.name && member.concurrency == Some(asked));
        let mut found: Vec<DiagnosisId> =
            there.filter_map(circumstances_of).flat_map(|known| known.found.clone()).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let mut findings = rules::curve_findings(curves, at);
    findings.extend(rules::unequal_at_some_level(members));
    findings.extend(rules::noise_of_points(members, curves, best_of_line));
    let first = members.iter().filter(|member| member.concurrency == Some(1));
    if !first.clone().any(rules::is_server_at_work) {
        findings.extend(rules::bound_by_the_round_trip(curves));
    }
    findings
}

#[cfg(test)]
mod tests;
