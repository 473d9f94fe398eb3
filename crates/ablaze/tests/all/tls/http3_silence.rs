//! What is said where no response came over HTTP/3: each step that was seen is told from the next.

use std::net::UdpSocket;
use std::time::Duration;

use ablaze_target::conditions::Delay;
use ablaze_target::options::Http3Options;
use ablaze_target::{Options, Server};
use serde_json::Value;

use crate::serve_and_demo::support::Serving;
use crate::tls::nginx::ablaze;

/// The line behind the report, and the cause of D02.
fn said(words: &[&str]) -> (String, String) {
    let ran = ablaze(&[&["-k", "--http", "3", "-c", "2", "--json"][..], words].concat());
    assert_eq!(ran.status, 1, "{ran:?}");
    let json: Value = ran.json();
    let findings = json["verdict"]["findings"].as_array().unwrap();
    let found = findings.iter().find(|found| found["id"] == "D02");
    let cause = found.map_or("", |found| found["cause"].as_str().unwrap());
    (ran.stderr, cause.to_owned())
}

/// A socket that gives each datagram this answer, until the test ends.
fn socket(answer: Option<&'static [u8]>) -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut buffer = [0; 2_000];
        while let Ok((_, from)) = socket.recv_from(&mut buffer) {
            if let Some(answer) = answer {
                // The client may be gone.
                let _ = socket.send_to(answer, from);
            }
        }
    });
    port
}

/// Handshakes take place before the clock; what came in them is known all the same.
#[test]
fn datagrams_that_are_no_quic_are_told_from_silence() {
    let url = format!("https://127.0.0.1:{}/", socket(None));
    let (line, cause) = said(&["-n", "5", "--timeout", "300ms", &url]);
    assert!(line.contains("no response over UDP port"), "{line}");
    assert!(cause.contains("No datagram came back"), "{cause}");
    let url = format!("https://127.0.0.1:{}/", socket(Some(b"HTTP/1.1 400 Bad Request\r\n\r\n")));
    let (line, cause) = said(&["-n", "5", "--timeout", "300ms", &url]);
    assert!(line.contains("responded over UDP but did not finish the QUIC handshake"), "{line}");
    assert!(cause.contains("Datagrams came back, and no QUIC handshake was completed"), "{cause}");
}

/// The handshakes were made before the clock: what is slow is the response.
#[test]
fn a_slow_response_is_no_handshake_that_was_not_finished() {
    let options = Options {
        address: "127.0.0.1:0".parse().unwrap(),
        threads: 1,
        http2: true,
        http3: Some(Http3Options::default()),
        delay: Delay::Constant(Duration::from_secs(20)),
        ..ablaze_tamper::tls_client::options()
    };
    let server = Server::start(options).unwrap();
    let url = format!("https://{}/", server.address());
    let (line, cause) = said(&["-n", "4", "--timeout", "300ms", &url]);
    assert!(
        line.contains("did not respond within 300 ms: see its log, or allow more with --timeout"),
        "{line}"
    );
    assert!(!line.contains("handshake") && !line.contains("Alt-Svc"), "{line}");
    assert!(cause.contains("QUIC handshakes were completed"), "{cause}");
}

/// What came over connections that stood was no handshake's, although their sockets are gone when the run ends.
#[test]
fn what_came_before_a_server_was_killed_came_in_no_handshake() {
    let server = Serving::start(&["serve", "127.0.0.1:0", "--http", "3", "--threads", "1"]);
    let url = format!("https://{}/", server.address);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        server.signal("-KILL");
    });
    let words = ["-k", "--http", "3", "-c", "5", "--streams", "4", "-d", "1500ms", "--json", &url];
    let json: Value = ablaze(&words).json();
    let quic = &json["http3"]["quic"];
    let received = quic["received"]["datagrams"].as_u64().unwrap();
    let in_vain = quic["all_handshakes"]["incomplete_received"].as_u64().unwrap();
    assert!(received > 100 && in_vain < received / 10, "{in_vain} of {received}");
}
