//! One connection without sockets: what arrives is cut anywhere, and what is no TLS harms nobody.

use std::io::{IoSlice, Read, Write};
use std::sync::Arc;

use ablaze_target::Options;
use ablaze_target::counters::{Counters, Counts};
use ablaze_target::filler;
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use proptest::prelude::*;
use rustls::ClientConnection;

use ablaze_tamper::tls_client::{VERSIONS, config, connection, get, options};

/// A server's side of a connection, driven as a model does it.
pub struct Side {
    service: Service<Routes>,
    protocol: Protocol,
    counters: Counters,
    /// What was written, write by write.
    pub writes: Vec<Vec<u8>>,
    pub end: Option<Next>,
}

impl Side {
    pub fn new(options: &Options) -> Self {
        let tls = options.tls.as_ref().map(|tls| tls.configuration(options.http2).unwrap());
        let registry = Arc::new(Registry::default());
        let service = Service::new(Routes::new(options), options, tls, registry);
        let protocol = Protocol::new(&service);
        Self { service, protocol, counters: Counters::default(), writes: Vec::new(), end: None }
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        let (date, mut out) = (Date::now(), Output::default());
        let mut next = self.protocol.receive(bytes, &self.service, &date, &mut out);
        for _ in 0..1_000_000 {
            self.protocol.count_into(&self.counters);
            self.write(&mut out);
            match next {
                Next::Read | Next::ReadFor(_) => return,
                Next::Proceed | Next::Wait(_) => {}
                Next::Close { .. } | Next::Reset => return self.end = Some(next),
            }
            next = self.protocol.proceed(&self.service, &date, &mut out);
        }
        panic!("it never wants to read again");
    }

    fn write(&mut self, out: &mut Output) {
        while !out.is_empty() {
            let mut slices = [IoSlice::new(&[]); 4];
            let used = out.slices(&mut slices);
            let write: Vec<u8> = slices[..used].iter().flat_map(|slice| slice.to_vec()).collect();
            out.wrote(write.len());
            self.writes.push(write);
        }
    }

    pub fn counts(&self) -> Counts {
        self.counters.read()
    }
}

/// Lets the two talk until both are silent; what the client sends arrives in pieces of `step`.
fn talk(client: &mut ClientConnection, side: &mut Side, step: usize) -> Vec<u8> {
    let mut heard = Vec::new();
    loop {
        let mut sent = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut sent).unwrap();
        }
        for piece in sent.chunks(step) {
            if side.end.is_none() {
                side.receive(piece);
            }
        }
        let written = std::mem::take(&mut side.writes).concat();
        let mut rest = &written[..];
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets().unwrap();
            let mut buffer = vec![0; 1 << 20];
            while let Ok(bytes @ 1..) = client.reader().read(&mut buffer) {
                heard.extend_from_slice(&buffer[..bytes]);
            }
        }
        if written.is_empty() && !client.wants_write() {
            return heard;
        }
    }
}

fn bodies(heard: &[u8]) -> usize {
    heard.windows(14).filter(|window| window == b"hello, world!\n").count()
}

#[test]
fn everything_arrives_in_pieces_of_any_length() {
    for version in VERSIONS {
        for step in [1, 7, 1000, usize::MAX] {
            let options = options();
            let config = Arc::new(config(&options, version));
            let (mut client, mut side) = (connection(&config), Side::new(&options));
            assert!(side.protocol.is_idle());
            client.writer().write_all(get("/hello").repeat(20).as_bytes()).unwrap();
            let heard = talk(&mut client, &mut side, step);
            assert_eq!(bodies(&heard), 20, "{version:?}, {step}");
            assert!(side.protocol.is_idle());
            let counts = side.counts();
            let expected = (20, 1, 0, 0);
            let counted = (
                counts.requests,
                counts.tls_handshakes,
                counts.tls_resumptions,
                counts.tls_failures,
            );
            assert_eq!(counted, expected, "{version:?}, {step}");
        }
    }
}

#[test]
fn a_long_body_is_whole_and_no_write_holds_all_of_it() {
    let options = Options { body_bytes: Some(3_000_001), ..options() };
    for version in VERSIONS {
        let config = Arc::new(config(&options, version));
        let (mut client, mut side) = (connection(&config), Side::new(&options));
        talk(&mut client, &mut side, usize::MAX);
        client.writer().write_all(get("/").as_bytes()).unwrap();
        let mut request = Vec::new();
        client.write_tls(&mut request).unwrap();
        side.receive(&request);
        let longest = side.writes.iter().map(Vec::len).max().unwrap();
        assert!(longest < 80_000, "{longest}");
        let heard = talk(&mut client, &mut side, usize::MAX);
        let body = &heard[heard.len() - 3_000_001..];
        assert!(body.iter().enumerate().all(|(at, byte)| *byte == filler::byte_at(at as u64)));
    }
}

