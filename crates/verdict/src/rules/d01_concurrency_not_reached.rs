//! D01: fewer requests were in flight than were asked for. Rate × mean time is what was in flight
//! (Little's law, Operations Research 9(3), 1961); it does not know what was asked for.

use super::arithmetic::{concurrency_missed, in_flight, nothing_came_back};
use crate::DiagnosisId::D01;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{amount, decimal, grouped};

/// Below this share of what was asked for the number belongs to another experiment.
const ANOTHER_EXPERIMENT: f64 = 0.1;

pub fn check(report: &Report) -> Option<Finding> {
    if !concurrency_missed(report) {
        return None;
    }
    let (asked, rate) = (report.concurrency?, report.rate()?);
    let mean_ms = report.mean_ms()?;
    let (_, high) = in_flight(report)?;
    let mut evidence = format!(
        "Rate × mean time is what was in flight: {}/s × less than {} ms is less than {}, and {} were \
         asked for.",
        decimal(rate, 2),
        amount(mean_ms.high()),
        amount(high),
        grouped(asked)
    );
    if let (Some(per_request), true) = (report.per_request_ms, report.tool.is_ab_like()) {
        evidence.push_str(&format!(
            " The {} ms printed as `Time per request` are {} × length / requests: no request took \
             that long.",
            decimal(per_request.value, 3),
            grouped(asked)
        ));
    }
    let cause = if nothing_came_back(report) && report.tool.is_ab_like() {
        "ab (since httpd 2.4.33) opens one connection, and the others only after it has read the head \
         of a response. None ever came, so the whole run went over one connection at a time."
            .to_owned()
    } else {
        "Most of the connections were not used: they were never opened, or they were waiting for \
         something that the times do not count."
            .to_owned()
    };
    let remedy = format!(
        "Read the rate as that of about {} in flight. Then ask the target once with `curl -v`, and run \
         `ulimit -n`, which has to be above the connections asked for: one of the two mostly tells why \
         the others did not run.",
        grouped(high.max(1.0).ceil() as u64)
    );
    let severity = if high < asked as f64 * ANOTHER_EXPERIMENT {
        Severity::Invalid
    } else {
        Severity::Suspect
    };
    Some(Finding::new(D01, severity, evidence, cause, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn little_s_law_decides() {
        let mut report = sample::ab();
        // 10,000/s × 9.5 ms = 95 of 200: under half. × 10.5 ms = 105: not surely.
        report.total = Some(sample::times(1.0, 9.0, 1.0, 9.0, 12.0));
        assert_eq!(check(&report).unwrap().severity, Severity::Suspect);
        report.total = Some(sample::times(1.0, 10.0, 1.0, 10.0, 12.0));
        assert_eq!(check(&report), None);
        // 10,000/s × 0.5 ms = 5 of 200.
        report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
        let finding = check(&report).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.contains("less than 5.00, and 200"), "{}", finding.evidence);
    }

    #[test]
    fn one_connection_is_always_reached() {
        let mut report = sample::ab();
        report.concurrency = Some(1);
        report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
        assert_eq!(check(&report), None);
    }
}
