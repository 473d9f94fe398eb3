//! Requests without a response in printed reports: where other clients count them as complete, the bytes
//! and the kinds of failures show it.

use super::counted as kinds;
use super::empty::{all_bodies_came, empty, without_body};
use super::h2load::{unsent, without_connection};
use super::none::{none_at_all, until_the_end};
use super::{MOST, SHARE, SHORTEST_RESPONSE_BYTES, cut, held, sockets, words};
use crate::DiagnosisId::{D02, D21};
use crate::finding::{Finding, Severity};
use crate::printed::{Handshakes, Report, Tool};
use crate::rules::arithmetic::counts_all_bytes;
use crate::rules::consistency::counts::TRIED_AGAIN;
use crate::rules::own_limits;
use crate::words::{amount, counted, decimal, grouped, listed, percent};

/// Requests of a printed report that got no response. Those that failed by a limit of the client are told apart, where
/// they can be: the others are no consequence of it.
pub fn on_report(report: &Report) -> Option<Finding> {
    let finding = found(report)?;
    Some(if own_limits::is_met(report) { finding.not_explained_by(D21) } else { finding })
}

fn found(report: &Report) -> Option<Finding> {
    let Some(complete) = report.complete else { return cut::without_total(report) };
    if let Some(errors) = &report.socket_errors {
        return sockets::on_report(report, errors);
    }
    if complete == 0 {
        return none_at_all(report);
    }
    if let Some(silent) = until_the_end(report, complete) {
        return Some(silent);
    }
    let total_bytes = match report.total_bytes {
        // A negative count has wrapped and says nothing.
        Some(bytes)
            if counts_all_bytes(report)
                && (0.0..complete as f64 * SHORTEST_RESPONSE_BYTES).contains(&(bytes as f64)) =>
        {
            bytes
        }
        _ => return share_of(report, complete),
    };
    let fix = "Count these as failed. Try the target once with `curl -v` to see what it does, \
                  and measure again once it responds.";
    if total_bytes > 0 {
        let answered = (total_bytes as f64 / SHORTEST_RESPONSE_BYTES) as u64;
        let evidence = format!(
            "{} bytes came back for {}: {} each, while the shortest possible response has 19. At \
             least {} got none.",
            grouped(total_bytes as u64),
            counted(complete, "complete request"),
            amount(total_bytes as f64 / complete as f64),
            grouped(complete - answered)
        );
        return Some(Finding::new(D02, Severity::Suspect, evidence, cause(report), fix));
    }
    let each = report.taken_s.map_or(String::new(), |taken| {
        format!(
            " {} s / {} is {} µs from one close to the next.",
            decimal(taken.value, 3),
            grouped(complete),
            decimal(taken.value * 1e6 / complete as f64, 1)
        )
    });
    let failed = report.failed.unwrap_or(0);
    // ab counts a connection that broke under Receive and under Exceptions.
    let twice = report.failed_parts.is_some_and(|parts| parts.receive > 0 && parts.exceptions > 0);
    let twice =
        if twice { " (ab counts one under Receive and again under Exceptions)" } else { "" };
    let evidence = format!(
        "0 bytes came back for {}; {} counted{twice}.{each}",
        counted(complete, "complete request"),
        counted_failures(failed)
    );
    if report.handshakes.failed > 0 {
        return Some(handshakes(report, evidence));
    }
    if failed >= complete {
        let cause = "The connections were refused, or broke without an HTTP response; the report \
                     does not tell which.";
        let fix = "Try the target once with `curl -v` to see what it does, and measure again once \
                   it responds.";
        return Some(Finding::new(D02, Severity::Invalid, evidence, cause, fix));
    }
    Some(Finding::new(D02, Severity::Invalid, evidence, cause(report), fix))
}

/// ab's stderr says that no connection came to a request.
fn handshakes(report: &Report, evidence: String) -> Finding {
    let Handshakes { failed, reason } = &report.handshakes;
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    let cause = format!(
        "{}, as the text says: `SSL handshake failed`{reason}. No request was sent on these connections, and ab \
         counts each as a complete request.",
        match failed {
            1 => "A TLS handshake failed".to_owned(),
            failed => format!("{} TLS handshakes failed", grouped(*failed)),
        }
    );
    let fix = "Count these as failed. `curl -v` or `openssl s_client -connect` shows which side refuses, and why: \
               versions, ciphers, certificates.";
    Finding::new(D02, Severity::Invalid, evidence, cause, fix)
}