#[test]
fn small_records_and_uploads_are_put_together() {
    for version in VERSIONS {
        for step in [3, 20_000] {
            let options = options();
            let mut config = config(&options, version);
            // Even the first message comes in many records.
            config.max_fragment_size = Some(32);
            let (mut client, mut side) = (connection(&Arc::new(config)), Side::new(&options));
            client.set_buffer_limit(None);
            let body: Vec<u8> = (0..50_000u32).map(|at| (at * 7) as u8).collect();
            let head = format!("POST /echo HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
            client.writer().write_all(head.as_bytes()).unwrap();
            client.writer().write_all(&body).unwrap();
            let heard = talk(&mut client, &mut side, step);
            assert!(heard.ends_with(&body), "{version:?}, {step}");
        }
    }
}

#[test]
fn keys_can_be_changed_under_way() {
    let options = options();
    let config = Arc::new(config(&options, VERSIONS[1]));
    let (mut client, mut side) = (connection(&config), Side::new(&options));
    for step in [1, usize::MAX] {
        for _ in 0..3 {
            client.writer().write_all(get("/hello").as_bytes()).unwrap();
            assert_eq!(bodies(&talk(&mut client, &mut side, step)), 1);
            client.refresh_traffic_keys().unwrap();
        }
    }
}

#[test]
fn an_end_is_told_and_answered() {
    for version in VERSIONS {
        let options = options();
        let config = Arc::new(config(&options, version));
        // By the client, behind its request: the response still comes, then our end.
        let (mut client, mut side) = (connection(&config), Side::new(&options));
        talk(&mut client, &mut side, usize::MAX);
        client.writer().write_all(get("/hello").as_bytes()).unwrap();
        client.send_close_notify();
        assert_eq!(bodies(&talk(&mut client, &mut side, usize::MAX)), 1);
        assert_eq!(side.end, Some(Next::Close { unread: false }));
        assert!(client.process_new_packets().unwrap().peer_has_closed());
        // By the server.
        let (mut client, mut side) = (connection(&config), Side::new(&options));
        talk(&mut client, &mut side, usize::MAX);
        side.protocol.finish();
        client.writer().write_all(get("/hello").as_bytes()).unwrap();
        talk(&mut client, &mut side, usize::MAX);
        assert_eq!(side.end, Some(Next::Close { unread: false }));
        assert!(client.process_new_packets().unwrap().peer_has_closed());
    }
}

#[test]
fn a_cut_between_head_and_body_is_one_between_records() {
    let options = Options { write: ablaze_target::conditions::WriteMode::Split, ..options() };
    let config = Arc::new(config(&options, VERSIONS[1]));
    let (mut client, mut side) = (connection(&config), Side::new(&options));
    talk(&mut client, &mut side, usize::MAX);
    client.writer().write_all(get("/").as_bytes()).unwrap();
    let mut request = Vec::new();
    client.write_tls(&mut request).unwrap();
    side.receive(&request);
    // Each record of 14 bytes has 5 bytes of head, 16 of tag, 1 of type.
    assert_eq!(side.writes.len(), 2);
    assert_eq!(side.writes[1].len(), 14 + 22);
}

#[test]
fn plain_http_is_told_in_plain_words() {
    for request in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"P"] {
        let mut side = Side::new(&options());
        side.receive(request);
        let written = String::from_utf8(side.writes.concat()).unwrap();
        assert!(written.starts_with("HTTP/1.1 400 "), "{written}");
        assert!(written.contains("https://"), "{written}");
        assert_eq!(side.end, Some(Next::Close { unread: true }));
        assert_eq!(side.counts().tls_failures, 1);
    }
}

#[test]
fn what_is_no_handshake_gets_an_alert() {
    let garbage: [&[u8]; 4] = [
        // A record of an unknown type; one of no length; a message that is no ClientHello; one
        // that is longer than any.
        b"\x99\x03\x01\x00\x05hello",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\x16\x03\x01\xff\xff\x01",
    ];
    for bytes in garbage {
        let mut side = Side::new(&options());
        side.receive(bytes);
        let written = side.writes.concat();
        // RFC 8446, 5.1: an alert is a record of type 21; 6: a fatal one has level 2.
        assert_eq!((written[0], written[5]), (21, 2), "{bytes:?}: {written:?}");
        assert_eq!(side.end, Some(Next::Close { unread: true }));
        assert_eq!((side.counts().tls_failures, side.counts().tls_handshakes), (1, 0));
    }
    // The beginning of a handshake is none of these; it is waited for.
    let mut side = Side::new(&options());
    side.receive(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
    assert_eq!((side.end, side.writes.len()), (None, 0));
    assert!(!side.protocol.is_idle());
}

#[test]
fn a_broken_record_ends_an_established_connection() {
    for version in VERSIONS {
        let options = options();
        let config = Arc::new(config(&options, version));
        let (mut client, mut side) = (connection(&config), Side::new(&options));
        talk(&mut client, &mut side, usize::MAX);
        client.writer().write_all(get("/hello").as_bytes()).unwrap();
        let mut request = Vec::new();
        client.write_tls(&mut request).unwrap();
        *request.last_mut().unwrap() ^= 1;
        side.receive(&request);
        assert_eq!(side.end, Some(Next::Close { unread: true }));
        assert_eq!(side.counts().requests, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever comes, in whatever pieces: an end or silence, never a panic or a loop.
    #[test]
    fn nothing_that_comes_does_harm(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        newer: bool,
        after: bool,
        tail in prop::collection::vec(any::<u8>(), 0..40),
        step in 1usize..600,
    ) {
        let options = options();
        let config = Arc::new(config(&options, VERSIONS[usize::from(newer)]));
        let (mut client, mut side) = (connection(&config), Side::new(&options));
        if after {
            talk(&mut client, &mut side, usize::MAX);
            client.writer().write_all(get("/hello").as_bytes()).unwrap();
        }
        let mut sent = Vec::new();
        client.write_tls(&mut sent).unwrap();
        for (at, byte) in flips {
            let at = at.index(sent.len());
            sent[at] = byte;
        }
        sent.truncate(cut.index(sent.len() + 1));
        sent.extend(tail);
        for piece in sent.chunks(step) {
            if side.end.is_none() {
                side.receive(piece);
            }
        }
    }
}
