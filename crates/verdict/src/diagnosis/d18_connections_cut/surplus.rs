//! Bytes behind a response that belong to none: the client closes the connection, because nothing tells a next response apart
//! from them.

use ablaze_model::Run;

use super::{REPEATED, were, were_connections};
use crate::DiagnosisId::D18;
use crate::diagnosis::d04_error_pages;
use crate::diagnosis::d19_keep_alive_refused;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent};

/// What such a response is, is not kept: servers that close a connection may say so by 408 (Request Timeout), by 503 or otherwise.
const UNASKED: &str = "The server sends more responses than it was asked for: it responds twice, or says with one to no request that \
                       it closes the connection (a 408, or another status). Which of these was not recorded. One that comes while \
                       the next request is under way is taken for its response, as nothing tells them apart: such responses and \
                       their times may be among the figures.";
pub(in crate::diagnosis) const FIX_OF_UNASKED: &str = "See in the server's log whether it ends connections by a response to no request, such as a 408 or a 503: then have it \
     say `Connection: close` in the last response instead. Otherwise look at a whole response with `curl -i` and the URL, and \
     find what responds twice in the server.";

/// Connections that the client closed, because bytes came behind a response that belong to none.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let idle_timeouts = record.circumstances.idle_timeouts;
    let surplus = record.surplus.saturating_sub(idle_timeouts);
    let share = surplus as f64 / record.responses as f64;
    // Where no connection was left open, D19 has the same to say.
    if record.responses == 0 || record.reused == 0 {
        return None;
    }
    if surplus == 0 {
        return (idle_timeouts > 0).then(|| idle_timeout(run, idle_timeouts));
    }
    let again = match record.repeated_after_surplus {
        0 => String::new(),
        count => format!(" {} sent again because of it.", were(count)),
    };
    let are_responses = record.surplus_responses == record.surplus;
    let beside = match idle_timeouts {
        0 => String::new(),
        count => format!(
            " {} closed with 408 (Request Timeout) while idle.",
            counted(count, "other connection") + if count == 1 { " was" } else { " were" }
        ),
    };
    let bodiless = d19_keep_alive_refused::bodiless(run);
    let (what, cause, fix) = match (are_responses, &bodiless) {
        (true, _) => ("another response that nobody had asked for", UNASKED, FIX_OF_UNASKED),
        (false, Some((cause, fix))) => ("bytes that belong to none", cause.as_str(), fix.as_str()),
        (false, None) if is_chunked(run) => (
            "bytes that belong to none",
            "The server sends more bytes behind the last chunk of these responses: a next response could not be told \
             apart from them.",
            FIX_OF_CHUNKED,
        ),
        (false, None) => (
            "bytes that belong to none",
            "The server sends more bytes than these responses have: a next response could not be told apart from them.",
            "Compare the body in `curl -i` and the URL with its Content-Length, and have the server announce the length \
             that it sends.",
        ),
    };
    Some(Finding::new(
        D18,
        if share > REPEATED { Severity::Suspect } else { Severity::Note },
        format!(
            "After {} of {} ({}) came {what}, and the client closed the connection; {} opened.{again}{beside}",
            grouped(surplus),
            counted(record.responses, "response"),
            percent(share),
            were_connections(record.connections_opened)
        ),
        cause,
        fix,
    ))
}

/// What to do about bytes behind a chunked body.
pub(in crate::diagnosis) const FIX_OF_CHUNKED: &str = "Look at a whole response with `curl --raw -i` and the URL, and have \
                                                       the server send nothing behind the last chunk and its empty line.";

/// Whether the first response says that its body is chunked; responses to other requests may differ.
pub(in crate::diagnosis) fn is_chunked(run: &Run) -> bool {
    let head = String::from_utf8_lossy(&run.record.first_head).to_ascii_lowercase();
    head.lines().any(|line| {
        let (name, value) = line.split_once(':').unwrap_or_default();
        name == "transfer-encoding" && value.split(',').any(|coding| coding.trim() == "chunked")
    })
}

