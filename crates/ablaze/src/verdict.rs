//! The verdict where the report has no place for it: on stderr beside ab's and gurl's reports, and
//! in the exit status under `--strict`.

use ablaze_model::Run;
use ablaze_verdict::live;
use ablaze_verdict::{Finding, Verdict};

use crate::outlets;
use crate::refusal::note;

/// Whether the Run's number is not to be believed.
pub fn is_invalid(run: &Run) -> bool {
    live::judge(run).verdict == Verdict::Invalid
}

/// Says on stderr what makes the number doubtful, one line per finding; nothing when it is VALID,
/// unless `explain` asks for everything that the rules looked at.
pub fn say(run: &Run, explain: bool) {
    // Findings are of figures that nobody has seen then.
    if outlets::stdout_failed() {
        return;
    }
    let judged = live::judge(run);
    if explain {
        note(&format!("{}, {}", judged.verdict, judged.limited));
    }
    judged.with_explained().for_each(|(root, _)| note(&line(root)));
    if explain {
        judged.notes().for_each(|finding| note(&line(finding)));
        for passed in &judged.passed {
            if let Some(evidence) = &passed.evidence {
                note(&format!("{} passed {}: {evidence}", passed.id, passed.id.name()));
            }
        }
        judged.unseen(run).iter().for_each(|text| note(text));
    }
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
