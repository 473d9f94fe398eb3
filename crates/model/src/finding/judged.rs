//! A Run as it was judged.

use super::{DiagnosisId, Finding, Limited, Severity, Verdict};
use crate::Run;

/// A Run together with what was judged of it: what reporters take. It is judged once, by
/// `ablaze-verdict`, when it ended or was read from a file.
#[derive(Debug, Clone)]
pub struct Assessed {
    /// The measured run.
    pub run: Run,
    /// Whether it is to be believed, and what it is the number of.
    pub judged: Judged,
}

/// Whether a Run's number is to be believed, and what it is the number of.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The worst root finding.
    pub verdict: Verdict,
    /// What bounded the rate.
    pub limited: Limited,
    /// The gravest first.
    pub findings: Vec<Finding>,
    /// The rules that found nothing, in the order of their numbers.
    pub passed: Vec<Passed>,
    /// The rules that had no figures in this Run, each with why: `D12, D13 (there was no monitor)`.
    pub unseen_because: String,
    /// Whether its figures contradict each other by Little's law.
    pub little: Option<LittleGap>,
}

/// The number in flight and the times contradict each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittleGap {
    /// Mean number of exchanges in flight, as integrated over the window.
    pub measured: f64,
    /// What the recorded times add up to.
    pub expected: f64,
}

/// A diagnosis that was looked for and not found.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    /// The diagnosis that was looked for.
    pub id: DiagnosisId,
    /// The figures that show it, as a sentence; `None` where this Run does not have them, and
    /// nothing was looked at.
    pub evidence: Option<String>,
}

impl Judged {
    /// The findings that the verdict stands on, each followed by those that it explains.
    pub fn with_explained(&self) -> impl Iterator<Item = (&Finding, Vec<&Finding>)> {
        let grave = |finding: &&Finding| {
            finding.explained_by.is_none() && finding.severity > Severity::Note
        };
        self.findings.iter().filter(grave).map(|root| {
            let explained =
                self.findings.iter().filter(|other| other.explained_by == Some(root.id));
            (root, explained.collect())
        })
    }

    /// The rules that had no figures, each with why, in a line: `not observable here: D12, D13
    /// (there was no monitor); D30 (…)`; `None` when all of them could.
    pub fn unseen(&self) -> Option<String> {
        (!self.unseen_because.is_empty())
            .then(|| format!("not observable here: {}", self.unseen_because))
    }

    /// Root findings that take nothing away from the number.
    pub fn notes(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Note && finding.explained_by.is_none())
    }
}
