//! D09: a few requests took 200 ms longer than all others: the least time after which Linux sends
//! data again that was not acknowledged.

use super::arithmetic::slow_requests;
use super::d07_global_stall;
use crate::DiagnosisId::D09;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{amount, decimal};

/// RTO_MIN of Linux, and the round trip and the service that come on top.
const TIMER_MS: std::ops::RangeInclusive<f64> = 200.0..=220.0;

pub fn check(report: &Report) -> Option<Finding> {
    let (row, median, max) = (report.total?, report.median_ms()?, report.max_ms()?);
    let later_ms = max.value - median.value;
    let (least, _, most) = slow_requests(&row, report.complete?)?;
    let in_flight = report.concurrency.unwrap_or(1).max(2) as f64;
    if !TIMER_MS.contains(&later_ms)
        || median.value > later_ms / 10.0
        || most >= in_flight / 2.0
        || d07_global_stall::is_found(report)
    {
        return None;
    }
    let deviation = row.deviation_ms?;
    let evidence = format!(
        "The longest request took {} ms, {} ms more than the median. A deviation of {:.1} ms leaves \
         room for {} to {} requests as long.",
        decimal(max.value, 0),
        decimal(later_ms, 0),
        deviation.value,
        amount(least.max(1.0)),
        amount(most)
    );
    Some(Finding::new(
        D09,
        Severity::Note,
        evidence,
        "200 ms is the shortest time after which Linux sends data again that was not acknowledged: \
         those few requests may have waited for that.",
        "Look at `nstat TcpRetransSegs TcpExtTCPTimeouts` before and after the next run; if they do \
         not rise, something else takes 200 ms.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    fn with(deviation: f64, median: f64, max: f64) -> Option<Finding> {
        let mut report = sample::ab();
        report.total = Some(sample::times(0.0, 1.0, deviation, median, max));
        report.percentiles.clear();
        check(&report)
    }

    #[test]
    fn a_few_requests_at_the_timer_are_a_candidate() {
        // 0.35² and 0.45² × 999,999 / 211².
        let evidence = with(0.4, 1.0, 212.0).unwrap().evidence;
        assert!(
            evidence.contains("211 ms more") && evidence.contains("2.75 to 4.55"),
            "{evidence}"
        );
    }

    #[test]
    fn other_distances_and_crowds_are_not() {
        assert_eq!(with(0.4, 1.0, 190.0), None);
        assert_eq!(with(0.4, 1.0, 250.0), None);
        // 30² × 999,999 / 211² = 20,215 requests: a second crowd.
        assert_eq!(with(30.0, 1.0, 212.0), None);
        assert_eq!(with(0.4, 100.0, 312.0), None);
    }
}
