//! `--like`: presets of ordinary options.

use std::io::{Read, Write};

use crate::support::{Serving, ablaze};

/// The printed command lines by name, their continued lines joined.
pub fn list() -> Vec<(String, String)> {
    let output = ablaze(&["serve", "--like", "list"]).output().unwrap();
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
    let answer = server.get();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("Server:"), "{head}");
    assert_eq!(body.len(), 1_048_576);
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
