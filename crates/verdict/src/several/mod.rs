//! Several measurements beside each other, for whoever compares them: experiments, and `explain`
//! with several files. Each Run is first reduced to a [`Member`], which is small enough to keep
//! hundreds of; printed reports give members too ([`crate::rules::members`]), and the same rules
//! judge both: unequal work (D05), noise (D15), the shape of curves (D16, D17, D39), paths that
//! were not exercised (D25).

mod member;

pub use member::member;

use crate::finding::{Finding, Verdict};
use crate::printed::Curve;
use crate::rules::{self, Comparison, Curves, Judged, Member};

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

    /// The same, for whoever knows more of how the runs came about.
    pub fn findings_mut(&mut self) -> &mut Vec<Finding> {
        match self {
            Self::Comparison(judged) => &mut judged.findings,
            Self::Curves(judged) => &mut judged.findings,
        }
    }

    /// The worst root finding.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.findings())
    }
}

/// Judges measurements beside each other: as curves, where each target was measured at three or
/// more concurrencies, else as a comparison. Runs with the same [`Member::identity`] are repeats.
/// A report whose figures contradict its rate is left out: its rate is not known. `None` for fewer than two. `best_of_line`
/// is the line of a text that says that the best of several runs is shown.
pub fn beside_each_other(mut members: Vec<Member>, best_of_line: Option<usize>) -> Option<Several> {
    members.retain(|member| !member.is_contradicted);
    if members.len() < 2 {
        return None;
    }
    let runs = members.iter().all(|member| member.circumstances().is_some());
    Some(match rules::curves_of(&members, runs) {
        Some(measured) => {
            let shown = Curves::of_members(&measured, best_of_line);
            let findings = rules::curve_findings(&shown);
            Several::Curves(Judged::new(measured.curves, findings))
        }
        None => {
            let comparison = Comparison { members };
            let findings = rules::comparison_findings(&comparison, best_of_line);
            Several::Comparison(Judged::new(comparison, findings))
        }
    })
}

#[cfg(test)]
mod tests;
