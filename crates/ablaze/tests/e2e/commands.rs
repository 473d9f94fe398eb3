//! The other commands, as typed in the documents they come from.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{ablaze, command, serve};

#[test]
fn serve_says_where_it_listens_and_what_it_served() {
    let mut child = command(&["serve", "0", "--size", "5"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    assert!(line.starts_with("listening on ") && line.contains("5 B body"), "{line}");
    let again = ablaze(&["serve", url.trim_start_matches("http://").trim_end_matches('/')]);
    again.assert_one_line(1, "in use");
    let ran = ablaze(&[&url, "-n", "1000", "-c10"]);
    assert!(ran.status == 0 && ran.stdout.contains("5 B body"), "{ran:?}");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "served 1,000 requests on 10 connections\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn gurl_as_in_its_own_comparison() {
    let server = serve();
    let address = format!(":{}", server.address().port());
    let ran = ablaze(&["gurl", "-ac", "21", "-an", "10000", "-bench", &address]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for line in [
        "Benchmarking 127.0.0.1 (be patient)",
        "Completed 10000 requests",
        "Finished 10000 requests",
        "Concurrency Level:      21",
        "Complete requests:      10000",
        "Failed requests:        0",
        "Percentage of the requests served within a certain time (ms)",
    ] {
        assert!(ran.stdout.lines().any(|own| own == line), "{line}\n{}", ran.stdout);
    }
    assert_eq!(server.stop().unwrap().requests, 10_000);
}
