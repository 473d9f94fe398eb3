//! D36: the report above which a command stands was not printed by it.

use crate::DiagnosisId::D36;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Connections, Report};
use crate::words::{grouped, listed};

pub fn check(report: &Report) -> Option<Finding> {
    let command = report.command.as_ref()?;
    let differences = differences(command, report);
    if differences.is_empty() {
        return None;
    }
    Some(Finding::new(
        D36,
        Severity::Suspect,
        format!("`{}` asks for {}.", command.text, listed(differences)),
        "This is the output of another command than the one shown above it.",
        "Take command and output from the same run; a report that carries its own command line \
         (ablaze: -o run.json) cannot be parted from it.",
    ))
}

fn differences(command: &Command, report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, asked: String, printed: Option<String>| {
        if let Some(printed) = printed.filter(|printed| *printed != asked) {
            found.push(format!("{what} {asked}, the report says {printed}"));
        }
    };
    if command.concurrency.0 == command.concurrency.1 {
        let asked = grouped(command.concurrency.0);
        differ("a concurrency of", asked, report.concurrency.map(grouped));
    }
    differ("host", command.host.clone(), report.host.clone());
    differ("port", command.port.to_string(), report.port.map(|port| port.to_string()));
    differ("path", command.path.clone(), report.path.clone());
    // An interrupted run has fewer requests than were asked for, never more.
    let more = report.complete.filter(|complete| command.requests.is_some_and(|n| *complete > n));
    if let (Some(complete), Some(asked), false) = (more, command.requests, command.timed) {
        differ(
            "",
            format!("{} requests", grouped(asked)),
            Some(format!("{} complete", grouped(complete))),
        );
    }
    let kept = match report.connections {
        Connections::Kept(_) => Some(true),
        Connections::PerRequest => Some(false),
        Connections::Unknown => None,
    };
    let words = |kept: bool| if kept { "kept" } else { "closed after each request" }.to_owned();
    if let Some(asked) = command.keep_alive {
        differ("connections", words(asked), kept.map(words));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::{Report, read};

    const REPORT: &str = "Server Software:        x\nServer Hostname:        h\n\
        Server Port:            80\n\nDocument Path:          /\nDocument Length:        5 bytes\n\n\
        Concurrency Level:      10\nTime taken for tests:   10.000 seconds\n\
        Complete requests:      1000\nFailed requests:        0\n\
        Total transferred:      100000 bytes\nHTML transferred:       5000 bytes\n";

    fn under(command: &str) -> Option<String> {
        let text = read(&format!("$ {command}\n{REPORT}"));
        let reports: &[Report] = &text.reports;
        assert!(reports[0].command.is_some(), "{command}");
        check(&reports[0]).map(|finding| finding.evidence)
    }

    #[test]
    fn command_and_report_are_held_together() {
        assert_eq!(under("ab -n 1000 -c 10 http://h/"), None);
        assert_eq!(under("ab -n 100000 -c 10 http://h/"), None);
        assert_eq!(under("ab -c 10 -t 30 http://h/"), None);
        assert!(under("ab -n 1000 -c 25 http://h/").unwrap().contains("25, the report says 10"));
        assert!(under("ab -n 500 -c 10 http://h/").unwrap().contains("1,000 complete"));
        assert!(under("ab -n 1000 -c 10 http://h/x").unwrap().contains("path /x"));
        assert!(under("ab -kc 10 -n 1000 http://h/").unwrap().contains("connections kept"));
    }
}
