//! D32: a byte count that cannot be: negative, or less than the bodies alone.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D32;
use crate::finding::{Finding, Severity};
use crate::printed::{Document, Report};
use crate::words::{decimal, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D32,
    shown_by: ShownBy::Text,
    severities: &[Severity::Invalid],
    explained_by: &[],
    forms: Forms { report: Some(on_report), ..Forms::NONE },
};

/// Half of what a counter of 32 bits holds: its largest number when it has a sign.
const LARGEST: f64 = 2_147_483_647.0;

/// Whether the bytes are such a count, for what would be misled by them.
pub(crate) fn is_found(report: &Report) -> bool {
    on_report(report).is_some()
}

fn on_report(report: &Report) -> Option<Finding> {
    let total = report.total_bytes?;
    let expected = expected_bytes(report);
    let evidence = if total < 0 {
        format!("{} bytes received: a count cannot be negative.", decimal(total as f64, 0))
    } else {
        let (complete, length) = (report.complete?, document_bytes(report)?);
        if expected? <= LARGEST || total as f64 >= expected? || report.failed != Some(0) {
            return None;
        }
        if !may_have_wrapped(total as f64, expected?, complete as f64) {
            return None;
        }
        format!(
            "{} responses of {} bytes make {} bytes, but {} were counted.",
            grouped(complete),
            grouped(length),
            decimal(expected?, 0),
            grouped(total.unsigned_abs())
        )
    };
    Some(Finding::new(
        D32,
        Severity::Invalid,
        evidence,
        "The tool counts bytes in 32 bits, which wrap around after 2,147,483,647.",
        "Ignore the bytes and the transfer rate; the number of requests and the times are not \
         affected.",
    ))
}

/// Whether so many bytes are left of those of all bodies, and of heads of whatever length a server sends, when a counter of
/// 32 bits started again at 0.
fn may_have_wrapped(counted: f64, bodies: f64, responses: f64) -> bool {
    const ROUND: f64 = 4_294_967_296.0;
    const HEAD_MOST: f64 = 8192.0;
    let rounds = ((bodies - counted) / ROUND).ceil().max(1.0);
    counted + rounds * ROUND <= bodies + responses * HEAD_MOST
}

fn document_bytes(report: &Report) -> Option<u64> {
    match report.document? {
        Document::Bytes(bytes) => Some(bytes),
        Document::Variable => None,
    }
}

fn expected_bytes(report: &Report) -> Option<f64> {
    Some(report.complete? as f64 * document_bytes(report)? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn impossible_counts_are_found() {
        let with = |total, length| {
            let mut report = sample::ab();
            report.total_bytes = Some(total);
            report.document = Some(Document::Bytes(length));
            on_report(&report).is_some()
        };
        assert!(with(-2_000_000_000, 137));
        // 1,000,000 × 5000 B = 5,000,000,000; modulo 2³² they are 705,032,704.
        assert!(with(705_032_704, 5000));
        assert!(!with(5_100_000_000, 5000));
        // Few bytes alone are D02.
        assert!(!with(0, 1000));
    }
}
