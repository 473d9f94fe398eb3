//! Users who failed in their setup: the load is that of the others.

use ablaze_model::Run;
use ablaze_model::printable::printable;

use super::{D01, Finding, Severity};
use crate::DiagnosisId;
use crate::live::{setup, walk};
use crate::words::{counted, grouped, percent};

/// Fewer than this share of the users are an accident.
const SHARE: f64 = 0.01;
/// From here on the load is that of the fewer users.
const MOST: f64 = 0.5;

/// Where some came through and others did not. Where all failed nothing was sent, which is D02's.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let seen = setup::failed(run)?;
    let left = seen.begun.saturating_sub(seen.failed);
    if left == 0 {
        return None;
    }
    let share = seen.failed as f64 / seen.begun as f64;
    let severity = match share {
        _ if share >= MOST => Severity::Invalid,
        _ if share > SHARE => Severity::Suspect,
        _ => Severity::Note,
    };
    let first = seen.first.as_ref().map_or_else(String::new, |first| {
        let the_first = if seen.failed == 1 { "at" } else { "the first at" };
        format!(", {the_first} {}", printable(first.text.trim_end_matches('.')))
    });
    let evidence = format!(
        "{} of {} ({}) failed in the setup {}{first}.",
        grouped(seen.failed),
        counted(seen.begun, "user"),
        percent(share),
        setup::file(run)
    );
    let cause = format!(
        "A user that fails in its setup walks no journey: the rate and the times are those of {}.",
        counted(left, "user")
    );
    let fix = format!(
        "Walk the setup once with `{}` to see what fails, correct it, its data or the server, and measure again.",
        walk::command_of_setup(run)
    );
    // Nothing that happens in the measured time explains it.
    let finding = Finding::new(D01, severity, evidence, cause, fix);
    let others: &[DiagnosisId] = super::DIAGNOSIS.explained_by;
    Some(others.iter().fold(finding, |finding, other| finding.not_explained_by(*other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::setup::sample::with_failed;

    #[test]
    fn users_who_failed_in_their_setup_are_counted_and_said_why() {
        assert_eq!(found(&with_failed(0)), None);
        assert_eq!(found(&with_failed(100)), None, "nobody sent anything: D02");
        let most = found(&with_failed(90)).unwrap();
        assert_eq!(
            most.evidence,
            "90 of 100 users (90 %) failed in the setup login.hurl, the first at line 5: the status is 500, not 200."
        );
        assert!(most.cause.ends_with("are those of 10 users."), "{}", most.cause);
        assert!(most.fix.contains("`ablaze run login.hurl "), "{}", most.fix);
        let severities = [1, 2, 49, 50].map(|count| found(&with_failed(count)).unwrap().severity);
        let expected = [Severity::Note, Severity::Suspect, Severity::Suspect, Severity::Invalid];
        assert_eq!(severities, expected);
        let one = found(&with_failed(1)).unwrap().evidence;
        assert!(one.contains("login.hurl, at line 5: "), "{one}");
    }

    #[test]
    fn a_run_of_a_tenth_of_its_users_is_not_valid() {
        let judged = crate::live::judge(&with_failed(90));
        assert_eq!(judged.verdict, crate::Verdict::Invalid);
        let limited = judged.limited.to_string();
        assert!(limited.contains("with 10 requests in flight a response took"), "{limited}");
        assert!(limited.contains("90 of 100 users failed in their setup"), "{limited}");
    }
}
