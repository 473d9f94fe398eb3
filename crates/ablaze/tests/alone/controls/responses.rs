//! Targets that send something else than was meant, nothing, or the same later and later.

use std::time::Duration;

use ablaze_testing::hostile::{Behaviour, Hostile, Script};

use crate::alone;
use crate::controls::support::{Server, load};

#[test]
fn a_target_that_never_answers_is_no_response() {
    let _alone = alone();
    let server = Server::start(&["--response", "none"]);
    let report = load(&[&server.url("/"), "-c20", "-d500ms"]);
    let evidence = report.assert_root("D02", "invalid");
    assert!(evidence.contains("20 were still waiting at the end"), "{evidence}");
}

#[test]
fn a_target_that_serves_404_serves_error_pages() {
    let _alone = alone();
    let server = Server::start(&["--status", "404"]);
    let report = load(&[&server.url("/"), "-c20", "-n5000"]);
    let evidence = report.assert_root("D04", "invalid");
    assert!(evidence.contains("404 (5,000×)"), "{evidence}");
}

#[test]
fn a_target_that_closes_after_100_requests_cuts_connections() {
    let _alone = alone();
    // A millisecond for each, so that the run takes its time.
    let server = Server::start(&["--max-requests", "100", "--delay", "1ms"]);
    let report = load(&[&server.url("/"), "-c1", "-n1000"]);
    let evidence = report.assert_root("D18", "note");
    assert!(
        evidence.contains("10 of 1,000 responses closed their connection: one in 100."),
        "{evidence}"
    );
}

/// What a response takes grows with the square of how many there were: three times as long in the last second as in the first.
#[test]
fn a_target_that_becomes_slower_and_slower_is_told_without_a_cause() {
    let _alone = alone();
    let late = |number: u64| Behaviour::Late(Duration::from_micros(1_000 + number * number / 100));
    let target = Hostile::start(Script::per_request((0..10_000).map(late))).unwrap();
    let report = load(&[&target.url(), "-c4", "-d3s"]);
    let evidence = report.assert_root("D57", "suspect");
    assert!(evidence.starts_with("Responses became slower as the run went on"), "{evidence}");
}
