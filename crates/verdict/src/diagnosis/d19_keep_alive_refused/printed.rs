//! D19 in printed reports: connections were to be kept, and not one response left its connection open.

use crate::DiagnosisId::D19;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Connections, Report};
use crate::rules::arithmetic::nothing_came_back;
use crate::words::{counted, grouped};

pub(super) fn on_report(report: &Report) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    // Without a response there was none to keep a connection open.
    if report.connections != Connections::Kept(Some(0)) || nothing_came_back(report) {
        return None;
    }
    let (cause, fix) = match report.command.as_ref().is_some_and(tells_to_close) {
        _ if may_be_no_http(report) => (
            "The server closes each connection, or what it sends is no HTTP/1: ab found no `Server`, no body and no status of \
             2xx in any of it, which it reports of a banner or of another protocol, too.",
            "Look at what comes back with `curl -v --http1.1` and the URL.",
        ),
        true => (
            "The command itself asks the server to close: its `-H` has `Connection: close`.",
            "Leave out that header, or `-k`: each request then is meant to have a connection of its own.",
        ),
        false => (
            "The server closes after each response, or its responses lack what ab needs to keep an \
             HTTP/1.0 connection open: the word `Keep-Alive` in the head, and a `Content-Length`.",
            "Look at the head with `curl -i --http1.0 -H 'Connection: Keep-Alive'` and the URL, or \
             measure over HTTP/1.1, where connections stay open unless the server closes them (ablaze \
             does).",
        ),
    };
    let evidence = match may_be_no_http(report) {
        true => format!(
            "0 of {} were followed by another on their connection.",
            counted(complete, "complete request")
        ),
        false => format!(
            "0 of {} responses left their connection open, so each request paid for a new one.",
            grouped(complete)
        ),
    };
    Some(Finding::new(D19, Severity::Suspect, evidence, cause, fix))
}

/// ab takes whatever comes for a response, and its status for 500 where it finds none (ab.c: `read_connection`).
fn may_be_no_http(report: &Report) -> bool {
    report.tool.is_ab_like()
        && report.server.is_none()
        && report.body_bytes == Some(0)
        && report.complete.is_some_and(|complete| report.non_2xx >= Some(complete))
}

/// `-H "Connection: close"`, in any case and with any quotes.
fn tells_to_close(command: &Command) -> bool {
    let text = command.text.to_lowercase().replace([' ', '"', '\'', '\\'], "");
    text.contains("connection:close")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn none_kept_is_not_the_same_as_not_asked() {
        let mut report = sample::ab();
        assert_eq!(on_report(&report), None);
        report.connections = Connections::Kept(Some(1));
        assert_eq!(on_report(&report), None);
        report.connections = Connections::Kept(Some(0));
        assert!(on_report(&report).is_some());
    }

    #[test]
    fn what_may_be_another_protocol_is_no_response_without_keep_alive() {
        let mut report = sample::ab();
        report.connections = Connections::Kept(Some(0));
        (report.server, report.body_bytes, report.non_2xx) = (None, Some(0), report.complete);
        let found = on_report(&report).unwrap();
        assert!(found.cause.contains("no HTTP/1"), "{found:?}");
        assert!(!found.fix.contains("connections stay open"), "{found:?}");
        // A server that says who it is speaks HTTP/1.
        report.server = Some("nginx".to_owned());
        let found = on_report(&report).unwrap();
        assert!(!found.cause.contains("no HTTP/1"), "{found:?}");
    }
}
