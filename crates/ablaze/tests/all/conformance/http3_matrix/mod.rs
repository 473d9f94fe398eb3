//! HTTP/3 against every server that could be had, a test for each cell of the table in docs/protocols.md: `peers` starts
//! servers of others as processes, `by_h3` is one of the crates h3 and quinn. What is not there is skipped by name; what a
//! server cannot do is in `LACKING`.

mod by_h3;
pub mod peers;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_testing::skip::skip;
use ablaze_testing::{Bounded, Scratch};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};
use serde_json::{Value, json};

use crate::conformance::scratch::{LARGE_BYTES, SMALL, scratch};

/// What a server has to do besides responding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Nothing.
    Nothing,
    /// Respond to every first packet with Retry.
    Retry,
    /// Say GOAWAY while requests are under way.
    GoAway,
}

/// A server that runs until it is dropped. It has `/small`, `/large` and `/echo`.
pub struct Started {
    /// Its port of UDP.
    pub port: u16,
    /// Its files and certificates.
    pub scratch: Scratch,
    /// Whatever ends it.
    pub _alive: Box<dyn std::any::Any>,
}

/// Starts a server in a folder; `None` where it is not there, which was told.
type Start = fn(Wish, Scratch) -> Option<Started>;

/// Servers that do not do something, and why.
const LACKING: [(&str, Wish, &str); 2] = [
    ("caddy", Wish::Retry, "Caddy has no option for Retry"),
    ("caddy", Wish::GoAway, "Caddy says GOAWAY only when it is shut down"),
];

/// The server for a cell.
fn started(name: &str, wish: Wish, start: Start) -> Option<Started> {
    let lacks = LACKING.iter().find(|(server, what, _)| *server == name && *what == wish);
    if let Some((_, _, why)) = lacks {
        skip(why);
        return None;
    }
    let server = start(wish, scratch(&format!("{name}-cell")))?;
    listens_on_udp(server.port);
    Some(server)
}

/// Waits until somebody has this UDP port: servers listen on the TCP port of the same number first.
fn listens_on_udp(port: u16) {
    let begun = Instant::now();
    let local = format!(":{port:04X} ");
    let is_bound = |file: &&str| {
        let sockets = std::fs::read_to_string(file).unwrap_or_default();
        sockets.lines().skip(1).any(|line| line.contains(&local))
    };
    while !["/proc/net/udp", "/proc/net/udp6"].iter().any(is_bound) {
        assert!(begun.elapsed() < Duration::from_secs(10), "nobody listens on UDP port {port}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs the command on a server, trusting its issuer; its JSON and what it said.
fn loaded(server: &Started, path: &str, words: &str) -> (Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    let url = format!("https://localhost:{}{path}", server.port);
    command.args([&url, "--http", "3", "--json", "--quiet", "--timeout", "20s", "-4"]);
    if !words.contains("--cacert") {
        command.args(["--cacert", &server.scratch.file("issuer.pem")]);
    }
    command.args(words.split_whitespace());
    let output = command.stdin(Stdio::null()).bounded_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {said}", output.status));
    (json, said)
}

/// Every one of so many requests got 200 and so many bytes, and none failed.
fn all_right((json, said): (Value, String), requests: usize, body_bytes: usize) -> Value {
    let seen = json!([json["statuses"], json["failed"]["total"], json["bytes"]["body"], said]);
    let expected = json!([{ "200": requests }, 0, requests * body_bytes, ""]);
    assert_eq!(seen, expected, "{} {}", json["failed"], json["http3"]);
    json
}

fn small(server: &Started) {
    let json = all_right(loaded(server, "/small", "-n 300 -c 4"), 300, SMALL.len());
    let quic = &json["http3"]["quic"]["all_handshakes"];
    assert_eq!(json!([quic["version"], quic["protocol"]]), json!([1, "h3"]));
    assert_eq!(quic["whole_ns"]["connections"], 4, "{quic}");
}

fn large(server: &Started) {
    all_right(loaded(server, "/large", "-n 12 -c 2 --streams 2"), 12, LARGE_BYTES);
}

fn upload(server: &Started) {
    let file = server.scratch.file("files/large");
    all_right(loaded(server, "/echo", &format!("-n 8 -c 2 -b @{file}")), 8, LARGE_BYTES);
}

fn streams(server: &Started) {
    let json = all_right(loaded(server, "/small", "-n 1000 -c 1 --streams 100"), 1000, SMALL.len());
    assert_eq!(json["http3"]["streams"], 100);
}

fn retry(server: &Started) {
    let json = all_right(loaded(server, "/small", "-n 30 -c 3"), 30, SMALL.len());
    let quic = &json["http3"]["quic"]["all_handshakes"];
    assert_eq!(quic["retry_ns"]["connections"], 3, "{quic}");
    assert!(quic["retry_ns"]["max"].as_u64() < quic["whole_ns"]["max"].as_u64(), "{quic}");
}

fn goaway(server: &Started) {
    let json = all_right(loaded(server, "/small", "-n 3000 -c 2 --streams 10"), 3000, SMALL.len());
    assert!(json["http3"]["goaways"].as_u64().unwrap() > 0, "{}", json["http3"]);
    assert!(json["connections_opened"].as_u64().unwrap() > 2, "{}", json["connections_opened"]);
}

/// Most servers send tickets (RFC 8446, 4.6.1); none is used, however many connections follow each other.
fn resumption(server: &Started) {
    let ran = loaded(server, "/small", "-n 12 -c 2 --no-keepalive");
    let tls = &all_right(ran, 12, SMALL.len())["tls"];
    assert_eq!(tls["handshakes_resumed"], 0, "{tls}");
    assert!(tls["handshakes_full"].as_u64() >= Some(12), "{tls}");
}

fn wrong_certificate(server: &Started) {
    let mut another = CertificateParams::default();
    another.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    another.distinguished_name.push(DnType::CommonName, "another issuer");
    let another = another.self_signed(&KeyPair::generate().unwrap()).unwrap().pem();
    let words = format!("-n 5 -c 1 --cacert {}", server.scratch.write("another.pem", another));
    let (json, said) = loaded(server, "/small", &words);
    let by_kind = &json["failed"]["by_kind"];
    assert_eq!(by_kind["certificate-issuer"], json["failed"]["total"], "{by_kind} {said}");
    assert_eq!(json["responses"], 0);
    assert!(said.contains("--cacert"), "{said}");
}

/// A test for each cell of a server's row.
macro_rules! row {
    ($($server:ident: $start:path;)*) => {$(
        mod $server {
            use super::*;

            row!(@ $server, $start, small Nothing, large Nothing, upload Nothing, streams Nothing, retry Retry,
                 goaway GoAway, resumption Nothing, wrong_certificate Nothing);
        }
    )*};
    (@ $server:ident, $start:path, $($cell:ident $wish:ident),*) => {$(
        #[test]
        fn $cell() {
            if let Some(server) = started(stringify!($server), Wish::$wish, $start) {
                super::$cell(&server);
            }
        }
    )*};
}

row! {
    ablaze_serve: peers::ablaze_serve;
    aioquic: peers::aioquic;
    caddy: peers::caddy;
    h3_on_quinn: by_h3::start;
    nginx: peers::nginx;
    quic_go: peers::quic_go;
}
