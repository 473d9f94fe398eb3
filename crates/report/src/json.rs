//! A Run as JSON: the saved form of `ablaze-model`, with the verdict in it.

use ablaze_model::Run;
use ablaze_model::saved::{Assessment, Found, Passed};
use ablaze_verdict::live::{self, Judged};

pub use ablaze_model::saved::{FORMAT, LoadError, SavedRun, load};

/// The Run as JSON, indented, ending in a newline.
pub fn write(run: &Run) -> String {
    ablaze_model::saved::write(run, Some(assessment(live::judge(run))))
}

fn assessment(judged: Judged) -> Assessment {
    let Judged { verdict, limited, findings, passed } = judged;
    Assessment {
        verdict: verdict.to_string(),
        limited_by: limited.by.key().to_owned(),
        limit_evidence: limited.evidence,
        findings: findings.into_iter().map(found).collect(),
        passed: passed.into_iter().map(no_finding).collect(),
    }
}

fn found(finding: ablaze_verdict::Finding) -> Found {
    Found {
        id: finding.id.to_string(),
        name: finding.id.name().to_owned(),
        severity: finding.severity.to_string().to_lowercase(),
        evidence: finding.evidence,
        cause: finding.cause,
        fix: finding.remedy,
        explained_by: finding.explained_by.map(|id| id.to_string()),
    }
}

fn no_finding(passed: live::Passed) -> Passed {
    Passed {
        id: passed.id.to_string(),
        name: passed.id.name().to_owned(),
        evidence: passed.evidence,
    }
}

#[cfg(test)]
mod tests;
