//! From findings to a verdict: their order, and which of them others explain.

pub use ablaze_model::finding::{Finding, Severity, Verdict};

use crate::{Diagnosis, DiagnosisId};

/// Puts findings in the order of their gravity, and marks those which others explain. What is only
/// worth a note explains nothing graver.
///
/// # Panics
/// When the table does not permit a finding's severity for its diagnosis: a rule is wrong then.
pub fn settled(mut findings: Vec<Finding>) -> Vec<Finding> {
    let found: Vec<(DiagnosisId, Severity)> =
        findings.iter().map(|finding| (finding.id, finding.severity)).collect();
    for finding in &mut findings {
        let Diagnosis { severities, explained_by: causes, .. } = Diagnosis::of(finding.id);
        let (id, severity) = (finding.id, finding.severity);
        assert!(severities.contains(&severity), "{id} is never {severity}: see the table");
        let explains = |cause: DiagnosisId| {
            let severity = found.iter().find(|(id, _)| *id == cause).map(|(_, severity)| *severity);
            let grave = severity.is_some_and(|its| its > Severity::Note || its >= finding.severity);
            grave && !finding.not_explained_by.contains(&cause)
        };
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
        settled(vec![finding(D03, Severity::Note)]);
    }
}
