//! What clients say of failed requests in their own words, on their reports or on stderr.

use super::aborted::NO_ADDRESS;
use super::printed::failures;
use crate::printed::{Report, is_of_name};
use crate::rules::own_limits::{self, Limit};
use crate::words::{counted, grouped, listed};

/// So many kinds of errors are quoted.
const SHOWN: usize = 3;

pub(super) const FIX: &str = "Words about a name, a socket, a local address or a permission tell what failed on the client's machine. \
                              Of the others see in the target's log what it did, and try it several times with `curl -v`; measure \
                              again once all requests get a response.";

pub(super) const CAUSE: &str = "The words are those of the client, as printed.";

/// Of which the report does not tell one from the other.
const SIEGE: &str =
    "siege counts as failed what got no response, and responses with a status of 5xx";

/// Those that are not of a limit of the client, each with how often it happened where that is printed.
fn told(report: &Report) -> impl Iterator<Item = &(String, Option<u64>)> {
    report.errors.iter().filter(|(words, count)| {
        let limit = Limit::of(words).filter(|limit| own_limits::is_proven(report, *limit));
        limit.is_none() || count.is_none()
    })
}

/// `: 27× `EOF` and 3× `timeout``, behind a number of failures.
pub(super) fn quoted(report: &Report) -> String {
    let kind = |(words, count): &(String, Option<u64>)| match count {
        Some(count) => format!("{}× `{words}`", grouped(*count)),
        None => format!("`{words}`"),
    };
    let kinds: Vec<String> = told(report).map(kind).collect();
    match kinds.len() {
        0 => String::new(),
        1..=SHOWN => format!(": {}", listed(kinds)),
        _ => format!(": {} and others", kinds[..SHOWN].join(", ")),
    }
}

/// What came back and was no HTTP is for siege a transaction without success, and a failed one as well: where as many are
/// the one as the other, they may be the same.
pub fn failed_of_siege(report: &Report, failed: u64, complete: u64) -> Option<String> {
    let others = report.non_2xx.filter(|others| *others >= failed)?;
    Some(format!(
        "siege counts {} as failed, and {} of the {} that it has besides as not successful: they may be the same{}.",
        counted(failed, "request"),
        grouped(others),
        grouped(complete),
        quoted(report)
    ))
}

/// Of each that got no response siege writes why on stderr, mostly.
pub(super) fn cause_of_siege(report: &Report) -> String {
    let said = told(report).filter_map(|(_, count)| *count).fold(0, u64::saturating_add);
    let of_lines = |(words, _): &(String, _)| words.starts_with("HTTP/");
    let source = match told(report).any(of_lines) {
        true => "The words are siege's, from the lines above its report.",
        false => "The words are siege's, from stderr.",
    };
    match failures(report).saturating_sub(said) {
        _ if said == 0 => format!("{SIEGE}; the report does not tell which these were."),
        0 => source.to_owned(),
        left => format!(
            "{source} {SIEGE}; the text does not tell which the other {} were.",
            grouped(left)
        ),
    }
}

/// Cause and fix, where connect() had no address for any request: that may be due to the destination.
pub(super) fn without_address(report: &Report) -> Option<(&'static str, &'static str)> {
    let is_address = |(words, _): &(String, _)| Limit::of(words) == Some(Limit::Address);
    let all = !report.errors.is_empty() && report.errors.iter().all(is_address);
    all.then_some(NO_ADDRESS)
}

const NO_NAME: &str =
    "The name of the host could not be resolved: no connection was opened for these requests.";
const NO_NAME_FIX: &str = "Check the name in the URL with `getent hosts`, and which servers resolve names on the client's machine; \
                           measure again once each request finds the address.";

