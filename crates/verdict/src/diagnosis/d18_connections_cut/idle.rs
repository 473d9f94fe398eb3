//! Requests that failed because the server had ended the reused connection that they were sent on, and that may not be
//! sent again; and connections that it ended while nothing was on them.

use ablaze_model::Run;
use ablaze_model::record::IdleTimes;

use super::super::d02_no_response;
use super::repeated::failed_on_new;
use super::{REPEATED, were_connections};
use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent, time};

/// From this share of the requests on the rate is no rate of responses.
const MOST: f64 = 0.5;
/// Their share of the new connections is this part of the share on reused ones, or more: reuse is not why.
const AS_OFTEN: f64 = 0.5;
/// A connection that had been idle for this part of the time after which others were closed may have been closed too.
const NEAR: f64 = 0.8;

/// Of requests that failed because their reused connection was closed, and of those because it was reset, how many are
/// told here. `None` where the server ends new connections as often, or responds to nobody any more.
pub(in crate::diagnosis) fn failed(run: &Run) -> Option<(u64, u64)> {
    let record = &run.record;
    let ended = record.ended_idle;
    let elsewhere = failed_on_new(run);
    let opened = record.connections_opened.max(1);
    let on_reused = record.finished().saturating_sub(opened).max(1);
    let of_new = elsewhere as f64 / opened as f64;
    let of_reused = ended.failed.count as f64 / on_reused as f64;
    let by_reuse = ended.failed.count > 0 && of_new < AS_OFTEN * of_reused;
    (by_reuse && d02_no_response::gone(run).is_none())
        .then(|| (ended.failed.count.saturating_sub(ended.failed_by_reset), ended.failed_by_reset))
}

/// Those that failed; or, where none did, those that ended with nothing on them.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let Some((closed, reset)) = failed(run) else { return unused(run) };
    let count = closed + reset;
    let share = count as f64 / record.finished() as f64;
    let severity = match share {
        share if share >= MOST => Severity::Invalid,
        share if share > REPEATED => Severity::Suspect,
        _ => Severity::Note,
    };
    let ended = match (closed, reset) {
        (_, 0) => "closed".to_owned(),
        (0, _) => "reset".to_owned(),
        _ => format!("closed ({}) or reset ({})", grouped(closed), grouped(reset)),
    };
    let evidence = format!(
        "{} of {} ({}) failed because the server, or something in front of it, {ended} the reused connection before \
         responding{}; {}. {} opened for {}.",
        grouped(count),
        counted(record.finished(), "request"),
        percent(share),
        of_failed(run),
        why_not_again(run),
        were_connections(record.connections_opened),
        counted(record.responses, "response")
    );
    let (cause, fix) = why(run);
    Some(Finding::new(D18, severity, evidence, cause, fix))
}

/// Connections that the server ended with nothing on them: no request was lost, and new ones had to be opened.
fn unused(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let unused = record.ended_idle.unused;
    if unused.count as f64 <= REPEATED * record.responses as f64 || record.responses == 0 {
        return None;
    }
    let at_once = unused.longest_ns == 0;
    // Over TLS `close_notify` is the end of such a response, and nothing is under way when the connection ends behind it.
    let is_known = run.plan.tls.is_some() && !run.record.first_head.is_empty();
    if at_once && is_known && d02_no_response::without_end(run) {
        return Some(ends_responses(run));
    }
    let (when, cause) = match at_once {
        true => (
            " as soon as the response before was complete".to_owned(),
            "The server closes connections behind responses that do not announce it (`Connection: close`): opening new \
             ones is part of the times.",
        ),
        false => (
            of_idle(unused),
            "The server closes idle connections: opening new ones is part of the times.",
        ),
    };
    let fix = if at_once { at_once_fix(run) } else { fix(run) };
    Some(Finding::new(
        D18,
        Severity::Note,
        format!(
            "The server ended {} on which no request was under way{when}; {} opened for {}.",
            counted(unused.count, "connection"),
            were_connections(record.connections_opened),
            counted(record.responses, "response")
        ),
        cause,
        fix,
    ))
}

/// Connections whose end is that of their response: nothing else would show it.
fn ends_responses(run: &Run) -> Finding {
    let record = &run.record;
    let evidence = format!(
        "The server ended {} behind their response, and the first response has neither `Content-Length` nor `Transfer-Encoding`: such \
         a one ends with its connection. {} opened for {}.",
        counted(record.ended_idle.unused.count, "connection"),
        were_connections(record.connections_opened),
        counted(record.responses, "response")
    );
    let cause = "If the other responses are like it, the end of the connection is that of the response, and opening new ones is part of \
                 the times.";
    let fix = "Have the server send the length of its responses, or use `Transfer-Encoding: chunked`, so that connections can be \
               reused.";
    Finding::new(D18, Severity::Note, evidence, cause, fix)
}

