//! What is asked for comes, on every model that speaks HTTP/3.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ablaze_quic::quinn_proto::TransportConfig;
use ablaze_target::conditions::Delay;
use ablaze_target::{Options, Server, filler};

use super::client::{CONTROL, Client, frame, get_fields, head};
use super::{models, options};
use ablaze_wire::http3::control;
use ablaze_wire::http3::frame::kind;

#[test]
fn every_model_responds() {
    for model in models() {
        let options = Options { model, ..options() };
        let server = Server::start(options.clone()).unwrap();
        let mut client = Client::connect(server.address(), &options);
        client.open_one_way(CONTROL, false);
        let response = client.get("/hello").unwrap();
        assert_eq!(
            (response.statuses[0].as_str(), &response.body[..]),
            ("200", &b"hello, world!\n"[..])
        );
        assert_eq!(response.field("content-length"), Some("14"));
        assert_eq!(response.field("server"), Some("ablaze"));
        // Whoever is here needs no word of where to go.
        assert_eq!(response.field("alt-svc"), None);
        let mut fields = get_fields("/hello");
        fields[0].1 = "HEAD";
        let response = client.ask(&head(&fields)).unwrap();
        assert_eq!((response.field("content-length"), &response.body[..]), (Some("14"), &b""[..]));
        let body: Vec<u8> = (0..3_000_000u32).map(|at| (at * 11) as u8).collect();
        fields[0].1 = "POST";
        fields[3].1 = "/echo";
        let post = [head(&fields), frame(kind::DATA, &body[..1]), frame(kind::DATA, &body[1..])];
        assert!(client.ask(&post.concat()).unwrap().body == body);
        let long = client.get("/bytes/3000000").unwrap().body;
        assert_eq!(long.len(), 3_000_000);
        assert!(long.iter().zip(0..).all(|(byte, at)| *byte == filler::byte_at(at)));
        assert_eq!(client.get("/nothing").unwrap().statuses, ["404"]);
        let stream = client.get("/stream?lines=3&every=10ms").unwrap();
        assert!(stream.body.ends_with(b"line 3 of 3\n"));
        client.close();
        let served = server.stop().unwrap();
        assert_eq!((served.requests, served.connections, served.quic_handshakes), (6, 1, 1));
        assert_eq!((served.quic_failures, served.quic_retries), (0, 0));
        assert!(served.datagrams_read > 3_000_000 / 1_500, "{served:?}");
        assert!(served.datagrams_written > 3_000_000 / 1_500, "{served:?}");
    }
}

#[test]
fn a_hundred_streams_at_once_on_two_workers() {
    let options = Options { threads: 2, ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut clients: Vec<_> = (0..4).map(|_| Client::connect(server.address(), &options)).collect();
    for client in &mut clients {
        let request = head(&get_fields("/bytes/10000"));
        let streams: Vec<u64> = (0..100).map(|_| client.open(&request, true)).collect();
        for stream in streams {
            assert_eq!(client.response(stream).unwrap().body.len(), 10_000);
        }
    }
    assert_eq!(server.stop().unwrap().requests, 400);
}

/// RFC 7838, 3: over TCP it is said where HTTP/3 is, by responses built before and by those made for their request.
#[test]
fn responses_over_tcp_name_the_port() {
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let tls = ablaze_tamper::tls_client::config(&options, &rustls::version::TLS13);
    let mut stream = rustls::StreamOwned::new(
        ablaze_tamper::tls_client::connection(&std::sync::Arc::new(tls)),
        TcpStream::connect(server.address()).unwrap(),
    );
    let ask = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /bytes/5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(ask.as_bytes()).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said);
    let named = format!("\r\nAlt-Svc: h3=\":{}\"; ma=3600\r\n", server.address().port());
    assert_eq!(said.matches(&named).count(), 2, "{said}");
}

