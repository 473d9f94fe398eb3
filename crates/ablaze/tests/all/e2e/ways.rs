//! Big things, and every way of connecting, as the server sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ablaze_target::handler::{Handler, Reply, Request, Response};
use ablaze_target::response::{FixedBody, FixedResponse};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::hostile::{Behaviour, Chunks, Hostile};
use ablaze_wire::http1::request_head::Method;

use crate::e2e::observer::{End, Observer};
use crate::e2e::support::{BACKENDS, Scratch, measured, number, serve, serve_on, url};

/// How long a server waits for a client that leaves the end to it.
const A_WHILE: Duration = Duration::from_millis(150);

/// Notes path, query and body of every request.
struct Notes {
    response: FixedResponse,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Handler for Notes {
    fn wants_body(&self, _: Method, _: &[u8]) -> bool {
        true
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let path = format!("{}?{}", text(request.path), text(request.query));
        self.seen.lock().unwrap().push((path, text(request.body)));
        Reply { response: Response::Fixed(&self.response), delay_ns: 0 }
    }
}

type Seen = Arc<Mutex<Vec<(String, String)>>>;

fn noting() -> (Running, Seen) {
    let seen = Seen::default();
    let response = FixedResponse::new(200, "notes", "text/plain", FixedBody::Bytes(b"noted"));
    let options = Options { address: "127.0.0.1:0".parse().unwrap(), ..Options::default() };
    let server = Server::start_with(options, Notes { response, seen: Arc::clone(&seen) }).unwrap();
    (server, seen)
}

#[test]
fn large_bodies_arrive_whole_both_ways() {
    for (bytes, count) in [(300_000_u64, "20"), (1 << 20, "20"), (100 << 20, "2")] {
        let file = Scratch::with(&format!("body-{bytes}"), &vec![b'x'; bytes as usize]);
        let body = format!("@{}", file.word());
        for io in BACKENDS {
            let server = serve();
            let echo = url(&server, "/echo");
            let (ran, json) = measured(&[&echo, "-n", count, "-c2", "-b", &body, "--io", io]);
            assert_eq!(ran.status, 0, "{io} {bytes}: {}", ran.stderr);
            let lengths = format!("{{\"{bytes}\":{count}}}");
            assert_eq!(json["body_lengths"].to_string(), lengths, "{io}");
            let count: u64 = count.parse().unwrap();
            assert_eq!(number(&json, "/bytes/body"), bytes * count, "{io}");
            assert!(number(&json, "/bytes/sent") > bytes * count, "{io}");
        }
    }
}

#[test]
fn a_request_head_of_300_kb_arrives() {
    let field = format!("X-Long: {}", "y".repeat(100_000));
    for io in BACKENDS {
        let options = Options {
            address: "127.0.0.1:0".parse().unwrap(),
            max_head_bytes: 400_000,
            ..Options::default()
        };
        let server = Server::start(options).unwrap();
        let words = [
            &url(&server, "/"),
            "-n10",
            "-c2",
            "-H",
            &field,
            "-H",
            &field,
            "-H",
            &field,
            "--io",
            io,
        ];
        let (_, json) = measured(&words);
        assert_eq!(number(&json, "/statuses/200"), 10, "{io}");
    }
}

#[test]
fn long_chunked_responses_and_heads_alone() {
    for io in BACKENDS {
        let chunked = Behaviour::Chunked { body_bytes: 3_000_000, chunks: Chunks::Whole };
        let server = Hostile::always(chunked).unwrap();
        let (_, json) = measured(&[&server.url(), "-n", "20", "-c2", "--io", io]);
        assert_eq!(json["body_lengths"].to_string(), "{\"3000000\":20}", "{io}");

        let server = serve();
        let (_, json) = measured(&[&url(&server, "/"), "-n", "20", "-m", "HEAD", "--io", io]);
        assert_eq!((number(&json, "/succeeded"), number(&json, "/bytes/body")), (20, 0), "{io}");
    }
}

#[test]
fn the_lists_arrive_as_often_as_they_should() {
    for io in BACKENDS {
        let (server, seen) = noting();
        let list = Scratch::with(
            &format!("urls-{io}"),
            format!("{} 3\n{}\n", url(&server, "/a"), url(&server, "/b")).as_bytes(),
        );
        let (ran, _) = measured(&["--urls", list.word(), "-n", "4000", "-c8", "-t2", "--io", io]);
        assert_eq!(ran.status, 0, "{io}: {}", ran.stderr);
        let mut counts = BTreeMap::new();
        for (path, _) in seen.lock().unwrap().iter() {
            *counts.entry(path.clone()).or_insert(0_u64) += 1;
        }
        assert_eq!(counts.values().sum::<u64>(), 4000, "{io}");
        // Each worker goes round by itself and may stop in the middle of a round.
        assert!((2992..=3008).contains(&counts["/a?"]), "{io}: {counts:?}");

        let lines = Scratch::with(&format!("lines-{io}"), b"one\ntwo\nthree\n");
        seen.lock().unwrap().clear();
        let target = url(&server, "/");
        let words = [&target, "--body-lines", lines.word(), "-n", "30", "-c1", "--io", io];
        measured(&words);
        let bodies: Vec<String> =
            seen.lock().unwrap().iter().map(|(_, body)| body.clone()).collect();
        assert_eq!(bodies, ["one", "two", "three"].repeat(10), "{io}");
    }
}

#[test]
fn no_number_of_a_request_comes_twice() {
    for io in BACKENDS {
        let (server, seen) = noting();
        let target = url(&server, "/x?id={seq}");
        let words = [&target, "-n", "5000", "-c10", "-t2", "--pipeline", "16", "--io", io];
        let (ran, json) = measured(&words);
        assert_eq!((ran.status, number(&json, "/responses")), (0, 5000), "{io}: {}", ran.stderr);
        let seen = seen.lock().unwrap();
        let distinct: BTreeSet<&str> = seen.iter().map(|(path, _)| &path[..]).collect();
        assert_eq!((seen.len(), distinct.len()), (5000, 5000), "{io}");
    }
}

#[test]
fn ipv6_unix_sockets_and_other_addresses() {
    for io in BACKENDS {
        let server = serve_on("[::1]:0");
        let (_, json) = measured(&[&url(&server, "/"), "-n", "50", "--io", io]);
        assert_eq!(number(&json, "/succeeded"), 50, "{io} IPv6");

        let server = serve();
        let to = server.address().to_string();
        let words = ["http://shop.example/", "--connect-to", &to, "-n", "50", "--io", io];
        assert_eq!(number(&measured(&words).1, "/succeeded"), 50, "{io} --connect-to");

        let socket = Scratch::new(&format!("{io}.socket"));
        let listener = UnixListener::bind(socket.path()).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    while let Ok(1..) = stream.read(&mut [0; 4096]) {
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }
                });
            }
        });
        let words = ["http://u/", "--unix-socket", socket.word(), "-n", "50", "-c3", "--io", io];
        let (ran, json) = measured(&words);
        assert_eq!(number(&json, "/succeeded"), 50, "{io} --unix-socket: {}", ran.stderr);
    }
}

