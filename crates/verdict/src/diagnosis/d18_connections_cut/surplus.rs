//! Bytes behind a response that belong to none: the client closes the connection, because nothing tells a next response apart
//! from them.

use ablaze_model::Run;

use super::{REPEATED, were};
use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent};

/// Connections that the client closed, because bytes came behind a response that belong to none.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let share = record.surplus as f64 / record.responses as f64;
    // Where no connection was left open, D19 has the same to say.
    if record.surplus == 0 || record.responses == 0 || record.reused == 0 {
        return None;
    }
    let again = match record.repeated_after_surplus {
        0 => String::new(),
        count => format!(" {} sent again because of it.", were(count)),
    };
    let are_responses = record.surplus_responses == record.surplus;
    let (what, cause, fix) = match are_responses {
        true => (
            "another response that nobody had asked for",
            "The server sends more responses than it was asked for. One that comes while the next request is under way is \
             taken for its response, as nothing tells them apart: such responses and their times may be among the figures.",
            "Look at a whole response with `curl -i` and the URL, and find what responds twice in the server.",
        ),
        false => (
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
            "After {} of {} ({}) came {what}, and the client closed the connection; {} connections were opened.{again}",
            grouped(record.surplus),
            counted(record.responses, "response"),
            percent(share),
            grouped(record.connections_opened)
        ),
        cause,
        fix,
    ))
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

    #[test]
    fn whole_responses_that_nobody_asked_for_are_no_fault_of_the_length() {
        let mut run = sample::run();
        (run.record.reused, run.record.connections_opened) = (18_000, 2_100);
        (run.record.surplus, run.record.surplus_responses) = (2_000, 2_000);
        let finding = on_run(&run).unwrap();
        let said = format!("{} {} {}", finding.evidence, finding.cause, finding.fix);
        assert!(said.contains("responds twice") && !said.contains("Content-Length"), "{said}");
        run.record.surplus_responses = 1_000;
        assert!(on_run(&run).unwrap().fix.contains("Content-Length"));
    }
}
