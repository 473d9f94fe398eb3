//! The same over TLS, and over HTTP/2 with and without it: the conditions are faults of the built-in server, of each
//! response.

use std::io::{BufRead, BufReader};

use ablaze_testing::Running;

use super::fronts::{FRONTS, Front};
use super::{Condition, hold_to};
use crate::e2e::support::{command, start};

/// A way to speak.
struct Way {
    name: &'static str,
    /// Of the server.
    served: &'static [&'static str],
    /// Of whoever loads it.
    loaded: &'static [&'static str],
    is_http2: bool,
}

const WAYS: [Way; 3] = [
    Way { name: "TLS", served: &["--tls"], loaded: &["--insecure"], is_http2: false },
    Way {
        name: "HTTP/2 over TLS",
        served: &["--tls", "--http", "2"],
        loaded: &["--insecure", "--http", "2"],
        is_http2: true,
    },
    Way { name: "HTTP/2", served: &["--http", "2"], loaded: &["--http", "2"], is_http2: true },
];

/// Words of the server, and what is to be said.
fn conditions(way: &Way) -> Vec<Condition<&'static [&'static str]>> {
    type Words = &'static [&'static str];
    let of = |what, server: Words, found, says| Condition { what, server, words: &[], found, says };
    // What ends a connection of HTTP/1 ends a stream of HTTP/2.
    let in_way = |http1: Words, http2: Words| if way.is_http2 { http2 } else { http1 };
    let closes: Words = &["without a response", "closed-without-response"];
    vec![
        of(
            "resets",
            &["--fault", "reset-before=100%"],
            &["D02"],
            in_way(&["reset the connection", "right port"], &["reset a stream"]),
        ),
        of(
            "resets in a body",
            &["--fault", "reset-during=100%", "-s", "3000"],
            &["D02"],
            in_way(&["in the middle of a response"], &["reset a stream"]),
        ),
        of("closes", &["--fault", "close-unanswered=100%"], &["D02"], closes),
        of(
            "short bodies",
            &["--fault", "short-body=100%"],
            &["D02"],
            in_way(
                &["in the middle of a response", "short body"],
                &["is not as long as content-length says"],
            ),
        ),
        of(
            "no HTTP",
            &["--fault", "garbage=100%"],
            &["D02"],
            in_way(
                &["not HTTP/1", "malformed", "right port"],
                &["a frame is longer than permitted"],
            ),
        ),
        of("404", &["--status", "404"], &["D04"], &["404"]),
        of("503", &["--status", "503"], &["D04"], &["503"]),
        of("a slow server", &["--delay", "50ms"], &[], &[]),
        of("a short run", &[], &[], &[]),
    ]
}

/// The server, and its URL.
fn served(words: &[&str]) -> (Running, String) {
    let mut server = start(&mut command(&[&["serve", ":0", "-t", "1"], words].concat()));
    let mut told = BufReader::new(server.stdout.take().expect("it is a pipe")).lines();
    let line = told.find_map(|line| {
        let line = line.ok()?;
        let (_, url) = line.split_once("listening on ")?;
        Some(url.split(' ').next().unwrap_or_default().to_owned())
    });
    (server, line.expect("the server says where it listens"))
}

/// What is wrong in what a front end says of a server that speaks in this way.
fn wrong(way: &Way, front: &Front) -> Vec<String> {
    let mut wrong = Vec::new();
    for condition in conditions(way) {
        let (_server, url) = served(&[way.served, condition.server].concat());
        let condition = Condition { words: way.loaded, ..condition };
        if let Err(why) = hold_to(&condition, front, &url) {
            wrong.push(format!("{} × {} × {}: {why}", condition.what, way.name, front.name));
        }
    }
    wrong
}

#[test]
fn over_tls_and_http2_the_cause_is_named_and_no_other() {
    let fronts =
        FRONTS.iter().filter(|front| matches!(front.name, "load" | "open loop" | "compare"));
    let fronts: Vec<&Front> = fronts.collect();
    assert_eq!(fronts.len(), 3);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let ways = WAYS.iter().flat_map(|way| fronts.iter().map(move |front| (way, *front)));
        let threads: Vec<_> =
            ways.map(|(way, front)| scope.spawn(move || wrong(way, front))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it did not panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
