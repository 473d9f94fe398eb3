//! Repeats of printed reports, and what is none.

use super::*;
use crate::printed::{Printed, Report, Text};
use crate::rules::{comparison, sample};

fn with_rates(rates: &[(f64, &str)]) -> Option<Finding> {
    let report = |(rate, label): &(f64, &str)| {
        let mut report: Report = sample::ab();
        report.rate_per_s = Some(Printed { value: *rate, step: 0.01 });
        // At the same times another rate would be that of another number in flight.
        report.total = None;
        report.label = Some((*label).to_owned());
        report
    };
    let text = Text { reports: rates.iter().map(report).collect(), ..Text::default() };
    on_comparison(&Comparison { members: comparison::members(&text, 1) }, None)
}

#[test]
fn single_runs_are_noted_and_small_differences_suspected() {
    let finding = with_rates(&[(100.0, "a"), (400.0, "b")]).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    // 10 ms less 2.5 ms.
    assert!(
        finding.evidence.contains("= 4.00; the gap is 7,500 µs from one response to the next"),
        "{}",
        finding.evidence
    );
    let finding = with_rates(&[(100.0, "a"), (190.0, "b")]).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    let finding = with_rates(&[(100.0, "a"), (102.0, "b")]).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    assert!(finding.evidence.contains("differ by 2.0 %"), "{}", finding.evidence);
}

/// A page against its error page: D05 says that a ratio of them says nothing.
#[test]
fn of_incomparable_rates_no_ratio_is_given() {
    let found = |rates: [f64; 2], non_2xx| {
        let report = |(nth, rate): (usize, f64)| {
            let mut report: Report = sample::ab();
            report.rate_per_s = Some(Printed { value: rate, step: 0.01 });
            report.total = None;
            report.label = Some(["a", "b"][nth].to_owned());
            report.non_2xx = Some(non_2xx * nth as u64);
            report
        };
        let reports = rates.into_iter().enumerate().map(report).collect();
        let text = Text { reports, ..Text::default() };
        on_comparison(&Comparison { members: comparison::members(&text, 1) }, None).unwrap()
    };
    for rates in [[100.0, 400.0], [100.0, 102.0]] {
        let evidence = found(rates, 1_000_000).evidence;
        assert!(evidence.contains("report 1 and report 2 are not comparable (D05)"), "{evidence}");
        assert!(!evidence.contains("4.00") && !evidence.contains("differ by"), "{evidence}");
        assert!(!evidence.contains("to the next"), "{evidence}");
        assert!(!found(rates, 0).evidence.contains("comparable"));
    }
}

/// The medians of other work are not held against each other either.
#[test]
fn repeats_of_other_work_do_not_overlap() {
    let report = |(nth, rate): (usize, &f64)| {
        let mut report: Report = sample::ab();
        report.rate_per_s = Some(Printed { value: *rate, step: 0.01 });
        report.label = Some(["a", "b"][nth / 3].to_owned());
        report.non_2xx = Some(1_000_000 * (nth as u64 / 3));
        report
    };
    let rates = [100.0, 101.0, 103.0, 102.0, 104.0, 105.0];
    let reports = rates.iter().enumerate().map(report).collect();
    let text = Text { reports, ..Text::default() };
    let found = on_comparison(&Comparison { members: comparison::members(&text, 1) }, None);
    assert_eq!(found, None);
}

#[test]
fn the_sentences_on_a_few_runs_of_each_begin_as_sentences_do() {
    let runs = [(100.0, "a"), (101.0, "a"), (102.0, "b"), (103.0, "b")];
    let evidence = with_rates(&runs).unwrap().evidence;
    assert!(evidence.starts_with("Fewer than 3 runs of each of the 2 targets"), "{evidence}");
    assert!(evidence.contains("\nA run of report 2 and a run of report 3 "), "{evidence}");
    let some = [(100.0, "a"), (101.0, "a"), (102.0, "a"), (103.0, "b"), (104.0, "b")];
    let evidence = with_rates(&some).unwrap().evidence;
    assert!(evidence.starts_with("Fewer than 3 runs of some of the 2 targets"), "{evidence}");
}

