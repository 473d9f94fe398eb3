//! What several workers do adds up to what was asked for, and to what the server counted.

use serde_json::Value;

use super::coordinator;
use crate::e2e::support::{Ran, Scratch, number, run, serve, url};

fn measured(words: &[&str]) -> (Ran, Value) {
    let ran = run(&mut coordinator(&[&["load", "--quiet", "--json"], words].concat()));
    let json = ran.json();
    (ran, json)
}

fn of_workers(json: &Value, field: &str) -> Vec<u64> {
    let workers = json["fleet"]["workers"].as_array().unwrap();
    workers.iter().map(|worker| worker[field].as_u64().unwrap()).collect()
}

#[test]
fn a_number_of_requests_is_exact_over_all_and_the_servers_own() {
    let server = serve();
    let target = url(&server, "/");
    let (ran, json) = measured(&["--fleet", "exec:4", "-n", "4003", "-c", "9", &target]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(number(&json, "/responses"), 4003);
    assert_eq!(server.served().requests, 4003);
    assert_eq!(of_workers(&json, "responses"), [1001, 1001, 1001, 1000]);
    assert_eq!(number(&json, "/latency_ns/total/count"), 4003);
    assert_eq!(number(&json, "/load/connections"), 9);
    let slices = json["slices"].as_array().unwrap();
    assert_eq!(slices.iter().map(|slice| number(slice, "/responses")).sum::<u64>(), 4003);
}

#[test]
fn a_rate_is_dealt_among_the_workers_and_adds_up_exactly() {
    let server = serve();
    let target = url(&server, "/");
    // By number and not by time: a worker that has no processor at the end of a run takes no more of what is due.
    let fleet = ["--fleet", "exec:a,b,c={cmd}", "-r", "400", "-n", "400"];
    let (ran, json) = measured(&[&fleet[..], &[&target]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    // Arrivals 0 to 399, dealt in turn.
    assert_eq!(number(&json, "/responses") + number(&json, "/unfinished/count"), 400);
    assert_eq!(of_workers(&json, "responses"), [134, 133, 133]);
    assert_eq!(server.served().requests, 400);
    assert!(json["load"].to_string().contains("400.0"), "{}", json["load"]);
    assert!(number(&json, "/fleet/skew/bound_ns") > 0, "{json}");
}

#[test]
fn a_number_that_cannot_be_dealt_evenly_lasts_as_long_as_on_one_machine() {
    let server = serve();
    let target = url(&server, "/");
    // 7 at 5 per second: 1.4 s, and not the 1.8 s of three at five thirds per second.
    for fleet in [&["--fleet", "exec:3"][..], &[]] {
        let (ran, json) = measured(&[fleet, &["-r", "5", "-n", "7", &target]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(number(&json, "/responses"), 7);
        let elapsed_ms = number(&json, "/elapsed_ns") / 1_000_000;
        assert!((1400..1600).contains(&elapsed_ms), "{elapsed_ms} ms: {fleet:?}");
    }
}

#[test]
fn lines_of_a_list_and_rows_of_a_feed_are_used_once_each() {
    let server = serve();
    let rows = Scratch::new("fleet-rows.csv");
    let lines: String = (0..60).map(|row| format!("row-{row}\n")).collect();
    std::fs::write(rows.path(), format!("name\n{lines}")).unwrap();
    let target = url(&server, "/?{name}");
    let feed = ["--feed", rows.word(), "--feed-order", "unique", "-d", "5"];
    let (ran, json) =
        measured(&[&["--fleet", "exec:3", "-c", "3"], &feed[..], &[&target]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(number(&json, "/responses"), 60, "each row once, over all workers");
    assert_eq!(of_workers(&json, "responses"), [20, 20, 20]);
}

#[test]
fn the_report_is_that_of_one_machine_with_a_table_of_workers() {
    let server = serve();
    let target = url(&server, "/");
    let page = Scratch::new("fleet.html");
    let words = ["load", "--fleet", "exec:2", "-n", "400", "-c", "4", "-o", page.word(), &target];
    let ran = run(&mut coordinator(&words));
    assert_eq!(ran.status, 0, "{ran:?}");
    for part in ["400 responses in", "worker-1  ", "worker-2  ", "2 workers by exec, which started"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(std::fs::read_to_string(page.path()).unwrap().contains("Workers"));
}

#[test]
fn credentials_reach_the_workers_and_no_report() {
    let server = serve();
    let target = url(&server, "/");
    let fleet = ["--fleet", "exec:2", "-n", "10", "-c", "2", "-u", "me:s3cret"];
    let (ran, json) = measured(&[&fleet[..], &[&target]].concat());
    assert_eq!((ran.status, number(&json, "/responses")), (0, 10), "{ran:?}");
    assert!(!ran.stdout.contains("s3cret") && !ran.stderr.contains("s3cret"), "{ran:?}");
    let none = run(&mut coordinator(&["load", "--fleet", "exec:3", "-c3", "-n", "2", &target]));
    assert_eq!(none.status, 2, "{none:?}");
    assert!(none.stderr.contains("2 requests cannot be split between 3 machines"), "{none:?}");
}
