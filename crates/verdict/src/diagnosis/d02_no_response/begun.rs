//! Nothing failed and nothing was complete: requests to which no byte came, or responses that still went on at the end
//! of the run, which those of a stream always do.

use ablaze_model::Run;

use super::stopped::{self, STOPPED};
use super::windows;
use super::{opening, queued, through};
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::figures::elapsed_s;
use crate::live::options::{Opt, spelled};
use crate::live::request_shown;
use crate::words::{counted, decimal, grouped};

/// Why an event stream is never complete (HTML standard, section 9.2).
pub(super) const STREAM: &str = "The responses are event streams (`Content-Type: text/event-stream`): the server sends \
                                 events until the connection is closed. Such a response has no end, and so no \
                                 response time.";

/// What to do about one.
pub(super) fn fix_of_stream(run: &Run) -> String {
    format!(
        "{} shows the events. Measure requests whose responses end; ablaze times whole responses, not single events.",
        request_shown(run, "-N")
    )
}

/// No request was over when the run was.
pub(super) fn still_waiting(run: &Run) -> Finding {
    let record = &run.record;
    let begun = record.stopped.begun;
    let elapsed = decimal(elapsed_s(run), 2);
    if begun == 0 {
        let mut evidence = format!(
            "No request got a response in {elapsed} s; {} at the end.{}",
            match record.unfinished {
                1 => "one was still waiting".to_owned(),
                waiting => format!("{} were still waiting", grouped(waiting)),
            },
            opening::waited_for(run)
        );
        if stopped::is_why(run, elapsed_s(run), &mut evidence) {
            return Finding::new(D02, Severity::Invalid, evidence, STOPPED.0, STOPPED.1);
        }
        if windows::are_why(run, &mut evidence) {
            return Finding::new(D02, Severity::Invalid, evidence, windows::CAUSE, windows::FIX);
        }
        if let Some(queued) = queued::mostly_queued(run, record.unfinished) {
            let evidence = format!("{evidence} {}", queued.evidence);
            return Finding::new(D02, Severity::Invalid, evidence, queued.cause, queued.fix);
        }
        let interim = record.circumstances.interim_unfinished;
        if interim > 0 {
            let evidence = format!(
                "{evidence} For {} of them only interim responses (1xx) had come.",
                grouped(interim)
            );
            let cause = "The server sent interim responses (1xx), and no final one in that time: it stopped, or its final \
                         responses take longer than the run.";
            let cause = through::of_both(run, cause.to_owned());
            return Finding::new(D02, Severity::Invalid, evidence, cause, super::fix(run));
        }
        // Without TLS and frames all that comes over HTTP/1 is of responses.
        let bare =
            run.plan.tls.is_none() && run.plan.streams().is_none() && run.record.proxy.is_none();
        if bare && record.received_bytes > 0 {
            let came = counted(record.received_bytes, "byte");
            let evidence =
                format!("{evidence} {came} had come, and no whole head of a final response.");
            let cause = "The server sent something else than a response in that time: interim responses (1xx), or the \
                         beginning of a head.";
            return Finding::new(D02, Severity::Invalid, evidence, cause, super::fix(run));
        }
        let unsent = record.circumstances.unsent_unfinished;
        if unsent > 0 {
            let evidence =
                format!("{evidence} {} of them had not been sent whole.", grouped(unsent));
            let cause = "The server accepts connections and does not take all bytes of these requests, or not within the run.";
            return Finding::new(D02, Severity::Invalid, evidence, cause, super::fix(run));
        }
        if is_unopened(run) {
            let cause = "No connection had opened when the run ended: nobody has that address, packets are dropped on the way, or \
                         the server's accept queue was full.";
            let fix = super::opening::fix(run, 0);
            return Finding::new(D02, Severity::Invalid, evidence, cause, fix);
        }
        if let Some(cause) = opening::why_none_was_sent(run) {
            let fix = opening::fix(run, 0);
            return Finding::new(D02, Severity::Invalid, evidence, cause, fix);
        }
        // A head is kept from the warm-up on.
        let cause = match record.first_head.is_empty() {
            false => {
                "The server had responded before the measured time, and did not within it: it stopped, or its responses take \
                 longer than the run."
            }
            true => {
                "Connections open, and the server does not respond, or its responses take longer than the run."
            }
        };
        let cause = through::of_both(run, cause.to_owned());
        return Finding::new(D02, Severity::Invalid, evidence, cause, super::fix(run));
    }
    let evidence = format!(
        "No response was complete after {elapsed} s; {} had begun and not ended, with {} of bodies so far{}.",
        grouped(begun),
        counted(record.body_bytes, "byte"),
        of_others(run)
    );
    let longer =
        format!("Measure for longer ({}), if they end at all.", spelled(run, Opt::Duration));
    let (cause, fix) = match record.stopped.begun_without_length == begun {
        true if run.record.is_event_stream() => (STREAM, fix_of_stream(run)),
        true => (
            "Their heads announce no length: these responses are streams that do not end, or they take longer than \
             the run.",
            format!(
                "{} shows what comes, and whether it ends; if it does, measure for longer ({}).",
                request_shown(run, "-N"),
                spelled(run, Opt::Duration)
            ),
        ),
        false => ("The responses take longer than the run, or do not end.", longer),
    };
    Finding::new(D02, Severity::Invalid, evidence, cause, fix)
}

