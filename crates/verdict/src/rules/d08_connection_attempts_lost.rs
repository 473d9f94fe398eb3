//! D08: connections that took a whole second or more: their first packet was dropped and sent
//! again. Linux sends it again after 1, 3 and 7 s, and since 6.5 (`tcp_syn_linear_timeouts`) also
//! after 2, 4 and 5 s.

use super::arithmetic::slow_requests;
use crate::DiagnosisId::D08;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{amount, decimal, grouped};

const RESENT_AFTER_MS: [f64; 6] = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 7000.0];

/// How much later than the timer such a connection may stand.
const LATER_MS: f64 = 60.0;

/// Connections as a rule take less than this share of the longest.
const USUAL: f64 = 0.1;

pub fn check(report: &Report) -> Option<Finding> {
    let row = report.connect?;
    let (mean, max) = (row.mean_ms?.value, row.max_ms?.value);
    let timer_ms = timer_ms(report)?;
    let median = row.median_ms.map_or(mean, |median| median.value);
    let complete = report.complete?;
    let number = slow_requests(&row, complete)
        .filter(|(_, slow, _)| *slow >= 1.0)
        .map(|(_, slow, _)| format!(" The deviation means about {} of them.", amount(slow)))
        .unwrap_or_default();
    let evidence = format!(
        "The longest connect took {} ms, the median {} ms: {} s is when Linux sends the first packet \
         of a connection again.{number}",
        decimal(max, 0),
        decimal(median, 0),
        decimal(timer_ms / 1e3, 0)
    );
    let asked = report.concurrency.map_or("as many connections as asked for".to_owned(), |asked| {
        format!("{} connections at a time", grouped(asked))
    });
    Some(Finding::new(
        D08,
        Severity::Suspect,
        evidence,
        format!(
            "Connection attempts were dropped, most likely because the server's accept queue was \
             full: it is as long as the backlog given to listen(), and {asked} arrived."
        ),
        "Give listen() a longer backlog, raise net.core.somaxconn to the same, and watch \
         `ss -lnt` and `nstat TcpExtListenOverflows` on the server during a run.",
    ))
}

/// The kernel's timer that the longest connect stands at, if it does.
pub fn timer_ms(report: &Report) -> Option<f64> {
    let row = report.connect?;
    let max_ms = row.max_ms?.value;
    let usual_ms = row.median_ms.or(row.mean_ms)?.value;
    let at = |after: &f64| (*after..=after + LATER_MS).contains(&max_ms);
    RESENT_AFTER_MS.into_iter().find(at).filter(|_| usual_ms <= USUAL * max_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    fn with_longest(ms: f64) -> Option<Finding> {
        let mut report = sample::ab();
        report.connect = Some(sample::times(0.0, 2.0, 31.7, 1.0, ms));
        report.total = Some(sample::times(12.0, 20.0, 31.8, 20.0, ms + 19.0));
        check(&report)
    }

    #[test]
    fn the_timers_of_the_kernel_give_it_away() {
        // 31.7² × 999,999 / (1003 - 2)² = 1,003 connections.
        let finding = with_longest(1003.0).unwrap();
        assert!(finding.evidence.contains("1 s is when"), "{}", finding.evidence);
        assert!(finding.evidence.contains("about 1,003 of them"), "{}", finding.evidence);
        assert!(with_longest(3012.0).is_some() && with_longest(7020.0).is_some());
    }

    /// As many as were in flight, but each of them waited for the kernel's timer.
    #[test]
    fn they_are_not_taken_for_a_stall() {
        let mut report = sample::ab();
        // 200 × 1001² / 999,999 = 14.16².
        report.connect = Some(sample::times(0.0, 2.0, 14.2, 1.0, 1003.0));
        report.total = Some(sample::times(12.0, 20.0, 14.2, 20.0, 1021.0));
        let ids: Vec<_> = crate::rules::report(&report).iter().map(|finding| finding.id).collect();
        assert_eq!(ids, [D08]);
    }

    #[test]
    fn other_times_are_no_evidence() {
        for ms in [6.0, 93.0, 990.0, 1500.0, 3526.0, 3701.0, 3902.0] {
            assert_eq!(with_longest(ms), None, "{ms}");
        }
    }
}
