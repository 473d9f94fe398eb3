//! Runs that ended without a report: each error that ends them has a diagnosis with a form on
//! it (D02, D08, D20, D21 or D29).

use crate::printed::Abort;
use crate::words::counted;

/// How it ended: the evidence of all of them.
pub fn evidence(abort: &Abort) -> String {
    let complete = match abort.complete {
        Some(complete) => format!(" after {}", counted(complete, "complete request")),
        None => String::new(),
    };
    format!("{} ended{complete} with `{}` and printed no report.", abort.tool.name(), abort.message)
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{self, *};
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
        assert!(judgement.aborts[0].findings[0].fix.contains("ulimit -n 1064"));
        assert!(judgement.aborts[1].findings[0].evidence.contains("after 12 complete requests"));
        assert!(judgement.commands.is_empty());
    }

    #[test]
    fn wrk_s_end_is_one_too() {
        let text = "$ wrk -t2 -c20 -d1s http://127.0.0.1:22199/\n\
                    unable to connect to 127.0.0.1:22199 Connection refused\n";
        assert_eq!(ids(text), (vec![D02], 0));
        let ended = &judge(&read(text)).aborts[0];
        assert!(ended.findings[0].evidence.starts_with("wrk ended with `unable"), "{ended:?}");
        assert!(!ended.findings[0].cause.contains("ab tries"), "{ended:?}");
        assert!(ended.subject.command.is_some());
        // In any other text it is a line like others.
        let other = text.replacen("$ wrk", "$ hey", 1);
        assert!(judge(&read(&other)).aborts.is_empty());
        let rejected = "$ ab -n 10 -c 100 http://h/\n\
                        ab: Cannot use concurrency level greater than total number of requests\n";
        assert_eq!(ids(rejected), (vec![D02], 0));
        let judgement = judge(&read(rejected));
        assert!(judgement.aborts[0].findings[0].cause.contains("no request was sent"));
        assert!(judgement.commands.is_empty());
    }

    /// Each printed by the tool itself, with its options below.
    #[test]
    fn a_command_line_that_the_tool_does_not_take_sent_nothing() {
        for (command, said) in [
            ("ab -n 100 -c 10 127.0.0.1:25001", "ab: invalid URL"),
            ("ab -n 100 -c 10 localhost", "ab: invalid URL"),
            ("ab -n 0 http://h/", "ab: Invalid number of requests"),
            ("wrk -t4 -c2 -d1s http://h/", "number of connections must be >= threads"),
            ("hey -n 10 -c 20 http://h/", "-n cannot be less than -c."),
            (
                "h2load -n 5 -c 10 http://h/",
                "-n, -c: the number of requests must be greater than or equal to the clients.",
            ),
        ] {
            let text = format!(
                "$ {command}\n{said}\nUsage: x [options] <url>\n  -n  Number of requests\n"
            );
            let judgement = judge(&read(&text));
            assert!(judgement.commands.is_empty(), "{command}");
            let finding = &judgement.aborts[0].findings[0];
            let tool = command.split(' ').next().unwrap();
            assert_eq!(finding.id, D02);
            assert!(finding.evidence.contains(said), "{finding:?}");
            assert!(finding.cause.starts_with(&format!("{tool} rejects")), "{finding:?}");
        }
        // Below another tool's command it is a line like others.
        let text = "$ wrk -t1 -c1 -d1s http://h/\n-n cannot be less than -c.\n";
        assert!(judge(&read(text)).aborts.is_empty());
    }

    /// Some versions of ab say their name before the words of a call that failed.
    #[test]
    fn a_name_that_was_not_resolved_is_no_command_line_that_was_rejected() {
        let said = "apr_sockaddr_info_get() for nohost: Name or service not known (670002)";
        for said in [said.to_owned(), format!("ab: {said}")] {
            let text = format!("$ ab -n 100 -c 10 http://nohost/\n{said}\n");
            let found = &judge(&read(&text)).aborts[0].findings[0];
            assert!(found.cause.contains("could not be resolved"), "{found:?}");
            assert!(found.fix.contains("Check the name"), "{found:?}");
        }
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
