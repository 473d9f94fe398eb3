//! What a handshake over HTTP/3 takes besides itself, forced on the built-in server: a certificate that is too long for what
//! a server may send at first, and Retry.

use std::net::IpAddr;

use ablaze_target::options::Http3Options;
use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::repository;
use serde_json::{Value, json};

use crate::tls::nginx::ablaze;

/// The built-in server under a certificate with so many names.
fn server(names: u16, http3: Http3Options) -> Running {
    // Of the block for documentation (RFC 3849), 18 bytes each.
    let address = |at: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, at]);
    let names: Vec<IpAddr> = (0..names).map(address).collect();
    let identity = Identity::self_made(&names).unwrap();
    let options = Options {
        address: "127.0.0.1:0".parse().unwrap(),
        threads: 1,
        tls: Some(TlsOptions::new(identity)),
        http2: true,
        http3: Some(http3),
        ..Options::default()
    };
    Server::start(options).unwrap()
}

/// What is known of the handshakes of a run, and the numbers of its findings.
fn handshakes(server: &Running) -> (Value, Vec<String>) {
    let url = format!("https://{}/", server.address());
    let ran = ablaze(&["-k", "--http", "3", "-n", "40", "-c", "4", "--json", &url]);
    let json = ran.json();
    assert_eq!((ran.status, &json["statuses"]), (0, &json!({ "200": 40 })), "{ran:?}");
    // What scripts read is what docs/report.schema.json says.
    let schema = serde_json::from_str(&repository::file("docs/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let findings = json["verdict"]["findings"].as_array().unwrap();
    let ids = findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned());
    (json["http3"]["quic"]["all_handshakes"].clone(), ids.collect())
}

/// RFC 9000, 8.1: three times the 1,200 bytes of the first datagram, in datagrams of 1,452 bytes of which the last begins within.
#[test]
fn certificates_that_are_too_long_for_the_first_flight_are_found() {
    let long = server(300, Http3Options::default());
    // A client that a busy machine lets run between two of the server's datagrams acknowledges the first, and moves the limit
    // before it is met.
    let mut tries = (0..10).map(|_| handshakes(&long));
    let (all, found) = tries.find(|(all, _)| !all["limited_at"].is_null()).expect("10 tries");
    assert!(found.iter().any(|id| id == "D55"), "{found:?} {all}");
    assert_eq!(all["limited_at"], json!({ "sent_bytes": 1200, "received_bytes": 3 * 1452 }));
    assert!(all["limited_ns"]["max"].as_u64() < all["whole_ns"]["max"].as_u64(), "{all}");
    let (all, found) = handshakes(&server(1, Http3Options::default()));
    assert!(!found.iter().any(|id| id == "D55"), "{found:?} {all}");
    assert_eq!((&all["limited_at"], &all["limited_ns"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_retry_before_the_clock_is_found_and_timed_apart() {
    let retry = Http3Options { retry: true, ..Http3Options::default() };
    // Behind a Retry there is no limit, however long the certificate is.
    let (all, found) = handshakes(&server(300, retry));
    assert!(found.iter().any(|id| id == "D52"), "{found:?} {all}");
    assert!(!found.iter().any(|id| id == "D55"), "{found:?} {all}");
    assert_eq!(
        (&all["retry_ns"]["connections"], &all["whole_ns"]["connections"]),
        (&json!(4), &json!(4))
    );
    assert!(all["retry_ns"]["mean"].as_f64() < all["whole_ns"]["mean"].as_f64(), "{all}");
}
