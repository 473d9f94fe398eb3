//! Servers that differ in something that never happens under the load.

use std::process::Command;

use ablaze_testing::{Bounded, ScratchFile};
use serde_json::Value;

use crate::alone;
use crate::controls::support::{Server, ablaze, load};

/// Responses of 14 bytes never fill a send buffer, so that level- and edge-triggered waiting for
/// room in it do the same: nothing. Each run says so, and the comparison of both that it is the only
/// thing in which the servers differ.
#[test]
fn where_no_write_ever_blocks_the_way_of_waiting_is_not_exercised() {
    let _alone = alone();
    let files = ["epoll-lt", "epoll-et"].map(|model| {
        let file = ScratchFile::new(&format!("{model}.json"));
        let server = Server::start(&["--model", model]);
        let report = load(&[&server.url("/"), "-c10", "-d1.2s", "-o", file.word()]);
        let evidence = report.assert_root("D25", "note");
        assert!(evidence.contains(&format!("--model {model}")), "{evidence}");
        file
    });
    let found = comparison(&mut ablaze(&["explain", "--json", files[0].word(), files[1].word()]));
    let d25 = found.iter().find(|finding| finding["id"] == "D25");
    let d25 = d25.unwrap_or_else(|| panic!("no D25: {found:#?}"));
    assert_eq!(d25["severity"], "suspect", "{d25}");
    assert!(d25["explained_by"].is_null(), "{d25}");
    let evidence = d25["evidence"].as_str().unwrap();
    assert!(evidence.contains("`epoll-et` and `epoll-lt`"), "{evidence}");
}

/// Responses of a megabyte do not fit into 64 KiB: writes wait, and the difference may be theirs.
#[test]
fn where_writes_block_the_way_of_waiting_is_exercised() {
    let _alone = alone();
    let files = ["epoll-lt", "epoll-et"].map(|model| {
        let file = ScratchFile::new(&format!("{model}.json"));
        let server = Server::start(&["--model", model, "--sndbuf", "64KiB"]);
        let report = load(&[&server.url("/bytes/1000000"), "-c10", "-d1.2s", "-o", file.word()]);
        assert!(report.found("D25").is_none(), "{}", report.in_short());
        file
    });
    let found = comparison(&mut ablaze(&["explain", "--json", files[0].word(), files[1].word()]));
    assert!(!found.iter().any(|finding| finding["id"] == "D25"), "{found:#?}");
}

/// What is found in a comparison.
fn comparison(explain: &mut Command) -> Vec<Value> {
    let output = explain.bounded_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let response: Value = serde_json::from_str(&text).unwrap();
    for finding in response["comparisons"][0]["findings"].as_array().unwrap() {
        println!("{} {} {}", finding["id"], finding["severity"], finding["evidence"]);
    }
    response["comparisons"][0]["findings"].as_array().unwrap().clone()
}
