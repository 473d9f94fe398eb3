//! Connections that nobody accepts, servers that fall silent, and ports that speak TLS: what is said of them, and in whose
//! words.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use ablaze_testing::Scratch;
use ablaze_testing::hostile::{Behaviour as B, Hostile, Script};
use serde_json::Value;

use crate::command::support::ablaze;

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// Answers requests on a connection until it ends.
fn serve(mut stream: TcpStream) {
    let mut request = [0; 4096];
    while stream.read(&mut request).is_ok_and(|read| read > 0) {
        thread::sleep(Duration::from_millis(1));
        if stream.write_all(RESPONSE).is_err() {
            return;
        }
    }
}

/// So many workers, each with one connection at a time.
fn pool(workers: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for _ in 0..workers {
        let listener = listener.try_clone().unwrap();
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                serve(stream);
            }
        });
    }
    format!("http://{address}/")
}

fn finding(json: &Value, id: &str) -> String {
    let findings = json["verdict"]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {findings:?}")).to_string()
}

/// Nothing is in such a server's log: it never saw these requests.
#[test]
fn connections_that_wait_in_the_accept_queue_are_told() {
    for words in [&["-d", "1500ms"][..], &["-n", "400", "--timeout", "1s"]] {
        let url = pool(2);
        let ran = ablaze(&[&["load", &url, "-c", "20", "--json"][..], words].concat());
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        let found = finding(&json, "D02");
        assert!(found.contains("had not accepted"), "{words:?}: {found}");
        assert!(!found.contains("server's log"), "{words:?}: {found}");
    }
}

/// Nine of ten requests in flight have no response in the whole run, which is too short for them to time out.
#[test]
fn a_short_run_against_a_silent_server_is_not_valid() {
    let url = pool(1);
    let ran = ablaze(&["load", &url, "-c", "10", "-d", "800ms", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["unfinished"]["silent"], 9, "{}", json["unfinished"]);
    assert!(finding(&json, "D02").contains("\"invalid\""), "{json}");
}

/// A server that takes plain HTTP for a broken handshake, as those of Python and Node do, and ends the connection.
#[test]
fn a_port_that_speaks_tls_is_found_although_it_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut first = [0; 512];
            if stream.read(&mut first).is_ok_and(|read| read > 0) && first[0] == 0x16 {
                // A fatal alert, handshake_failure (RFC 8446, 6.2).
                let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]);
            }
        }
    });
    let url = format!("http://{address}/");
    let https = format!("the server speaks TLS on this port: use https://{address}/");
    for words in [
        &["load", "-n", "4", "-c", "2", &url][..],
        &["ab", "-n", "4", &url],
        &["gurl", "-bench", "-an", "4", &url],
    ] {
        let ran = ablaze(words);
        assert!(ran.stderr.contains(&https), "{words:?}: {}", ran.stderr);
    }
}

/// As nginx does on a port for HTTP/2, and servers of gRPC.
#[test]
fn a_port_that_speaks_only_http2_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 512]);
            // SETTINGS: MAX_CONCURRENT_STREAMS is 128 (RFC 9113, 6.5); then GOAWAY.
            let _ = stream.write_all(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 128]);
            let _ = stream.write_all(&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        }
    });
    let url = format!("http://{address}/");
    let ran = ablaze(&["load", "-n", "4", "-c", "2", &url, "--json"]);
    let said = format!("{address} speaks HTTP/2 from the first byte on: use --http 2");
    assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(finding(&json, "D02").contains("SETTINGS of HTTP/2"), "{json}");
    let gurl = ablaze(&["gurl", "-bench", "-an", "4", &url]).stderr;
    assert!(gurl.contains("use `ablaze load --http 2`"), "{gurl}");
}

/// Of a pipeline only the first request has a response that breaks; the others are lost with it.
#[test]
fn what_a_pipeline_loses_is_told_as_that() {
    let said = |behaviour| {
        let server = Hostile::always(behaviour).unwrap();
        let url = server.url();
        let ran = ablaze(&["load", "-n", "40", "-c", "2", "--pipeline", "4", &url, "--json"]);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        (finding(&json, "D02"), ran.stderr)
    };
    let (found, _) = said(B::Surplus { bytes: 7 });
    assert!(found.contains("are taken for the next one"), "{found}");
    let (_, stderr) = said(B::ResetMidBody { announced: 100, sent: 10 });
    assert!(stderr.contains("in the middle of a response"), "{stderr}");
    let (found, _) = said(B::ResponsesThenClose { responses: 1, announced: false });
    assert!(!found.contains("reuse is not why"), "{found}");
}

/// `-d` is a body in gurl, hey and oha, and a file in h2load.
#[test]
fn a_longer_run_is_advised_in_the_words_of_the_command() {
    let server = Hostile::always(B::Hang).unwrap();
    let url = server.url();
    for (words, option) in [
        (&["load", "-d", "300ms", "-c", "2", &url][..], "--duration"),
        (&["gurl", "-bench", "-duration", "300ms", "-ac", "2", &url], "-duration"),
        (&["hey", "-z", "300ms", "-c", "2", &url], "-z"),
        (&["oha", "-z", "300ms", "-c", "2", "--no-tui", &url], "-z"),
        (&["h2load", "--h1", "-D", "1", "-c", "2", &url], "-D"),
        (&["wrk", "-d", "1s", "-c", "2", "-t", "1", &url], "-d"),
    ] {
        let said = ablaze(words).stderr;
        assert!(
            said.contains(&format!("use a longer {option}, if it responds at all\n")),
            "{words:?}: {said}"
        );
    }
}

#[test]
fn where_credentials_go_is_not_masked_as_if_it_had_some() {
    let server = Hostile::always(B::Status(401)).unwrap();
    let said = ablaze(&["gurl", "-bench", "-an", "4", &server.url()]).stderr;
    assert!(said.contains("write NAME:PASSWORD and an @ before the host of the URL"), "{said}");
}

/// What a step asks for is none of the server's own ways.
#[test]
fn only_a_step_that_may_ask_to_close_is_named_for_it() {
    let closes = || B::ResponsesThenClose { responses: 1, announced: true };
    let folder = Scratch::new("steps-that-close");
    let said = |field: &str| {
        let server = Hostile::start(Script::per_connection([closes()])).unwrap();
        let url = format!("http://{}/", server.address());
        let file = folder.write("steps.hurl", format!("GET {url}\n{field}HTTP 200\n"));
        let ran = ablaze(&["load", "--journey", &file, "-c", "2", "-n", "200", "--json"]);
        finding(&serde_json::from_str(&ran.stdout).unwrap(), "D19")
    };
    const NAMED: &str = "A step of the journey may ask it to";
    let asks = said("connection: close\n");
    assert!(asks.contains(NAMED), "{asks}");
    for other in ["", "X-Connection: close\n"] {
        let does_not = said(other);
        assert!(!does_not.contains(NAMED), "{does_not}");
    }
}
