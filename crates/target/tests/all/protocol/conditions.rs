//! Delays and places in service as they show in what the protocol asks of a model, and the pages
//! that tell of them.

use std::time::Duration;

use ablaze_target::Options;
use ablaze_target::conditions::{Delay, Fault, FaultShare, ResponseKind};

use crate::protocol::conversation::Bench;

const GET: &str = "GET /hello HTTP/1.1\r\nHost: t\r\n\r\n";
const MS: Duration = Duration::from_millis(1);

fn waits(options: &Options, requests: usize) -> Vec<u64> {
    let heard = Bench::new(options).ask(GET.repeat(requests));
    heard.waits.iter().map(|wait| wait.1).collect()
}

#[test]
fn every_response_waits_for_its_delay() {
    let constant = Options { delay: (7 * MS).into(), ..Options::default() };
    assert_eq!(waits(&constant, 3), [7_000_000; 3]);
    let heard = Bench::new(&constant).ask("GET /delay/20 HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(heard.waits, [(0, 27_000_000)], "the route's delay and the server's add up");
}

#[test]
fn a_seed_gives_the_same_delays_every_time() {
    let options = |seed| Options { delay: Delay::Exponential(MS), seed, ..Options::default() };
    let delays = waits(&options(5), 50);
    assert_eq!(waits(&options(5), 50), delays);
    assert_ne!(waits(&options(6), 50), delays);
    // Cut into connections, they are still the same sequence.
    let bench = Bench::new(&options(5));
    let apart: Vec<_> = (0..50).map(|_| bench.ask(GET).waits[0].1).collect();
    assert_eq!(apart, delays);
}

#[test]
fn responses_wait_where_there_is_no_http_too() {
    let options =
        Options { response: ResponseKind::Echo, delay: (3 * MS).into(), ..Options::default() };
    let heard = Bench::new(&options).converse(b"abcd", &[2]);
    assert_eq!(
        (heard.bytes, heard.waits),
        (b"abcd".to_vec(), vec![(0, 3_000_000), (2, 3_000_000)])
    );
}

#[test]
fn who_finds_no_place_in_service_queues() {
    let options = Options { delay: (1000 * MS).into(), in_service: Some(2), ..Options::default() };
    let bench = Bench::new(&options);
    // Six connections at almost one time: two are served, two queue behind them, and so on. As
    // the clock goes on, they wait a little less than whole seconds.
    let waits: Vec<_> = (0..6).map(|_| bench.ask(GET).waits[0].1).collect();
    for (number, wait_ns) in waits.into_iter().enumerate() {
        let ends_ns = (number as u64 / 2 + 1) * 1_000_000_000;
        assert!(wait_ns <= ends_ns && wait_ns > ends_ns - 900_000_000, "{number}: {wait_ns}");
    }
}

#[test]
fn nothing_is_answered_during_a_stall() {
    // An hour of stall that has just begun.
    let delay = Delay::Stall(Duration::from_secs(3600), Duration::from_secs(7200));
    let waits = waits(&Options { delay, ..Options::default() }, 1);
    assert!(waits[0] > 3_500_000_000_000 && waits[0] <= 3_600_000_000_000, "{waits:?}");
}

#[test]
fn the_pages_of_the_server_wait_for_nothing_and_are_never_spoiled() {
    let options = Options {
        delay: (1000 * MS).into(),
        in_service: Some(1),
        faults: vec![FaultShare { fault: Fault::ResetBefore, share: 1.0 }],
        echo_everywhere: true,
        ..Options::default()
    };
    let bench = Bench::new(&options);
    let heard = bench.ask("GET /_/config HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(heard.waits, []);
    let (head, body) = bench.get("/_/config");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(head.contains("Content-Type: application/json\r\n"), "{head}");
    let config: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(config["delay"]["ns"], 1_000_000_000);
    assert_eq!(config["in_service"], 1);
    assert_eq!(config["faults"][0]["fault"], "reset-before");
    assert_eq!(config["model"], "epoll-et");
    assert_eq!(config["max_requests"], serde_json::Value::Null);
}

#[test]
fn the_status_page_has_what_a_reader_of_it_needs() {
    let (_, body) = Bench::new(&Options::default()).get("/_/status");
    let status: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert!(status["uptime_ns"].is_u64());
    assert_eq!((&status["model"], &status["accept"]), (&"epoll-et".into(), &"reuseport".into()));
    assert_eq!(status["total"]["requests"], 0);
    assert_eq!(status["workers"], serde_json::json!([]), "this test has no threads");
}