fn counted_failures(failed: u64) -> String {
    let are = if failed == 1 { "is" } else { "are" };
    format!("{} {are}", counted(failed, "failure"))
}

fn cause(report: &Report) -> String {
    let counts = if report.tool.is_ab_like() {
        "ab counts a request as complete when its connection closes, with or without a response."
    } else {
        "The tool counts a closed connection as a complete request."
    };
    let tls = if report.tls { OF_TLS } else { "" };
    format!("The target closed the connections without an HTTP response{tls}. {counts}")
}

const OF_TLS: &str =
    ", or no connection came about, or the TLS handshake failed, which ab says on stderr only";
const FIX: &str = "Try the target several times with `curl -v`, see in its log what it did, and measure again once all requests \
                   get a response; `ablaze` counts failures by kind.";
pub(super) const CURL: &str = "Try the target once with `curl -v`: it shows what the target does.";

/// What failed, under whatever name, and not by a limit of the client.
pub(super) fn failures(report: &Report) -> u64 {
    all_failures(report).saturating_sub(own_limits::proven(report))
}

fn all_failures(report: &Report) -> u64 {
    report.failed.unwrap_or(0).max(report.write_errors.unwrap_or(0))
}

/// Some got a response, and others none.
fn share_of(report: &Report, complete: u64) -> Option<Finding> {
    if let Some(empty) = empty(report).filter(|empty| report.tool.is_ab_like() && !empty.proven) {
        return without_body(&empty, complete);
    }
    let Some(Unanswered { count: unanswered, all, how }) = unanswered(report, complete) else {
        return cut::without_kinds(report, complete);
    };
    let share = unanswered as f64 / all as f64;
    let held = held::found(report);
    if share <= SHARE && held.is_none() {
        return None;
    }
    let invalid = share >= MOST || held.as_ref().is_some_and(|held| held.share >= MOST);
    let severity = if invalid { Severity::Invalid } else { Severity::Suspect };
    let of = format!("{} of {} ({})", grouped(unanswered), counted(all, "request"), percent(share));
    if report.tool == Tool::Siege {
        let evidence = words::failed_of_siege(report, unanswered, complete)
            .unwrap_or_else(|| format!("{of} failed{}.", words::quoted(report)));
        return Some(Finding::new(D02, severity, evidence, words::cause_of_siege(report), CURL));
    }
    if held::ends_in_redirects(report) {
        let evidence = format!("{of} ended among redirects: {how}");
        let (cause, fix) = held::REDIRECTS;
        return Some(Finding::new(D02, severity, evidence, cause, fix));
    }
    let evidence = format!(
        "{of} got no whole response: {how}{}",
        held.filter(|_| unanswered < all).map_or(String::new(), |held| held.evidence)
    );
    let seen = kinds::seen(report);
    let what = match report.errors.is_empty() {
        true if held::closed_without_a_byte(report) => {
            "The server closed these connections without a byte: ab ends at what is refused or reset, or counts it in its \
             table (-r), and ends when one times out."
        }
        true => seen.as_deref().unwrap_or(
            "Connections were refused, or reset or closed before or within a response, requests timed out, or what \
             came back was no HTTP response.",
        ),
        false => words::CAUSE,
    };
    let counted_so = match report.tool {
        tool if tool.is_ab_like() => {
            "ab counts such requests as complete: they are in the rate, and in the times."
        }
        Tool::Hey | Tool::Oha => "Such requests are in the rate, and not in the times.",
        Tool::Vegeta => "Such requests are in the times, and not in the throughput.",
        Tool::Bombardier => "Such requests are in the rate, and in the times.",
        _ => "Such requests are in neither the rate nor the times.",
    };
    let fix = if report.errors.is_empty() { FIX } else { words::FIX };
    let (what, fix) = words::without_address(report).unwrap_or((what, fix));
    let (what, fix) = without_connection(report).unwrap_or((what, fix));
    let (what, fix) = words::without_name(report).unwrap_or((what.to_owned(), fix));
    let cause = format!("{what} {counted_so}");
    Some(Finding::new(D02, severity, evidence, cause, fix))
}

