//! D03: the target sent the request back. Its first line is no status line, so that every such response
//! fails as malformed; how many of them began as a request does is counted.
//! Of a printed report the length tells: that of ab's request is known, and an echo has the same.

use ablaze_model::printable::printable;
use ablaze_model::record::MalformedBy;
use ablaze_model::{FailureKind, Run};

use super::d02_no_response::{Kinds, kinds, told_apart};
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D03;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::rules::arithmetic::request_bytes;
use crate::words::{counted, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D03,
    shown_by: ShownBy::Text,
    severities: &[Severity::Invalid],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(on_report),
        ..Forms::NONE
    },
};

/// From this share of the requests on the target is an echo server.
const MOST: f64 = 0.5;

const CAUSE: &str =
    "The target sends back what it receives: it is a TCP echo server and does not speak HTTP.";
const CAUSE_OF_FIRST: &str =
    "The target sent back what it received, as a TCP echo server does that does not speak HTTP.";
const REMEDY: &str = "Call it an echo test, or run an HTTP server there; do not compare it with a \
                      target that generates responses.";

fn on_run(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let malformed = record.failures_of(FailureKind::Malformed);
    if malformed == 0 || (malformed as f64) < record.finished() as f64 * MOST {
        return None;
    }
    let kinds = kinds(run);
    let line = echoed_line(run);
    let is_counted = kinds == Kinds::Nearly(MalformedBy::Request);
    // A request that was not sent is no echo.
    let is_other = MalformedBy::of_head(&record.first_malformed) == MalformedBy::Request;
    if line.is_none() && is_other {
        return None;
    }
    if !is_counted && (record.malformed.total() > 0 || line.is_none()) {
        return None;
    }
    let line = match line {
        Some(line) => {
            format!("the first of which started with the request's own line, `{line}`")
        }
        None => "and nearly all of these started as a request does".to_owned(),
    };
    let others = match told_apart(run, Some(MalformedBy::Request)) {
        others if others.is_empty() => others,
        others => format!(" Not all of them are requests: {others}."),
    };
    let cause = match is_counted {
        true => CAUSE.to_owned(),
        // Older versions kept the first alone.
        false => format!("{CAUSE_OF_FIRST} Of the others it was not recorded."),
    };
    Some(Finding::new(
        D03,
        Severity::Invalid,
        format!(
            "{} of {} got a malformed response, {line}; {} B were sent and {} B came back.{others}",
            grouped(malformed),
            counted(record.finished(), "request"),
            grouped(record.sent_bytes),
            grouped(record.received_bytes),
        ),
        cause,
        REMEDY,
    ))
}

fn seen(run: &Run) -> Option<String> {
    let malformed = run.record.failures_of(FailureKind::Malformed);
    if malformed == 0 {
        return (run.record.responses > 0)
            .then(|| "Every response started with a status line.".to_owned());
    }
    let bytes = &run.record.first_malformed;
    (!bytes.is_empty()).then(|| {
        format!(
            "{} malformed; the first started with `{}`.",
            counted(malformed, "response"),
            first_line(bytes)
        )
    })
}

/// The line that came back, if it is that of a request such as ours.
fn echoed_line(run: &Run) -> Option<String> {
    let line = first_line(&run.record.first_malformed);
    let (method, rest) = line.split_once(' ')?;
    (method == run.plan.requests.method && rest.contains(" HTTP/1.")).then_some(line)
}

fn first_line(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\r' || *byte == b'\n').next().unwrap_or_default();
    printable(&String::from_utf8_lossy(line)).into_owned()
}

fn on_report(report: &Report) -> Option<Finding> {
    // ab prints the `Server` of what came back, and its own request has none.
    if report.server.as_deref().is_some_and(|server| !server.is_empty()) {
        return None;
    }
    let complete = report.complete.filter(|complete| *complete > 0)?;
    // At the end of a run by time some had come back that are not complete.
    let cut_off = report.concurrency.unwrap_or(1).saturating_add(1);
    let all = complete..=complete.saturating_add(cut_off);
    let all_without_status = all.contains(&report.non_2xx?) && report.body_bytes == Some(0);
    let (request, total) = (request_bytes(report)?, u64::try_from(report.total_bytes?).ok()?);
    let echoes = total as f64 / request;
    if !all_without_status || echoes.fract() != 0.0 || !all.contains(&(echoes as u64)) {
        return None;
    }
    let evidence = format!(
        "{} B / {} is {request:.0} B per request, and ab's own request to this URL has {request:.0} B; no response had a \
         2xx status or a body.",
        grouped(total),
        grouped(echoes as u64)
    );
    Some(Finding::new(
        D03,
        Severity::Invalid,
        evidence,
        format!("{CAUSE} ab finds `HTTP` in its own request and counts that as a response."),
        REMEDY,
    ))
}

