//! Printed reports in which not one request got a response.

use super::h2load::{timed_out, unsent, with_status, without_connection};
use super::printed::{CURL, failures};
use super::words;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::{Report, Tool};
use crate::rules::own_limits;
use crate::words::{counted, grouped};

const ENDED: &str = "Connections or streams ended before h2load took these for complete: within a body, or the server marks the \
                     end of a body by closing, which h2load does not take for an end.";
const ENDED_OF_HTTP1: &str = "Connections ended before h2load took these for complete: within a body, or the server marks the end of \
                              a body by closing, which h2load does not take for an end.";

/// What is said of such a report; nothing, where every request failed by a limit of the client.
pub fn none_at_all(report: &Report) -> Option<Finding> {
    if failures(report) == 0 && own_limits::proven(report) > 0 {
        return None;
    }
    let came = report.total_bytes.filter(|bytes| *bytes > 0).map(i64::unsigned_abs);
    if report.tool == Tool::Siege {
        let failed = grouped(failures(report));
        let evidence =
            format!("No request was successful; {failed} failed{}.", words::quoted(report));
        let cause = match failures(report) {
            0 if words::quoted(report).is_empty() => {
                "No request was over, it seems: the run ended before the first response.".to_owned()
            }
            _ => words::cause_of_siege(report),
        };
        return Some(Finding::new(D02, Severity::Invalid, evidence, cause, CURL));
    }
    // Bodies beside nothing in the measured time: h2load adds those up from the start.
    let bodies = report.body_bytes.filter(|_| report.tool == Tool::H2load).unwrap_or(0);
    let in_warm_up = u64::try_from(bodies).unwrap_or(0);
    let told = report.failed.is_some() || report.write_errors.is_some();
    let (evidence, cause) = match (failures(report), came) {
        (0, _) if !told => (
            "No request got a response.".to_owned(),
            "Nothing listens there, or whatever does sent no HTTP response, or the run ended before the first; \
             how many failed is not there to be read.",
        ),
        (0, Some(bytes)) => (
            format!(
                "No request was complete when the run ended, though {} came back.",
                counted(bytes, "byte")
            ),
            "What came back was no whole response: it was not over when the run was, or the target speaks another \
             protocol, or another version of HTTP than the client.",
        ),
        (0, None) if in_warm_up > 0 => (
            format!(
                "No request was complete in the time that was measured; {} of bodies came before it.",
                counted(in_warm_up, "byte")
            ),
            "h2load counts the bytes of responses in its warm-up, and not the requests. Behind the warm-up none was complete: \
             the server had ended the connections, as one does that has a limit of requests for each, which h2load counts \
             nowhere in a run by time; or it did not respond in that time.",
        ),
        (0, None) => (
            "No request was complete when the run ended.".to_owned(),
            match report.tool {
                Tool::H2load => {
                    "The run ended before the first response was complete: by its limit of time, by hand, or because no \
                     connection came about or the server ended them, which h2load counts nowhere in a run by time."
                }
                _ => {
                    "The run was ended, by its limit of time or by hand, before the first response was \
                     complete."
                }
            },
        ),
        (failed, _) if with_status(report) > 0 => (
            format!(
                "No request got a whole response; {} failed, though {} began, with a status.",
                grouped(failed),
                counted(with_status(report), "response")
            ),
            match report.speaks_http1() {
                true => ENDED_OF_HTTP1,
                false => ENDED,
            },
        ),
        (failed, Some(bytes)) if report.tool == Tool::H2load && report.speaks_http1() => (
            came_back(failed, bytes),
            "What came back was no whole response: connections ended before one, or the server speaks another version of \
             HTTP, or another protocol.",
        ),
        (failed, Some(bytes)) if report.tool == Tool::H2load => (
            came_back(failed, bytes),
            "What came back was no whole response: streams were reset or connections ended before one, or the server speaks \
             another version of HTTP, or another protocol (h2load without --h1 speaks HTTP/2).",
        ),
        (failed, Some(bytes)) => (
            came_back(failed, bytes),
            "What came back was no response to the client: the target speaks another protocol, or \
             another version of HTTP than the client.",
        ),
        (failed, None) if timed_out(report) => (
            format!("No request got a response; {} failed{}.", grouped(failed), unsent(report)),
            "Connections were opened, and each request that was sent on one timed out: the server accepted them, or \
             its system did, and no response came in time.",
        ),
        (failed, None) if report.tool == Tool::H2load && report.connect.is_some() => (
            format!("No request got a response; {} failed{}.", grouped(failed), unsent(report)),
            "Connections were opened, and ended without a response: they were closed or reset, or what came back \
             was no HTTP response.",
        ),
        (failed, None) if !report.errors.is_empty() => (
            format!(
                "No request got a response; {} failed{}.",
                grouped(failed),
                words::quoted(report)
            ),
            words::CAUSE,
        ),
        (failed, None) => (
            format!("No request got a response; {} failed{}.", grouped(failed), unsent(report)),
            match report.tls {
                true => {
                    "Nothing listens there, or the TLS handshake failed, as where a server speaks plain HTTP on this port, or \
                     whatever listens sent no HTTP response, or not in time."
                }
                false => {
                    "Nothing listens there, or whatever does sent no HTTP response, or not in time."
                }
            },
        ),
    };
    let (cause, fix) = words::without_address(report).unwrap_or((cause, CURL));
    let (cause, fix) = without_connection(report).unwrap_or((cause, fix));
    let (cause, fix) = words::without_name(report).unwrap_or((cause.to_owned(), fix));
    Some(Finding::new(D02, Severity::Invalid, evidence, cause, fix))
}

