//! Runs of ab and wrk that ended without a report because no connection could be made, or one broke.

use super::super::d29_stuck_connection::tolerates;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::{Abort, Reason};
use crate::rules::aborted::evidence;

/// EADDRNOTAVAIL of connect(), where nothing was ever connected: why, and what to do.
pub(super) const NO_ADDRESS: (&str, &str) = (
    "connect() fails like this where this machine has no address from which that destination can be reached (such as ::1, or any \
     of IPv6, where IPv6 is off), and where no local port is left. The text does not tell which.",
    "Use the address in the URL that `curl -v` connects to, such as 127.0.0.1 for localhost; `ss -s` shows how many connections \
     are in TIME_WAIT.",
);

/// A run that ended with this, and without a report.
pub(super) fn on_abort(abort: &Abort) -> Option<Finding> {
    let tool = abort.tool.name();
    let last =
        format!("{tool} tries the addresses of a name in turn and reports only the last error.");
    let (severity, cause, fix) = match abort.reason {
        Reason::Refused if abort.complete.is_some_and(|complete| complete > 0) => (
            Severity::Invalid,
            "Connections had been accepted before one was refused: the server ended or listens there no more, or it or something on \
             the way refuses some, as at a limit of connections.",
            "See in the server's log why it ended, or whether it was restarted, and measure again.",
        ),
        Reason::Unreachable => (
            Severity::Invalid,
            &*format!(
                "There is no route to that address, or something on the way rejects the connection. {last}"
            ),
            "Try the target once with `curl -v`; if that works, use the address it shows in the \
             URL.",
        ),
        Reason::NoName => (
            Severity::Invalid,
            "The name of the host could not be resolved: no connection was opened.",
            "Check the name in the URL, for example with `getent hosts`.",
        ),
        Reason::Rejected => (
            Severity::Invalid,
            &*format!("{tool} rejects this command line: no request was sent."),
            match abort.message.ends_with("invalid URL") {
                true => {
                    "Give a URL with a path: ab takes `http://host/`, and neither `http://host` nor `host`."
                }
                false => {
                    "Correct what the message names, and run it again: the tool lists its options with -h."
                }
            },
        ),
        Reason::TooFew => (
            Severity::Invalid,
            &*format!("{tool} rejects this command line: no request was sent."),
            "Give -n at least the value of -c, and a multiple of it for as many requests on each connection.",
        ),
        Reason::TenFailures => (
            Severity::Invalid,
            "ab gives up when twelve responses had a head of more than 8,191 bytes; or when twelve connections \
             could not be opened, and then prints their error below that line, where none is.",
            "Look at the head of one response with `curl -sv -o /dev/null`: cookies and other fields can make it that long. \
             `ablaze ab` with the same options prints its report all the same.",
        ),
        Reason::Refused => (
            Severity::Invalid,
            &*format!("Nothing listens at that address, or a firewall blocks it. {last}"),
            "Try the target once with `curl -v`; if that works, use the address it shows in the \
             URL.",
        ),
        Reason::Reset => (
            Severity::Suspect,
            "The server, or something on the way, reset a connection: instead of a response, within one or behind \
             it; ab does not say when. It stops at the first such error and discards what it has measured.",
            match abort.command.as_ref().is_some_and(|command| tolerates(&command.text)) {
                true => {
                    "Use `ablaze ab` with the same options, which counts such errors and continues."
                }
                false => {
                    "Run ab with -r, or use `ablaze ab`, which counts such errors and continues; then see \
                     how many there are."
                }
            },
        ),
        Reason::NoAddress => (
            Severity::Invalid,
            "No network interface of this machine has the address that -B names: no connection was opened.",
            "Use an address that `ip address` lists, or leave -B out.",
        ),
        // Behind a response the address can be used: what is left is D20.
        Reason::NoPort if abort.complete.unwrap_or(0) == 0 => {
            (Severity::Invalid, NO_ADDRESS.0, NO_ADDRESS.1)
        }
        Reason::Other => (
            Severity::Invalid,
            "ab ends at such an error of a connection (with -r it counts those of reading instead), and discards what it has measured. \
             The words are those of the system.",
            "Try the target once with `curl -v` to see whether it responds; or use `ablaze ab`, which counts such errors and continues.",
        ),
        _ => return None,
    };
    Some(Finding::new(D02, severity, evidence(abort), cause, fix))
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{self, D02, D20};
    use crate::printed::read;
    use crate::rules::judge;

    fn found(text: &str) -> Vec<(DiagnosisId, String)> {
        let judgement = judge(&read(text));
        let findings = judgement.aborts.iter().flat_map(|abort| &abort.findings);
        findings.map(|finding| (finding.id, finding.cause.to_string())).collect()
    }

    /// errno 99 has a cause of its own for bind(), and two for connect() where nothing was ever connected.
    #[test]
    fn an_address_that_cannot_be_assigned_is_not_always_a_lack_of_ports() {
        let of_bind =
            "$ ab -n 10 -B 10.9.9.9 http://h/\nbind: Cannot assign requested address (99)\n";
        let [(D02, cause)] = &found(of_bind)[..] else { panic!("{:?}", found(of_bind)) };
        assert!(cause.contains("-B names"), "{cause}");
        let text = "$ ab -n 1000 -c 10 http://localhost/\n\
                    apr_socket_connect(): Cannot assign requested address (99)\n";
        let [(D02, cause)] = &found(text)[..] else { panic!("{:?}", found(text)) };
        assert!(cause.contains("does not tell which"), "{cause}");
        let later = format!("{text}Total of 28231 requests completed\n");
        assert_eq!(found(&later).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [D20]);
    }

    #[test]
    fn an_error_without_a_rule_is_an_end_all_the_same() {
        let text = "$ ab -n 10 http://h/\napr_socket_recv: Protocol not available (92)\n";
        let [(D02, cause)] = &found(text)[..] else { panic!("{:?}", found(text)) };
        assert!(cause.contains("those of the system"), "{cause}");
        let macos = "$ ab -n 10 http://h/\napr_socket_recv: Operation timed out (60)\n";
        let [(D02, cause)] = &found(macos)[..] else { panic!("{:?}", found(macos)) };
        assert!(!cause.contains("Linux"), "{cause}");
    }
}