/// `, and 2 requests had got no byte`, beside those whose responses had begun.
fn of_others(run: &Run) -> String {
    let record = &run.record;
    let interim = record.circumstances.interim_unfinished;
    let silent = record.unfinished.saturating_sub(record.stopped.begun + interim);
    let parts = [(interim, "had got only interim responses (1xx)"), (silent, "had got no byte")];
    let parts = parts.into_iter().filter(|(requests, _)| *requests > 0);
    parts.map(|(requests, what)| format!(", and {} {what}", counted(requests, "request"))).collect()
}

/// Whether no connection of any kind stood.
pub fn is_unopened(run: &Run) -> bool {
    let record = &run.record;
    let below_tls = record.tls.as_ref().is_some_and(|facts| facts.connected > 0);
    let to_proxy = record.proxy.as_ref().is_some_and(|facts| facts.connected > 0);
    record.connections_opened == 0
        && record.setup_connect.count() == 0
        && record.first_head.is_empty()
        && !below_tls
        && !to_proxy
        && run.plan.http3.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{judge, sample};
    use ablaze_model::FailureKind;
    use ablaze_model::record::Record;

    #[test]
    fn what_came_before_a_head_is_no_silence() {
        let mut run = sample::run();
        run.record = Record::new();
        run.record.unfinished = 5;
        assert!(still_waiting(&run).cause.starts_with("No connection had opened"));
        run.record.connections_opened = 5;
        assert!(still_waiting(&run).cause.contains("does not respond"));
        run.record.received_bytes = 2_500;
        let found = still_waiting(&run);
        assert!(found.evidence.contains("2,500 bytes had come, and no whole head"), "{found:?}");
        assert!(
            found.cause.contains("1xx") && !found.cause.contains("does not respond"),
            "{found:?}"
        );
    }

    fn with_begun(head: &str, begun: u64, without_length: u64) -> Run {
        let mut run = sample::run();
        run.record = Record::new();
        run.record.first_head = head.as_bytes().to_vec();
        (run.record.unfinished, run.record.body_bytes) = (5, 900);
        run.record.connections_opened = 5;
        (run.record.stopped.begun, run.record.stopped.begun_without_length) =
            (begun, without_length);
        run
    }

    #[test]
    fn responses_that_went_on_are_no_silence() {
        let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        for (head, begun, without_length, says) in [
            (events, 5, 5, "are event streams"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 5, 5, "announce no length"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n",
                5,
                0,
                "take longer than the run, or do not end.",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                3,
                3,
                "2 requests had got no byte",
            ),
        ] {
            let found = still_waiting(&with_begun(head, begun, without_length));
            let said = format!("{} {}", found.evidence, found.cause);
            assert!(said.contains(says), "{said}");
            assert!(
                said.contains(&format!("{begun} had begun and not ended, with 900 bytes")),
                "{said}"
            );
            assert!(!said.contains("does not respond"), "{said}");
        }
        let stopped = still_waiting(&with_begun(events, 0, 0)).cause;
        assert!(stopped.starts_with("The server had responded before"), "{stopped}");
        let silent = still_waiting(&with_begun("", 0, 0));
        assert!(silent.cause.contains("does not respond"), "{silent:?}");
    }

    #[test]
    fn interim_responses_are_told_from_responses_that_began() {
        let with = |begun, interim| {
            let mut run = with_begun("", begun, 0);
            run.record.circumstances.interim_unfinished = interim;
            let found = still_waiting(&run);
            format!("{} {}", found.evidence, found.cause)
        };
        let all = with(0, 5);
        assert!(all.contains("For 5 of them only interim responses (1xx) had come."), "{all}");
        assert!(all.contains("no final one") && !all.contains("does not respond"), "{all}");
        let some = with(2, 1);
        let said =
            "and 1 request had got only interim responses (1xx), and 2 requests had got no byte.";
        assert!(some.contains("2 had begun and not ended") && some.contains(said), "{some}");
    }

    /// What was seen of the process is the cause; what the kernel took meanwhile is no sign of a slow server.
    #[test]
    fn a_stopped_process_is_named_instead_of_the_server_s_slowness() {
        let mut run = with_begun("", 0, 0);
        run.monitor = sample::run().monitor;
        let process = &mut sample::monitor(&mut run).target.processes[0];
        (process.readings, process.stopped_readings) = (20, 19);
        for failed in [0, 40] {
            run.record.failures[FailureKind::Timeout as usize] = failed;
            let findings = judge(&run).findings;
            let found = findings.iter().find(|finding| finding.id == D02).expect("D02");
            assert!(
                found.evidence.contains("was stopped (state T or t in /proc) in 19 of the 20"),
                "{found:?}"
            );
            let said = format!("{} {}", found.cause, found.fix);
            assert!(said.contains("kill -CONT") && !said.contains("network"), "{said}");
            assert!(!said.contains("longer than"), "{said}");
        }
    }
}