fn why(run: &Run) -> (String, String) {
    let ended = run.record.ended_idle;
    // One that was idle for long among many that were not shows nothing of the others.
    let near = ended.failed.shortest_ns as f64 >= NEAR * ended.unused.shortest_ns as f64;
    if ended.unused.longest_ns > 0 && near {
        let cause = format!(
            "The server closes idle connections: it ended {} while no request was under way{}. These requests were \
             sent as it did.",
            counted(ended.unused.count, "connection"),
            of_idle(ended.unused)
        );
        return (cause, fix(run));
    }
    if run.plan.load.pipeline() > 1 {
        let cause = "These connections ended without an announcement (`Connection: close`) while requests were pipelined on \
                     them: all of them are lost with the connection, read or not.";
        return (cause.to_owned(), at_once_fix(run));
    }
    let who = match ended.failed_by_reset {
        0 => "The server closed",
        _ => "The server, or something in front of it, ended",
    };
    let log = "See in the server's log whether it read these requests.";
    if ended.failed.longest_ns == 0 {
        let cause = format!(
            "{who} these connections behind a response that did not announce it (`Connection: close`), or read the next \
             request and dropped it."
        );
        return (cause, format!("{log} If not, {}", lower_first(&at_once_fix(run))));
    }
    let cause = format!(
        "{who} these connections while they were idle, or read the request and dropped it."
    );
    (cause, format!("{log} If not: {}", lower_first(&fix(run))))
}

fn fix(run: &Run) -> String {
    format!(
        "Have the server keep idle connections open longer than they are idle here, or lower {}, so that each is used \
         more often.",
        spelled(run, Opt::Connections)
    )
}