#[cfg(test)]
mod tests_on_runs {
    use super::*;
    use crate::DiagnosisId::{D02, D20};
    use crate::live::{judge, sample};

    fn with(line: &[u8]) -> Run {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.failures[FailureKind::Malformed as usize] = 900;
        run.record.first_malformed = line.to_vec();
        run.record.malformed.add(MalformedBy::of_head(line), 900);
        run
    }

    #[test]
    fn an_echo_is_the_root_of_what_follows_from_it() {
        let mut run = with(b"GET / HTTP/1.1\r\nHost: here\r\n");
        // Each connection was given up: in the end no port was left.
        run.record.failures[FailureKind::LocalPorts as usize] = 100;
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("900 of 1,000 requests"), "{}", finding.evidence);
        assert!(finding.evidence.contains("`GET / HTTP/1.1`"), "{}", finding.evidence);
        let judged = judge(&run);
        let roots: Vec<_> = judged.with_explained().map(|(root, _)| root.id).collect();
        assert_eq!(roots, [D03], "{:?}", judged.findings);
        let explained = |id| judged.findings.iter().find(|f| f.id == id).unwrap().explained_by;
        assert_eq!((explained(D02), explained(D20)), (Some(D03), Some(D03)));
    }

    /// An echo of one request, and something else for the others.
    #[test]
    fn what_the_first_is_is_not_said_of_the_others() {
        let mut run = with(b"GET / HTTP/1.1\r\nHost: here\r\n");
        run.record.malformed = Default::default();
        run.record.malformed.add(MalformedBy::Request, 1);
        run.record.malformed.add(MalformedBy::Chunks, 899);
        assert_eq!(on_run(&run), None);
        // The other way round.
        run.record.first_malformed = b"220 mail ESMTP\r\n".to_vec();
        run.record.malformed = Default::default();
        run.record.malformed.add(MalformedBy::NotHttp1, 1);
        run.record.malformed.add(MalformedBy::Request, 899);
        let found = on_run(&run).unwrap();
        assert!(!found.evidence.contains("own line"), "{found:?}");
        assert!(found.evidence.ends_with("1 time something that is not HTTP/1."), "{found:?}");
        // In files of older versions nothing is counted.
        let mut old = with(b"GET / HTTP/1.1\r\n");
        old.record.malformed = Default::default();
        let found = on_run(&old).unwrap();
        assert!(found.cause.ends_with("Of the others it was not recorded."), "{found:?}");
    }

    #[test]
    fn other_malformed_responses_are_no_echo() {
        assert_eq!(on_run(&with(b"SSH-2.0-OpenSSH_9.6\r\n")), None);
        assert_eq!(on_run(&with(b"POST / HTTP/1.1\r\n")), None, "not what was sent");
        assert_eq!(on_run(&with(b"GET the manual\r\n")), None);
        assert_eq!(on_run(&with(b"")), None);
        // A few among responses are something else.
        let mut few = with(b"GET / HTTP/1.1\r\n");
        few.record.responses = 1000;
        assert_eq!(on_run(&few), None);
        assert!(seen(&few).unwrap().contains("900 responses malformed"));
    }
}

#[cfg(test)]
mod tests_on_reports {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn only_the_request_s_own_length_is_an_echo() {
        let mut report = sample::ab();
        report.non_2xx = report.complete;
        report.body_bytes = Some(0);
        report.server = None;
        // GET / to 10.0.0.1:8080: 16 + 21 + 29 + 13 + 2 = 81 bytes.
        report.total_bytes = Some(81_000_000);
        assert!(on_report(&report).unwrap().evidence.contains("is 81 B per request"));
        // An echo of ab's request names no server.
        report.server = Some("nginx".to_owned());
        assert_eq!(on_report(&report), None);
        report.server = None;
        report.total_bytes = Some(82_000_000);
        assert_eq!(on_report(&report), None);
    }
}
