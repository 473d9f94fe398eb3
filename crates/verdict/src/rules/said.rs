//! Takes over the findings that ablaze printed: they stand on what only the run showed.

use crate::finding::{Finding, Severity, Verdict, settled};
use crate::printed::{PrintedFinding, PrintedVerdict, proven};
use crate::{Diagnosis, DiagnosisId};

const CAUSE: &str = "ablaze saw this in the run, and printed it; the text has no more of it.";

/// Of the gravest, where nothing else tells how grave it is.
const OPEN: &str = " The line with its verdict is not in the text either: it may be INVALID.";

/// The findings of a text, with those that were printed in it.
pub fn added(mut findings: Vec<Finding>, said: &PrintedVerdict) -> Vec<Finding> {
    let worst = match said.verdict {
        Verdict::Invalid => Severity::Invalid,
        Verdict::Suspect | Verdict::Valid => Severity::Suspect,
    };
    // The gravest stand first.
    let first = said.findings.iter().position(|finding| finding.severity.is_none());
    for (index, printed) in said.findings.iter().enumerate() {
        let unsaid = if first == Some(index) { worst } else { Severity::Suspect };
        let proven = || proven(printed.id, &printed.text).filter(|_| said.lacks_line);
        let severity = permitted(printed.id, printed.severity.or_else(proven).unwrap_or(unsaid));
        let is_open = said.lacks_line && first == Some(index) && severity < Severity::Invalid;
        match findings.iter_mut().find(|own| own.id == printed.id) {
            Some(own) => own.severity = own.severity.max(severity),
            None => {
                let mut taken = finding(printed, severity);
                if is_open && permitted(printed.id, Severity::Invalid) == Severity::Invalid {
                    taken.cause.push_str(OPEN);
                }
                findings.push(taken);
            }
        }
        for id in &printed.explains {
            findings.extend(explained(*id, severity, &findings));
        }
    }
    let mut findings = settled(findings);
    for printed in &said.findings {
        let explained = |finding: &&mut Finding| printed.explains.contains(&finding.id);
        findings.iter_mut().filter(explained).for_each(|one| one.explained_by = Some(printed.id));
    }
    findings
}

/// One that another explains, of which only the name was printed.
fn explained(id: DiagnosisId, severity: Severity, findings: &[Finding]) -> Option<Finding> {
    let known = findings.iter().any(|own| own.id == id);
    let text = "The text names it, and no more.";
    (!known).then(|| Finding::new(id, permitted(id, severity), text, CAUSE, fix(id)))
}

fn fix(id: DiagnosisId) -> String {
    format!("See docs/diagnoses.md#{}, or explain the saved run (-o FILE.json).", id.anchor())
}

fn finding(printed: &PrintedFinding, severity: Severity) -> Finding {
    let id = printed.id;
    let mut finding = Finding::new(id, severity, printed.text.clone(), CAUSE, fix(id));
    // What others explained was not printed as a finding of its own.
    finding.not_explained_by = Diagnosis::of(id).explained_by.to_vec();
    finding
}

/// The severity that the table permits nearest to this one.
fn permitted(id: DiagnosisId, severity: Severity) -> Severity {
    let severities = Diagnosis::of(id).severities;
    let below = severities.iter().rfind(|permitted| **permitted <= severity);
    below.or(severities.first()).copied().unwrap_or(severity)
}
