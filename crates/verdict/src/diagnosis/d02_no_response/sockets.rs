//! wrk's socket errors: events on connections. A request without a response is one of them, and so is a
//! connection that the server closes behind a whole response.

use super::{MOST, SHARE, waiting};
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::{Report, SocketErrors, Tool};
use crate::rules::consistency::wrk::late_are_too_many;
use crate::words::{counted, grouped, listed, percent};

const FIX: &str = "Try the target several times with `curl -v`, and see in its log whether it responded to all \
                   requests; `ablaze` tells failures by kind.";

/// What they say of requests.
pub(super) fn on_report(report: &Report, errors: &SocketErrors) -> Option<Finding> {
    let complete = report.complete?;
    let tool = report.tool.name();
    let broken = errors.connect.saturating_add(errors.read).saturating_add(errors.write);
    // So many fit into no run of any version: the count says nothing of requests (D43).
    if broken == 0 && late_are_too_many(report) {
        return None;
    }
    if complete == 0 {
        return Some(none_at_all(report, errors, broken));
    }
    // `ablaze wrk` ends what has not come by then, which is a request; wrk marks a response that came.
    let late = if report.is_of_ablaze() { errors.timeout } else { 0 };
    if broken.saturating_add(late) as f64 / complete as f64 <= SHARE {
        let waiting = || waiting::found(report, errors.timeout);
        return connects(report, errors).or_else(waiting).or_else(|| more_than_all(report, errors));
    }
    if broken == 0 {
        return Some(timed_out(late, complete));
    }
    // A connection ends once, behind a response at best.
    let surplus = errors.read.saturating_sub(complete);
    let broken = surplus.saturating_add(errors.connect).saturating_add(errors.write);
    let without = broken.saturating_add(late);
    let share = without as f64 / complete.saturating_add(without) as f64;
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    let mut evidence =
        format!("{tool} counted {} beside {} with a response.", named(errors), requests(complete));
    if surplus > 0 {
        evidence.push_str(&format!(
            " These are {} more than all responses: so many connections at least ended without a whole one.",
            grouped(surplus)
        ));
    }
    let mut cause = format!("These are events on connections, not requests: {tool} counts");
    let kinds = [
        (errors.connect, " a connect error when one cannot be opened,"),
        (errors.write, " a write error when it cannot send,"),
        (
            errors.read,
            " a read error when one is reset or closed before or within a response, when what came is no HTTP \
             response, and also when the server closes one with the end of a whole response or behind it,",
        ),
    ];
    cause.extend(kinds.iter().filter(|(count, _)| *count > 0).map(|(_, words)| *words));
    cause.pop();
    cause.push_str("; the report does not tell which. Requests that broke are in neither the rate nor the times.");
    Some(Finding::new(D02, severity, evidence, cause, FIX))
}

/// Why connect() of wrk fails before it has to wait.
const AT_ONCE: &str = "this machine had no file descriptor, no local port or no route for them, or a server on the same host \
                       refused them";

/// From this share of the connections on it matters how many of them did not stand.
const CONNECTIONS: f64 = 0.05;

/// Connect errors beside the connections, of which there are far fewer than requests.
fn connects(report: &Report, errors: &SocketErrors) -> Option<Finding> {
    let connections = report.asked_connections().filter(|connections| *connections > 0)?;
    if (errors.connect as f64) < CONNECTIONS * connections as f64 {
        return None;
    }
    let tool = report.tool.name();
    let evidence = format!(
        "{tool} counted {}, and was to have {}.",
        counted(errors.connect, "connect error"),
        counted(connections, "connection")
    );
    let (cause, fix) = match (report.is_of_ablaze(), report.tls) {
        (true, _) => (
            format!("{tool} counts each attempt that failed, and tries it again: connections were missing for a time."),
            FIX.to_owned(),
        ),
        (false, true) => (
            format!(
                "{tool} counts TLS handshakes that failed, which it tries again, and connections that could not be opened at \
                 once, which it does not: the report does not tell one from the other."
            ),
            format!("See with `ulimit -n` that the client may open more files than there are connections. {FIX}"),
        ),
        (false, false) => (
            format!(
                "{tool} counts connections that could not be opened at once, and does not try them again: {AT_ONCE}. It \
                 measured with the others."
            ),
            "See with `ulimit -n` that the client may open more files than there are connections, and measure again."
                .to_owned(),
        ),
    };
    Some(Finding::new(D02, Severity::Suspect, evidence, cause, fix))
}