#[test]
fn repeats_are_no_comparison() {
    assert_eq!(with_rates(&[(100.0, "a"), (101.0, "a"), (102.0, "a")]), None);
    assert_eq!(with_rates(&[(100.0, "Run 1"), (101.0, "Run 2"), (102.0, "Run 3")]), None);
    let finding = with_rates(&[(100.0, "a"), (110.0, "a"), (90.0, "a")]).unwrap();
    assert!(finding.evidence.contains("spread of 20 %"), "{}", finding.evidence);
    assert_eq!(
        with_rates(
            &[100.0, 101.0, 102.0, 200.0, 202.0, 204.0]
                .map(|rate| { (rate, if rate < 150.0 { "a" } else { "b" }) })
        ),
        None
    );
}

#[test]
fn runs_of_another_load_or_of_other_responses_are_no_repeats() {
    let found = |change: fn(usize, &mut Report)| {
        let report = |(nth, rate): (usize, &f64)| {
            let mut report: Report = sample::ab();
            report.rate_per_s = Some(Printed { value: *rate, step: 0.01 });
            report.label = Some(format!("run {nth}"));
            change(nth, &mut report);
            report
        };
        let rates = [100.0, 140.0, 180.0, 181.0];
        let reports = rates.iter().enumerate().map(report).collect();
        let text = Text { reports, ..Text::default() };
        on_comparison(&Comparison { members: comparison::members(&text, 1) }, None)
    };
    assert!(found(|_, _| {}).unwrap().evidence.starts_with("4 runs of report 1 ranged"));
    assert_eq!(found(|nth, report| report.concurrency = Some([10, 50, 100, 100][nth])), None);
    assert_eq!(found(|nth, report| report.non_2xx = Some([0, 1_000_000][nth / 2])), None);
    let longer = |nth: usize, report: &mut Report| {
        let times = [1, 10][nth / 2];
        report.complete = Some(1_000_000 * times);
        report.total_bytes = Some(1_200_000_000 * times as i64);
        report.body_bytes = Some(1_000_000_000 * times as i64);
        report.taken_s = Some(Printed { value: 100.0 * times as f64, step: 0.001 });
    };
    assert_eq!(found(longer), None);
    // Three of the same are, whatever the fourth is.
    let evidence = found(|nth, report| report.concurrency = Some([10, 10, 10, 50][nth]));
    let evidence = evidence.unwrap().evidence;
    assert!(evidence.starts_with("3 runs of report 1 ranged from 100 to 180/s"), "{evidence}");
    // A table beside it has the median of all four.
    assert!(evidence.contains("\n1 of the 4 runs had another load"), "{evidence}");
    assert!(!found(|_, _| {}).unwrap().evidence.contains("not among these"));
}

#[test]
fn two_targets_under_two_loads_are_four_kinds_of_work() {
    let report = |(rate, label, concurrency): (f64, &str, u64)| {
        let mut report: Report = sample::ab();
        report.rate_per_s = Some(Printed { value: rate, step: 0.01 });
        report.label = Some(label.to_owned());
        report.concurrency = Some(concurrency);
        report
    };
    let one = [(100.0, "a", 10), (101.0, "a", 10), (500.0, "a", 100)];
    let other = [(200.0, "b", 10), (201.0, "b", 10), (900.0, "b", 100)];
    let reports = one.into_iter().chain(other).map(report).collect();
    let text = Text { reports, ..Text::default() };
    let members = comparison::members(&text, 1);
    let evidence = on_comparison(&Comparison { members }, None).unwrap().evidence;
    let expected = "Fewer than 3 runs of each of the 4 kinds of work of 2 targets are shown.";
    assert!(evidence.starts_with(expected), "{evidence}");
}
