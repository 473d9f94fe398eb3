//! D37 on runs.

use super::*;
use crate::live::sample;
use ablaze_model::record::GroupRecord;

/// A body of 14 B first, and so many of other lengths.
fn with_lengths(others: &[(u64, u64)]) -> Run {
    let mut run = sample::run();
    run.record.first_body_bytes = Some(14);
    run.record.first_head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let changed: u64 = others.iter().map(|(_, number)| number).sum();
    run.record.body_lengths = others.iter().copied().collect();
    run.record.body_lengths.insert(14, 20_000 - changed);
    run
}

#[test]
fn other_lengths_are_noted_with_their_range() {
    assert_eq!(on_run(&with_lengths(&[])), None);
    let said = seen(&with_lengths(&[])).unwrap();
    assert_eq!(
        said,
        "All of 20,000 responses were like the first: status 200 with a body of 14 B."
    );
    let mut run = with_lengths(&[(13, 50), (15, 150)]);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("200 of 20,000 responses (1.0 %)"), "{evidence}");
    assert!(evidence.contains("3 lengths from 13 to 15 B in all"), "{evidence}");
    run.record.body_lengths_other = 5;
    let evidence = on_run(&run).unwrap().evidence;
    let some = "more than 3 lengths, 3 of them from 13 to 15 B.";
    assert!(evidence.ends_with(some), "the others may be of any length: {evidence}");
}

#[test]
fn a_first_response_that_is_the_odd_one_is_named() {
    let finding = on_run(&with_lengths(&[(162, 19_999)])).unwrap();
    assert!(finding.cause.starts_with("The first response is the odd one"), "{finding:?}");
    let finding = on_run(&with_lengths(&[(162, 10)])).unwrap();
    assert!(finding.cause.starts_with("Pages that contain a date"), "{finding:?}");
    // As many as had another status.
    let mut run = with_lengths(&[(162, 5_000)]);
    run.record.statuses = [(200, 15_000), (429, 5_000)].into();
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("an error page"), "{finding:?}");
    // Each differs from the next, too.
    let finding = on_run(&with_lengths(&[(13, 9_000), (15, 10_999)])).unwrap();
    assert!(finding.cause.starts_with("Pages that contain a date"), "{finding:?}");
}

/// The first came before the clock started.
#[test]
fn one_length_is_no_range() {
    let mut run = with_lengths(&[(162, 20_000)]);
    run.record.body_lengths.remove(&14);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.ends_with("had another length, each 162 B."), "{evidence}");
}

#[test]
fn of_different_requests_nothing_else_is_expected() {
    let mut run = with_lengths(&[(162, 10_000)]);
    run.record.groups = ["/a", "/b"].map(|name| GroupRecord::new(name, false)).into();
    assert_eq!(on_run(&run), None);
    assert!(!seen(&run).unwrap().contains("were like the first"));
}

#[test]
fn other_statuses_are_told_too() {
    let mut run = with_lengths(&[]);
    run.record.statuses = [(200, 19_000), (204, 1_000)].into();
    let Finding { evidence, cause, .. } = on_run(&run).unwrap();
    assert!(evidence.contains("first response had status 200; 1,000 of 20,000"), "{evidence}");
    assert!(!evidence.contains("length") && !cause.contains("date"), "{evidence} {cause}");
    // The head is one of before the clock started.
    run.record.first_head = b"HTTP/1.1 503 Busy\r\n\r\n".to_vec();
    assert_eq!(on_run(&run), None);
}