fn came_back(failed: u64, bytes: u64) -> String {
    format!(
        "No request got a response; {} failed, though {} came back.",
        grouped(failed),
        counted(bytes, "byte")
    )
}
/// oha counts with its requests what was under way at the end. Where that is all, nothing had come.
pub fn until_the_end(report: &Report, complete: u64) -> Option<Finding> {
    let responses = report.statuses.values().copied().fold(0, u64::saturating_add);
    let others = failures(report) > 0 || own_limits::proven(report) > 0;
    if report.tool != Tool::Oha || responses > 0 || others {
        return None;
    }
    let evidence = format!(
        "{} had no response when the time was up (`aborted due to deadline`), and none had one before.",
        counted(complete, "request")
    );
    let cause = "The target did not respond within the run.";
    Some(Finding::new(D02, Severity::Invalid, evidence, cause, CURL))
}

#[cfg(test)]
mod tests_of_oha {
    use super::super::printed::on_report;
    use crate::finding::Severity;
    use crate::printed::read;

    #[test]
    fn requests_that_were_all_ended_at_the_deadline_got_no_response() {
        let with = |responses: u64| {
            let text = format!(
                "$ oha --no-tui -z 10s -c 20 http://10.0.0.5:8080/\nSummary:\n  Success rate:\t100.00%\n  Total:\t10.0000 sec\n  \
                 Slowest:\t0.0554 sec\n  Fastest:\t0.0006 sec\n  Average:\t0.0020 sec\n  Requests/sec:\t{}.0000\n\n\
                 Status code distribution:\n  [200] {responses} responses\n\nError distribution:\n  [20] aborted due to deadline\n",
                (responses + 20) / 10
            );
            on_report(&read(&text).reports[0])
        };
        assert_eq!(with(0).unwrap().severity, Severity::Invalid);
        assert_eq!(with(6000), None);
    }
}

#[cfg(test)]
mod tests_of_h2load {
    use crate::printed::read;

    /// A server with a limit of 150 requests for each connection, which a warm-up used up.
    #[test]
    fn responses_of_a_warm_up_are_told() {
        let text = "$ h2load -D 1 --warm-up-time 1 -c 4 -m 5 https://10.0.0.5/\nfinished in 2.01s, 0.00 req/s, 0B/s\n\
                    requests: 0 total, 0 started, 0 done, 0 succeeded, 0 failed, 0 errored, 0 timeout\n\
                    status codes: 0 2xx, 0 3xx, 0 4xx, 0 5xx\n\
                    traffic: 0B (0) total, 28.13KB (28800) headers (space savings 51.02%), 3.52KB (3600) data\n";
        let finding = super::none_at_all(&read(text).reports[0]).unwrap();
        assert!(
            finding.evidence.contains("3,600 bytes of bodies came before"),
            "{}",
            finding.evidence
        );
        assert!(!finding.cause.contains("before the first response"), "{}", finding.cause);
    }
}
