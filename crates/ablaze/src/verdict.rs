//! The verdict where the report has no place for it: on stderr beside ab's and gurl's reports, and
//! in the exit status under `--strict`.

use ablaze_engine::Run;
use ablaze_verdict::live;
use ablaze_verdict::{Finding, Verdict};

use crate::refusal::note;

/// Whether the Run's number is not to be believed.
pub fn is_invalid(run: &Run) -> bool {
    live::judge(run).verdict == Verdict::Invalid
}

/// Says on stderr what makes the number doubtful, one line per finding; nothing when it is VALID.
pub fn say(run: &Run) {
    let judged = live::judge(run);
    judged.with_explained().for_each(|(root, _)| note(&line(root)));
}

/// `D02 INVALID no response: 0 of 10 …`: what was seen, why, and what to do, in one line.
fn line(finding: &Finding) -> String {
    format!(
        "{} {} {}: {} {} {}",
        finding.id,
        finding.severity,
        finding.id.name(),
        finding.evidence,
        finding.cause,
        finding.remedy
    )
}