#[test]
fn connections_come_from_the_addresses_and_ports_asked_for() {
    for (io, ports) in [("uring", 21_000..=21_199), ("epoll", 21_200..=21_399)] {
        let observer = Observer::start(A_WHILE);
        let range = format!("{}-{}", ports.start(), ports.end());
        let words = [
            &observer.url(),
            "-n",
            "60",
            "-c6",
            "--requests-per-connection",
            "5",
            "--local-address",
            "127.0.0.2,127.0.1.0/30",
            "--local-ports",
            &range,
            "--io",
            io,
        ];
        let (ran, json) = measured(&words);
        assert_eq!(number(&json, "/succeeded"), 60, "{io}: {}", ran.stderr);
        let seen = observer.seen(60);
        let peers: BTreeSet<String> = seen.iter().map(|one| one.peer.ip().to_string()).collect();
        assert!(peers.contains("127.0.0.2") && peers.len() >= 3, "{io}: {peers:?}");
        assert!(
            peers.iter().all(|ip| ip == "127.0.0.2" || ip.starts_with("127.0.1.")),
            "{peers:?}"
        );
        assert!(seen.iter().all(|one| ports.contains(&one.peer.port())), "{io}: {seen:?}");
        assert!(seen.iter().all(|one| one.requests <= 5), "{io}: {seen:?}");
        // Connections are replaced as soon as they are used up, the last ones before anything
        // is left to send.
        let used = seen.iter().filter(|one| one.requests == 5).count();
        assert!(used >= 6, "{io}: {seen:?}");
    }
}

/// Who ended each connection of a run of six requests.
fn ended(how: &str, io: &str) -> Vec<End> {
    // The last resort where the client is to end it.
    let waits = if how == "await" { A_WHILE } else { Duration::from_secs(20) };
    let observer = Observer::start(waits);
    let words = [&observer.url(), "-n", "6", "-c2", "--no-keepalive", "--close", how, "--io", io];
    let (ran, json) = measured(&words);
    assert_eq!(number(&json, "/succeeded"), 6, "{io} {how}: {}", ran.stderr);
    observer.seen(6).iter().map(|seen| seen.end).collect()
}

#[test]
fn connections_end_as_asked_for() {
    for io in BACKENDS {
        for (how, expected) in
            [("await", End::Server), ("fin", End::ClientFin), ("reset", End::ClientReset)]
        {
            // A server that stood still for a moment looks as if it waited for the client, which then ends that connection and
            // those behind it: a run without such a moment has to come.
            let attempts = if how == "await" { 6 } else { 1 };
            let mut seen = Vec::new();
            let as_asked = (0..attempts).any(|_| {
                seen = ended(how, io);
                seen.iter().filter(|end| **end != expected).count()
                    <= if how == "await" { 2 } else { 0 }
            });
            assert!(as_asked, "{io} {how}: {seen:?}");
        }
    }
}
