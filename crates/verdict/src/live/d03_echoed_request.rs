//! D03: the target sent the request back. Its first line is no status line, so that every such answer
//! fails as malformed; how the first of them began was kept.

use ablaze_model::{FailureKind, Run};

use super::Rule;
use crate::DiagnosisId::D03;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped};

/// From this share of the requests on the target is an echo server.
const MOST: f64 = 0.5;

pub const RULE: Rule = Rule { id: D03, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let line = echoed_line(run)?;
    let echoes = record.failures_of(FailureKind::Malformed);
    if (echoes as f64) < record.finished() as f64 * MOST {
        return None;
    }
    Some(Finding::new(
        D03,
        Severity::Invalid,
        format!(
            "{} of {} got an answer that is none, the first of which began with the request's own \
             line, `{line}`; {} B were sent and {} B came back.",
            grouped(echoes),
            counted(record.finished(), "request"),
            grouped(record.sent_bytes),
            grouped(record.received_bytes),
        ),
        "The target sends back what it receives: it is a TCP echo server and speaks no HTTP.",
        "Call it an echo test, or put an HTTP server there; compare it with no target that composes \
         a response.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let malformed = run.record.failures_of(FailureKind::Malformed);
    if malformed == 0 {
        return (run.record.answers > 0)
            .then(|| "Every answer began with a status line.".to_owned());
    }
    let bytes = &run.record.first_malformed;
    (!bytes.is_empty()).then(|| {
        format!(
            "{} malformed; the first began with `{}`.",
            counted(malformed, "answer"),
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
    String::from_utf8_lossy(line).chars().filter(|one| !one.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::{D02, D20};
    use crate::live::{judge, sample};

    fn with(line: &[u8]) -> Run {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.failures[FailureKind::Malformed as usize] = 900;
        run.record.first_malformed = line.to_vec();
        run
    }

    #[test]
    fn an_echo_is_the_root_of_what_follows_from_it() {
        let mut run = with(b"GET / HTTP/1.1\r\nHost: here\r\n");
        // Each connection was given up: in the end no port was left.
        run.record.failures[FailureKind::LocalPorts as usize] = 100;
        let finding = check(&run).unwrap();
        assert!(finding.evidence.contains("900 of 1,000 requests"), "{}", finding.evidence);
        assert!(finding.evidence.contains("`GET / HTTP/1.1`"), "{}", finding.evidence);
        let judged = judge(&run);
        let roots: Vec<_> = judged.with_explained().map(|(root, _)| root.id).collect();
        assert_eq!(roots, [D03], "{:?}", judged.findings);
        let explained = |id| judged.findings.iter().find(|f| f.id == id).unwrap().explained_by;
        assert_eq!((explained(D02), explained(D20)), (Some(D03), Some(D03)));
    }

    #[test]
    fn other_malformed_answers_are_no_echo() {
        assert_eq!(check(&with(b"SSH-2.0-OpenSSH_9.6\r\n")), None);
        assert_eq!(check(&with(b"POST / HTTP/1.1\r\n")), None, "not what was sent");
        assert_eq!(check(&with(b"GET the manual\r\n")), None);
        assert_eq!(check(&with(b"")), None);
        // A few among answers are something else.
        let mut few = with(b"GET / HTTP/1.1\r\n");
        few.record.answers = 1000;
        assert_eq!(check(&few), None);
        assert!(seen(&few).unwrap().contains("900 answers malformed"));
    }
}
