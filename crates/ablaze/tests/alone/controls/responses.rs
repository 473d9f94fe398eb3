//! Targets that send something else than was meant, or nothing.

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
