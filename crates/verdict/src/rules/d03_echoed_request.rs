//! D03: the target sent the request back. ab's request has a known length, and an echo the same.

use super::arithmetic::request_bytes;
use crate::DiagnosisId::D03;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::grouped;

pub fn check(report: &Report) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    let all_without_status = report.non_2xx == Some(complete) && report.body_bytes == Some(0);
    let request = request_bytes(report)?;
    let received = report.bytes_per_request()?;
    if !all_without_status || (received - request).abs() > 0.01 {
        return None;
    }
    let total = grouped(report.total_bytes?.unsigned_abs());
    let evidence = format!(
        "{total} B / {} are {received:.0} B for each request, and ab's own request to this URL has \
         {request:.0} B; no answer had a status of 2xx, and none had a body.",
        grouped(complete)
    );
    Some(Finding::new(
        D03,
        Severity::Invalid,
        evidence,
        "The target sends back what it receives: it is a TCP echo server and speaks no HTTP. ab finds \
         `HTTP` in its own request and counts that as a response.",
        "Call it an echo test, or put an HTTP server there; compare it with no target that composes \
         a response.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn only_the_request_s_own_length_is_an_echo() {
        let mut report = sample::ab();
        report.non_2xx = report.complete;
        report.body_bytes = Some(0);
        // GET / to 10.0.0.1:8080: 16 + 21 + 29 + 13 + 2 = 81 bytes.
        report.total_bytes = Some(81_000_000);
        assert!(check(&report).unwrap().evidence.contains("are 81 B for each"));
        report.total_bytes = Some(82_000_000);
        assert_eq!(check(&report), None);
    }
}