/// Requests without a response, as far as a report tells.
struct Unanswered {
    count: u64,
    /// Of so many requests.
    all: u64,
    /// What tells it.
    how: String,
}

fn unanswered(report: &Report, complete: u64) -> Option<Unanswered> {
    let (count, how) = match report.tool.is_ab_like() {
        // What the bytes prove is no estimate: connections that broke without a request that counts are among ab's events.
        true => empty(report)
            .map(|empty| (empty.missing, empty.how))
            .or_else(|| broken(report, complete))?,
        false => failed(report)?,
    };
    Some(Unanswered { count, all: all_requests(report, complete), how })
}

fn all_requests(report: &Report, complete: u64) -> u64 {
    match own_limits::has_failed_among_complete(report) {
        true => complete,
        false => complete.saturating_add(all_failures(report)),
    }
}

/// How many requests of a report got no response, of how many. siege counts responses with a status of 5xx with them.
pub(crate) fn without_response(report: &Report) -> Option<(u64, u64)> {
    let complete = report.complete.filter(|_| report.tool != Tool::Siege)?;
    let failed = unanswered(report, complete).map_or(0, |found| found.count);
    Some((failed.saturating_add(own_limits::proven(report)), all_requests(report, complete)))
}

/// ab counts what broke under Receive, and the same or another event under Exceptions; `ablaze ab` each
/// request once.
fn broken(report: &Report, complete: u64) -> Option<(u64, String)> {
    // Without failures there is no line of their kinds, and requests that could not be sent may be none.
    let parts = report.failed_parts.unwrap_or_default();
    let once = report.tool == Tool::AblazeAb;
    let events = if once {
        parts.receive.saturating_add(parts.exceptions)
    } else {
        parts.receive.max(parts.exceptions)
    };
    let written = report.write_errors.unwrap_or(0);
    // ab tries a connection again that it could not open, and counts only what then becomes of it as complete. It does so
    // a few times, and more than that are of another program, or a contradiction.
    let tried_again = report.announced || parts.connect <= TRIED_AGAIN;
    let connect = if report.tool == Tool::Ab && tried_again { 0 } else { parts.connect };
    let events = if all_bodies_came(report) { 0 } else { events };
    let count = events.saturating_add(connect).saturating_add(written).min(complete);
    let named = [
        ("Connect", connect),
        ("Receive", parts.receive),
        ("Exceptions", parts.exceptions),
        ("Write errors", written),
    ];
    let named: Vec<String> = named
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {}", grouped(count)))
        .collect();
    let twice = parts.receive > 0 && parts.exceptions > 0 && !once;
    let twice =
        if twice { " (ab counts one under Receive and again under Exceptions)" } else { "" };
    (count > 0).then(|| (count, format!("{}{twice}.", listed(named))))
}

