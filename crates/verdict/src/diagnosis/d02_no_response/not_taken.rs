//! Requests that were not sent, because the server says that it accepts none as large (RFC 9114, 4.2.2): the fault is the
//! request's, and both figures are known.

use ablaze_model::{FailureKind, Run};

use super::{MOST, SHARE};
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent};

/// A share of the requests was not sent.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let not_sent = record.failures_of(FailureKind::RequestTooLarge);
    let share = not_sent as f64 / record.finished().max(1) as f64;
    if share <= SHARE {
        return None;
    }
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    let first = record.http3.as_ref().and_then(|facts| facts.first_failure.as_ref());
    let words = first.filter(|(kind, _)| *kind == FailureKind::RequestTooLarge);
    let words = words.map_or_else(String::new, |(_, words)| format!(": {words}"));
    Some(Finding::new(
        D02,
        severity,
        format!(
            "{} of {} ({}) {} not sent{words}.",
            grouped(not_sent),
            counted(record.finished(), "request"),
            percent(share),
            if not_sent == 1 { "was" } else { "were" }
        ),
        "A client is not to send header fields larger than the server accepts: these requests failed here, and the server \
         did not see them. The rate is that of the others.",
        format!(
            "Send fewer or shorter fields ({}; cookies count too), or raise the server's limit.",
            spelled(run, Opt::Header)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{judge, sample};

    #[test]
    fn requests_that_were_not_sent_are_not_held_against_the_server() {
        let mut run = sample::over_http3();
        run.record.failures[FailureKind::RequestTooLarge as usize] = run.record.responses * 2;
        let words = "the request's header fields take 9,000 bytes, and the server accepts 4,096";
        run.record.http3.as_mut().unwrap().first_failure =
            Some((FailureKind::RequestTooLarge, words.to_owned()));
        let findings = judge(&run).findings;
        let found = findings.iter().find(|found| found.id == D02).expect("D02");
        assert_eq!(found.severity, Severity::Invalid);
        assert!(
            found.evidence.contains("not sent: ") && found.evidence.contains(words),
            "{found:?}"
        );
        assert!(!found.fix.contains("server's log"), "{found:?}");
        run.record.failures[FailureKind::RequestTooLarge as usize] = run.record.responses / 10;
        assert_eq!(super::found(&run).map(|found| found.severity), Some(Severity::Suspect));
        run.record.failures[FailureKind::RequestTooLarge as usize] = run.record.responses / 200;
        assert_eq!(super::found(&run), None);
    }
}
