//! `--otlp`: what a collector gets, and a run whose collector is not there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread::spawn;

use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Server};
use ablaze_testing::Bounded;
use serde_json::Value;

use crate::authority::{Authority, NOW};
use crate::e2e::support::{command, serve, url};

/// A collector that keeps head and body of what it gets and responds with this status; it ends with the test program.
fn collector(status: &'static str) -> (SocketAddr, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (to, received) = channel();
    spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(&stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|n| n > 0) {}
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let _ = (&stream).write_all(
                format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}").as_bytes(),
            );
            if to.send((head, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (address, received)
}

/// The metric of this name.
fn metric<'a>(message: &'a Value, name: &str) -> &'a Value {
    let metrics = message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("{message}"))
}

/// 64-bit integers are strings in the JSON of protocol buffers.
fn integer(value: &Value) -> u64 {
    value.as_str().unwrap_or_else(|| panic!("{value}")).parse().unwrap()
}

#[test]
fn the_last_message_has_the_figures_of_the_report() {
    let server = serve();
    let (address, received) = collector("200 OK");
    let option = format!("--otlp=http://{address}");
    let words =
        [&url(&server, "/"), "-d", "500ms", "-c", "2", "--json", "--interval", "200ms", &option];
    let ran = command(&words).env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b").ran();
    assert_eq!(ran.status, 0, "{ran:?}");
    let messages: Vec<(String, Value)> = received.try_iter().collect();
    assert!(messages.len() >= 2, "{}", messages.len());
    for (head, _) in &messages {
        assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Type: application/json\r\n"), "{head}");
        assert!(head.contains("\r\nx-key: a b\r\n"), "{head}");
    }
    let count = |message: &Value| {
        integer(&metric(message, "ablaze.requests")["sum"]["dataPoints"][0]["asInt"])
    };
    let counts: Vec<u64> = messages.iter().map(|(_, message)| count(message)).collect();
    assert!(counts.is_sorted(), "cumulative: {counts:?}");
    let responses = ran.json()["responses"].as_u64();
    assert_eq!(counts.last().copied(), responses);
    let last = &messages.last().unwrap().1;
    let times = &metric(last, "ablaze.request_duration")["exponentialHistogram"]["dataPoints"][0];
    let buckets = times["positive"]["bucketCounts"].as_array().unwrap();
    assert_eq!(buckets.iter().map(integer).sum::<u64>(), responses.unwrap());
    assert_eq!(Some(integer(&times["count"])), responses);
    // Bucket i holds times above base^i, and base is 2^(2^-scale).
    let offset = times["positive"]["offset"].as_f64().unwrap();
    let shortest_s = (offset / 2f64.powi(times["scale"].as_i64().unwrap() as i32)).exp2();
    assert!((1e-7..1.0).contains(&shortest_s), "{shortest_s}");
}

#[test]
fn a_collector_that_is_not_there_or_refuses_is_told_once_and_the_run_goes_on() {
    let server = serve();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (refusing, _received) = collector("503 Service Unavailable");
    for (address, says) in [(nobody, "cannot connect to"), (refusing, "503 Service Unavailable")] {
        let option = format!("--otlp=http://{address}");
        let ran =
            command(&[&url(&server, "/"), "-d", "500ms", "--interval", "100ms", &option]).ran();
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(ran.stderr.matches("--otlp").count(), 1, "{ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
    }
    let ran = command(&[&url(&server, "/"), "-n", "1", "--otlp=http://me:secret@127.0.0.1"]).ran();
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("OTEL_EXPORTER_OTLP_HEADERS") && !ran.stderr.contains("secret"));
}

#[test]
fn a_collector_with_tls_is_verified_with_what_the_system_trusts() {
    let server = serve();
    let (here, elsewhere) = (Authority::new("collectors"), Authority::new("others"));
    let issued = here.issue("localhost", NOW);
    let identity = Identity::from_pem(issued.0.as_bytes(), issued.1.as_bytes()).unwrap();
    // Whatever is posted to it gets a 200, and it counts.
    let address = "127.0.0.1:0".parse().unwrap();
    let tls = Some(TlsOptions::new(identity));
    let collector =
        Server::start(Options { address, threads: 1, tls, ..Options::default() }).unwrap();
    let option = format!("--otlp=https://localhost:{}/hello", collector.address().port());
    let run = |trusted: &Authority| {
        let words = [&url(&server, "/"), "-d", "500ms", "--interval", "100ms", "--quiet", &option];
        command(&words).env("SSL_CERT_FILE", trusted.cacert()).ran()
    };
    let ran = run(&here);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let ran = run(&elsewhere);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("its certificate is from an unknown issuer"), "{ran:?}");
    assert!(ran.stderr.contains("SSL_CERT_FILE") && ran.stderr.lines().count() == 1, "{ran:?}");
    assert!(collector.stop().unwrap().requests >= 2);
}