/// wrk's `timeout` is one of responses, of which there are fewer.
fn more_than_all(report: &Report, errors: &SocketErrors) -> Option<Finding> {
    let complete = report.complete?;
    let is_of_wrk = report.tool == Tool::Wrk && !report.is_of_ablaze();
    if !is_of_wrk || errors.timeout <= complete || late_are_too_many(report) {
        return None;
    }
    let evidence = format!(
        "wrk counted {} under `timeout`, and only {} a response.",
        grouped(errors.timeout),
        match complete {
            1 => "1 request got".to_owned(),
            more => format!("{} requests got", grouped(more)),
        }
    );
    let cause = "wrk 4 counts there the responses that took longer than --timeout, which are no more than all. Versions before \
                 it count, each time they look, the connections that have waited for longer. Or the report was changed.";
    let fix = "See with `wrk -v` which version it is, and in the server's log what became of these requests. `ablaze` counts \
               each request that has no response.";
    Some(Finding::new(D02, Severity::Suspect, evidence, cause, fix))
}

/// Of requests that ablaze sent in the form of wrk, whose connections all held.
fn timed_out(late: u64, complete: u64) -> Finding {
    let all = complete.saturating_add(late);
    let share = late as f64 / all as f64;
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    let evidence = format!(
        "{} of {} ({}) got no whole response within --timeout.",
        grouped(late),
        requests(all),
        percent(share)
    );
    let cause = "The server did not respond to them in time. `ablaze wrk` ends such requests: unlike wrk's, they are in \
                 neither the rate nor the times.";
    let fix = "See in the server's log what became of them, or raise --timeout above the longest response.";
    Finding::new(D02, severity, evidence, cause, fix)
}

fn none_at_all(report: &Report, errors: &SocketErrors, broken: u64) -> Finding {
    let tool = report.tool.name();
    let evidence = match broken.saturating_add(errors.timeout) {
        0 => "No request was complete when the run ended.".to_owned(),
        _ => format!("No request got a whole response; {tool} counted {}.", named(errors)),
    };
    let cause = match (errors.connect, errors.read.saturating_add(errors.write)) {
        (0, 0) if errors.timeout > 0 => {
            "Connections were opened, and none broke: the server did not respond to any request within --timeout."
        }
        (0, 0) => {
            "Connections were opened, and none broke: the run ended, by its limit of time or by hand, before the first \
             response was complete."
        }
        (0, _) => {
            "Connections were opened, and each ended without a whole response: it was reset or closed, or what came \
             back was no HTTP response."
        }
        (_, 0) if report.is_of_ablaze() => match report.tls {
            true => {
                "No connection was ready for a request: nothing listens there, something on the way refuses, or the TLS \
                 handshake failed, as with a server that does not speak TLS on this port."
            }
            false => {
                "No connection could be opened: nothing listens there, or something on the way refuses."
            }
        },
        // wrk has tried the address before: where nobody accepts, it prints no report.
        (_, 0) => match report.tls {
            true => {
                "No connection was ready for a request: the TLS handshake failed, as with a server that does not speak TLS on \
                 this port, or connections could not be opened: this machine had no file descriptor, no local port or no route \
                 for them, or a server on the same host refused them."
            }
            false => {
                "No connection could be opened: this machine had no file descriptor, no local port or no route for them, or a \
                 server on the same host refused them."
            }
        },
        (_, _) => {
            "Some connections could not be opened, and the others ended without a whole response: they were reset or \
             closed, or what came back was no HTTP response."
        }
    };
    Finding::new(D02, Severity::Invalid, evidence, cause, FIX)
}

fn requests(complete: u64) -> String {
    counted(complete, "request")
}

