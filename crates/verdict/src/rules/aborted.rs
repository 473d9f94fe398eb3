//! Runs of ab that ended without a report: D02, D08, D20, D21 or D29, by the error that ended them.

use crate::DiagnosisId::{D02, D08, D20, D21, D29};
use crate::finding::{Finding, Severity};
use crate::printed::{Abort, Reason};
use crate::words::{counted, grouped};

pub fn check(abort: &Abort) -> Finding {
    let complete = match abort.complete {
        Some(complete) => format!(" after {}", counted(complete, "complete request")),
        None => String::new(),
    };
    let asked = abort.command.as_ref().map(|command| command.concurrency.1);
    let evidence = format!("ab ended{complete} with `{}` and printed no report.", abort.message);
    let found = |id, severity, cause: &str, remedy: &str| {
        Finding::new(id, severity, evidence.clone(), cause, remedy)
    };
    match abort.reason {
        Reason::Refused => found(
            D02,
            Severity::Invalid,
            "Nobody listens at that address, or the way to it is closed. ab tries the addresses of a \
             name in turn and names only the last error.",
            "Ask the target once with `curl -v`; if that works, use the address it names in the URL.",
        ),
        Reason::Reset => found(
            D02,
            Severity::Suspect,
            "The server, or something on the way, cut a connection without answering. ab ends at the \
             first such error and throws away what it has measured.",
            "Give ab -r, or use `ablaze ab`, which counts such errors and goes on; then see how many \
             there are.",
        ),
        Reason::TimedOut => found(
            D08,
            Severity::Suspect,
            "Linux gave up on a connection, after sending its first packet again for about two \
             minutes: a filter drops it, or the server's accept queue was full all the time.",
            "Try `curl -v` from the same machine, and watch `ss -lnt` on the server during a run.",
        ),
        Reason::Silence => found(
            D29,
            Severity::Invalid,
            "For as long as -s says (30 s) nothing happened on any connection. The server stopped \
             answering; or, with -k, ab waits for the end of an answer that it cannot see, one that is \
             chunked or has no Content-Length.",
            "Run it without -k: if that works it is the latter, and `ablaze ab -k` reads such answers. \
             If not, the server is stuck.",
        ),
        Reason::NoPort => found(
            D20,
            Severity::Invalid,
            "Every connection takes a local port, and keeps it for 60 s after the client closes it \
             first; there are about 28,000.",
            "Keep connections (-k), wait a minute between runs, or widen \
             net.ipv4.ip_local_port_range.",
        ),
        Reason::NoDescriptor => found(
            D21,
            Severity::Invalid,
            "Every connection takes a descriptor, and this process may not open more.",
            &match asked {
                Some(asked) => format!(
                    "Run `ulimit -n {}` in the same shell before, or ask for fewer connections.",
                    grouped(asked + 64).replace(',', "")
                ),
                None => {
                    "Raise the limit with `ulimit -n` in the same shell before, or ask for fewer \
                         connections."
                        .to_owned()
                }
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId;
    use crate::printed::read;
    use crate::rules::judge;

    fn ids(text: &str) -> (Vec<DiagnosisId>, usize) {
        let judgement = judge(&read(text));
        let aborts = judgement.aborts.iter().flat_map(|abort| &abort.findings);
        (aborts.map(|finding| finding.id).collect(), judgement.reports.len())
    }

    #[test]
    fn the_end_names_its_diagnosis() {
        let text = "$ ab -c 1000 -n 5000 http://h/\nBenchmarking h (be patient)\n\
                    socket: Too many open files (24)\n$ ab -n 50 -c 5 http://h/\n\
                    apr_socket_recv: Connection reset by peer (104)\nTotal of 12 requests completed\n";
        assert_eq!(ids(text), (vec![D21, D02], 0));
        let judgement = judge(&read(text));
        assert!(judgement.aborts[0].findings[0].remedy.contains("ulimit -n 1064"));
        assert!(judgement.aborts[1].findings[0].evidence.contains("after 12 complete requests"));
        assert!(judgement.commands.is_empty());
    }

    #[test]
    fn an_error_before_a_report_ended_nothing() {
        let report = include_str!("../../tests/printed/002-three-servers.txt");
        let text = format!("apr_socket_recv: Connection reset by peer (104)\n{report}");
        // The three runs begin with a command of their own.
        assert_eq!(ids(&text), (vec![D02], 3));
        let first = report.find("Server Software").unwrap();
        let with_r = format!(
            "apr_socket_recv: Connection reset by peer (104)\n{}",
            &report[first..report.find("SERVER_1").unwrap()]
        );
        assert_eq!(ids(&with_r), (vec![], 1));
    }
}
