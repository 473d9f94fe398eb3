//! Ctrl-C in the middle of a run over HTTP/2 and over TLS: the report is printed, what was in flight is
//! neither answered nor failed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_testing::{Bounded, Running};

use serde_json::Value;

/// The command's own server.
struct Server {
    _process: Running,
    url: String,
}

impl Server {
    fn start(words: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ablaze"))
            .args([&["serve"], words, &["127.0.0.1:0"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .start()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_whitespace().find(|word| word.starts_with("http")).map(str::to_owned)
        });
        Self { _process: process, url: url.unwrap() }
    }
}

/// What a run says that is interrupted after this time.
fn interrupted(words: &[&str], after: Duration) -> Value {
    let child = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
        .unwrap();
    std::thread::sleep(after);
    let sent =
        Command::new("kill").args(["-INT", &child.id().to_string()]).bounded_status().unwrap();
    assert!(sent.success());
    let asked = Instant::now();
    let ran = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(20), "{words:?}: {:?}", asked.elapsed());
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(130), "{words:?}: {said}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn what_was_measured_is_kept_and_what_was_in_flight_is_unfinished() {
    let servers = [
        Server::start(&["--http", "2"]),
        Server::start(&["--http", "2", "--tls"]),
        Server::start(&["--tls"]),
    ];
    for io in ["uring", "epoll"] {
        for server in &servers {
            let http2 = !std::ptr::eq(server, &servers[2]);
            // Responses after a second, so that some are under way whenever it ends.
            let url = format!("{}delay/1000", server.url);
            for load in [&[][..], &["-r", "200"]] {
                let mut words = vec![&url[..], "-c", "40", "-d", "60", "--io", io, "--json"];
                if url.starts_with("https") {
                    words.push("-k");
                }
                if http2 {
                    words.extend(["--http", "2", "--streams", "10"]);
                }
                let words = [&words[..], load].concat();
                // A busy machine may not have sent anything by then.
                let under_way = [1_500, 5_000, 15_000].into_iter().any(|after_ms| {
                    let json = interrupted(&words, Duration::from_millis(after_ms));
                    assert_eq!(json["ended"], "interrupted", "{words:?}");
                    assert_eq!(json["failed"]["total"], 0, "{words:?}");
                    json["unfinished"]["count"].as_u64().unwrap() > 0
                });
                assert!(under_way, "{words:?}");
            }
        }
    }
}
