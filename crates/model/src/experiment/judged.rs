//! What was found in the runs of an experiment together.

use crate::finding::{DiagnosisId, Finding, Severity, Verdict};

/// What was found in the runs of an experiment beside each other, and whether they are to be believed.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedTogether {
    /// The worst of what was found in each run and in all together.
    pub verdict: Verdict,
    /// What was found in the runs together, the gravest first.
    pub findings: Vec<Finding>,
    /// Pairs of targets that did not do the same work under a load.
    pub unequal: Vec<Unequal>,
}

/// Two targets of which no ratio under this load says anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unequal {
    /// The place of the load.
    pub load: usize,
    /// The places of the targets, in their order.
    pub targets: (usize, usize),
    /// What differs, with both figures.
    pub evidence: String,
}

impl JudgedTogether {
    /// The differences in the work that forbid a ranking.
    pub fn unequal_work(&self) -> Vec<&Finding> {
        let grave = |finding: &&Finding| {
            finding.id == DiagnosisId::D05 && finding.severity > Severity::Note
        };
        self.findings.iter().filter(grave).collect()
    }

    /// Everything else that was found.
    pub fn other_findings(&self) -> Vec<&Finding> {
        let unequal = self.unequal_work();
        self.findings.iter().filter(|finding| !unequal.contains(finding)).collect()
    }
}
