//! `ablaze wrk` against a server that remembers: its request, its report and its exit statuses, beside wrk's own where
//! that is installed.

use std::process::Command;

use ablaze_testing::{Bounded, ScratchFile, skip};

use crate::command::support::{Server, ablaze};

/// The same text with every run of digits as one `0`, and one blank for several: figures have other lengths in every run.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    for character in text.chars() {
        let shown = if character.is_ascii_digit() { '0' } else { character };
        if !(shape.ends_with(shown) && (shown == '0' || shown == ' ')) {
            shape.push(shown);
        }
    }
    shape
}

/// The units that a figure happens to have.
fn without_units(text: &str) -> String {
    let mut text = text.to_owned();
    for unit in ["us", "ms", "s", "k", "KB", "MB", "B"] {
        text = text.replace(&format!("0{unit} "), "0 ").replace(&format!("0{unit}\n"), "0\n");
        text =
            text.replace(&format!("0{unit}, "), "0, ").replace(&format!("0{unit} read"), "0 read");
    }
    text
}

/// What `ablaze explain` reads in a text.
fn explain_as_json(text: &str) -> serde_json::Value {
    let file = ScratchFile::with("wrk.txt", text.as_bytes());
    let said = ablaze(&["explain", "--json", file.word()]);
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn the_report_has_the_lines_of_wrk_in_their_order() {
    let server = Server::start(200);
    let url = server.url("/x");
    let said = ablaze(&["wrk", "-t1", "-c2", "-d1s", "--latency", &url]);
    assert_eq!(said.status, 0, "{said:?}");
    let expected = format!(
        "Running 0 test @ {}
 0 threads and 0 connections
 Thread Stats Avg Stdev Max +/- Stdev
 Latency 0.0 0.0 0.0 0.0%
 Req/Sec 0.0 0.0 0.0 0.0%
 Latency Distribution
 0% 0.0
 0% 0.0
 0% 0.0
 0% 0.0
 0 requests in 0.0, 0.0 read
Requests/sec: 0.0
Transfer/sec: 0.0
",
        shape(&url)
    );
    assert_eq!(without_units(&shape(&said.stdout)), expected, "{}", said.stdout);
    // Requests in flight at the end arrived, and are no responses.
    let requests = said.stdout.lines().find_map(|line| line.trim().split_once(" requests in "));
    let counted: usize = requests.unwrap().0.parse().unwrap();
    assert!((counted..=counted + 2).contains(&server.seen().len()), "{}", said.stdout);
    let text = format!("$ ablaze wrk -t1 -c2 -d1s --latency {url}\n{}", said.stdout);
    let explained = explain_as_json(&text);
    let report = &explained["reports"][0];
    assert_eq!(
        (&report["tool"], &report["requests"]),
        (&"wrk".into(), &counted.into()),
        "{report:#}"
    );
    assert_eq!(report["concurrency"], 2, "{report:#}");
    assert!(report["command"].as_str().unwrap().ends_with(&url), "{report:#}");
    if skip::installed("wrk").is_none() {
        return;
    }
    let words = ["-t1", "-c2", "-d1s", "--latency", &url];
    let output = Command::new("wrk").args(words).bounded_output().unwrap();
    let of_wrk = String::from_utf8(output.stdout).unwrap();
    assert_eq!(without_units(&shape(&of_wrk)), expected, "{of_wrk}");
}

#[test]
fn the_server_sees_the_request_that_wrk_sends() {
    let server = Server::start(404);
    let words = ["-t1", "-c1", "-d1", "-H", "X-One: 1", "-HX-None:2", &server.url("/a?b=c#d")];
    let said = ablaze(&[&["wrk", "--requests", "3"], &words[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("\n  Non-2xx or 3xx responses: 3\n"), "{}", said.stdout);
    assert!(said.stderr.contains("-H 'X-None:2' is not sent"), "{}", said.stderr);
    let sorted = |request: &crate::command::support::Request| {
        let mut fields = request.head[1..].to_vec();
        fields.sort();
        (request.head[0].clone(), fields, request.body.clone())
    };
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    let host = format!("Host: {}", server.address);
    let expected = ("GET /a?b=c#d HTTP/1.1".into(), vec![host, "X-One: 1".into()], String::new());
    assert_eq!(sorted(&seen[0]), expected);
    if skip::installed("wrk").is_some() {
        Command::new("wrk").args(words).bounded_output().unwrap();
        assert_eq!(sorted(server.seen().last().unwrap()), expected);
    }
}

#[test]
fn json_files_and_conditions_work_as_with_the_native_command() {
    let server = Server::start(200);
    let url = server.url("/");
    let said = ablaze(&["wrk", "-t1", "-c1", "-d30", "--requests", "9", "--json", &url]);
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.status, &run["responses"]), (0, &9.into()), "{}", said.stdout);
    let said =
        ablaze(&["wrk", "-t1", "-c1", "-d30", "--requests", "9", "--fail-if", "max>1ns", &url]);
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.stdout.contains("  9 requests in "), "{}", said.stdout);
}

#[test]
fn without_a_response_the_status_is_1() {
    let port = ablaze_testing::ports::free();
    let said = ablaze(&["wrk", "-t1", "-c1", "-d1", &format!("http://127.0.0.1:{port}/")]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("refused the connection"), "{}", said.stderr);
    assert!(!said.stdout.contains("Thread Stats"), "{}", said.stdout);
}
