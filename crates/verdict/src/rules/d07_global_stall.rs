//! D07: everything in flight was frozen at once. When d ms of delay are shared by k of n requests,
//! the deviation is about d × √(k / n); so the deviation tells k, and k tells whether it was as many
//! as were in flight.

use super::arithmetic::slow_requests;
use super::d08_connection_attempts_lost;
use crate::DiagnosisId::D07;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{decimal, grouped, percent, time};

/// The longest must be so many times the 99 % time, or it is part of the crowd.
const OUTSIDE_THE_CROWD: f64 = 5.0;
/// And so many times for two stalls of unequal lengths, which fit more than one number.
const FAR_FROM_THE_CROWD: f64 = 20.0;
/// And at least this much longer than the mean.
const NOTICED_MS: f64 = 100.0;
/// Fewer in flight prove nothing: one slow request out of one is all of them.
const FEWEST_IN_FLIGHT: u64 = 10;
/// How far the number of slow requests may lie from the number in flight.
const TOLERANCE: f64 = 0.02;
const TOLERANCE_REQUESTS: f64 = 2.0;
/// The usual scatter may make up so much of the variance.
const SCATTER: f64 = 0.1;
/// Below this share of the run a stall is a note.
const LITTLE: f64 = 0.01;

/// What the figures of a stall imply.
struct Stall {
    slow: f64,
    /// Length of each stall, in ms.
    each_ms: Vec<f64>,
    lost_s: f64,
}

pub fn check(report: &Report) -> Option<Finding> {
    let stall = stall(report)?;
    let (asked, taken_s, complete) = (report.concurrency?, report.taken_s?.value, report.complete?);
    let row = report.total?;
    let (deviation, mean, max) = (row.deviation_ms?.value, row.mean_ms?.value, row.max_ms?.value);
    let crowd = crowd_ms(report)?;
    let evidence = format!(
        "The longest request took {} ms, 99 % at most {} ms. A deviation of {deviation:.1} ms means \
         {deviation:.1}² × {} / ({} - {})² = {:.1} such requests, and {} were in flight: {}. That \
         takes {} of {} s ({}); without it the rate would be about {}/s.",
        decimal(max, 0),
        decimal(crowd, 0),
        grouped(complete - 1),
        decimal(max, 0),
        decimal(mean, 0),
        stall.slow,
        grouped(asked),
        fits(&stall, asked),
        time(stall.lost_s * 1e3),
        decimal(taken_s, 1),
        percent(stall.lost_s / taken_s),
        amount_of(complete as f64 / (taken_s - stall.lost_s)),
    );
    let severity = if stall.lost_s / taken_s < LITTLE { Severity::Note } else { Severity::Suspect };
    Some(Finding::new(
        D07,
        severity,
        evidence,
        "The server, the tester, the machine under one of them or the network between them stood \
         still for that long. It is no property of single requests, and no slow tail.",
        "Leave the longest time out of every comparison, and run again while `vmstat 1` runs on both \
         machines: it shows which of them stops.",
    ))
}

/// A rate to three digits: more the estimate does not give.
fn amount_of(rate: f64) -> String {
    let digit = 10f64.powf((rate.log10() - 2.0).floor().max(0.0));
    grouped(((rate / digit).round() * digit) as u64)
}

/// Whether a report has a global stall, for rules that it would mislead.
pub fn is_found(report: &Report) -> bool {
    stall(report).is_some()
}

fn fits(stall: &Stall, asked: u64) -> String {
    match stall.each_ms.as_slice() {
        [one] => format!("all {} once, frozen for {}", grouped(asked), time(*one)),
        [first, second] => format!(
            "that fits two stalls of all {}, of {} and about {}",
            grouped(asked),
            time(*first),
            time(*second)
        ),
        each => format!("all {} {} times", grouped(asked), each.len()),
    }
}

fn crowd_ms(report: &Report) -> Option<f64> {
    report.percentile(99.0).or_else(|| report.median_ms()).map(|ms| ms.value)
}

