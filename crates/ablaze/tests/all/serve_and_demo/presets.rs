//! `--like`: presets of ordinary options.

use std::io::{Read, Write};

use ablaze_testing::Bounded;

use crate::serve_and_demo::support::{Serving, ablaze};

/// The printed command lines by name, their continued lines joined.
pub fn list() -> Vec<(String, String)> {
    let output = ablaze(&["serve", "--like", "list"]).bounded_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap().replace(" \\\n   ", "");
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let mut presets = Vec::new();
    while let (Some(comment), Some(line)) = (lines.next(), lines.next()) {
        let name = comment.strip_prefix("# ").unwrap().split(':').next().unwrap();
        presets.push((name.to_owned(), line.to_owned()));
    }
    presets
}

#[test]
fn the_list_has_every_measured_system() {
    let names: Vec<_> = list().into_iter().map(|(name, _)| name).collect();
    let expected = "gurl-echo handy-lt handy-et sylar-1 sylar-2 sylar-3 routn routn-libco \
                    routn-pool cppnet-1 cppnet-2 muduo";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn a_preset_serves_as_its_system_does() {
    let server = Serving::start(&["serve", ":0", "--like", "handy-et"]);
    assert!(
        server.line.ends_with("epoll-et, single · 1 thread · 1,048,576 B body · keep-alive\n"),
        "{}",
        server.line
    );
    let response = server.get();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("Server:"), "{head}");
    assert_eq!(body.len(), 1_048_576);
}

/// What a preset's server sends to a request over HTTP/1.1, until it closes if it does.
fn response_of(preset: &str) -> String {
    let server = Serving::start(&["serve", ":0", "--like", preset]);
    let mut stream = server.connect();
    stream.write_all(REQUEST.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    server.stop();
    response
}

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

#[test]
fn the_systems_that_speak_no_http_do_as_they_did() {
    // They close by themselves: `read_to_string` ends.
    assert_eq!(response_of("sylar-1"), "");
    assert_eq!(response_of("sylar-2"), REQUEST);
    assert_eq!(response_of("sylar-3"), "");
}

#[test]
fn the_systems_that_speak_http_say_who_they_are() {
    for (preset, status, server, body_bytes) in [
        ("gurl-echo", 200, "gurl-server", 0),
        ("routn", 404, "routn/1.0.0", 138),
        ("routn-libco", 404, "routn/1.0.0", 138),
        ("routn-pool", 404, "routn/1.0.4", 138),
        ("cppnet-1", 200, "CppNet", 14),
        ("cppnet-2", 200, "CppNet", 14),
        ("muduo", 200, "Muduo", 14),
    ] {
        let response = response_of(preset);
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{preset}: {head}");
        assert!(head.contains(&format!("\r\nServer: {server}\r\n")), "{preset}: {head}");
        assert_eq!(body.len(), body_bytes, "{preset}");
    }
}

#[test]
fn what_is_given_explicitly_wins() {
    let words = ["serve", "--size", "48576", ":0", "--like", "cppnet-1", "--server-name", "mine"];
    let server = Serving::start(&words);
    assert!(server.line.contains("epoll-et, reuseport · 2 threads · 48,576 B"), "{}", server.line);
    let mut stream = server.connect();
    stream.write_all(b"HEAD / HTTP/1.0\r\n\r\n").unwrap();
    let mut head = String::new();
    stream.read_to_string(&mut head).unwrap();
    assert!(head.contains("\r\nServer: mine\r\n"), "{head}");
}