/// Cause and fix, where requests failed before they had an address to connect to: the target did not see them.
pub(super) fn without_name(report: &Report) -> Option<(String, &'static str)> {
    let of_name = || told(report).filter(|(words, _)| is_of_name(words));
    of_name().next()?;
    if told(report).all(|(words, _)| is_of_name(words)) {
        return Some((NO_NAME.to_owned(), NO_NAME_FIX));
    }
    let count = of_name().try_fold(0, |sum: u64, (_, count)| Some(sum.saturating_add((*count)?)));
    let count = count.map_or("Some".to_owned(), grouped);
    let cause = format!(
        "{CAUSE} {count} of them could not resolve the name of the host, and no connection was opened for these."
    );
    Some((cause, FIX))
}

#[cfg(test)]
mod tests {
    use super::super::printed::on_report;
    use crate::finding::Finding;
    use crate::printed::read;

    fn explained(text: &str) -> Finding {
        let mut reports = read(text).reports;
        assert_eq!(reports.len(), 1, "{text}");
        on_report(&reports.remove(0)).unwrap()
    }

    fn siege(transactions: u64, failed: u64, stderr: &str) -> Finding {
        explained(&format!(
            "$ siege -b -c 5 -r 10 http://127.0.0.1:23099/\n{stderr}\n{{\t\"transactions\":\t{transactions},\n\
             \t\"availability\":\t0.00,\n\t\"elapsed_time\":\t1.00,\n\t\"transaction_rate\":\t{transactions}.00,\n\
             \t\"successful_transactions\":\t{transactions},\n\t\"failed_transactions\":\t{failed}\n}}\n"
        ))
    }

    #[test]
    fn siege_says_on_stderr_why_requests_failed() {
        let refused =
            "[\x1b[1;33merror\x1b[0m] socket: unable to connect sock.c:282: Connection refused\n";
        let finding = siege(0, 50, &refused.repeat(50));
        assert!(finding.evidence.ends_with("50 failed: 50× `Connection refused`."), "{finding:?}");
        assert_eq!(finding.cause, "The words are siege's, from stderr.");
        let some = siege(173, 27, &refused.repeat(20));
        assert!(some.evidence.ends_with("failed: 20× `Connection refused`."), "{some:?}");
        assert!(some.cause.contains("the other 7 were"), "{some:?}");
        assert!(siege(173, 27, "").cause.contains("does not tell which these were"));
        let lines = "HTTP/1.1 503     0.00 secs:      19 bytes ==> GET  /\nHTTP/1.1 200     0.00 secs:      9 bytes ==> GET  /\n";
        let lines = siege(173, 27, &lines.repeat(3));
        assert!(lines.evidence.ends_with("failed: 3× `HTTP/1.1 503`."), "{lines:?}");
        assert!(lines.cause.starts_with("The words are siege's, from the lines"), "{lines:?}");
        assert!(lines.cause.contains("the other 24 were"), "{lines:?}");
    }

    #[test]
    fn vegeta_s_set_of_errors_is_quoted_without_numbers() {
        let vegeta = |set: &str| {
            explained(&format!(
                "$ vegeta attack -rate=100 -duration=20s | vegeta report\n\
                 Requests      [total, rate, throughput]         2000, 100.05, 90.00\n\
                 Duration      [total, attack, wait]             19.991s, 19.99s, 423.42µs\n\
                 Latencies     [min, mean, 50, 90, 95, 99, max]  206.645µs, 666.511µs, 445.121µs, 697.671µs, 966.187µs, \
                 6.784ms, 17.994ms\n\
                 Success       [ratio]                           85.00%\n\
                 Status Codes  [code:count]                      0:200  200:1700  503:100\n\
                 Error Set:\n503 Service Unavailable\n{set}\n$ echo next\n"
            ))
        };
        let reset = |port: u64| {
            format!(
                "Get \"http://h/\": read tcp 127.0.0.1:{port}->127.0.0.1:80: read: connection reset by peer\n"
            )
        };
        let one = vegeta(&(reset(40_000) + &reset(40_001)));
        assert!(one.evidence.ends_with("failed 200: 200× `connection reset by peer`."), "{one:?}");
        assert!(!one.cause.contains("requests timed out"), "{one:?}");
        let several = vegeta(&(reset(40_000) + "unexpected EOF\n"));
        let said = "failed 200: `connection reset by peer` and `unexpected EOF`.";
        assert!(several.evidence.ends_with(said), "{several:?}");
    }

