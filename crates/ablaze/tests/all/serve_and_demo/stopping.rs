//! How a server stops, and what it then says.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use ablaze_target::Model;
use serde_json::Value;

use ablaze_testing::Bounded;

use crate::serve_and_demo::support::{Serving, ablaze, directory};

#[test]
fn at_the_end_it_says_what_it_served() {
    for stop in ["-TERM", "-INT"] {
        let words = ["serve", "127.0.0.1:0", "--size", "3KiB", "--threads", "2"];
        let server = Serving::start(&words);
        for _ in 0..5 {
            assert!(server.get().contains("\r\nContent-Length: 3072\r\n"));
        }
        server.signal(stop);
        let (text, status) = server.rest();
        assert!(status.success());
        assert!(text.ends_with("\nserved 5 requests on 5 connections\n"), "{text}");
    }
}

/// Rows of the table by name; the cells of each are separated by two blanks or more.
fn rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    text.lines().map(cells).filter(|row: &Vec<String>| !row.is_empty()).collect()
}

fn number(cell: &str) -> u64 {
    cell.replace(',', "").parse().unwrap()
}

#[test]
fn the_counters_stand_in_a_table_per_worker_and_in_sum() {
    let words = ["serve", ":0", "--threads", "2", "--size", "3000", "--accept", "single"];
    let server = Serving::start(&words);
    for _ in 0..6 {
        server.get();
    }
    let text = server.stop();
    let rows = rows(&text);
    assert_eq!(rows[0], ["serve-0", "serve-1", "accept", "total", "per request"], "{text}");
    let row =
        |name: &str| rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{text}"));
    // In turn: three each.
    assert_eq!(row("requests")[1..], ["3", "3", "0", "6"]);
    // A body of 3000 bytes, six times, and six heads.
    let written = row("written bytes");
    assert_eq!(number(&written[4]), number(&written[1]) + number(&written[2]));
    assert!((6 * 3000..6 * 3500).contains(&number(&written[4])), "{text}");
    assert_eq!(row("writes")[4..], ["6", "1.000"], "{text}");
    assert!(number(&row("accepts")[3]) >= 6, "{text}");
    // What never happened has no row.
    for line in &rows[1..rows.len() - 1] {
        let idle = line[1..].iter().all(|cell| cell.starts_with('0'));
        assert!(!idle, "{line:?}");
    }
    assert!(!text.contains("switches"), "{text}");
}

#[test]
fn the_counters_are_kept_as_json() {
    let file = directory("stats").join("stats.json");
    let path = file.to_str().unwrap();
    let server = Serving::start(&["serve", ":0", "-t", "2", "-q", "--stats", path]);
    let address = server.address;
    for _ in 0..4 {
        server.get();
    }
    assert!(!file.exists(), "it is written when the server stops");
    assert_eq!(server.stop(), "");
    let stats: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(stats["model"], "epoll-et");
    assert_eq!(stats["accept"], "reuseport");
    assert_eq!(stats["address"], address.to_string());
    assert!(stats["uptime_ns"].as_u64().unwrap() > 0);
    assert_eq!(stats["config"]["threads"], 2);
    let workers = stats["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 2);
    assert_eq!(workers[1]["name"], "serve-1");
    let total = stats["total"].as_object().unwrap();
    assert_eq!(total["requests"], 4);
    assert!(total.contains_key("epoll_mods") && total.contains_key("cpu_ns"));
    for (name, sum) in total {
        let counter = |worker: &Value| worker["counters"][name].as_u64().unwrap();
        let of_workers = workers.iter().map(counter).sum::<u64>();
        assert_eq!(of_workers, sum.as_u64().unwrap(), "{name}");
    }
}

#[test]
fn a_response_under_way_is_finished_and_nothing_new_is_accepted() {
    // The exempt model has no delays, so that nothing is ever under way.
    let models = Model::ALL.iter().filter(|model| !model.is_exempt());
    thread::scope(|scope| {
        for model in models.map(|model| model.name()) {
            scope.spawn(move || {
                let words = ["serve", ":0", "-t", "1", "--delay", "300ms", "--model", model];
                match model == "uring" && refused(&words) {
                    true => println!("uring is not possible here"),
                    false => drains(Serving::start(&words), model),
                }
            });
        }
    });
}

/// Whether this machine refuses the model: its address is taken, so that it ends either way.
fn refused(words: &[&str]) -> bool {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let words: Vec<&str> =
        words.iter().map(|word| if *word == ":0" { &address } else { *word }).collect();
    ablaze(&words).bounded_output().unwrap().status.code() == Some(2)
}

fn drains(server: Serving, model: &str) {
    let mut under_way = server.connect();
    let mut idle = server.connect();
    // Kept alive, so that it is the server who ends it.
    let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    idle.write_all(request).unwrap();
    let mut first = [0; 4096];
    assert!(idle.read(&mut first).unwrap() > 0, "{model}");
    under_way.write_all(request).unwrap();
    // The request has arrived before the signal: it is the delay that keeps its response.
    thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    server.signal("-TERM");
    assert_eq!(idle.read(&mut first).unwrap(), 0, "{model}: the idle connection is closed");
    let mut response = String::new();
    under_way.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{model}: {response}");
    assert!(response.ends_with("hello, world!\n"), "{model}: {response}");
    let address = server.address;
    let (text, status) = server.rest();
    assert!(status.success(), "{model}");
    assert!(text.ends_with("served 2 requests on 2 connections\n"), "{model}: {text}");
    assert!(began.elapsed() < Duration::from_secs(10), "{model}");
    assert!(std::net::TcpStream::connect(address).is_err(), "{model}");
}

#[test]
fn it_stops_with_its_standard_input_if_asked_to() {
    let mut command = ablaze(&["serve", ":0", "--stop-with-stdin"]);
    let mut server = Serving::spawn(command.stdin(Stdio::piped()));
    assert!(server.get().contains("hello"));
    drop(server.child.stdin.take());
    let (_, status) = server.rest();
    assert!(status.success());
}
