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
        if shows_no_round(report) {
            return None;
        }
        format!("{} bytes received: a count cannot be negative.", decimal(total as f64, 0))
    } else {
        let (complete, length) = (report.complete?, document_bytes(report)?);
        if expected? <= LARGEST || total as f64 >= expected? || wrapped(report) != Some(true) {
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

/// Whether a number of bytes below 0 is none of a counter that wrapped around: it is not what that would show, or the rate beside
/// it is above 0.
pub(crate) fn shows_no_round(report: &Report) -> bool {
    let has_rate = report.kilobytes_per_s.is_some_and(|rate| rate.value > 0.0);
    report.total_bytes.is_some_and(|total| total < 0)
        && (has_rate || wrapped(report) == Some(false))
}

/// Whether the bytes are what a counter of 32 bits that started again at 0 has left of those of all bodies and heads; and those of
/// the bodies, if they are printed, of theirs. None where it cannot be told.
fn wrapped(report: &Report) -> Option<bool> {
    let of_all = rounds_fit(report, report.total_bytes?, HEAD_MOST)?;
    let of_bodies = report.body_bytes.is_none_or(|body| {
        // Heads alone may make the round full.
        let all = expected_bytes(report).filter(|bytes| *bytes < ROUND);
        all == Some(body as f64) || rounds_fit(report, body, 0.0) != Some(false)
    });
    Some(of_all && of_bodies)
}

/// The same of the bodies alone.
pub(crate) fn body_wrapped(report: &Report) -> Option<bool> {
    rounds_fit(report, report.body_bytes?, 0.0)
}

/// What a counter of 32 bits starts again behind.
const ROUND: f64 = 4_294_967_296.0;
/// Heads of whatever length a server sends.
const HEAD_MOST: f64 = 8192.0;

fn rounds_fit(report: &Report, counted: i64, head_most: f64) -> Option<bool> {
    if report.failed != Some(0) {
        return None;
    }
    let (counted, bodies) = (counted as f64, expected_bytes(report)?);
    // What was under way at the end is counted as well.
    let under_way = report.concurrency.unwrap_or(1) as f64;
    let more = under_way * document_bytes(report)? as f64
        + head_most * (report.complete? as f64 + under_way);
    let rounds = ((bodies - counted) / ROUND).ceil().max(1.0);
    Some(counted + rounds * ROUND <= bodies + more)
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
            (report.body_bytes, report.kilobytes_per_s) = (None, None);
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
