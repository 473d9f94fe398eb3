//! Every I/O model that speaks TLS, over real sockets: responses, conditions and ends are as without.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ablaze_target::conditions::{Fault, FaultShare, SocketOptions};
use ablaze_target::tls::TlsVersion;
use ablaze_target::{Options, Running, Server, filler};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;

use ablaze_tamper::tls_client::{Client, VERSIONS, builder, config, get, models, options};

fn on_each_model(options: &Options, run: impl Fn(&Running, &Options)) {
    for model in models() {
        let options = Options { model, ..options.clone() };
        let server = Server::start(options.clone()).unwrap();
        println!("{model}");
        run(&server, &options);
        server.stop().unwrap();
    }
}

#[test]
fn every_model_answers_in_both_versions() {
    on_each_model(&options(), |server, options| {
        for version in VERSIONS {
            let mut client = Client::connect(server.address(), &Arc::new(config(options, version)));
            let (head, body) = client.ask(get("/hello"));
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            assert_eq!(body, b"hello, world!\n");
            client.stream.write_all(get("/bytes/100").repeat(30).as_bytes()).unwrap();
            for _ in 0..30 {
                assert_eq!(client.response().1.len(), 100);
            }
            let body: Vec<u8> = (0..1_000_000u32).map(|at| (at * 11) as u8).collect();
            let head = format!("POST /echo HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
            client.stream.write_all(head.as_bytes()).unwrap();
            assert!(client.ask(&body).1 == body);
            let last = "GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n";
            assert_eq!(client.ask(last).1.len(), 14);
            // The end is told, not cut.
            assert_eq!(client.rest().unwrap(), b"");
        }
        let served = server.served();
        assert_eq!((served.requests, served.tls_handshakes, served.tls_failures), (66, 2, 0));
    });
}

#[test]
fn slow_readers_get_long_bodies_whole() {
    let sockets = SocketOptions { send_buffer_bytes: Some(65_536), ..SocketOptions::default() };
    on_each_model(&Options { sockets, ..options() }, |server, options| {
        let mut client = Client::connect(server.address(), &Arc::new(config(options, VERSIONS[1])));
        client.stream.write_all(get("/bytes/8MiB").as_bytes()).unwrap();
        client.head();
        std::thread::sleep(Duration::from_millis(50));
        let mut body = vec![0; 8 << 20];
        client.stream.read_exact(&mut body).unwrap();
        assert!(body.iter().enumerate().all(|(at, byte)| *byte == filler::byte_at(at as u64)));
        assert_eq!(client.ask(get("/hello")).1.len(), 14);
        // Threads wait in the write itself. The others have to where the reader is slower than they
        // are, which a busy machine decides.
        let waits = options.model.name() != "blocking";
        assert!(waits || server.served().write_eagains == 0, "a thread was told to wait");
    });
}

#[test]
fn delays_and_streams_take_their_time() {
    on_each_model(&options(), |server, options| {
        let mut client = Client::connect(server.address(), &Arc::new(config(options, VERSIONS[1])));
        let begin = Instant::now();
        client.stream.write_all(get("/delay/30ms").repeat(2).as_bytes()).unwrap();
        assert_eq!((client.response().1.len(), client.response().1.len()), (14, 14));
        assert!(begin.elapsed() >= Duration::from_millis(60));
        let stream = "GET /stream?lines=3&every=10ms HTTP/1.1\r\nConnection: close\r\n\r\n";
        client.stream.write_all(stream.as_bytes()).unwrap();
        let rest = client.rest().unwrap();
        assert!(rest.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&rest));
    });
}

#[test]
fn faults_are_those_of_a_server_without_tls() {
    type Check = fn(&mut Client);
    let ends: [(Fault, Check); 5] = [
        (Fault::ResetBefore, |client| {
            assert_eq!(client.rest().unwrap_err().kind(), ErrorKind::ConnectionReset);
        }),
        (Fault::CloseUnanswered, |client| assert_eq!(client.rest().unwrap(), b"")),
        (Fault::ShortBody, |client| {
            let rest = String::from_utf8(client.rest().unwrap()).unwrap();
            assert!(rest.ends_with("\r\n\r\nhello, "), "{rest}");
        }),
        (Fault::Garbage, |client| {
            let rest = client.rest().unwrap();
            assert!(!rest.is_empty() && !rest.starts_with(b"HTTP/"));
        }),
        (Fault::Trickle, |client| assert_eq!(client.response().1, b"hello, world!\n")),
    ];
    for (fault, check) in ends {
        let faults = vec![FaultShare { fault, share: 1.0 }];
        on_each_model(&Options { faults, ..options() }, |server, options| {
            let config = Arc::new(config(options, VERSIONS[1]));
            let mut client = Client::connect(server.address(), &config);
            client.stream.write_all(get("/hello").as_bytes()).unwrap();
            check(&mut client);
        });
    }
}

