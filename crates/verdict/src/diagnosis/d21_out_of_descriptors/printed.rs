//! D21 in texts: ab ended with it, or it is what another client says of its failed requests.

use super::{FILES, MOST};
use crate::DiagnosisId::D21;
use crate::finding::{Finding, Severity};
use crate::printed::{Abort, Command, Program, Reason, Report, Tool};
use crate::rules::aborted::evidence;
use crate::rules::own_limits::{self, Limit};

const CAUSE: &str = "Each connection takes a file descriptor, and this process may not open more.";

/// A run of ab that ended with this, and without a report.
pub fn on_abort(abort: &Abort) -> Option<Finding> {
    (abort.reason == Reason::NoDescriptor).then(|| {
        let fix = fix(abort.command.as_ref(), None);
        Finding::new(D21, Severity::Invalid, evidence(abort), CAUSE, fix)
    })
}

/// Descriptors beside those of connections: the standard streams, libraries, a log, an epoll, pipes.
const OTHERS: u64 = 64;
/// The same for each thread: its epoll, timers and pipes.
const OF_A_THREAD: u64 = 4;

/// What to raise the limit to, where it is known how many connections there were to be. vegeta opens as many as its requests
/// need; what it calls its connections are those that it keeps.
fn fix(command: Option<&Command>, report: Option<&Report>) -> String {
    const RAISE: &str = "Raise the limit with `ulimit -n` in the same shell first, or use ";
    let is_vegeta = report.is_some_and(|report| report.tool == Tool::Vegeta)
        || command.is_some_and(|command| command.program == Program::Vegeta);
    if is_vegeta {
        return format!(
            "{RAISE}a lower rate (-rate): vegeta opens a connection for each request that finds none free."
        );
    }
    let printed = report.and_then(Report::asked_connections);
    let asked = printed.max(command.map(|command| command.concurrency.1));
    let threads = report.and_then(|report| report.threads);
    let threads = threads.max(command.and_then(|command| command.threads)).unwrap_or(0);
    match asked.filter(|asked| *asked > 0) {
        Some(asked) => format!(
            "Run `ulimit -n {}` in the same shell first, or use fewer connections.",
            asked.saturating_add(OTHERS).saturating_add(threads.saturating_mul(OF_A_THREAD))
        ),
        None => format!("{RAISE}fewer connections."),
    }
}

const BUFFERS: &str = "The kernel had no memory for another socket or for what it sends: the machine's, or what this process's \
                       control group may use. Windows says the same where no local port is left.";
const BUFFERS_FIX: &str = "Use fewer connections, or keep them open; give the machine or the control group more memory; on Windows \
                           widen the range of ports (netsh int ipv4 set dynamicport tcp).";

/// Failed requests of which the client printed such words.
pub fn on_report(report: &Report) -> Option<Finding> {
    let of = |limit| own_limits::failed_by(report, limit);
    let limits = [Limit::Descriptor, Limit::File, Limit::Buffer];
    let (limit, failed) = limits.into_iter().find_map(|limit| Some((limit, of(limit)?)))?;
    let (cause, fix) = match limit {
        Limit::File => (FILES.0, format!("{}, or use fewer connections.", FILES.1)),
        Limit::Buffer => (BUFFERS, BUFFERS_FIX.to_owned()),
        _ => (CAUSE, fix(report.command.as_ref(), Some(report))),
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

    /// ENOBUFS is a lack of memory; Windows says it where ports ran out, too.
    #[test]
    fn buffers_are_no_descriptors() {
        for words in [
            "connect: no buffer space available",
            "connectex: An operation on a socket could not be performed because the system lacked sufficient buffer space \
             or because a queue was full.",
        ] {
            let found = found(&hey(&format!("  [20]\tdial tcp 10.0.0.5:8080: {words}\n")));
            let finding = of(D21, &found).unwrap();
            assert!(
                finding.cause.contains("memory") && finding.cause.contains("Windows"),
                "{finding:?}"
            );
            assert!(!finding.fix.contains("ulimit"), "{finding:?}");
            assert_eq!(of(D02, &found), None, "{found:?}");
        }
    }

    /// The number is one that the tool gets by with, and a number.
    #[test]
    fn the_limit_that_is_advised_is_enough_for_the_tool() {
        let fix = |text: &str| of(D21, &found(text)).unwrap().fix.clone();
        let error = format!("  [1000]\t{HEY_S}\n");
        assert!(fix(&hey(&error)).contains("`ulimit -n 264`"));
        // Without its command nothing says how many connections it had.
        let alone = hey(&error).lines().skip(1).collect::<Vec<_>>().join("\n");
        assert!(fix(&alone).contains("with `ulimit -n` in the same shell"), "{}", fix(&alone));
        // By its report.
        let bombardier = "Bombarding http://127.0.0.1:23099/ with 100 request(s) using 500 connection(s)\nDone!\n\
            Statistics        Avg      Stdev        Max\n  Reqs/sec     14624.49       0.00   14624.49\n  \
            Latency      279.92us   498.23us     2.17ms\n  HTTP codes:\n    \
            1xx - 0, 2xx - 0, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 100\n  Errors:\n    \
            dial tcp 127.0.0.1:23099: socket: too many open files - 100\n  Throughput:       0.00/s\n";
        assert!(fix(bombardier).contains("`ulimit -n 564`"), "{}", fix(bombardier));
        // vegeta opens as many as its requests need: its -connections are those that it keeps.
        let vegeta = "$ vegeta attack -rate=1000 -connections=5 -duration=10s | vegeta report\n\
            Requests      [total, rate, throughput]         10000, 1000.12, 0.00\n\
            Duration      [total, attack, wait]             9.999s, 9.999s, 120.1µs\n\
            Latencies     [min, mean, 50, 90, 95, 99, max]  20.2µs, 110.12µs, 101.12µs, 130.1µs, 150.3µs, 300.2µs, 1.011ms\n\
            Success       [ratio]                           0.00%\nStatus Codes  [code:count]                      0:10000\n\
            Error Set:\nGet \"http://10.0.0.5:8080/\": dial tcp 0.0.0.0:0->10.0.0.5:8080: socket: too many open files\n";
        let said = fix(vegeta);
        assert!(said.contains("lower rate") && !said.contains("fewer connections"), "{said}");
        // Each thread has descriptors of its own.
        let ab = "$ ab -n 5000 -c 2000 http://h/\nThis is ApacheBench, Version 2.3\nsocket: Too many open files (24)\n";
        let aborts = judge(&read(ab)).aborts;
        assert!(aborts[0].findings[0].fix.contains("`ulimit -n 2064`"), "{aborts:?}");
        let mut command = read("$ wrk -t 40 -c 2000 -d 10s http://h/\n").commands.remove(0);
        assert!(super::fix(Some(&command), None).contains("`ulimit -n 2224`"));
        // A range of a document.
        command.concurrency = (1, 10_000);
        assert!(super::fix(Some(&command), None).contains("`ulimit -n 10224`"));
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