fn at_once_fix(run: &Run) -> String {
    format!(
        "Have it announce the close, or close first with {} below its limit.",
        spelled(run, Opt::RequestsPerConnection)
    )
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// Why they were not sent again.
fn why_not_again(run: &Run) -> String {
    if !run.plan.connections.repeat {
        return format!("{} counts them as errors", spelled(run, Opt::NoRepeat));
    }
    let method = &run.plan.requests.method;
    let name = if method.is_empty() { "such a request" } else { method };
    format!("they were not sent again, because what {name} does might be done twice")
}

/// How long their connections had been idle. Behind a pipelined request nothing is, nor is the response before complete.
fn of_failed(run: &Run) -> String {
    match run.plan.load.pipeline() {
        0 | 1 => of_idle(run.record.ended_idle.failed),
        most => format!(", on which up to {} were in flight", counted(most.into(), "request")),
    }
}

/// `, after being idle for 49.8 ms to 51.2 ms`; of requests that were sent at once there is nothing to say.
fn of_idle(times: IdleTimes) -> String {
    if times.longest_ns == 0 {
        return String::from(
            ", to which they were sent as soon as the response before was complete",
        );
    }
    let of = |ns: u64| time(ns as f64 / 1e6);
    let mean = of(times.total_ns / times.count.max(1));
    match of(times.shortest_ns) == of(times.longest_ns) {
        true => format!(", which had been idle for {mean}"),
        false => format!(
            ", which had been idle for {} to {} ({mean} on average)",
            of(times.shortest_ns),
            of(times.longest_ns)
        ),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;

    use super::*;
    use crate::DiagnosisId::D02;
    use crate::live::{judge, sample};

    const MS: u64 = 1_000_000;

    fn of_post(failed: &[u64], unused: &[u64]) -> Run {
        let mut run = sample::run();
        run.plan.requests.method = "POST".into();
        failed.iter().for_each(|idle_ns| run.record.ended_idle.failed.note(*idle_ns));
        unused.iter().for_each(|idle_ns| run.record.ended_idle.unused.note(*idle_ns));
        run.record.failures[FailureKind::ClosedWithoutResponse as usize] = failed.len() as u64;
        run
    }

    fn told(run: &Run) -> (Severity, String) {
        let findings = judge(run).findings;
        assert!(!findings.iter().any(|finding| finding.id == D02), "{findings:?}");
        let found = findings.into_iter().find(|finding| finding.id == D18).expect("D18");
        (found.severity, format!("{} {} {}", found.evidence, found.cause, found.fix))
    }

    #[test]
    fn a_server_that_closes_idle_connections_is_named_with_how_long_they_were_idle() {
        let (severity, said) = told(&of_post(&[50 * MS; 400], &[49 * MS, 51 * MS]));
        assert_eq!(severity, Severity::Suspect);
        assert!(said.starts_with("400 of 20,400 requests (2.0 %) failed"), "{said}");
        assert!(said.contains("idle for 50.0 ms; they were not sent again"), "{said}");
        assert!(said.contains("what POST does might be done twice"), "{said}");
        assert!(said.contains("closes idle connections: it ended 2 connections"), "{said}");
        assert!(said.contains("idle for 49.0 ms to 51.0 ms (50.0 ms on average)"), "{said}");
    }

    #[test]
    fn requests_that_left_at_once_met_no_idle_connection() {
        let (_, said) = told(&of_post(&[0; 400], &[]));
        assert!(said.contains("behind a response that did not announce it"), "{said}");
        assert!(!said.contains("idle"), "{said}");
    }

    #[test]
    fn pipelined_requests_are_lost_together_and_left_before_the_response() {
        use ablaze_model::plan::Load;
        let mut run = of_post(&[0; 6_000], &[]);
        run.record.connections_opened = 1_000;
        run.plan.load = Load::Closed { connections: 100, pipeline: 8 };
        let (_, said) = told(&run);
        assert!(said.contains("on which up to 8 requests were in flight"), "{said}");
        assert!(said.contains("all of them are lost with the connection"), "{said}");
        assert!(!said.contains("as soon as the response before was complete"), "{said}");
    }

    #[test]
    fn connections_that_end_with_their_response_are_not_told_as_idle() {
        for (failed, told_as) in [(&[0; 400][..], "did not announce"), (&[], "do not announce")] {
            let (_, said) = told(&of_post(failed, &[0; 300]));
            assert!(said.contains(told_as) && !said.contains("idle"), "{said}");
            assert_eq!(
                said.matches("to which they were sent").count(),
                failed.len().min(1),
                "{said}"
            );
        }
    }

    #[test]
    fn without_others_that_ended_idle_nobody_knows_which() {
        let mut run = of_post(&[50 * MS; 400], &[]);
        let (_, said) = told(&run);
        assert!(said.contains("or read the request and dropped it"), "{said}");
        assert!(said.contains("The server closed these connections"), "{said}");
        run.record.ended_idle.failed_by_reset = 100;
        let (_, said) = told(&run);
        assert!(said.contains("something in front of it, ended these connections"), "{said}");
        let (severity, _) = told(&of_post(&[50 * MS; 4], &[50 * MS]));
        assert_eq!(severity, Severity::Note);
    }

    /// It drops each third request of a connection, and one of these came as late as it closes idle connections.
    #[test]
    fn one_request_behind_a_long_pause_does_not_speak_for_the_others() {
        let mut failed = [70 * MS; 400];
        failed[0] = 290 * MS;
        let (_, said) = told(&of_post(&failed, &[301 * MS]));
        assert!(said.contains("or read the request and dropped it"), "{said}");
        assert!(!said.contains("were sent as it did"), "{said}");
    }

    #[test]
    fn a_server_that_ends_new_connections_as_well_is_another_matter() {
        let mut run = of_post(&[0; 400], &[]);
        run.record.connections_opened = 600;
        run.record.failures[FailureKind::ClosedWithoutResponse as usize] += 300;
        assert_eq!(failed(&run), None);
        assert!(judge(&run).findings.iter().any(|finding| finding.id == D02));
    }

    #[test]
    fn connections_that_end_unused_are_noted() {
        let (severity, said) = told(&of_post(&[], &[50 * MS; 300]));
        assert_eq!(severity, Severity::Note);
        assert!(said.contains("300 connections on which no request was under way"), "{said}");
        // Over TLS, where responses have no length.
        let mut run = of_post(&[], &[0; 300]);
        run.plan.tls = Some(ablaze_model::plan::tls::Tls::new("a"));
        run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec();
        assert!(told(&run).1.contains("on which no request was under way"), "{}", told(&run).1);
        run.record.first_head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        let (severity, said) = told(&run);
        assert_eq!(severity, Severity::Note);
        assert!(!said.contains("no request was under way"), "{said}");
        assert!(said.contains("ends with its connection"), "{said}");
        let few = of_post(&[], &[50 * MS; 20]);
        assert!(!judge(&few).findings.iter().any(|finding| finding.id == D18));
    }
}