#[test]
fn sessions_are_resumed_with_tickets_and_not_without() {
    for tickets in [true, false] {
        for version in VERSIONS {
            let mut options = options();
            options.tls.as_mut().unwrap().tickets = tickets;
            let server = Server::start(options.clone()).unwrap();
            let config = Arc::new(config(&options, version));
            for _ in 0..4 {
                Client::connect(server.address(), &config).ask(get("/hello"));
            }
            let served = server.stop().unwrap();
            let expected = if tickets { (1, 3) } else { (4, 0) };
            assert_eq!((served.tls_handshakes, served.tls_resumptions), expected, "{version:?}");
        }
    }
}

#[test]
fn versions_out_of_bounds_are_refused() {
    for (version, other) in [(TlsVersion::Tls12, VERSIONS[1]), (TlsVersion::Tls13, VERSIONS[0])] {
        let mut options = options();
        let tls = options.tls.as_mut().unwrap();
        (tls.min, tls.max) = (version, version);
        let server = Server::start(options.clone()).unwrap();
        let mut client = Client::connect(server.address(), &Arc::new(config(&options, other)));
        let error = client.stream.write_all(get("/").as_bytes()).unwrap_err();
        assert!(error.to_string().contains("ProtocolVersion"), "{error}");
        assert_eq!(server.stop().unwrap().tls_failures, 1);
    }
}

#[test]
fn clients_show_a_certificate_where_one_is_asked_for() {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let certificate = CertificateParams::new(vec!["client".to_owned()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    let mut options = options();
    options.tls.as_mut().unwrap().client_authorities = Some(pem.into_bytes());
    let server = Server::start(options.clone()).unwrap();
    for version in VERSIONS {
        let chain = vec![certificate.der().clone()];
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let known = builder(&options, version).with_client_auth_cert(chain, key).unwrap();
        let mut client = Client::connect(server.address(), &Arc::new(known));
        assert_eq!(client.ask(get("/hello")).1.len(), 14);
        let unknown = Arc::new(config(&options, version));
        let mut client = Client::connect(server.address(), &unknown);
        // In 1.3, a client learns of it only when it reads.
        let error =
            client.stream.write_all(get("/").as_bytes()).and_then(|()| client.rest()).unwrap_err();
        assert!(error.to_string().contains("Certificate"), "{error}");
    }
    assert_eq!(server.stop().unwrap().tls_failures, 2);
}

#[test]
fn half_a_handshake_is_held_to_the_read_timeout_and_keeps_no_server_from_stopping() {
    let beginning = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    let timed = Options { read_timeout: Some(Duration::from_millis(200)), ..options() };
    on_each_model(&timed, |server, _| {
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        client.write_all(beginning).unwrap();
        // Closed or reset, but within its time.
        let begin = Instant::now();
        let _ = client.read(&mut [0]);
        assert!(begin.elapsed() < Duration::from_secs(5));
    });
    on_each_model(&options(), |server, _| {
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.write_all(beginning).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        // `stop` follows: responses under way have a second, and this is none.
        std::mem::forget(client);
    });
}

#[test]
fn plain_http_gets_a_response_that_says_so() {
    on_each_model(&options(), |server, _| {
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.write_all(get("/").as_bytes()).unwrap();
        let mut response = String::new();
        client.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    });
}

#[test]
fn the_pages_of_the_server_tell_of_it() {
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &Arc::new(config(&options, VERSIONS[1])));
    client.ask(get("/hello"));
    let status = String::from_utf8(client.ask(get("/_/status")).1).unwrap();
    assert!(status.contains("\"tls_handshakes\": 1"), "{status}");
    let shown = String::from_utf8(client.ask(get("/_/config")).1).unwrap();
    assert!(shown.contains("\"certificate\": \"self-made\""), "{shown}");
    assert!(!shown.contains("PRIVATE"), "{shown}");
}

/// RFC 8446, 6.2: a handshake that fails is ended with the alert that says why.
#[test]
fn every_handshake_that_fails_ends_with_an_alert() {
    let server = Server::start(options()).unwrap();
    let record = |kind: u8, payload: &[u8]| {
        let [high, low] = (payload.len() as u16).to_be_bytes();
        [&[kind, 3, 1, high, low], payload].concat()
    };
    let rows: [(&str, Vec<u8>); 8] = [
        ("a record that is too long", vec![22, 3, 1, 0xff, 0xff, 1]),
        ("a record of no type", record(99, &[1])),
        ("data before the handshake", record(23, &[1, 2, 3, 4])),
        ("a message of no type", record(22, &[77, 0, 0, 1, 0])),
        ("a hello that is none", record(22, &[1, 0, 0, 4, 3, 3, 0, 0])),
        ("a message that is too long", record(22, &[1, 0xff, 0xff, 0xff, 3, 3])),
        ("a server's hello", record(22, &[2, 0, 0, 2, 3, 3])),
        ("a version of no TLS", vec![22, 9, 9, 0, 1, 1]),
    ];
    for (what, bytes) in rows {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(&bytes).unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        assert!(matches!(heard[..], [21, 3, _, 0, 2, 2, alert] if alert != 0), "{what}: {heard:?}");
    }
    // An alert of the client's is not answered.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&record(21, &[2, 40])).unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    assert!(heard.is_empty(), "{heard:?}");
}
