//! A Run that was kept in a file: judged anew like a fresh one, not by what the file says it was,
//! and held against the command line that the file names (D36).

use ablaze_model::Run;

use crate::finding::{Verdict, settled};
use crate::live::{self, Judged};
use crate::rules;

/// Judges a Run that was read from a file.
pub fn judge(run: &Run) -> Judged {
    let mut judged = live::judge(run);
    judged.findings.extend(rules::not_from_its_command(run));
    judged.findings = settled(judged.findings);
    judged.verdict = Verdict::of(&judged.findings);
    judged
}
