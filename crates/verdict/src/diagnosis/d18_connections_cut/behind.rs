//! Connections of ab that broke: behind a whole body of each complete request, or with the responses that failed.

use crate::DiagnosisId::D18;
use crate::diagnosis::d02_no_response::{all_bodies_came, empty};
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

/// Whether connections that closed are those of responses that failed: as many had another length, or most of those that
/// closed had no body at all. No limit of the server is seen in them.
pub(super) fn are_of_failures(report: &Report, closes: u64, of_length: u64) -> bool {
    let without_body = empty(report).map_or(0, |empty| empty.missing);
    of_length == closes || without_body.saturating_mul(2) > closes
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{D02, D18, D37};
    use crate::printed::{Connections, Document, FailedParts};
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
    /// Apache's prefork, published: 4,800 bodies of 50 MiB came to 5,000 requests, and 4,800 connections were kept.
    #[test]
    fn closes_of_requests_without_a_body_show_no_limit() {
        let with = |non_2xx: Option<u64>, bodies: i64, kept: u64| {
            let mut report = sample::ab();
            (report.complete, report.failed, report.non_2xx) = (Some(5000), Some(200), non_2xx);
            report.concurrency = Some(500);
            report.failed_parts = Some(FailedParts { length: 200, ..FailedParts::default() });
            report.document = Some(Document::Bytes(52_428_800));
            report.body_bytes = Some(bodies * 52_428_800);
            report.total_bytes = Some(bodies * 52_428_800 + 1_517_100);
            report.connections = Connections::Kept(Some(kept));
            (report.kilobytes_per_s, report.rate_per_s) = (None, None);
            (report.per_request_ms, report.across_ms) = (None, None);
            rules::report(&report)
        };
        let cause_of = |found: &[crate::Finding], id| {
            found.iter().find(|finding| finding.id == id).map(|finding| finding.cause.to_string())
        };
        let found = with(None, 4800, 4800);
        assert_eq!(cause_of(&found, D18), None);
        let none = found.iter().find(|finding| finding.id == D02).unwrap();
        let said = "200 of 5,000 requests (4.0 %) got no response, or one without a body";
        assert!(none.evidence.contains(said), "{}", none.evidence);
        assert!(cause_of(&found, D37).unwrap().contains("By the bytes these had no body"));
        // With half of a body each, or with a status of their own, they are responses; as many close.
        for found in [with(None, 4900, 4800), with(Some(200), 4800, 4800)] {
            assert_eq!([D02, D18].map(|id| cause_of(&found, id)), [None, None]);
        }
        // Far more close than failed: the server has a limit.
        assert!(cause_of(&with(None, 4800, 4000), D18).unwrap().contains("closes connections"));
    }
}
