//! Tests of D08 on printed reports.

use super::printed::on_report;
use super::*;
use crate::rules::sample;

fn with_longest(ms: f64) -> Option<Finding> {
    let mut report = sample::ab();
    report.connect = Some(sample::times(0.0, 2.0, 31.7, 1.0, ms));
    report.total = Some(sample::times(12.0, 20.0, 31.8, 20.0, ms + 19.0));
    on_report(&report)
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
    report.percentiles[3].1 = sample::printed(1021.0, 1.0);
    let ids: Vec<_> = crate::rules::report(&report).iter().map(|finding| finding.id).collect();
    assert_eq!(ids, [D08]);
}

#[test]
fn other_times_are_no_evidence() {
    for ms in [6.0, 93.0, 990.0, 1500.0, 3526.0, 3701.0, 3902.0] {
        assert_eq!(with_longest(ms), None, "{ms}");
    }
}

/// More than half of them were sent again: the median is the timer's.
#[test]
fn most_connects_at_the_timer_are_found() {
    let mut report = sample::ab();
    report.connect = Some(sample::times(0.0, 600.0, 490.0, 1000.0, 1003.0));
    report.processing = Some(sample::times(1.0, 8.0, 1.0, 8.0, 20.0));
    report.total = Some(sample::times(2.0, 608.0, 490.0, 1008.0, 1021.0));
    report.percentiles = vec![(99.0, sample::printed(1015.0, 1.0))];
    assert!(on_report(&report).is_some());
    // A server that is so far away.
    report.connect = Some(sample::times(990.0, 1000.0, 2.0, 1000.0, 1003.0));
    assert_eq!(on_report(&report), None);
}

/// A queue is at least six long.
#[test]
fn a_few_connections_fill_no_queue() {
    let cause = |asked| {
        let mut report = sample::ab();
        report.concurrency = Some(asked);
        report.connect = Some(sample::times(0.0, 2.0, 31.7, 1.0, 1003.0));
        on_report(&report).unwrap().cause
    };
    assert!(!cause(1).contains("most likely because"), "{}", cause(1));
    assert!(cause(200).contains("200 connections at once"));
}

/// Connects of all times up to one that happens to be near the timer are no packets that were sent again.
#[test]
fn a_tail_that_ends_near_a_timer_is_no_timer() {
    let with_percentile = |ms: f64| {
        let mut report = sample::ab();
        report.connect = Some(sample::times(0.0, 30.0, 90.0, 2.0, 1010.0));
        report.processing = Some(sample::times(1.0, 20.0, 10.0, 18.0, 145.0));
        report.total = Some(sample::times(12.0, 50.0, 90.0, 22.0, 1020.0));
        report.percentiles = vec![(99.0, sample::printed(ms, 1.0))];
        on_report(&report)
    };
    assert_eq!(with_percentile(480.0), None);
    assert!(with_percentile(150.0).is_some() && with_percentile(1015.0).is_some());
    // One in a hundred waited for the first timer, and the longest for the second.
    let mut report = sample::ab();
    report.connect = Some(sample::times(0.0, 55.0, 250.0, 0.0, 3010.0));
    report.processing = Some(sample::times(1.0, 8.0, 5.0, 8.0, 45.0));
    report.total = Some(sample::times(2.0, 63.0, 250.0, 9.0, 3020.0));
    report.percentiles = vec![(98.0, sample::printed(1012.0, 1.0))];
    assert!(on_report(&report).is_some());
    report.percentiles.push((99.0, sample::printed(1900.0, 1.0)));
    assert_eq!(on_report(&report), None);
}
