//! A Run that was kept in a file: judged anew like a fresh one, not by what the file says it was,
//! and held against the command line that the file names (D36).

use ablaze_model::Run;

use crate::Diagnosis;
use crate::finding::{Finding, Verdict, settled};
use crate::live::{self, Judged};

/// Judges a Run that was read from a file.
pub fn judge(run: &Run) -> Judged {
    let mut judged = live::judge(run);
    judged.findings.extend(besides(run));
    judged.findings = settled(judged.findings);
    judged.verdict = Verdict::of(&judged.findings);
    judged
}

/// What only a Run from a file can have, besides what a fresh one is judged by.
pub fn besides(run: &Run) -> Vec<Finding> {
    let forms = Diagnosis::all().iter().filter_map(|diagnosis| diagnosis.forms.saved_run);
    forms.filter_map(|check| check(run)).collect()
}