fn stall(report: &Report) -> Option<Stall> {
    let asked = report.concurrency.filter(|asked| *asked >= FEWEST_IN_FLIGHT)? as f64;
    if d08_connection_attempts_lost::timer_ms(report).is_some() {
        return None;
    }
    let row = report.total?;
    let (mean, max, deviation) = (row.mean_ms?.value, row.max_ms?.value, row.deviation_ms?.value);
    let above_mean_ms = max - mean;
    let crowds = max / crowd_ms(report)?.max(1.0);
    if crowds <= OUTSIDE_THE_CROWD || above_mean_ms < NOTICED_MS {
        return None;
    }
    // 95 % of a normal distribution lie below its mean plus 1.645 deviations.
    let spread = report.percentile(95.0).zip(report.percentile(50.0));
    let usual = spread.map_or(0.0, |(p95, p50)| (p95.value - p50.value) / 1.645);
    if usual.powi(2) > SCATTER * deviation.powi(2) {
        return None;
    }
    let (_, slow, _) = slow_requests(&row, report.complete?)?;
    let times_all = slow / asked;
    let whole = times_all.round();
    let near = |count: f64| {
        (slow - count * asked).abs() <= (TOLERANCE * count * asked).max(TOLERANCE_REQUESTS)
    };
    let each_ms = if whole == 1.0 && near(1.0) {
        vec![above_mean_ms]
    } else if whole == 2.0 && near(2.0)
        || crowds > FAR_FROM_THE_CROWD && (1.0..=2.0).contains(&times_all)
    {
        // Two of different lengths: asked × (d1² + d2²) is what the deviation holds.
        vec![above_mean_ms, above_mean_ms * (times_all - 1.0).clamp(0.0, 1.0).sqrt()]
    } else if whole == 3.0 && near(3.0) {
        vec![above_mean_ms; 3]
    } else {
        return None;
    };
    let lost_s = each_ms.iter().sum::<f64>() / 1e3;
    (lost_s < report.taken_s?.value).then_some(Stall { slow, each_ms, lost_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    /// A run in which some of 1,000,000 requests were frozen: the deviation by its definition.
    fn frozen(groups: &[(u64, f64)]) -> Report {
        let mut report = sample::ab();
        let squares: f64 = groups.iter().map(|(count, ms)| *count as f64 * ms.powi(2)).sum();
        let deviation = (squares / 999_999.0).sqrt();
        let longest = groups.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
        let deviation = (deviation * 10.0).round() / 10.0;
        report.total = Some(sample::times(12.0, 20.0, deviation, 20.0, 20.0 + longest));
        report
    }

    #[test]
    fn all_in_flight_at_once_is_a_stall() {
        let finding = check(&frozen(&[(200, 3600.0)])).unwrap();
        // 3.6 of 100 s; 1,000,000 / 96.4 s.
        assert!(
            finding.evidence.contains("takes 3.60 s of 100.0 s (3.6 %)"),
            "{}",
            finding.evidence
        );
        assert!(finding.evidence.contains("10,400/s"), "{}", finding.evidence);
        assert_eq!(finding.severity, Severity::Suspect);
    }

    #[test]
    fn two_stalls_are_told_apart() {
        let evidence = check(&frozen(&[(200, 4000.0), (200, 3000.0)])).unwrap().evidence;
        assert!(evidence.contains("of 4.00 s and about 3.00 s"), "{evidence}");
    }

    #[test]
    fn a_slow_tail_is_none() {
        // Half of those in flight, or many more than were.
        assert_eq!(check(&frozen(&[(100, 3600.0)])), None);
        assert_eq!(check(&frozen(&[(850, 3600.0)])), None);
        // Not outside of the crowd, whose 99 % are within 31 ms.
        assert_eq!(check(&frozen(&[(200, 130.0)])), None);
        // Two numbers fit, and it is not far outside.
        assert_eq!(check(&frozen(&[(200, 500.0), (200, 300.0)])), None);
        assert!(check(&frozen(&[(200, 500.0), (200, 500.0)])).is_some());
        assert_eq!(check(&sample::ab()), None);
    }
}
