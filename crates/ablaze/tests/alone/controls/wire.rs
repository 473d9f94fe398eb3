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

/// Behind a kept connection there is nobody any more, and the request is sent again.
#[test]
fn a_server_that_closes_without_a_word_has_requests_sent_again() {
    let _alone = alone();
    let server = Server::start(&["--fault", "close-unanswered=5%"]);
    let report = load(&[&server.url("/"), "-c5", "-d1.2s"]);
    let evidence = report.assert_root("D18", "suspect");
    assert!(evidence.contains("were sent again"), "{evidence}");
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
