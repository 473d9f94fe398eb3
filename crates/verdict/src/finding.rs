//! One diagnosis found in one measurement, and the verdict that follows from all of them.

use std::fmt;

use serde::Serialize;

use crate::DiagnosisId;

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
pub struct Finding {
    /// Which.
    pub id: DiagnosisId,
    /// How grave it is here: one of those that the table permits.
    pub severity: Severity,
    /// The numbers that show it, with their arithmetic.
    pub evidence: String,
    /// What brings such numbers about, in a sentence.
    pub cause: String,
    /// What to do, in a sentence.
    #[serde(rename = "fix")]
    pub remedy: String,
    /// The finding of the same measurement that explains this one.
    pub explained_by: Option<DiagnosisId>,
    /// Diagnoses that the table lets explain this one, and of which the numbers show that they do
    /// not, here.
    #[serde(skip)]
    pub not_explained_by: Vec<DiagnosisId>,
}

impl Finding {
    /// A finding that, so far, nothing explains.
    ///
    /// # Panics
    /// When the table does not permit the severity for this diagnosis: a rule is wrong then.
    pub fn new(
        id: DiagnosisId,
        severity: Severity,
        evidence: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let permitted = id.diagnosis().severities;
        assert!(permitted.contains(&severity), "{id} is never {severity}: see the table");
        Self {
            id,
            severity,
            evidence: evidence.into(),
            cause: cause.into(),
            remedy: remedy.into(),
            explained_by: None,
            not_explained_by: Vec::new(),
        }
    }

    /// The same; this diagnosis does not explain it here, though the table lets it.
    #[must_use]
    pub fn not_explained_by(mut self, cause: DiagnosisId) -> Self {
        self.not_explained_by.push(cause);
        self
    }
}

/// Puts findings in the order of their gravity, and marks those which others explain. What is only
/// worth a note explains nothing graver.
pub fn settled(mut findings: Vec<Finding>) -> Vec<Finding> {
    let found: Vec<(DiagnosisId, Severity)> =
        findings.iter().map(|finding| (finding.id, finding.severity)).collect();
    for finding in &mut findings {
        let explains = |cause: DiagnosisId| {
            let severity = found.iter().find(|(id, _)| *id == cause).map(|(_, severity)| *severity);
            let grave = severity.is_some_and(|its| its > Severity::Note || its >= finding.severity);
            grave && !finding.not_explained_by.contains(&cause)
        };
        let causes = finding.id.diagnosis().explained_by;
        finding.explained_by = causes.iter().copied().find(|cause| explains(*cause));
    }
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.id));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use DiagnosisId::*;

    fn finding(id: DiagnosisId, severity: Severity) -> Finding {
        Finding::new(id, severity, "", "", "")
    }

    #[test]
    fn the_verdict_is_the_worst_root() {
        let verdict = |findings| Verdict::of(&settled(findings));
        assert_eq!(verdict(vec![]), Verdict::Valid);
        assert_eq!(verdict(vec![finding(D31, Severity::Note)]), Verdict::Valid);
        let both = vec![finding(D31, Severity::Note), finding(D36, Severity::Suspect)];
        assert_eq!(verdict(both), Verdict::Suspect);
        // What D02 explains does not count, however grave.
        let explained = vec![finding(D01, Severity::Invalid), finding(D02, Severity::Suspect)];
        assert_eq!(verdict(explained), Verdict::Suspect);
        assert_eq!(verdict(vec![finding(D01, Severity::Invalid)]), Verdict::Invalid);
    }

    #[test]
    fn a_note_explains_no_doubt_and_a_cause_can_be_ruled_out() {
        let pause = |severity| finding(D23, severity);
        let explained = |findings| settled(findings)[0].explained_by;
        let stall = finding(D07, Severity::Suspect);
        assert_eq!(explained(vec![stall.clone(), pause(Severity::Suspect)]), Some(D23));
        assert_eq!(explained(vec![stall.clone(), pause(Severity::Note)]), None);
        let little = finding(D07, Severity::Note);
        assert_eq!(explained(vec![little, pause(Severity::Note)]), Some(D23));
        assert_eq!(explained(vec![stall.not_explained_by(D23), pause(Severity::Suspect)]), None);
    }

    #[test]
    #[should_panic(expected = "D03 is never note")]
    fn a_severity_outside_the_table_is_a_fault_of_the_rule() {
        finding(D03, Severity::Note);
    }
}
