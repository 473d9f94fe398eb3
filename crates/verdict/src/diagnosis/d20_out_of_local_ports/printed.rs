//! D20 in texts: ab ended with it, or it is what another client says of its failed requests.

use super::MOST;
use crate::DiagnosisId::D20;
use crate::finding::{Finding, Severity};
use crate::printed::{Abort, Reason, Report};
use crate::rules::aborted::evidence;
use crate::rules::own_limits::{self, Limit};

const CAUSE: &str = "Each connection takes a local port, which stays in use for a while after the client closes first, and there \
                     are so many for all runs together: on Linux about 28,000 for 60 s, on macOS 16,384 for 30 s.";

const IN_USE: &str = "Another socket of the client's machine had the local port of the connection: none was left for it (each stays \
                      in use for a while after the client closes first), or the client was told to use that port.";

/// A run of ab that ended with this, and without a report.
pub fn on_abort(abort: &Abort) -> Option<Finding> {
    // Where nothing was connected before, the address may be why (D02).
    (abort.reason == Reason::NoPort && abort.complete.unwrap_or(0) > 0).then(|| {
        let fix = "Reuse connections (-k), wait a minute between runs, or widen the range of ports (Linux: \
                   net.ipv4.ip_local_port_range; macOS: net.inet.ip.portrange.first).";
        Finding::new(D20, Severity::Invalid, evidence(abort), CAUSE, fix)
    })
}

/// Failed requests of which the client printed such words, beside others that got a response.
pub fn on_report(report: &Report) -> Option<Finding> {
    let of = |limit| {
        let failed = own_limits::failed_by(report, limit)?;
        own_limits::is_proven(report, limit).then_some(failed)
    };
    let none_left = of(Limit::Address).map(|failed| (failed, CAUSE));
    let (failed, cause) = none_left.or_else(|| Some((of(Limit::Port)?, IN_USE)))?;
    let most = failed.share(report).is_some_and(|share| share >= MOST);
    let severity = if most { Severity::Invalid } else { Severity::Suspect };
    let fix = "Keep connections open, use fewer, wait a minute between runs, or widen the range of ports (Linux: \
               net.ipv4.ip_local_port_range; macOS: net.inet.ip.portrange.first; Windows: netsh int ipv4 set dynamicport tcp).";
    Some(Finding::new(D20, severity, failed.evidence(report), cause, fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::D02;
    use crate::printed::read;
    use crate::rules::judge;

    fn hey(responses: u64, errors: u64) -> Vec<Finding> {
        of_words(responses, errors, "connect: cannot assign requested address")
    }

    fn of_words(responses: u64, errors: u64, words: &str) -> Vec<Finding> {
        let text = format!(
            "$ hey -n 40000 -c 200 -disable-keepalive http://10.0.0.5:8080/\n\nSummary:\n  Total:\t20.0006 secs\n  \
             Slowest:\t0.0100 secs\n  Fastest:\t0.0010 secs\n  Average:\t0.0050 secs\n  Requests/sec:\t1999.9400\n\n\
             Status code distribution:\n{}\nError distribution:\n  \
             [{errors}]\tGet http://10.0.0.5:8080/: dial tcp 10.0.0.5:8080: {words}\n",
            if responses > 0 { format!("  [200]\t{responses} responses\n") } else { String::new() }
        );
        let mut reports = judge(&read(&text)).reports;
        assert_eq!(reports.len(), 1, "{text}");
        reports.remove(0).findings
    }

    #[test]
    fn ports_that_ran_out_are_no_failure_of_the_target() {
        let found = hey(28_000, 12_000);
        let finding = found.iter().find(|finding| finding.id == D20).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.starts_with("12,000 of 40,000 requests (30 %)"), "{finding:?}");
        assert!(found.iter().all(|finding| finding.id != D02), "{found:?}");
        let most = hey(1, 39_999);
        assert!(most.iter().any(|one| one.id == D20 && one.severity == Severity::Invalid));
    }

    /// These words are of the client's own address and port, whatever the destination is.
    #[test]
    fn a_port_that_is_in_use_is_the_client_s() {
        for words in [
            "connectex: Only one usage of each socket address (protocol/network address/port) is normally permitted.",
            "connect: address already in use",
        ] {
            for responses in [28_000, 0] {
                let found = of_words(responses, 12_000, words);
                assert!(found.iter().any(|finding| finding.id == D20), "{found:?}");
                assert!(found.iter().all(|finding| finding.id != D02), "{found:?}");
            }
        }
    }

    /// This machine may have no address of the destination's kind.
    #[test]
    fn where_nothing_was_connected_the_cause_is_open() {
        let found = hey(0, 40_000);
        assert!(found.iter().all(|finding| finding.id != D20), "{found:?}");
        let finding = found.iter().find(|finding| finding.id == D02).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.cause.contains("does not tell which"), "{finding:?}");
        assert!(!finding.fix.contains("log"), "{finding:?}");
    }
}
