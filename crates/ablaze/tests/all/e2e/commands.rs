//! The other commands, as typed in the documents they come from.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use ablaze_testing::Bounded;

use crate::e2e::support::{ablaze, command, serve};

#[test]
fn serve_says_where_it_listens_and_what_it_served() {
    let mut child = command(&["serve", "0", "--size", "5"]).stdout(Stdio::piped()).start().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    assert!(line.starts_with("listening on ") && line.contains("5 B body"), "{line}");
    let again = ablaze(&["serve", url.trim_start_matches("http://").trim_end_matches('/')]);
    again.assert_one_line(1, "in use");
    let ran = ablaze(&[&url, "-n", "1000", "-c10"]);
    assert!(ran.status == 0 && ran.stdout.contains("  5 B each\n"), "{ran:?}");
    child.signal(Signal::TERM);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\nserved 1,000 requests on 10 connections\n"), "{rest}");
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

/// What is sent back to these bytes, until the server closes.
fn asked(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// gurl's own server answers every path with 200, `Server: gurl-server` and no body; what was
/// posted it prints on its terminal, here it comes back.
#[test]
fn gurl_s_echo_server_is_one_to_any_client() {
    for option in ["-echo", "-l"] {
        let mut child = command(&["gurl", option, ":0"]).stdout(Stdio::piped()).start().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap();
        let address = address.trim_end_matches('/');
        assert!(address.starts_with("127.0.0.1:") && !address.ends_with(":0"), "{line}");

        let got =
            asked(address, "GET /any/path?x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        let (head, body) = got.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{got}");
        for field in ["Server: gurl-server", "Content-Length: 0"] {
            assert!(head.lines().any(|line| line.eq_ignore_ascii_case(field)), "{field}: {got}");
        }
        assert_eq!(body, "");
        let posted =
            "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
        let posted = asked(address, posted);
        assert!(posted.starts_with("HTTP/1.1 200 OK\r\n"), "{posted}");
        assert!(posted.ends_with("\r\n\r\nhello"), "{posted}");

        child.signal(Signal::TERM);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    }
}
