//! Printed reports of which a part is there: failures, without the number of all requests or without their kinds. Then no
//! share is known, and they are a doubt.

use super::SHARE;
use super::printed::failures;
use super::sockets::named;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::{Report, SocketErrors, Tool};
use crate::words::{counted, grouped, percent};

const FIX: &str = "Look at the whole report, which has the number of all requests, or measure again: `ablaze` counts failures by \
                   kind.";

/// Failures in a text that does not say how many requests there were.
pub(super) fn without_total(report: &Report) -> Option<Finding> {
    let (seen, cause) = match &report.socket_errors {
        Some(errors) => {
            let cause = of_sockets(report, errors)?;
            (format!("{} counted {}", report.tool.name(), named(errors)), cause)
        }
        None => match failures(report) {
            0 => return None,
            failed => (format!("{} failed", counted(failed, "request")), kinds(report)),
        },
    };
    let evidence = format!("{seen}; how many requests there were in all is not in the text.");
    Some(Finding::new(D02, Severity::Suspect, evidence, cause, FIX))
}

/// What the kinds of wrk's errors are; nothing, where there are none.
fn of_sockets(report: &Report, errors: &SocketErrors) -> Option<String> {
    let late = match report.is_of_ablaze() {
        true => "requests that had no whole response within --timeout",
        false => {
            "responses that took longer than --timeout (wrk 4), or how often a connection was found to wait that long (others)"
        }
    };
    let kinds = [
        (errors.connect, "connections that could not be opened"),
        (
            errors.read,
            "connections that were reset or closed before, within or right behind a response, or on which no HTTP came",
        ),
        (errors.write, "requests that could not be sent"),
        (errors.timeout, late),
    ];
    let some = kinds.iter().filter(|(count, _)| *count > 0).map(|(_, words)| *words);
    let some: Vec<&str> = some.collect();
    (!some.is_empty()).then(|| {
        format!(
            "These are {}. What share of the requests they concern does not show.",
            some.join("; ")
        )
    })
}

/// What failed requests are for the tool.
fn kinds(report: &Report) -> String {
    let what = match report.tool {
        tool if tool.is_ab_like() && report.failed_parts.is_none() => OF_AB,
        Tool::H2load => {
            "h2load counts requests without a whole response as failed, and 4xx and 5xx as well."
        }
        Tool::Siege => {
            "siege counts requests without a response as failed, and statuses of 5xx as well."
        }
        _ => "Why they failed is not in the text.",
    };
    format!("{what} What share of the requests they are does not show.")
}

const OF_AB: &str = "ab counts as failed a request that got no whole response, and a response of another length than the first: \
                     its line of kinds, `(Connect: …, Receive: …, Length: …, Exceptions: …)`, is not in the text.";

/// ab's failures without the line of their kinds.
pub(super) fn without_kinds(report: &Report, complete: u64) -> Option<Finding> {
    let failed = report.failed?;
    let share = failed as f64 / complete as f64;
    if !report.tool.is_ab_like() || report.failed_parts.is_some() || share <= SHARE {
        return None;
    }
    let evidence = match failed > complete {
        true => format!(
            "ab counts {} failures beside {}.",
            grouped(failed),
            counted(complete, "request")
        ),
        false => format!(
            "{} of {} ({}) failed.",
            grouped(failed),
            counted(complete, "request"),
            percent(share)
        ),
    };
    let fix = "Look at the line of kinds below `Failed requests` in the whole report, or measure again: `ablaze` counts \
               failures by kind.";
    Some(Finding::new(D02, Severity::Suspect, evidence, OF_AB, fix))
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{D02, D04};
    use crate::finding::{Severity, Verdict};
    use crate::printed::read;
    use crate::rules::judge;

    /// What `tail -3` and `grep` leave of real reports.
    #[test]
    fn failures_of_a_part_of_a_report_are_a_doubt() {
        let rate = "Requests/sec:  18823.31\nTransfer/sec:      1.20MB\n";
        for (text, id) in [
            (format!("  Non-2xx or 3xx responses: 37709\n{rate}"), D04),
            (format!("  Socket errors: connect 0, read 1014, write 0, timeout 0\n{rate}"), D02),
            (format!("  Socket errors: connect 0, read 0, write 0, timeout 7\n{rate}"), D02),
            ("Failed requests:        0\nNon-2xx responses:      500\nRequests per second:    1055.61 [#/sec] (mean)\n".to_owned(), D04),
            ("Failed requests:        12\nRequests per second:    1055.61 [#/sec] (mean)\n".to_owned(), D02),
            ("Complete requests:      7379\nFailed requests:        5535\nRequests per second:    3687.24 [#/sec] (mean)\n".to_owned(), D02),
        ] {
            let judged = judge(&read(&text)).reports.remove(0);
            assert_eq!(judged.verdict(), Verdict::Suspect, "{text}{:?}", judged.findings);
            assert_eq!(judged.findings[0].id, id, "{text}");
        }
        let none = format!("  Socket errors: connect 0, read 0, write 0, timeout 0\n{rate}");
        assert_eq!(judge(&read(&none)).reports[0].verdict(), Verdict::Valid);
        let few = "Complete requests:      7379\nFailed requests:        5\nRequests per second:    3687.24 [#/sec] (mean)\n";
        assert_eq!(judge(&read(few)).reports[0].verdict(), Verdict::Valid);
    }

    /// Length × rate is the number of all.
    #[test]
    fn a_share_that_the_figures_prove_is_named() {
        let text = "Time taken for tests:   0.474 seconds\nNon-2xx responses:      500\n\
                    Requests per second:    1055.61 [#/sec] (mean)\n";
        let found = &judge(&read(text)).reports[0].findings[0];
        assert_eq!((found.id, found.severity), (D04, Severity::Invalid), "{found:?}");
        assert!(found.evidence.contains("about 500"), "{found:?}");
    }
}
