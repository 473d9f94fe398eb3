//! D37: responses that differ from the first one, in their status or in the length of their body.
//! Other lengths ab counts as failed.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D02, D04, D37};
use crate::finding::{Finding, Severity};
use crate::live::curl;
use crate::printed::{Document, Report};
use crate::rules::consistency::counts::lengths_are_too_many;
use crate::words::{counted, grouped, percent};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D37,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note],
    explained_by: &[D02, D04],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(on_report),
        ..Forms::NONE
    },
};

/// Mean lengths further apart than this share are not those of one page with a date in it.
const FAR: f64 = 0.2;

fn on_run(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let (status, length) = (other_status(run), other_length(run));
    if status.is_none() && length.is_none() || sends_different_requests(run) {
        return None;
    }
    let mut evidence = Vec::new();
    if let Some((first, number)) = status {
        evidence.push(format!(
            "The first response had status {first}; {} of {} ({}) had another status.",
            grouped(number),
            counted(record.responses, "response"),
            percent(number as f64 / record.responses as f64)
        ));
    }
    if let Some((first, number)) = length {
        evidence.push(format!(
            "The first response had a body of {} B; {} of {} ({}) had another length, {}.",
            grouped(first),
            grouped(number),
            counted(record.responses, "response"),
            percent(number as f64 / record.responses as f64),
            lengths(run)
        ));
    }
    let cause = if is_the_odd_one(run) {
        "The first response is the odd one out: all others were alike, as when a cache was \
         being filled or the first was a redirect."
    } else if length.is_none() {
        "The server did not treat all requests alike: a limit on the rate, a part of it that failed, or a state \
         that changed during the run."
    } else if is_of_statuses(run) {
        "The responses of the one status have another length than those of the other: a page and an error page, such as that \
         of a limit on the rate or of a part of the server that failed."
    } else {
        "Pages that contain a date, a counter or a token differ each time, and so do the \
         responses to different requests, error messages within pages, and responses that the \
         server cuts short."
    };
    Some(Finding::new(
        D37,
        Severity::Note,
        evidence.join(" "),
        cause,
        format!(
            "Look at two responses with `curl -i {}`; if they are meant to differ, nothing is \
             wrong, but compare only with runs that got the same mix.",
            curl::arguments(run)
        ),
    ))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let first = record.first_body_bytes.filter(|_| record.responses > 0)?;
    if sends_different_requests(run) {
        return Some("Different requests were sent, whose responses may differ.".to_owned());
    }
    let status = first_status(run).map_or(String::new(), |status| format!("status {status} with "));
    Some(format!(
        "All of {} were like the first: {status}a body of {} B.",
        counted(record.responses, "response"),
        grouped(first)
    ))
}

/// Whether responses are expected to differ: those to the lines of a list of URLs, or to the steps of a journey.
fn sends_different_requests(run: &Run) -> bool {
    let listed = run.asked.as_ref().is_some_and(|asked| asked.requests.urls.is_some());
    listed || run.record.groups.len() > 1 || run.plan.journey.is_some()
}

/// The first response's body length, and how many had another.
fn other_length(run: &Run) -> Option<(u64, u64)> {
    let record = &run.record;
    let first = record.first_body_bytes?;
    let others = record.body_lengths.iter().filter(|(length, _)| **length != first);
    let number = others.map(|(_, number)| number).sum::<u64>() + record.body_lengths_other;
    (number > 0 && record.responses > 0).then_some((first, number))
}

/// The first response's status, and how many had another.
fn other_status(run: &Run) -> Option<(u16, u64)> {
    let first = first_status(run)?;
    let others = run.record.statuses.iter().filter(|(status, _)| **status != first);
    let number = others.map(|(_, number)| number).sum();
    (number > 0).then_some((first, number))
}

/// Whether there are two statuses and two lengths, and as many responses of each.
fn is_of_statuses(run: &Run) -> bool {
    let record = &run.record;
    let counts = |counts: Vec<u64>| {
        let mut counts = counts;
        counts.sort_unstable();
        counts
    };
    let statuses = counts(record.statuses.values().copied().collect());
    let lengths = counts(record.body_lengths.values().copied().collect());
    record.body_lengths_other == 0 && statuses.len() == 2 && statuses == lengths
}

/// Whether one response had the first's length and status, and all others had one other length and status.
fn is_the_odd_one(run: &Run) -> bool {
    let record = &run.record;
    let others = record.responses.saturating_sub(1);
    let parted = |differ: u64, kinds: usize| match differ {
        0 => kinds == 1,
        _ => differ == others && kinds == 2,
    };
    let by_status = other_status(run).map_or(0, |(_, number)| number);
    let by_length = other_length(run).map_or(0, |(_, number)| number);
    others > 1
        && record.body_lengths_other == 0
        && parted(by_status, record.statuses.len())
        && parted(by_length, record.body_lengths.len())
}