/// `3 connect errors and 1 read error`.
pub(super) fn named(errors: &SocketErrors) -> String {
    let kinds = [
        ("connect error", errors.connect),
        ("read error", errors.read),
        ("write error", errors.write),
        ("timeout", errors.timeout),
    ];
    let some = kinds.into_iter().filter(|(_, count)| *count > 0);
    listed(some.map(|(name, count)| counted(count, name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::{D01, D06};
    use crate::printed::read;
    use crate::rules::judge;

    fn wrk(requests: u64, latency: &str, errors: &str) -> Vec<Finding> {
        by("wrk", requests, latency, errors)
    }

    fn by(program: &str, requests: u64, latency: &str, errors: &str) -> Vec<Finding> {
        let text = format!(
            "$ {program} -t1 -c 20 -d 1s --latency --timeout 1s http://127.0.0.1:25473/\n\
             Running 1s test @ http://127.0.0.1:25473/\n  1 threads and 20 connections\n  \
             Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   {latency}\n    \
             Req/Sec   276.00     10.00   300.00     50.00%\n  {requests} requests in 1.04s, 1.00MB read\n  \
             Socket errors: {errors}\nRequests/sec:    {:.2}\nTransfer/sec:      0.96MB\n",
            requests as f64 / 1.04
        );
        let mut reports = judge(&read(&text)).reports;
        assert_eq!(reports.len(), 1, "{text}");
        reports.remove(0).findings
    }

    fn of(id: crate::DiagnosisId, findings: &[Finding]) -> Option<&Finding> {
        findings.iter().find(|finding| finding.id == id)
    }

    /// There are far fewer connections than requests.
    #[test]
    fn connections_that_were_never_opened_are_a_doubt() {
        let latency = "71.00ms   5.00ms  90.00ms   80.00%";
        let found = wrk(100_000, latency, "connect 8, read 0, write 0, timeout 0");
        let finding = of(D02, &found).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("8 connect errors, and was to have 20"), "{finding:?}");
        // wrk finds what the server refuses when it first reads or writes.
        assert!(finding.cause.contains("does not try them again"), "{finding:?}");
        assert!(!finding.fix.contains("server's log"), "{finding:?}");
        assert_eq!(of(D02, &wrk(100_000, latency, "connect 0, read 0, write 0, timeout 0")), None);
    }

    /// Each close ends a whole response without a length; then closes of idle connections.
    #[test]
    fn a_close_behind_a_response_is_no_failed_request() {
        for (requests, errors) in [
            (276, "connect 0, read 276, write 0, timeout 0"),
            (5291, "connect 0, read 112, write 0, timeout 0"),
        ] {
            let found = wrk(requests, "71.00ms   5.00ms  90.00ms   80.00%", errors);
            let finding = of(D02, &found).unwrap();
            assert_eq!(finding.severity, Severity::Suspect, "{errors}");
            assert!(!finding.evidence.contains(" of "), "{}", finding.evidence);
            assert!(finding.cause.contains("not requests"), "{}", finding.cause);
            assert!(!finding.cause.contains("connect error"), "{}", finding.cause);
        }
        let found = wrk(
            100,
            "71.00ms   5.00ms  90.00ms   80.00%",
            "connect 0, read 300, write 0, timeout 0",
        );
        let finding = of(D02, &found).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.contains("200 more than all responses"), "{}", finding.evidence);
    }

    #[test]
    fn what_was_opened_had_a_listener() {
        let found = wrk(
            0,
            "0.00us    0.00us   0.00us    -nan%",
            "connect 0, read 3109, write 0, timeout 0",
        );
        let cause = &of(D02, &found).unwrap().cause;
        assert!(
            cause.starts_with("Connections were opened") && !cause.contains("listens"),
            "{cause}"
        );
        assert_eq!(of(D06, &found), None);
        let found =
            wrk(0, "0.00us    0.00us   0.00us    -nan%", "connect 5, read 0, write 0, timeout 0");
        // wrk had a connection before it began: the listener was there.
        let cause = &of(D02, &found).unwrap().cause;
        assert!(cause.contains("no file descriptor") && !cause.contains("listens"), "{cause}");
    }

    /// They are in the rate, and in no time: so nothing follows from rate × mean.
    #[test]
    fn late_responses_are_responses() {
        let found =
            wrk(15, "0.00us    0.00us   0.00us    -nan%", "connect 0, read 0, write 0, timeout 15");
        assert_eq!(of(D02, &found), None);
        let finding = of(D06, &found).unwrap();
        let said = "All times read 0: wrk recorded none. `timeout` is 15, with 15 responses.";
        assert_eq!(finding.evidence, said);
        assert!(
            finding.cause.contains("the --timeout of the command, 1s: all of them did"),
            "{finding:?}"
        );
        assert!(finding.fix.contains("raise wrk's --timeout above the longest"), "{finding:?}");
        assert_eq!(finding.severity, Severity::Suspect);
        let found = wrk(
            5980,
            "2.00ms    1.00ms   9.00ms   80.00%",
            "connect 0, read 0, write 0, timeout 40",
        );
        assert_eq!((of(D01, &found), of(D02, &found)), (None, None));
        assert_eq!(of(D06, &found).unwrap().severity, Severity::Note);
    }

    /// docs/wrk.md: what is not complete within --timeout is a timeout and no response.
    #[test]
    fn what_ablaze_wrk_calls_timeouts_are_no_responses() {
        let late = |count: u64| format!("connect 0, read 0, write 0, timeout {count}");
        let latency = "2.00ms    1.00ms   9.00ms   80.00%";
        let found = by("ablaze wrk", 5980, latency, &late(400));
        let finding = of(D02, &found).unwrap();
        assert!(
            finding.evidence.starts_with("400 of 6,380 requests (6.3 %) got no"),
            "{finding:?}"
        );
        assert_eq!(finding.severity, Severity::Suspect);
        let left_out = |found: &[Finding]| {
            of(D06, found).is_some_and(|d06| d06.evidence.contains("latencies"))
        };
        assert!(!left_out(&found), "{found:?}");
        let found = by("ablaze wrk", 5980, latency, &late(40));
        assert_eq!((of(D02, &found), left_out(&found)), (None, false), "a few of many");
        let found = by("ablaze wrk", 0, "0.00us    0.00us   0.00us    -nan%", &late(40));
        assert!(of(D02, &found).unwrap().cause.contains("within --timeout"), "{found:?}");
    }
}