/// Connections on which the server said 408 (RFC 9110, 15.5.9) while no request was under way.
fn idle_timeout(run: &Run, count: u64) -> Finding {
    let record = &run.record;
    let again = match record.repeated_after_surplus {
        0 => String::new(),
        count => format!(" {} sent again because of it.", were(count)),
    };
    Finding::new(
        D18,
        Severity::Note,
        format!(
            "On {} with no request under way the server sent a 408 (Request Timeout); {} opened for \
             {}.{again}",
            counted(count, "connection"),
            were_connections(record.connections_opened),
            counted(record.responses, "response")
        ),
        "The server closes idle connections and says so with a 408: opening new ones is part of the times. A 408 that comes \
         as the next request leaves is taken for its response.",
        d04_error_pages::fix_of_idle(run) + ".",
    )
}

#[cfg(test)]
mod tests {
    use super::found as on_run;
    use super::*;
    use crate::live::sample;

    #[test]
    fn what_the_client_closed_for_surplus_bytes_the_server_did_not_close() {
        let mut run = sample::run();
        (run.record.reused, run.record.connections_opened) = (18_000, 2_100);
        (run.record.surplus, run.record.repeated, run.record.repeated_after_surplus) =
            (2_000, 300, 300);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        let said = format!("{} {} {}", finding.evidence, finding.cause, finding.fix);
        assert!(said.starts_with("After 2,000 of 20,000 responses (10 %) came bytes"), "{said}");
        assert!(said.contains("300 requests were sent again because of it"), "{said}");
        assert!(!said.contains("server closes") && !said.contains("closed their"), "{said}");
    }

    /// No length may be announced where no body may be.
    #[test]
    fn bytes_behind_a_204_are_no_matter_of_its_length() {
        let mut run = sample::run();
        (run.record.reused, run.record.connections_opened, run.record.surplus) =
            (18_000, 2_100, 2_000);
        run.record.statuses = [(204, 20_000)].into();
        let finding = on_run(&run).unwrap();
        assert!(finding.cause.contains("permits no body"), "{finding:?}");
        assert!(!finding.fix.contains("Content-Length"), "{finding:?}");
    }

    #[test]
    fn whole_responses_that_nobody_asked_for_are_no_fault_of_the_length() {
        let mut run = sample::run();
        (run.record.reused, run.record.connections_opened) = (18_000, 2_100);
        (run.record.surplus, run.record.surplus_responses) = (2_000, 2_000);
        let finding = on_run(&run).unwrap();
        let said = format!("{} {} {}", finding.evidence, finding.cause, finding.fix);
        assert!(said.contains("responds twice") && !said.contains("Content-Length"), "{said}");
        // What they were is not known: a 408 as the server closes the connection is nothing that responds twice.
        assert!(said.contains("it closes the connection (a 408, or another status)"), "{said}");
        run.record.surplus_responses = 1_000;
        assert!(on_run(&run).unwrap().fix.contains("Content-Length"));
        // Of chunked responses no length is at fault.
        run.record.first_head =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n".to_vec();
        let finding = on_run(&run).unwrap();
        let said = format!("{} {}", finding.cause, finding.fix);
        assert!(said.contains("last chunk") && !said.contains("Content-Length"), "{said}");
    }

    #[test]
    fn a_408_on_an_idle_connection_is_the_server_s_timeout() {
        let mut run = sample::run();
        (run.record.connections_opened, run.record.surplus) = (2_100, 2_000);
        run.record.surplus_responses = 2_000;
        run.record.circumstances.idle_timeouts = 2_000;
        let finding = on_run(&run).unwrap();
        let said = format!("{} {} {}", finding.evidence, finding.cause, finding.fix);
        assert_eq!(finding.severity, Severity::Note);
        assert!(said.starts_with("On 2,000 connections with no request under way"), "{said}");
        assert!(said.contains("closes idle connections") && !said.contains("twice"), "{said}");
        // Others were no timeouts.
        run.record.circumstances.idle_timeouts = 1_500;
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("After 500 of 20,000"), "{finding:?}");
        assert!(finding.evidence.ends_with(
            "1,500 other connections were closed with 408 (Request Timeout) while idle."
        ));
        assert!(finding.cause.contains("more responses than it was asked for"), "{finding:?}");
    }
}
