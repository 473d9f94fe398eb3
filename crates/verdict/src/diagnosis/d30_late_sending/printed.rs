//! In printed reports: a schedule that was not kept. wrk2 and vegeta do not print what they were asked for, so it
//! is taken from the command above; whose lateness it was, no report tells.

use crate::DiagnosisId::{D02, D30};
use crate::finding::{Finding, Severity};
use crate::printed::{Report, Tool};
use crate::rules::arithmetic::rate_over_all;
use crate::words::{amount, decimal, percent};

/// Less than this share of the requested rate is another one.
const REACHED: f64 = 0.95;
/// Of shorter runs the beginning and the end are a large part.
const SHORT_S: f64 = 1.0;

pub fn on_report(report: &Report) -> Option<Finding> {
    let asked = report.asked_per_s()?;
    let (per_s, sent_s, times) = match report.tool {
        Tool::Wrk2 => (
            report.rate()?,
            report.taken_s?.value,
            "wrk2 measures a time from when its request was due: the times contain this wait, and grow with the \
             length of the run.",
        ),
        Tool::Vegeta => (
            report.own("the rate of the attack")?.value,
            report.own("the length of the attack")?.value,
            "vegeta measures a time from when its request was sent: the times do not contain this wait.",
        ),
        Tool::Hey | Tool::Oha | Tool::Bombardier | Tool::H2load if !report.is_of_ablaze() => {
            return not_reached(report, asked);
        }
        _ => return None,
    };
    if sent_s < SHORT_S || per_s >= asked * REACHED || per_s == 0.0 {
        return None;
    }
    let evidence = format!(
        "{}/s were requested, and {}/s were reached over {} s: {}.",
        amount(asked),
        decimal(per_s, 2),
        decimal(sent_s, 3),
        percent(per_s / asked)
    );
    let cause = format!(
        "Requests left later than they were due, or not at all: they waited for a response on their connection, \
         for the client, or were lost with a connection; the report does not tell which. {times}"
    );
    let fix = "Do not take the times for those at the requested rate. Measure again at a rate that is reached, \
               half of this one for a start.";
    let finding = Finding::new(D30, Severity::Suspect, evidence, cause, fix);
    // Connections that wait (wrk2's `timeout`) hold up their own requests, and not the others'.
    let of_few = report.socket_errors.is_some_and(|errors| errors.timeout > 0);
    Some(if of_few { finding.not_explained_by(D02) } else { finding })
}

/// Clients that send at most at a rate: a connection that waits for its response leaves out what was due.
fn not_reached(report: &Report, asked: f64) -> Option<Finding> {
    let (per_s, taken_s) = (rate_over_all(report)?, report.taken_s?.value);
    if taken_s < SHORT_S || per_s >= asked * REACHED || per_s == 0.0 {
        return None;
    }
    let tool = report.tool.name();
    let evidence = format!(
        "At most {}/s were requested, and {}/s were reached over {} s: {}.",
        amount(asked),
        decimal(per_s, 2),
        decimal(taken_s, 3),
        percent(per_s / asked)
    );
    let cause = format!(
        "{tool} sends no faster than it is told, and the next request of a connection only behind the response to the one \
         before: connections waited for responses, or for the client; the report does not tell which. The rate is not the \
         requested one."
    );
    let fix = "Do not take the times for those at the requested rate. Raise the number of connections, and measure again.";
    Some(Finding::new(D30, Severity::Note, evidence, cause, fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::read;

    fn of_wrk2(rate: &str, reached: &str) -> Option<Finding> {
        let text = format!(
            "$ wrk2 -t2 -c200 -d3s -R{rate} http://h/\nRunning 3s test @ http://h/\n  2 threads and 200 \
             connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.14s   \
             699.01ms   2.19s    53.55%\n  35968 requests in 3.01s, 19.38MB read\nRequests/sec:   {reached}\n"
        );
        on_report(&read(&text).reports[0])
    }

    /// What vegeta waited for at the end is no time in which it sent.
    #[test]
    fn the_rate_of_an_attack_is_that_of_its_own_length() {
        let with = |attack: &str, total: &str| {
            let text = format!(
                "$ vegeta attack -rate=1000 -duration=5s | vegeta report\n\
                 Requests      [total, rate, throughput]         2500, 500.00, 250.00\n\
                 Duration      [total, attack, wait]             {total}, {attack}, 5s\n"
            );
            on_report(&read(&text).reports[0])
        };
        let finding = with("5s", "10s").unwrap();
        assert!(
            finding.evidence.ends_with("500.00/s were reached over 5.000 s: 50 %."),
            "{finding:?}"
        );
        assert_eq!(with("900ms", "5.9s"), None);
    }

    #[test]
    fn a_rate_that_was_not_reached_is_named() {
        let finding = of_wrk2("50k", "11950.91").unwrap();
        assert!(
            finding.evidence.contains("50,000/s were requested, and 11,950.91/s"),
            "{finding:?}"
        );
        // 11,950.91 / 50,000.
        assert!(finding.evidence.contains("24 %"), "{finding:?}");
        assert!(finding.cause.contains("the times contain this wait"), "{finding:?}");
        assert_eq!(of_wrk2("12000", "11950.91"), None);
    }
}