/// As the other tools count.
fn failed(report: &Report) -> Option<(u64, String)> {
    let count = failures(report);
    let name = match report.tool {
        _ if report.write_errors == Some(count) => "Write errors",
        Tool::H2load => "errored",
        _ => "failed",
    };
    let named = words::quoted(report);
    (count > 0).then(|| (count, format!("{name} {}{named}{}.", grouped(count), unsent(report))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::FailedParts;
    use crate::rules::sample;

    #[test]
    fn bytes_decide_what_a_response_is() {
        let with_bytes = |bytes| {
            let mut report = sample::ab();
            report.total_bytes = Some(bytes);
            on_report(&report).map(|finding| finding.severity)
        };
        assert_eq!(with_bytes(0), Some(Severity::Invalid));
        assert_eq!(with_bytes(18_999_999), Some(Severity::Suspect));
        assert_eq!(with_bytes(19_000_000), None);
        assert_eq!(with_bytes(-5), None);
    }

    /// ab tries them again, and ends at the twelfth.
    #[test]
    fn connections_that_ab_tried_again_are_no_requests() {
        let mut report = sample::ab();
        (report.failed, report.complete) = (Some(5), Some(100));
        report.failed_parts = Some(FailedParts { connect: 5, ..FailedParts::default() });
        assert_eq!(on_report(&report), None);
        report.tool = Tool::AblazeAb;
        assert!(on_report(&report).is_some());
    }

    #[test]
    fn requests_that_are_counted_as_failed_are_not_to_be_counted_again() {
        let mut report = sample::ab();
        report.total_bytes = Some(0);
        (report.complete, report.failed) = (Some(20), Some(30));
        let parts = FailedParts { receive: 10, exceptions: 20, ..Default::default() };
        report.failed_parts = Some(parts);
        let finding = on_report(&report).unwrap();
        assert!(!finding.fix.contains("Count"), "{}", finding.fix);
        assert!(finding.evidence.contains("30 failures are counted (ab counts"), "{finding:?}");
        assert!(!finding.cause.contains("closed the connections"), "{}", finding.cause);
    }

    #[test]
    fn the_serial_time_is_shown() {
        let mut report = sample::ab();
        report.total_bytes = Some(0);
        // 100 s / 1,000,000.
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("is 100.0 µs from one close to the next"), "{evidence}");
    }

    #[test]
    fn requests_that_broke_are_no_responses_of_another_length() {
        let with = |receive, length, exceptions| {
            let mut report = sample::ab();
            report.failed = Some(receive + length + exceptions);
            report.body_bytes = report.body_bytes.map(|bytes| bytes - receive as i64 * 1000);
            report.failed_parts = Some(FailedParts { connect: 0, receive, length, exceptions });
            on_report(&report)
        };
        // 200,000 of 1,000,000.
        let finding = with(200_000, 799_999, 200_000).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("200,000 of 1,000,000 requests (20 %)"), "{finding:?}");
        assert_eq!(with(500_000, 0, 0).unwrap().severity, Severity::Invalid);
        assert_eq!(with(10_000, 0, 10_000), None);
        assert_eq!(with(0, 900_000, 0), None);
    }

    #[test]
    fn a_failed_handshake_is_no_close_of_the_target() {
        let report = "$ ab -q -k -c 5 -n 20 https://127.0.0.1:25457/\nServer Software:\n\
                      Server Hostname:        127.0.0.1\nServer Port:            25457\nDocument Path:          /\n\
                      Document Length:        0 bytes\nConcurrency Level:      5\n\
                      Time taken for tests:   0.055 seconds\nComplete requests:      20\n\
                      Failed requests:        0\nKeep-Alive requests:    0\n\
                      Total transferred:      0 bytes\nHTML transferred:       0 bytes\n\
                      Requests per second:    364.27 [#/sec] (mean)\n";
        let stderr = "SSL handshake failed (1).\n\
                      8005FA8AC07F0000:error:0A0004B0:SSL routines:ssl3_read_bytes:reason(1200):../ssl/record/\
                      rec_layer_s3.c:1601:SSL alert number 200\n"
            .repeat(20);
        let (command, rest) = report.split_once('\n').unwrap();
        for text in [format!("{report}{stderr}"), format!("{command}\n{stderr}{rest}")] {
            let judgement = crate::rules::judge(&crate::printed::read(&text));
            let findings = &judgement.reports[0].findings;
            let finding = findings.iter().find(|finding| finding.id == D02).unwrap();
            assert!(finding.cause.starts_with("20 TLS handshakes failed"), "{}", finding.cause);
            assert!(
                finding.cause.contains("(reason(1200), SSL alert number 200)"),
                "{}",
                finding.cause
            );
            assert!(!finding.cause.contains("closed"), "{}", finding.cause);
            assert!(findings.iter().all(|one| one.id != crate::DiagnosisId::D19), "{findings:?}");
            assert!(findings.iter().all(|one| !one.fix.contains("http://")), "{findings:?}");
        }
        let alone = crate::rules::judge(&crate::printed::read(report));
        assert!(alone.reports[0].findings[0].cause.contains("or the TLS handshake failed"));
    }

    #[test]
    fn what_other_tools_call_failed_is_told() {
        let mut report = sample::ab();
        (report.tool, report.failed, report.failed_parts) = (Tool::Gurl, Some(0), None);
        report.write_errors = Some(10_000);
        assert_eq!(on_report(&report), None, "1 %");
        report.write_errors = Some(1_000_000);
        let finding = on_report(&report).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.contains("1,000,000 of 2,000,000"), "{}", finding.evidence);
        assert!(finding.evidence.contains("Write errors"), "{}", finding.evidence);
    }

    #[test]
    fn no_request_at_all_is_no_measurement() {
        let mut report = sample::ab();
        report.complete = Some(0);
        assert_eq!(on_report(&report).unwrap().severity, Severity::Invalid);
    }
}
