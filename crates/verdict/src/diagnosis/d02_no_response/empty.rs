//! Requests that ab counts as complete and of which its bytes prove that nothing came.

use super::SHORTEST_RESPONSE_BYTES;
use crate::printed::{Document, Report};
use crate::words::grouped;

/// Requests of which the bytes prove that nothing came.
pub struct Empty {
    /// How many, at least.
    pub missing: u64,
    /// The first was one of them, so that ab holds all others against nothing.
    pub first: bool,
    /// What shows it.
    pub how: String,
}

/// Responses of another length that had none at all: the bytes of bodies and heads are those of the others,
/// to the byte.
pub fn empty(report: &Report) -> Option<Empty> {
    let complete = report.complete?;
    let others = report.failed_parts?.length;
    let Document::Bytes(length) = report.document? else { return None };
    let (total, body) = (report.total_bytes?, report.body_bytes?);
    let (total, body) = (u64::try_from(total).ok()?, u64::try_from(body).ok()?);
    let heads = total.checked_sub(body)?;
    let first = length == 0;
    let whole = match length {
        0 => others,
        length => body / length,
    };
    if others == 0 || whole == 0 || body == 0 {
        return None;
    }
    // One that came while another was cut off at the end may be there besides.
    let like_the_first = complete.checked_sub(others)?;
    let late = report.concurrency.unwrap_or(1).saturating_add(1);
    let fits = first || (like_the_first..=like_the_first.saturating_add(late)).contains(&whole);
    let (head, length) = (heads / whole, body / whole);
    let missing = complete.checked_sub(whole).filter(|missing| *missing > 0)?;
    let proven = fits
        && body.is_multiple_of(whole)
        && heads.is_multiple_of(whole)
        && !heads.is_multiple_of(complete)
        && head as f64 >= SHORTEST_RESPONSE_BYTES;
    proven.then(|| {
        let how = format!(
            "they count as complete, but {} × ({} + {}) B of head and body are all {} B that came.",
            grouped(whole),
            grouped(head),
            grouped(length),
            grouped(total)
        );
        Empty { missing, first, how }
    })
}

#[cfg(test)]
mod tests {
    use super::super::printed::on_report;
    use super::*;
    use crate::printed::FailedParts;
    use crate::rules::sample;

    #[test]
    fn bytes_prove_that_responses_were_empty() {
        let mut report = sample::ab();
        report.failed = Some(50_000);
        report.failed_parts = Some(FailedParts { length: 50_000, ..FailedParts::default() });
        // 950,000 × 1,000 B and heads of 201 B each.
        report.body_bytes = Some(950_000_000);
        report.total_bytes = Some(950_000 * 1201);
        let finding = on_report(&report).unwrap();
        assert!(finding.evidence.contains("50,000 of 1,000,000 requests (5.0 %)"), "{finding:?}");
        assert!(finding.evidence.contains("950,000 × (201 + 1,000) B"), "{finding:?}");
        // They had heads.
        report.total_bytes = Some(950_000_000 + 1_000_000 * 201);
        assert_eq!(on_report(&report), None);
    }

    /// Of 2,000 each closed without a byte: half with the first among them, and 49 of which one was begun anew.
    #[test]
    fn they_are_proven_too_where_the_first_is_one_or_the_count_is_off_by_one() {
        let with = |(complete, length, failed): (u64, u64, u64), (total, body)| {
            let mut report = sample::ab();
            report.concurrency = Some(20);
            (report.complete, report.failed) = (Some(complete), Some(failed));
            report.document = Some(Document::Bytes(length));
            report.failed_parts = Some(FailedParts { length: failed, ..FailedParts::default() });
            (report.total_bytes, report.body_bytes) = (Some(total), Some(body));
            on_report(&report).map(|finding| finding.evidence)
        };
        let half = with((1000, 0, 463), (75_932, 46_300)).unwrap();
        assert!(half.contains("537 of 1,000 requests (54 %)"), "{half}");
        assert!(half.contains("463 × (64 + 100) B"), "{half}");
        let few = with((2000, 100, 50), (319_964, 195_100)).unwrap();
        assert!(few.contains("49 of 2,000 requests (2.5 %)"), "{few}");
        // An empty body, with a head: 537 × 64 B more.
        assert_eq!(with((1000, 0, 463), (75_932 + 537 * 64, 46_300)), None);
    }
}