/// `HTTP/1.1 200 OK`: the three digits behind the first space (RFC 9112, 4). The head that is kept
/// may be of a request before the clock started, so it counts only if that status came.
fn first_status(run: &Run) -> Option<u16> {
    let head = &run.record.first_head;
    let digits = head.split(|byte| *byte == b' ').nth(1)?.get(..3)?;
    let status = std::str::from_utf8(digits).ok()?.parse().ok()?;
    run.record.statuses.contains_key(&status).then_some(status)
}

/// `3 lengths from 12 to 162 B in all`; where more were seen than are told apart, `more than 64 lengths, 64 of them from 1 to
/// 64 B`: the others may be shorter and longer.
fn lengths(run: &Run) -> String {
    let (known, has_others) = (&run.record.body_lengths, run.record.body_lengths_other > 0);
    let Some((least, most)) = known.keys().next().zip(known.keys().next_back()) else {
        return "lengths that were not told apart".to_owned();
    };
    let (count, range) = (known.len(), format!("from {} to {} B", grouped(*least), grouped(*most)));
    match has_others {
        true => format!("more than {count} lengths, {count} of them {range}"),
        false if least == most => format!("each {} B", grouped(*least)),
        false => format!("{count} lengths {range} in all"),
    }
}

fn on_report(report: &Report) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    let parts = report.failed_parts.filter(|parts| parts.length > 0)?;
    if lengths_are_too_many(report) {
        return None;
    }
    let others = parts.connect + parts.receive + parts.exceptions;
    let mut evidence = format!(
        "{} of {} ({}) had a body whose length differs from that of the first response.",
        grouped(parts.length),
        grouped(complete),
        percent((parts.length as f64 / complete as f64).min(1.0))
    );
    if others > 0 {
        evidence.push_str(&format!(
            " {} failures are of other kinds (connect, receive, exceptions), and ab may count one \
             request under several of them.",
            grouped(others)
        ));
    }
    let broken = parts.receive.max(parts.exceptions);
    let empty = super::d02_no_response::empty(report);
    let cause = if report.document == Some(Document::Bytes(0)) {
        match empty.filter(|empty| empty.first).map(|empty| empty.proven) {
            Some(true) => {
                "By the bytes the first request got no response (`Document Length: 0`), and ab holds all others \
                 against that: these are the whole ones."
            }
            _ => {
                "The first response had no body (`Document Length: 0`), or its request got none, and ab holds all \
                 others against that: these are those with a body."
            }
        }
    } else if let Some(empty) = empty {
        match empty.proven {
            true => {
                "By the bytes these had no response at all: ab takes that for a response of 0 bytes, which is another length \
                 than the first had."
            }
            false => {
                "By the bytes these had no body: no response, a part of a head, a response without a body, or no \
                 HTTP. ab counts each as another length."
            }
        }
    } else if others > 0 && parts.length <= broken {
        "No more than that broke off: ab holds what had come of such a response against the length of the first, so \
         that these may be the same."
    } else if others > 0 && parts.length.saturating_add(broken) + 1 >= complete {
        "All whole responses differ from the first to end, which then broke off: ab takes what \
         had come of it for the length that all should have."
    } else if parts.length + 1 >= complete {
        "All others differ from the first: it is the odd one out, or the page changes its length each time. The report does \
         not tell which."
    } else if others > 0 {
        "Responses that broke off have another length than the first; others may differ because \
         the page does."
    } else {
        by_the_bytes(report, complete, parts.length)
    };
    let fix = if others > 0 || empty_at_all(report) {
        "Find out first why connections broke (`curl -v`, the server's log): the lengths may \
         follow from that."
    } else {
        "If the page may change its length, run ab with -l; if not, look at two responses with \
         `curl -i` to see what differs."
    };
    let finding = Finding::new(D37, Severity::Note, evidence, cause, fix);
    // Neither these are the error pages, nor all but these.
    let pages = report.non_2xx.unwrap_or(0);
    let others_differ = pages < parts.length && parts.length.saturating_add(pages) < complete;
    Some(match others_differ {
        true => finding.not_explained_by(D04),
        false => finding,
    })
}

/// Some requests got nothing, as the bytes prove.
fn empty_at_all(report: &Report) -> bool {
    super::d02_no_response::empty(report).is_some()
}

/// A date or a counter changes a length by a few bytes: how far the others are from the first shows in the sum. So does
/// whether all may have been cut off, which makes a response shorter.
fn by_the_bytes(report: &Report, complete: u64, others: u64) -> &'static str {
    if report.non_2xx.is_some_and(|pages| pages > 0) {
        return "Some responses had a status other than 2xx, and an error page has a length of its own; a page that contains \
                a date, a counter or a token changes its length each time. The report does not tell which these are.";
    }
    let Some((first, each)) = mean_of_others(report, complete, others) else {
        return "A page that contains a date, a counter or a token changes its length each time, which is not a failure; \
                a response that was cut off has another length, too. The report does not tell which these are.";
    };
    if each < first * (1.0 - FAR) {
        "By the bytes they are on average much shorter than the first: a page that changes by so much, another page, or responses that \
         were cut off, that are empty or no HTTP. The report does not tell which."
    } else if each > first * (1.0 + FAR) {
        "By the bytes they are on average much longer than the first: a page that changes by so much, another page, or the first was cut \
         off. The report does not tell which."
    } else if each < first {
        "By the bytes they are a little shorter than the first on average: a page that contains a date, a counter or a \
         token, which is not a failure, or responses that were cut off. The report does not tell which."
    } else {
        "By the bytes they are as long as the first or a little longer on average, so that not all of them were cut \
         off, unless the first was: a page that contains a date, a counter or a token changes its length each time, \
         which is not a failure."
    }
}