    /// Threads of siege write at once, in the middle of each other's lines.
    #[test]
    fn errors_of_siege_are_read_wherever_they_begin() {
        let glued = "HTTP/1.1 200     0.00 secs:     612 bytes ==> GET  /[error] socket: unable to connect sock.c:282: \
                     Connection refused\n\
                     [error] socket: unable to connect sock.c:282: Connection refused[error] socket: unable to connect \
                     sock.c:282: Connection refused\n\
                     HTTP/1.1 200[error] socket: read error Connection reset by peer sock.c:635: Connection reset by peer\n\
                     [error] socket: unable to connect sock.c:282: Connection refusedHTTP/1.1 200     0.00 secs:     612 bytes \
                     ==> GET  /\n";
        let finding = siege(173, 5, glued);
        let said = "failed: 4× `Connection refused` and 1× `Connection reset by peer`.";
        assert!(finding.evidence.ends_with(said), "{finding:?}");
        // The log of a server stands above.
        let log = "2026/11/23 07:45:01 [error] 31#31: *7 connect() failed: Connection refused\n";
        let finding = siege(173, 5, log);
        assert!(finding.cause.contains("does not tell which these were"), "{finding:?}");
    }

    fn hey(errors: &str) -> Finding {
        explained(&format!(
            "$ hey -n 2000 -c 200 http://h.example/\n\nSummary:\n  Total:\t20.0120 secs\n  Slowest:\t0.0100 secs\n  \
             Fastest:\t0.0010 secs\n  Average:\t0.0050 secs\n  Requests/sec:\t99.9400\n\n\
             Status code distribution:\n  [200]\t1000 responses\n\nError distribution:\n{errors}"
        ))
    }

    /// No connection was tried: the target refused nothing, and no port was missing.
    #[test]
    fn a_name_that_is_not_resolved_is_no_fault_of_the_target() {
        for words in [
            "dial tcp: lookup h.example on 127.0.0.53:53: server misbehaving",
            "dial tcp: lookup h.example: no such host",
            "dial tcp: lookup h.example on 10.0.0.2:53: read udp 10.0.0.9:4242->10.0.0.2:53: i/o timeout",
            "dial tcp: lookup h.example: Temporary failure in name resolution",
            "failed to lookup address information: Name or service not known",
        ] {
            let all = hey(&format!("  [1000]\tGet http://h.example/: {words}\n"));
            assert!(all.cause.starts_with("The name of the host could not be resolved"), "{all:?}");
            assert!(!all.fix.contains("log"), "{all:?}");
            let some = hey(&format!(
                "  [600]\tGet http://h.example/: EOF\n  [400]\tGet http://h.example/: {words}\n"
            ));
            assert!(
                some.cause.contains("400 of them could not resolve the name of the host"),
                "{some:?}"
            );
        }
        let timeout = hey("  [1000]\tGet http://h.example/: dial tcp 10.0.0.5:80: i/o timeout\n");
        assert!(!timeout.cause.contains("resolve"), "{timeout:?}");
        assert!(timeout.evidence.contains("`i/o timeout`"), "{timeout:?}");
    }

    #[test]
    fn what_bombardier_lists_is_quoted_where_nothing_came_back() {
        let finding = explained(
            "Bombarding http://127.0.0.1:23099/ with 100 request(s) using 5 connection(s)\n\
             Statistics        Avg      Stdev        Max\n  Reqs/sec     2153.61     204.64    2388.77\n  HTTP codes:\n    \
             1xx - 0, 2xx - 0, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 100\n  Errors:\n    \
             dial tcp 127.0.0.1:23099: connect: connection refused - 60\n    the server closed connection before returning the \
             first response byte. Make sure the server returns 'Connection: close' response header before closing the \
             connection - 40\n",
        );
        assert!(
            finding
                .evidence
                .contains("100 failed: 60× `connection refused` and 40× `the server closed"),
            "{finding:?}"
        );
        assert_eq!(finding.cause, super::CAUSE);
    }
}
