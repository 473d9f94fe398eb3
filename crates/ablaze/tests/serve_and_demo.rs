//! `ablaze serve` and `ablaze demo` as processes: when they are ready, how they stop, what they
//! refuse.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn ablaze(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The address in the first line that has one.
fn address(stdout: &mut BufReader<ChildStdout>) -> SocketAddr {
    loop {
        let mut line = String::new();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "it ended without an address");
        if let Some((_, url)) = line.split_once("http://") {
            return url.split('/').next().unwrap().parse().unwrap();
        }
    }
}

fn start(words: &[&str], stdin: Stdio) -> (Child, BufReader<ChildStdout>, SocketAddr) {
    let mut child = ablaze(words).stdin(stdin).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let address = address(&mut stdout);
    (child, stdout, address)
}

fn get(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn signal(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

fn one_line(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn it_says_where_it_listens_and_at_the_end_what_it_served() {
    for stop in ["-TERM", "-INT"] {
        let words = ["serve", "127.0.0.1:0", "--size", "3KiB", "--threads", "2"];
        let (mut child, mut stdout, address) = start(&words, Stdio::null());
        for _ in 0..5 {
            assert!(get(address).contains("\r\nContent-Length: 3072\r\n"));
        }
        signal(&child, stop);
        assert!(child.wait().unwrap().success());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "served 5 requests on 5 connections\n");
    }
}

#[test]
fn options_reach_the_server() {
    let words = [
        "serve",
        ":0",
        "--status",
        "418",
        "--close",
        "--server-name",
        "pot",
        "--delay",
        "20ms",
        "-q",
    ];
    let (mut child, mut stdout, address) = start(&words, Stdio::null());
    let began = Instant::now();
    let answer = get(address);
    assert!(began.elapsed() >= Duration::from_millis(20));
    assert!(answer.starts_with("HTTP/1.1 418 I'm a teapot\r\nServer: pot\r\n"), "{answer}");
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn it_stops_with_its_standard_input_if_asked_to() {
    let (mut child, _stdout, address) =
        start(&["serve", ":0", "--stop-with-stdin"], Stdio::piped());
    assert!(get(address).contains("hello"));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_served_gets_one_line_with_a_remedy() {
    let cases = [
        (vec!["serve", ":99999"], 2, "HOST:PORT"),
        (vec!["serve", "no such host:80"], 2, "not known"),
        (vec!["serve", ":0", "--status", "100"], 2, "200 to 999"),
        (vec!["serve", ":0", "--threads", "0"], 2, "from 1 up"),
        (vec!["serve", ":0", "--sise", "1"], 2, "--size"),
        // 192.0.2.0/24 is for documentation and belongs to no one (RFC 5737).
        (vec!["serve", "192.0.2.1:8080"], 1, "ip address"),
        (vec!["demo", "--duration", "x"], 2, "10s"),
    ];
    for (words, status, needle) in cases {
        let output = ablaze(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}");
        let line = one_line(&output);
        assert!(line.starts_with("ablaze: ") && line.contains(needle), "{line}");
        assert_eq!(output.stdout, b"");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let output = ablaze(&["serve", &address.to_string()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let line = one_line(&output);
    assert!(line.contains(&address.port().to_string()) && line.contains("in use"), "{line}");
}

#[test]
fn the_demo_reports_and_leaves_no_server_behind() {
    let (mut child, mut stdout, address) =
        start(&["demo", "--duration", "300ms", "-c", "4"], Stdio::null());
    let mut report = String::new();
    stdout.read_to_string(&mut report).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    for needle in ["answers", "p99", "errors: 0", "What to try next"] {
        assert!(report.contains(needle), "{needle} is missing in\n{report}");
    }
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn the_demos_server_is_gone_even_if_the_demo_is_killed() {
    let (mut child, _stdout, address) = start(&["demo", "--duration", "60s"], Stdio::null());
    assert!(TcpStream::connect(address).is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < until, "the server is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_ends_the_demo_with_its_report() {
    let (mut child, mut stdout, address) =
        start(&["demo", "--duration", "60s", "-c", "2"], Stdio::null());
    // Its own words: 130, and the report all the same. Not before the load has begun.
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-INT");
    let mut report = String::new();
    stdout.read_to_string(&mut report).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(report.contains("answers"), "{report}");
    assert!(TcpStream::connect(address).is_err());
}