/// The length of the first body, and the mean of those that differ from it, by the sum of all.
fn mean_of_others(report: &Report, complete: u64, others: u64) -> Option<(f64, f64)> {
    let Document::Bytes(first) = report.document? else { return None };
    let body = u64::try_from(report.body_bytes?).ok()?;
    let like_it = complete.checked_sub(others)?.checked_mul(first)?;
    Some((first as f64, body.saturating_sub(like_it) as f64 / others as f64))
}

#[cfg(test)]
mod tests_on_runs;

#[cfg(test)]
mod tests_on_reports {
    use super::*;
    use crate::printed::FailedParts;
    use crate::rules::sample;

    #[test]
    fn a_first_response_that_is_the_odd_one_is_named() {
        let with_length = |length| {
            let mut report = sample::ab();
            report.failed_parts = Some(FailedParts { length, ..FailedParts::default() });
            on_report(&report).map(|finding| finding.cause)
        };
        assert_eq!(with_length(0), None);
        let all = with_length(999_999).unwrap();
        assert!(all.contains("the odd one") && all.contains("or the page changes"), "{all}");
        assert!(with_length(4430).unwrap().contains("a date"));
    }

    /// The error pages may be those that differ, or all others where the first was one.
    #[test]
    fn a_few_error_pages_do_not_explain_many_lengths() {
        let explained = |length, pages| {
            let mut report = sample::ab();
            report.failed_parts = Some(FailedParts { length, ..FailedParts::default() });
            report.non_2xx = Some(pages);
            !on_report(&report).unwrap().not_explained_by.contains(&D04)
        };
        assert!(
            explained(20_000, 20_000) && explained(980_000, 20_000) && explained(10_000, 20_000)
        );
        assert!(!explained(970_000, 20_000) && !explained(20_001, 20_000));
    }

    /// 4,430 of 1,000,000, each so many bytes longer or shorter than the first's 1,000.
    #[test]
    fn a_page_with_a_date_is_said_as_far_as_the_bytes_show() {
        let cause = |each: i64, pages: u64| {
            let mut report = sample::ab();
            report.failed_parts = Some(FailedParts { length: 4430, ..FailedParts::default() });
            report.body_bytes = report.body_bytes.map(|bytes| bytes + 4430 * each);
            report.non_2xx = Some(pages);
            on_report(&report).unwrap().cause
        };
        let shorter = cause(-100, 0);
        assert!(shorter.contains("or responses that were cut off"), "{shorter}");
        let longer = cause(1, 0);
        assert!(longer.contains("not all of them were cut off"), "{longer}");
        for far in [cause(-900, 0), cause(900, 0)] {
            assert!(far.contains("a page that changes by so much"), "{far}");
        }
        let pages = cause(-100, 4430);
        assert!(pages.contains("an error page") && !pages.contains("not a failure"), "{pages}");
    }

    /// With -r: the first was reset before its response, and 537 of 1,000 in all.
    #[test]
    fn whole_responses_are_not_said_to_have_broken_off() {
        let mut report = sample::ab();
        report.document = Some(Document::Bytes(0));
        (report.complete, report.failed) = (Some(1000), Some(1536));
        report.failed_parts =
            Some(FailedParts { connect: 0, receive: 537, length: 462, exceptions: 537 });
        (report.total_bytes, report.body_bytes) = (Some(75_932), Some(46_300));
        let cause = on_report(&report).unwrap().cause;
        assert!(cause.contains("first") && !cause.contains("broke off"), "{cause}");
        // Without a response for the others, by the bytes.
        (report.failed, report.failed_parts) =
            (Some(463), Some(FailedParts { length: 463, ..FailedParts::default() }));
        let cause = on_report(&report).unwrap().cause;
        assert!(cause.contains("these are the whole ones"), "{cause}");
        report.document = Some(Document::Bytes(100));
        (report.complete, report.failed) = (Some(2000), Some(50));
        report.failed_parts = Some(FailedParts { length: 50, ..FailedParts::default() });
        (report.total_bytes, report.body_bytes) = (Some(319_964), Some(195_100));
        let cause = on_report(&report).unwrap().cause;
        assert!(cause.contains("no response at all"), "{cause}");
    }

    #[test]
    fn what_broke_off_is_no_page_with_a_date() {
        let cause = |length, broken| {
            let mut report = sample::ab();
            report.failed_parts =
                Some(FailedParts { connect: 0, receive: broken, length, exceptions: broken });
            on_report(&report).unwrap().cause
        };
        assert!(cause(200_000, 200_000).contains("broke off"));
        assert!(cause(799_999, 200_000).contains("the first to end, which then broke off"));
        assert!(!cause(300_000, 200_000).contains("a date"));
    }
}
