//! What the monitor costs a request: not one system call. Its own are made by its own threads.

use std::collections::BTreeMap;

use ablaze_testing::Scratch;

use ablaze_testing::skip::installed;

use crate::alone;
use crate::controls::support::{Loading, Server};

const REQUESTS: u64 = 3000;
/// Calls beyond those of the requests: the start, the end, and looking around.
const STRAY: u64 = 100;

#[test]
fn the_monitor_adds_no_system_call_to_a_request() {
    let _alone = alone();
    if installed("strace").is_none() {
        return;
    }
    let server = Server::start(&[]);
    for io in ["epoll", "uring"] {
        let with = worker_calls(&server, io, &[]);
        let without = worker_calls(&server, io, &["--no-monitor"]);
        println!("{io}: with {with:?}\n{io}: without {without:?}");
        let total = |calls: &BTreeMap<String, u64>| calls.values().sum::<u64>();
        let more = total(&with).abs_diff(total(&without));
        assert!(more <= STRAY, "{more} calls in {REQUESTS} requests: {with:?}, {without:?}");
        // Each takes one call at least, or this counted somebody else's.
        assert!(total(&without) >= REQUESTS, "{without:?}");
    }
}

/// The system calls of the one worker of a run over one connection.
fn worker_calls(server: &Server, io: &str, more: &[&str]) -> BTreeMap<String, u64> {
    let directory = Scratch::new("calls-of-the-worker");
    let output = directory.file("calls");
    let starter = ["strace", "-ff", "-qq", "-o", &output];
    let number = REQUESTS.to_string();
    let url = server.url("/");
    let words = [&url, "-c1", "-t1", "-n", &number, "--io", io, "--spin", "off"];
    Loading::start_by(&starter, &[&words, more].concat()).report();
    let files = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().path());
    // Each thread has a file; a worker's thread gives itself its name.
    let worker = files
        .map(|file| std::fs::read_to_string(file).unwrap())
        .find(|calls| calls.contains("PR_SET_NAME, \"worker-0\""))
        .expect("one thread is the worker");
    let mut calls = BTreeMap::new();
    for name in worker.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name) {
        *calls.entry(name.to_owned()).or_insert(0) += 1;
    }
    calls
}
