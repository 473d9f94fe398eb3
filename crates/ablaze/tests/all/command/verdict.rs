//! The monitor and the verdict of whole runs. Nothing here depends on how fast the machine is, or
//! on who else uses it.

use std::io::Read;
use std::net::TcpListener;

use serde_json::Value;

use crate::command::support::{Said, Server, ablaze};
use crate::serve_and_demo::support::Serving;

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

fn found(report: &Value, id: &str) -> Option<Value> {
    let findings = report["verdict"]["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["id"] == id).cloned()
}

/// Takes connections and says nothing.
fn silent() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.try_clone().unwrap();
    std::thread::spawn(move || {
        let streams = taken.incoming().flatten();
        for mut stream in streams {
            std::thread::spawn(move || while stream.read(&mut [0; 512]).is_ok_and(|n| n > 0) {});
        }
    });
    listener
}

#[test]
fn the_process_that_served_is_named_with_its_cost() {
    // A process of its own: the test's has hundreds of threads by now, and looks at it are as rare as they are dear.
    let server = Serving::start(&["serve", "127.0.0.1:0"]);
    let url = format!("http://{}/", server.address);
    let report = json(&ablaze(&[&url, "-d1.2s", "-c4", "--json"]));
    let cpu_ns = |process: &Value| {
        process["user_ns"].as_u64().unwrap() + process["system_ns"].as_u64().unwrap()
    };
    let monitor = &report["monitor"];
    let target = &monitor["target"];
    assert_eq!(target["on_this_host"], true);
    assert_eq!(target["listener"]["address"], server.address.to_string());
    assert_eq!(target["processes"][0]["pid"], server.child.id());
    assert!(cpu_ns(&target["processes"][0]) > 0, "{target}");
    let client = &monitor["client"];
    let is_worker = |thread: &Value| thread["name"].as_str().unwrap().starts_with("worker-");
    assert!(client["threads"].as_array().unwrap().iter().any(is_worker), "{client}");
    assert_eq!(monitor["connections"]["last"]["connections"], 4);
    assert!(monitor["heartbeat"]["beats"].as_u64().unwrap() > 0);
    // Ours, and those of whoever else uses this network namespace.
    let opened = monitor["kernel"]["network"]["TcpActiveOpens"].as_u64().unwrap();
    assert!(opened >= 4, "{opened}");
    // The times are those within the measured window.
    let watched_ns = target["processes"][0]["watched_ns"].as_u64().unwrap();
    assert!(watched_ns <= report["elapsed_ns"].as_u64().unwrap(), "{watched_ns}");
    assert!(report["verdict"]["limited_by"].is_string());
}

#[test]
fn without_a_monitor_there_is_none_and_the_verdict_stays() {
    let server = Server::start(200);
    let report = json(&ablaze(&[&server.url("/"), "-n2000", "-c2", "--json", "--no-monitor"]));
    assert!(report["monitor"].is_null());
    assert!(report["verdict"]["verdict"].is_string());
}

#[test]
fn a_target_that_never_answers_is_invalid_and_strict_says_so_in_the_status() {
    let listener = silent();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let said = ablaze(&[&url, "-d300ms", "-c3", "--strict"]);
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.stdout.starts_with("INVALID · "), "{said:?}");
    assert!(said.stdout.contains("D02  no response: No request got a response"), "{said:?}");
    assert_eq!(ablaze(&[&url, "-d300ms", "-c3"]).status, 1);
}

#[test]
fn error_pages_are_the_root_finding() {
    let server = Server::start(404);
    let said = ablaze(&[&server.url("/"), "-n3000", "-c2", "--json", "--strict"]);
    assert_eq!(said.status, 4, "{said:?}");
    let report = json(&said);
    assert_eq!(report["verdict"]["verdict"], "INVALID");
    let finding = found(&report, "D04").unwrap();
    assert_eq!(finding["severity"], "invalid");
    assert!(finding["explained_by"].is_null(), "{finding}");
    assert!(finding["evidence"].as_str().unwrap().contains("404 (3,000×)"), "{finding}");
}
