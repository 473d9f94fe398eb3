//! A Run as JSON: the saved form of `ablaze-model`, with the verdict in it.

use ablaze_model::finding::{self, Finding, Judged};
use ablaze_model::saved::{Assessment, Found, Passed};
use ablaze_model::{Assessed, printable};

pub use ablaze_model::saved::{FORMAT, LoadError, SavedRun, load};

/// The Run as JSON, indented, ending in a newline.
pub fn write(assessed: &Assessed) -> String {
    let text = ablaze_model::saved::write(&assessed.run, Some(assessment(&assessed.judged)));
    printable::json(&text).into_owned()
}

fn assessment(judged: &Judged) -> Assessment {
    let Judged { verdict, limited, findings, passed, .. } = judged;
    Assessment {
        verdict: verdict.to_string(),
        limited_by: limited.by.key().to_owned(),
        limit_evidence: limited.evidence.clone(),
        findings: findings.iter().map(found).collect(),
        passed: passed.iter().map(no_finding).collect(),
    }
}

/// A finding with its sentences, as every JSON has it.
pub(crate) fn found(finding: &Finding) -> Found {
    Found {
        id: finding.id.to_string(),
        name: finding.id.name().to_owned(),
        severity: finding.severity.to_string().to_lowercase(),
        evidence: finding.evidence.clone(),
        cause: finding.cause.clone(),
        fix: finding.fix.clone(),
        explained_by: finding.explained_by.map(|id| id.to_string()),
    }
}

fn no_finding(passed: &finding::Passed) -> Passed {
    Passed {
        id: passed.id.to_string(),
        name: passed.id.name().to_owned(),
        evidence: passed.evidence.clone(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
