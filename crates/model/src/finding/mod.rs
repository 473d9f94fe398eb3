//! What was found of a Run, as data: [`Finding`]s with their [`Severity`], the [`Verdict`] that follows
//! from them, what [`Limited`] the rate. `ablaze-verdict` makes them, once for each Run; what goes on
//! to reporters is the Run together with its [`Judged`]: an [`Assessed`] run.

mod diagnoses;
mod judged;
mod limit;

use std::fmt;

use serde::Serialize;

pub use diagnoses::DiagnosisId;
pub use judged::{Assessed, Judged, LittleGap, Passed};
pub use limit::{Limit, Limited};

/// How much a finding takes away from the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; the number stands.
    Note,
    /// The number may mean something else than it seems.
    Suspect,
    /// The number does not mean what it says.
    Invalid,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Suspect => "SUSPECT",
            Self::Invalid => "INVALID",
        })
    }
}

/// Whether a number is to be believed: the worst finding that no other explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing was found above a note.
    Valid,
    /// The worst root finding is SUSPECT.
    Suspect,
    /// The worst root finding is INVALID.
    Invalid,
}

impl Verdict {
    /// The verdict on a measurement with these findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let roots = findings.into_iter().filter(|finding| finding.explained_by.is_none());
        match roots.map(|finding| finding.severity).max() {
            Some(Severity::Invalid) => Self::Invalid,
            Some(Severity::Suspect) => Self::Suspect,
            Some(Severity::Note) | None => Self::Valid,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "VALID",
            Self::Suspect => "SUSPECT",
            Self::Invalid => "INVALID",
        })
    }
}

/// One diagnosis, found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The diagnosis.
    pub id: DiagnosisId,
    /// How grave it is here: one of those that the table permits.
    pub severity: Severity,
    /// The numbers that show it, with their arithmetic.
    pub evidence: String,
    /// What brings such numbers about, in a sentence.
    pub cause: String,
    /// What to do, in a sentence.
    pub fix: String,
    /// The finding of the same measurement that explains this one.
    pub explained_by: Option<DiagnosisId>,
    /// Diagnoses that the table lets explain this one, and of which the numbers show that they do
    /// not, here.
    #[serde(skip)]
    pub not_explained_by: Vec<DiagnosisId>,
}

impl Finding {
    /// A finding that, so far, nothing explains.
    pub fn new(
        id: DiagnosisId,
        severity: Severity,
        evidence: impl Into<String>,
        cause: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            id,
            severity,
            evidence: evidence.into(),
            cause: cause.into(),
            fix: fix.into(),
            explained_by: None,
            not_explained_by: Vec::new(),
        }
    }

    /// The evidence in one line: what its lines say, one behind the other.
    pub fn evidence_in_line(&self) -> String {
        let mut line = String::new();
        for next in self.evidence.lines() {
            if !line.is_empty() {
                line.push_str(if line.ends_with('.') { " " } else { "; " });
            }
            line.push_str(next);
        }
        line
    }

    /// The same; this diagnosis does not explain it here, though the table lets it.
    #[must_use]
    pub fn not_explained_by(mut self, cause: DiagnosisId) -> Self {
        self.not_explained_by.push(cause);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_evidence_stay_apart_in_one_line() {
        let line = |evidence: &str| {
            Finding::new(DiagnosisId::D05, Severity::Note, evidence, "", "").evidence_in_line()
        };
        assert_eq!(line("a against b: 1\na against c: 2"), "a against b: 1; a against c: 2");
        assert_eq!(line("3 runs of a.\n3 runs of b."), "3 runs of a. 3 runs of b.");
        assert_eq!(line(""), "");
    }
}
