//! The server, or the client, stopped for a second.

use std::time::Duration;

use crate::alone;
use crate::controls::support::{Loading, Server};

const PAUSE: Duration = Duration::from_secs(1);

#[test]
fn a_server_stopped_for_a_second_is_a_global_stall() {
    let _alone = alone();
    let server = Server::start(&[]);
    let loading = Loading::start(&[&server.url("/"), "-c200", "-d2.5s"]);
    server.wait_for_requests(1000);
    std::thread::sleep(Duration::from_millis(500));
    server.process.pause(PAUSE);
    let report = loading.report();
    report.assert_root("D07", "suspect");
}

#[test]
fn a_client_stopped_for_a_second_is_a_pause_that_explains_the_stall() {
    let _alone = alone();
    let server = Server::start(&[]);
    let loading = Loading::start(&[&server.url("/"), "-c200", "-d2.5s"]);
    server.wait_for_requests(1000);
    std::thread::sleep(Duration::from_millis(500));
    loading.process.pause(PAUSE);
    let report = loading.report();
    let evidence = report.assert_root("D23", "suspect");
    assert!(evidence.contains("woke up late"), "{evidence}");
    report.assert_explained("D07", "D23");
}

/// The rate goes on while the server stands still: those who came meanwhile waited for it, and
/// half of all others did not.
#[test]
fn a_server_that_stalls_under_a_rate_shows_in_the_response_times() {
    let _alone = alone();
    let server = Server::start(&["--delay", "stall:1s/3s"]);
    let loading = Loading::start(&[&server.url("/"), "-r", "1000/s", "-d5s"]);
    let report = loading.report();
    report.assert_root("D07", "suspect");
    // Two stalls of a second: the first of those who come in one wait the longest.
    let ms = |pointer: &str| report.number(pointer) / 1e6;
    let p99_ms = ms("/latency_ns/response/p99");
    assert!((800.0..1300.0).contains(&p99_ms), "response p99 {p99_ms} ms");
    let p50_ms = ms("/latency_ns/total/p50");
    assert!(p50_ms < 100.0, "service p50 {p50_ms} ms");
}
