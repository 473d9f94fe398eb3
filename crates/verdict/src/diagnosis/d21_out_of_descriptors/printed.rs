//! D21 in texts: ab ended with it, or it is what another client says of its failed requests.

use super::{FILES, MOST};
use crate::DiagnosisId::D21;
use crate::finding::{Finding, Severity};
use crate::printed::{Abort, Command, Reason, Report};
use crate::rules::aborted::evidence;
use crate::rules::own_limits::{self, Limit};

const CAUSE: &str = "Each connection takes a file descriptor, and this process may not open more.";

/// A run of ab that ended with this, and without a report.
pub fn on_abort(abort: &Abort) -> Option<Finding> {
    (abort.reason == Reason::NoDescriptor).then(|| {
        let fix = fix(abort.command.as_ref());
        Finding::new(D21, Severity::Invalid, evidence(abort), CAUSE, fix)
    })
}

fn fix(command: Option<&Command>) -> String {
    match command.map(|command| command.concurrency.1).filter(|asked| *asked > 0) {
        Some(asked) => format!(
            "Run `ulimit -n {}` in the same shell first, or use fewer connections.",
            asked.saturating_add(64)
        ),
        None => "Raise the limit with `ulimit -n` in the same shell first, or use fewer \
                 connections."
            .to_owned(),
    }
}

/// Failed requests of which the client printed such words.
pub fn on_report(report: &Report) -> Option<Finding> {
    let of = |limit| own_limits::failed_by(report, limit);
    let (failed, cause, fix) = match (of(Limit::Descriptor), of(Limit::File)) {
        (Some(failed), _) => (failed, CAUSE, fix(report.command.as_ref())),
        (None, Some(failed)) => {
            (failed, FILES.0, format!("{}, or use fewer connections.", FILES.1))
        }
        (None, None) => return None,
    };
    let most = failed.share(report).is_some_and(|share| share >= MOST);
    let severity = if most { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D21, severity, failed.evidence(report), cause, fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::{self, D02};
    use crate::printed::read;
    use crate::rules::judge;

    fn found(text: &str) -> Vec<Finding> {
        let mut reports = judge(&read(text)).reports;
        assert_eq!(reports.len(), 1, "{text}");
        reports.remove(0).findings
    }

    fn of(id: DiagnosisId, findings: &[Finding]) -> Option<&Finding> {
        findings.iter().find(|finding| finding.id == id)
    }

    fn hey(errors: &str) -> String {
        format!(
            "$ hey -n 2000 -c 200 http://10.0.0.5:8080/\n\nSummary:\n  Total:\t20.0120 secs\n  \
             Slowest:\t0.0100 secs\n  Fastest:\t0.0010 secs\n  Average:\t0.0050 secs\n  Requests/sec:\t99.9400\n\n\
             Status code distribution:\n  [200]\t1000 responses\n\nError distribution:\n{errors}"
        )
    }

    const HEY_S: &str =
        "Get http://10.0.0.5:8080/: dial tcp 10.0.0.5:8080: socket: too many open files";

    /// The target never saw these requests: it is not told to be looked at.
    #[test]
    fn what_the_client_s_words_say_of_itself_is_no_failure_of_the_target() {
        let all = found(&hey(&format!("  [1000]\t{HEY_S}\n")));
        let finding = of(D21, &all).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert_eq!(
            finding.evidence,
            "1,000 of 2,000 requests (50 %) failed with `too many open files`."
        );
        assert!(finding.fix.contains("ulimit -n 264"), "{finding:?}");
        assert_eq!(of(D02, &all), None, "{all:?}");
        // The others are failures by themselves.
        let both = found(&hey(&format!("  [700]\tGet http://h/: EOF\n  [300]\t{HEY_S}\n")));
        assert_eq!(of(D21, &both).unwrap().severity, Severity::Suspect);
        let others = of(D02, &both).unwrap();
        assert!(others.evidence.starts_with("700 of 2,000 requests (35 %)"), "{others:?}");
        assert!(!others.evidence.contains("open files"), "{others:?}");
        assert_eq!(others.explained_by, None);
    }

    #[test]
    fn other_tools_say_it_in_other_places() {
        let vegeta = "$ echo \"GET http://10.0.0.5:8080/\" | vegeta attack -rate=1000 -duration=10s | vegeta report\n\
            Requests      [total, rate, throughput]         10000, 1000.12, 0.00\n\
            Duration      [total, attack, wait]             9.999s, 9.999s, 120.1µs\n\
            Latencies     [min, mean, 50, 90, 95, 99, max]  20.2µs, 110.12µs, 101.12µs, 130.1µs, 150.3µs, 300.2µs, 1.011ms\n\
            Bytes In      [total, mean]                     0, 0.00\n\
            Bytes Out     [total, mean]                     0, 0.00\n\
            Success       [ratio]                           0.00%\n\
            Status Codes  [code:count]                      0:10000\n\
            Error Set:\n\
            Get \"http://10.0.0.5:8080/\": dial tcp 0.0.0.0:0->10.0.0.5:8080: socket: too many open files\n";
        let bombardier = "$ bombardier -c 5 -n 100 http://127.0.0.1:23099/\n\
            Bombarding http://127.0.0.1:23099/ with 100 request(s) using 5 connection(s)\n \
            100 / 100  100.00% 496/s 0s\nDone!\nStatistics        Avg      Stdev        Max\n  \
            Reqs/sec     14624.49       0.00   14624.49\n  Latency      279.92us   498.23us     2.17ms\n  HTTP codes:\n    \
            1xx - 0, 2xx - 0, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 100\n  Errors:\n    \
            dial tcp 127.0.0.1:23099: socket: too many open files - 100\n  Throughput:       0.00/s\n";
        let siege = format!(
            "$ siege -b -c 5 -r 10 http://127.0.0.1:23099/\n{}\n{{\t\"transactions\":\t0,\n\t\"availability\":\t0.00,\n\
             \t\"elapsed_time\":\t0.00,\n\t\"transaction_rate\":\t0.00,\n\t\"successful_transactions\":\t0,\n\
             \t\"failed_transactions\":\t50\n}}\n",
            "[error] descriptor table full sock.c:119: Too many open files\n".repeat(50)
        );
        for text in [vegeta, bombardier, &siege] {
            let found = found(text);
            assert_eq!(of(D21, &found).unwrap().severity, Severity::Invalid, "{found:?}");
            assert_eq!(of(D02, &found), None, "{found:?}");
        }
        // vegeta prints each kind once: which of them most requests failed by, it does not say.
        let both = found(&format!("{vegeta}Get \"http://10.0.0.5:8080/\": EOF\n"));
        let finding = of(D21, &both).unwrap();
        assert!(finding.evidence.contains("how many of the 10,000 that failed"), "{finding:?}");
        let all = of(D02, &both).unwrap();
        assert!(all.evidence.contains("`too many open files` and `EOF`"), "{all:?}");
        assert_eq!((all.severity, all.explained_by), (Severity::Invalid, None));
    }

    #[test]
    fn the_machine_s_files_are_no_limit_of_the_process() {
        let found =
            found(&hey("  [20]\tdial tcp 10.0.0.5:8080: socket: too many open files in system\n"));
        let finding = of(D21, &found).unwrap();
        assert!(
            finding.cause.contains("fs.file-max") && !finding.fix.contains("ulimit"),
            "{finding:?}"
        );
    }
}