#[test]
fn a_body_may_be_announced_and_refused() {
    let options = Options { max_body_bytes: 1_000, ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    let mut fields = get_fields("/echo");
    fields[0].1 = "POST";
    fields.push(("expect", "100-continue"));
    let stream = client.open(&head(&fields), false);
    client.wait(|client| !client.came(stream).bytes.is_empty());
    client.write(stream, &frame(kind::DATA, b"body"), true);
    let response = client.response(stream).unwrap();
    assert_eq!(
        (response.statuses, &response.body[..]),
        (vec!["100".into(), "200".into()], &b"body"[..])
    );
    fields.pop();
    // Announced, and not: both are told so, and neither is asked for the rest.
    for announces in [true, false] {
        let mut fields = fields.clone();
        fields.extend(announces.then_some(("content-length", "1001")));
        let stream = client.open(&head(&fields), false);
        if !announces {
            client.write(stream, &frame(kind::DATA, &[0; 1_001]), false);
        }
        assert_eq!(client.response(stream).unwrap().statuses, ["413"]);
    }
    assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
}

#[test]
fn a_client_that_permits_little_gets_all_of_a_long_body() {
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    client.reads = false;
    let stream = client.open(&head(&get_fields("/bytes/20000000")), true);
    client.pass(std::time::Duration::from_millis(200));
    client.reads = true;
    // Reading is what makes room.
    let other = client.open(&head(&get_fields("/hello")), true);
    assert_eq!(client.response(other).unwrap().statuses, ["200"]);
    client.read_now(stream);
    assert_eq!(client.response(stream).unwrap().body.len(), 20_000_000);
}

/// A client of few bytes at a time, on each stream or on all of them together (RFC 9000, 4.1).
fn small_windows() -> impl Iterator<Item = TransportConfig> {
    (1u32..8).flat_map(|bytes| {
        let (mut each, mut all) = (TransportConfig::default(), TransportConfig::default());
        each.stream_receive_window(bytes.into());
        all.receive_window(bytes.into());
        [each, all]
    })
}

#[test]
fn a_client_without_room_for_100_gets_it_and_the_response_whole() {
    let delay = Duration::from_millis(50);
    let options = Options { delay: Delay::Constant(delay), ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut fields = get_fields("/echo");
    fields[0].1 = "POST";
    fields.push(("expect", "100-continue"));
    // The body waits for all of the 100, or is sent while most of that has no room.
    for (at, waits) in small_windows().zip([true, true, false, false].into_iter().cycle()) {
        let mut client = Client::connect_with(server.address(), &options, at);
        client.reads = waits;
        let stream = client.open(&head(&fields), false);
        if waits {
            client.wait(|client| client.came(stream).bytes.len() == 6);
        } else {
            client.pass(Duration::from_millis(10));
        }
        let asked = Instant::now();
        client.write(stream, &frame(kind::DATA, b"body"), true);
        client.pass(Duration::from_millis(10));
        client.reads = true;
        // There is room for the 100 now, and the response still has to wait.
        for stream in [stream, 3] {
            client.read_now(stream);
        }
        let response = client.response(stream).unwrap();
        assert_eq!(
            (response.statuses, &response.body[..]),
            (vec!["100".into(), "200".into()], &b"body"[..])
        );
        assert!(asked.elapsed() >= delay, "{:?}", asked.elapsed());
        assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
    }
}

#[test]
fn a_client_without_room_for_100_is_refused_once() {
    let options = Options { max_body_bytes: 10, ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut fields = get_fields("/echo");
    fields[0].1 = "POST";
    fields.push(("expect", "100-continue"));
    for permits in small_windows() {
        let mut client = Client::connect_with(server.address(), &options, permits);
        client.reads = false;
        let stream = client.open(&[head(&fields), frame(kind::DATA, &[0; 11])].concat(), false);
        client.pass(Duration::from_millis(10));
        client.write(stream, &frame(kind::DATA, &[0; 11]), true);
        client.pass(Duration::from_millis(10));
        client.reads = true;
        for stream in [stream, 3] {
            client.read_now(stream);
        }
        assert_eq!(client.response(stream).unwrap().statuses, ["100", "413"]);
    }
    assert_eq!(server.stop().unwrap().requests, 14);
}

/// RFC 9114, 6.2: 1,024 bytes of room should be there, and need not.
#[test]
fn a_client_without_room_for_settings_gets_them_whole_and_goaway_behind() {
    let options = Options { max_requests: Some(1), ..options() };
    let server = Server::start(options.clone()).unwrap();
    for permits in small_windows() {
        let mut client = Client::connect_with(server.address(), &options, permits);
        let goaway = frame(kind::GOAWAY, &[4]);
        let stream = client.open(&head(&get_fields("/hello")), true);
        client.wait(|client| client.came(3).bytes.ends_with(&goaway) || client.has_closed());
        let mut whole = control::first_bytes(0, options.max_head_bytes as u64);
        whole.extend(&goaway);
        assert_eq!(client.came(3).bytes, whole);
        assert_eq!(client.response(stream).unwrap().statuses, ["200"]);
    }
}
