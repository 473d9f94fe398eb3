//! Requests that ab counts as complete and of which its bytes show that nothing came, or nothing but heads: which of the
//! two they prove depends on the numbers.

use super::{SHARE, SHORTEST_RESPONSE_BYTES};
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::{Document, Report, Tool};
use crate::words::{counted, grouped, percent};

/// Requests of which the bytes show that no body came.
pub struct Empty {
    /// How many, at least.
    pub missing: u64,
    /// The first was one of them, so that ab holds all others against nothing.
    pub first: bool,
    /// Nothing came at all. Else so many bytes of a head may have come of each that those of all together are divisible
    /// as the heads of the others are.
    pub proven: bool,
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
    let (head, each) = (heads / whole, body / whole);
    let missing = complete.checked_sub(whole).filter(|missing| *missing > 0)?;
    let by_heads = fits
        && body.is_multiple_of(whole)
        && heads.is_multiple_of(whole)
        && !heads.is_multiple_of(complete);
    // Heads may have a date or a counter of another length, and ab has told how many bodies had the first one's.
    let by_bodies = !first
        && body == like_the_first.saturating_mul(length)
        && !heads.is_multiple_of(complete)
        && report.non_2xx.is_none_or(|others| others == 0);
    let shown = (by_heads || by_bodies) && head as f64 >= SHORTEST_RESPONSE_BYTES;
    shown.then(|| {
        // Of equally many bytes from each of the missing ones, all together are divisible by the number of the whole ones
        // only if each sent a multiple of this: where a head has more than that, the sum proves nothing.
        let proven = by_heads && whole / common_divisor(whole, missing) > head;
        let how = match proven {
            true => format!(
                "they count as complete, but {} × ({} + {}) B of head and body are all {} B that came.",
                grouped(whole),
                grouped(head),
                grouped(each),
                grouped(total)
            ),
            false => format!(
                "they count as complete, but the bodies that came are {} × {} B.",
                grouped(whole),
                grouped(each)
            ),
        };
        Empty { missing, first, proven, how }
    })
}

/// Each complete request had a body as long as the first's: ab found no other length, and the bytes are as many. What broke
/// nevertheless was behind that, or is no request that ab counts: it begins those anew.
pub fn all_bodies_came(report: &Report) -> bool {
    let whole = || {
        let Document::Bytes(length) = report.document? else { return None };
        let bodies = report.complete?.checked_mul(length).filter(|bodies| *bodies > 0)?;
        let body = u64::try_from(report.body_bytes?).ok()?;
        // What was under way at the end is there besides.
        let in_flight = report.concurrency?.saturating_add(1).saturating_mul(length);
        Some((bodies..=bodies.saturating_add(in_flight)).contains(&body))
    };
    let alike = report.failed_parts.is_some_and(|parts| parts.length == 0);
    report.tool == Tool::Ab
        && alike
        && report.write_errors.unwrap_or(0) == 0
        && whole() == Some(true)
}

/// The greatest.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The bytes show that no body came, and leave open whether a head did.
pub(super) fn without_body(empty: &Empty, complete: u64) -> Option<Finding> {
    let share = empty.missing as f64 / complete as f64;
    let evidence = format!(
        "{} of {} ({}) got no response, or one without a body: {}",
        grouped(empty.missing),
        counted(complete, "request"),
        percent(share),
        empty.how
    );
    let cause = "The target closed or reset these connections without a response or within its head, or its responses to them \
                 have no body, or what it sent is no HTTP: by the bytes it may be any of these. ab counts such requests \
                 as complete: they are in the rate, and in the times.";
    let fix = "Try the target several times with `curl -v`, see in its log what it did, and measure again once all \
               requests get a whole response; `ablaze` counts failures by kind.";
    (share > SHARE).then(|| Finding::new(D02, Severity::Suspect, evidence, cause, fix))
}

#[cfg(test)]
mod tests {
    use super::super::printed::on_report;
    use super::*;
    use crate::DiagnosisId::D37;
    use crate::printed::FailedParts;
    use crate::rules::sample;

    #[test]
    fn bytes_prove_that_responses_were_empty() {
        let mut report = sample::ab();
        report.failed = Some(50_000);
        report.failed_parts = Some(FailedParts { length: 50_000, ..FailedParts::default() });
        // 949,999 × 1,000 B and heads of 201 B each; one was cut off at the end.
        report.body_bytes = Some(949_999_000);
        report.total_bytes = Some(949_999 * 1201);
        report.failed_parts = Some(FailedParts { length: 50_001, ..FailedParts::default() });
        let finding = on_report(&report).unwrap();
        assert!(finding.evidence.contains("50,001 of 1,000,000 requests (5.0 %)"), "{finding:?}");
        assert!(finding.evidence.contains("949,999 × (201 + 1,000) B"), "{finding:?}");
        report.failed_parts = Some(FailedParts { length: 50_000, ..FailedParts::default() });
        report.body_bytes = Some(950_000_000);
        // They had heads.
        report.total_bytes = Some(950_000_000 + 1_000_000 * 201);
        assert_eq!(on_report(&report), None);
    }

    /// Each second request of 1,000 was cut off after 20 B of its head, or got a head of 100 B and no body: the sum is that
    /// of 500 longer heads, too.
    #[test]
    fn bytes_that_may_have_come_are_not_denied() {
        for of_each in [20, 100] {
            let mut report = sample::ab();
            (report.complete, report.failed) = (Some(1000), Some(500));
            report.failed_parts = Some(FailedParts { length: 500, ..FailedParts::default() });
            report.document = Some(Document::Bytes(100));
            report.body_bytes = Some(50_000);
            report.total_bytes = Some(50_000 + 500 * (81 + of_each));
            (report.kilobytes_per_s, report.rate_per_s, report.per_request_ms) = (None, None, None);
            let judged = crate::rules::report(&report);
            let of = |id| judged.iter().find(|finding| finding.id == id).expect("a finding");
            let (none, lengths) = (of(D02), of(D37));
            assert_eq!(none.severity, Severity::Suspect);
            for said in [&none.evidence, &none.cause, &lengths.cause] {
                assert!(
                    !said.contains("no response at all") && !said.contains("got none"),
                    "{said}"
                );
                assert!(!said.contains("are all 1"), "{said}");
            }
            assert!(none.evidence.contains("500 of 1,000 requests (50 %) got no response, or one"));
            assert!(lengths.cause.contains("no body"), "{}", lengths.cause);
        }
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
