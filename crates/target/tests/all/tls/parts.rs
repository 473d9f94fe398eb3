//! Handshake messages that come in parts while a connection is in use: rustls keeps the first part where
//! it lies and counts it, so that nothing may be sealed without showing it to rustls again.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use ablaze_tamper::tap::{self, Record};
use ablaze_target::protocol::Next;
use ablaze_target::{Options, Server};
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, Options as Http2Options};
use ablaze_wire::http2::request::{Request, RequestSet};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::TLS13;
use rustls::{CipherSuite, ClientConfig, ClientConnection, RootCertStore};

use super::piecewise::Side;
use ablaze_tamper::tls_client::{connection, identity, models, options};

const BODY_BYTES: usize = 1_000_000;

fn delayed(delay: Duration) -> Options {
    Options { http2: true, delay: delay.into(), body_bytes: Some(BODY_BYTES as u64), ..options() }
}

/// A client over HTTP/2 whose records can be taken apart.
fn config(options: &Options) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let authority = identity(options).authority().unwrap();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let provider = tap::provider(CipherSuite::TLS13_AES_128_GCM_SHA256);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

/// HTTP/2 with windows that a body fits into.
struct Asking(Connection, RequestSet, u32);

impl Asking {
    fn begin(client: &mut ClientConnection) -> Self {
        let mut out = Vec::new();
        let http2 = Connection::new(Http2Options::default(), &mut out);
        client.writer().write_all(&out).unwrap();
        Self(http2, RequestSet::new(&[Request::new("GET", "https", "localhost", "/")]), 0)
    }

    fn ask(&mut self, client: &mut ClientConnection) {
        let (mut out, mut digits) = (Vec::new(), Digits::new(1, 1));
        self.0.request(&self.1, 0, 0, &mut digits, self.2, &mut out).unwrap();
        self.2 += 1;
        client.writer().write_all(&out).unwrap();
    }
}

/// All that the client has to send.
fn said(client: &mut ClientConnection) -> Vec<u8> {
    let mut written = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut written).unwrap();
    }
    tap::records(&written).iter().flat_map(Record::encode).collect()
}

/// A KeyUpdate as two records: its first bytes, and the others.
fn key_update_in_parts(client: &mut ClientConnection) -> [Vec<u8>; 2] {
    client.refresh_traffic_keys().unwrap();
    let mut written = Vec::new();
    client.write_tls(&mut written).unwrap();
    let mut whole = tap::records(&written).remove(0);
    let behind = whole.payload.split_off(3);
    [whole.encode(), Record { payload: behind, ..whole }.encode()]
}

#[test]
fn a_part_of_a_key_update_comes_as_a_long_response_is_due() {
    let options = delayed(Duration::from_nanos(1));
    let mut client = connection(&config(&options));
    let mut side = Side::new(&options);
    let mut http2 = Asking::begin(&mut client);
    let mut heard = shake_hands(&mut client, &mut side);
    for _ in 0..3 {
        http2.ask(&mut client);
        side.receive(&said(&mut client));
        // The response is due and has not left: who waits for it reads meanwhile.
        let [first, second] = key_update_in_parts(&mut client);
        side.receive(&first);
        side.receive(&second);
        heard += heard_of(&mut client, &mut side);
    }
    assert_eq!(side.end, None);
    assert!(heard > 3 * BODY_BYTES, "{heard}");
    assert_eq!(side.counts().requests, 3);
}

#[test]
fn nothing_may_come_between_the_parts() {
    for kind in [21, 23] {
        let options = delayed(Duration::ZERO);
        let mut client = connection(&config(&options));
        let mut side = Side::new(&options);
        Asking::begin(&mut client);
        shake_hands(&mut client, &mut side);
        let [first, _] = key_update_in_parts(&mut client);
        side.receive(&first);
        assert_eq!(side.end, None);
        client.writer().write_all(b"x").unwrap();
        let mut written = Vec::new();
        client.write_tls(&mut written).unwrap();
        let other = Record { kind, payload: vec![1, 0], ..tap::records(&written).remove(0) };
        side.receive(&other.encode());
        assert!(matches!(side.end, Some(Next::Close { .. })), "{:?}", side.end);
        assert_eq!(side.counts().tls_failures, 1);
    }
}

/// Whether a part arrives just as the response falls due is a matter of microseconds: each model is asked
/// several times, a little later each time.
#[test]
fn every_model_outlives_parts_of_key_updates() {
    let delay = Duration::from_millis(20);
    let mut asked = 0;
    for model in models() {
        let options = Options { model, ..delayed(delay) };
        if options.validate().is_err() {
            // It speaks no HTTP/2.
            continue;
        }
        asked += 1;
        let server = Server::start(options.clone()).unwrap();
        let config = config(&options);
        println!("{model}");
        for late in 0..12 {
            let mut client = connection(&config);
            let mut socket = TcpStream::connect(server.address()).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            socket.set_nodelay(true).unwrap();
            let mut http2 = Asking::begin(&mut client);
            while client.is_handshaking() || client.wants_write() {
                socket.write_all(&said(&mut client)).unwrap();
                if client.is_handshaking() {
                    read(&mut client, &mut socket);
                }
            }
            for _ in 0..2 {
                http2.ask(&mut client);
                socket.write_all(&said(&mut client)).unwrap();
                let [first, second] = key_update_in_parts(&mut client);
                std::thread::sleep(
                    delay + Duration::from_micros(100) * late - Duration::from_micros(600),
                );
                socket.write_all(&first).unwrap();
                let mut heard = 0;
                while heard < BODY_BYTES {
                    heard += read(&mut client, &mut socket);
                }
                socket.write_all(&second).unwrap();
            }
        }
        assert_eq!(server.stop().unwrap().requests, 24);
    }
    assert_eq!(asked, 5);
}

/// Lets a handshake come to its end without a pause.
fn shake_hands(client: &mut ClientConnection, side: &mut Side) -> usize {
    let mut heard = 0;
    while client.is_handshaking() || client.wants_write() {
        side.receive(&said(client));
        heard += heard_of(client, side);
    }
    heard
}

/// How much the client hears of what the server wrote.
fn heard_of(client: &mut ClientConnection, side: &mut Side) -> usize {
    hear(client, &std::mem::take(&mut side.writes).concat())
}

fn read(client: &mut ClientConnection, socket: &mut TcpStream) -> usize {
    let mut buffer = vec![0; 1 << 16];
    let bytes = socket.read(&mut buffer).unwrap();
    assert!(bytes > 0, "the server closed");
    hear(client, &buffer[..bytes])
}

fn hear(client: &mut ClientConnection, mut rest: &[u8]) -> usize {
    let mut heard = 0;
    while !rest.is_empty() {
        client.read_tls(&mut rest).unwrap();
        let state = client.process_new_packets().unwrap();
        let mut plain = vec![0; state.plaintext_bytes_to_read()];
        client.reader().read_exact(&mut plain).unwrap();
        heard += plain.len();
    }
    heard
}
