//! Connections of ab -r that broke, where each complete request had its whole body all the same.

use crate::DiagnosisId::D18;
use crate::diagnosis::d02_no_response::all_bodies_came;
use crate::finding::{Finding, Severity};
use crate::printed::{Connections, Document, Report};
use crate::words::{counted, grouped};

pub(super) fn found(report: &Report) -> Option<Finding> {
    let parts = report.failed_parts.filter(|_| all_bodies_came(report))?;
    let Document::Bytes(length) = report.document? else { return None };
    let complete = report.complete?;
    let broken = parts.receive.max(parts.exceptions);
    if broken == 0 {
        return None;
    }
    let evidence = format!(
        "ab counts {} under Receive and {} under Exceptions, but none under Length: the bodies that came are those of {} \
         of {} B each.",
        grouped(parts.receive),
        grouped(parts.exceptions),
        counted(complete, "complete request"),
        grouped(length)
    );
    // A request to which nothing came is not counted on a connection that was kept, nor where that is an exception alone.
    let all_counted =
        report.connections == Connections::PerRequest && parts.exceptions <= parts.receive;
    let sent_again = match all_counted {
        true => "",
        false => {
            ", or before a byte of one had come, so that ab sent the request again without counting it"
        }
    };
    let cause = format!(
        "Connections broke behind a whole body{sent_again}: each request that ab counts as complete had a body as long as \
         the first. Which end ended them is not printed."
    );
    let fix = "See in the server's log whether it closes connections while something is left to read on them, or has a limit \
               for each.";
    Some(Finding::new(D18, Severity::Note, evidence, cause, fix))
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{D02, D18};
    use crate::printed::{Document, FailedParts};
    use crate::rules::{self, sample};

    #[test]
    fn what_broke_behind_whole_bodies_is_no_request_without_a_response() {
        let ids = |length: u64, bodies: i64| {
            let mut report = sample::ab();
            (report.failed, report.document) = (Some(40_000 + length), Some(Document::Bytes(1000)));
            report.failed_parts =
                Some(FailedParts { connect: 0, receive: 20_000, length, exceptions: 20_000 });
            report.body_bytes = Some(bodies * 1000);
            let found = rules::report(&report);
            [D02, D18].map(|id| found.iter().any(|finding| finding.id == id))
        };
        assert_eq!(ids(0, 1_000_000), [false, true]);
        // One that was under way at the end.
        assert_eq!(ids(0, 1_000_001), [false, true]);
        assert_eq!(ids(0, 980_000), [true, false]);
        assert_eq!(ids(20_000, 980_000), [true, false]);
    }
}
