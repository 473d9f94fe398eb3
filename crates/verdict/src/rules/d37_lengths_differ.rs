//! D37: answers of another length than the first, which ab counts as failed.

use crate::DiagnosisId::D37;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{grouped, percent};

pub fn check(report: &Report) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    let parts = report.failed_parts.filter(|parts| parts.length > 0)?;
    let others = parts.connect + parts.receive + parts.exceptions;
    let mut evidence = format!(
        "{} of {} ({}) had a body of another length than the first answer.",
        grouped(parts.length),
        grouped(complete),
        percent(parts.length as f64 / complete as f64)
    );
    if others > 0 {
        evidence.push_str(&format!(
            " {} failures are of other kinds (connect, receive, exceptions), and ab may count one \
             request as several of them.",
            grouped(others)
        ));
    }
    let cause = if parts.length + 1 >= complete {
        "The first answer is the odd one: all others differ from it."
    } else {
        "ab takes the first answer's length for the right one. A page with a date, a counter or a token \
         in it has another length each time and is no failure."
    };
    Some(Finding::new(
        D37,
        Severity::Note,
        evidence,
        cause,
        "If the page may change its length, give ab -l; if not, look at two answers with `curl -i` and see what differs.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::FailedParts;
    use crate::rules::sample;

    #[test]
    fn a_first_answer_that_is_the_odd_one_is_named() {
        let with_length = |length| {
            let mut report = sample::ab();
            report.failed_parts = Some(FailedParts { length, ..FailedParts::default() });
            check(&report).map(|finding| finding.cause)
        };
        assert_eq!(with_length(0), None);
        assert!(with_length(999_999).unwrap().contains("the odd one"));
        assert!(with_length(4430).unwrap().contains("a date"));
    }
}
