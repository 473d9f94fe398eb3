//! Targets that speak another protocol, close without a word, or response in two parts or differently
//! each time.

use crate::alone;
use crate::controls::noise::if_quiet;
use crate::controls::support::{Server, load};
use crate::controls::verdict::Report;

#[test]
fn a_target_that_echoes_is_no_http_server() {
    let _alone = alone();
    let server = Server::start(&["--response", "echo"]);
    let report = load(&[&server.url("/"), "-c20", "-d500ms"]);
    let evidence = report.assert_root("D03", "invalid");
    assert!(evidence.contains("GET / HTTP/1.1"), "{evidence}");
    report.assert_explained("D02", "D03");
}

#[test]
fn a_body_that_changes_length_is_noted() {
    let _alone = alone();
    let server = Server::start(&[]);
    let report = load(&[&server.url("/bytes/1{rand:2}"), "-c5", "-d1.2s"]);
    let evidence = report.assert_root("D37", "note");
    assert!(evidence.contains("had another length"), "{evidence}");
}

/// A request to which no byte came is sent again, once.
#[test]
fn a_server_that_drops_requests_is_named_although_they_are_sent_again() {
    let _alone = alone();
    let server = Server::start(&["--fault", "close-unanswered=5%"]);
    let report = load(&[&server.url("/"), "-c5", "-d1.2s"]);
    // On new connections as on reused ones: no idle connection was closed, requests were dropped.
    let evidence = report.assert_root("D02", "suspect");
    assert!(evidence.contains("sent again"), "{evidence}");
}

/// Body and head leave in two packets, the second only when the first is acknowledged. How long
/// that takes is the kernel's affair, unless others have the processors.
#[test]
fn head_and_body_apart_wait_for_a_delayed_acknowledgement() {
    let _alone = alone();
    let server = Server::start(&["--write", "split", "--nodelay", "off"]);
    let objection = |report: &Report| {
        let found = report.found("D10").is_some_and(|finding| finding["severity"] == "suspect");
        let right = found && report.grave().next() == Some("D10");
        (!right).then(|| format!("D10 is not the root: {}", report.in_short()))
    };
    if_quiet(|| load(&[&server.url("/"), "-c10", "-d2s"]), objection);
}
