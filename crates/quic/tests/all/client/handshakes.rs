//! Handshakes, and those that come to nothing.

use ablaze_quic::client::{Connection, Connector, Options, StartError, Why};
use ablaze_quic::quinn_proto::MtuDiscoveryConfig;
use rustls::{CertificateError, Error};

use super::server::{Setup, answers};
use super::world::{DELAY_NS, Faults, World, tls, trusting};

/// How a connection to such a server ends before it stands.
fn fails(options: Options, tls: &rustls::ClientConfig, name: &str, setup: Setup) -> Why {
    let mut world = World::with(options, tls, name, setup, answers);
    world.run(|world| world.client.ended().is_some());
    assert!(!world.client.stands() && world.client.is_draining());
    assert_eq!(world.client.free_streams(), 0);
    world.client.ended().unwrap().why.clone()
}

fn options() -> Options {
    Options::with_streams(1)
}

#[test]
fn what_was_agreed_on_is_known_and_how_long_it_took() {
    let mut world = World::new(Setup::default(), answers);
    let began_ns = world.now_ns;
    world.connect();
    let handshake = world.client.handshake().unwrap().clone();
    assert_eq!((&handshake.alpn[..], handshake.version), (&b"h3"[..], 1));
    // TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384 or TLS_CHACHA20_POLY1305_SHA256 (RFC 8446, B.4).
    assert!((0x1301..=0x1303).contains(&handshake.suite), "{:x}", handshake.suite);
    assert!(handshake.group.is_some());
    assert_eq!(handshake.streams_permitted, 100);
    // One round trip (RFC 9001, 4).
    let times = (handshake.began_ns, handshake.retried_ns, handshake.done_ns);
    assert_eq!(times, (began_ns, None, began_ns + 2 * DELAY_NS));
}

#[test]
fn a_retry_is_followed_and_known() {
    let setup = Setup { retries: true, ..Setup::default() };
    let mut world = World::new(setup, answers);
    let began_ns = world.now_ns;
    world.connect();
    let handshake = world.client.handshake().unwrap().clone();
    assert_eq!(handshake.retried_ns, Some(began_ns + 2 * DELAY_NS));
    assert_eq!(handshake.done_ns, began_ns + 4 * DELAY_NS);
    world.get(&["/100"]);
    world.run(|world| world.log.ended() == 1);
}

#[test]
fn a_server_without_a_version_in_common() {
    let setup = Setup { versions: vec![0x6b33_43cf], ..Setup::default() };
    assert_eq!(fails(options(), &tls(), "server.test", setup), Why::NoCommonVersion);
}

#[test]
fn a_server_without_http3() {
    for alpn in [vec![b"hq-interop".to_vec()], Vec::new()] {
        let other = Setup { alpn, ..Setup::default() };
        assert_eq!(fails(options(), &tls(), "server.test", other), Why::NoHttp3);
    }
}

#[test]
fn certificates_that_are_not_accepted() {
    let nobody = trusting(rustls::RootCertStore::empty());
    let why = fails(options(), &nobody, "server.test", Setup::default());
    assert_eq!(why, Why::Tls(Error::InvalidCertificate(CertificateError::UnknownIssuer)));
    let why = fails(options(), &tls(), "another.test", Setup::default());
    let Why::Tls(Error::InvalidCertificate(reason)) = &why else { panic!("{why:?}") };
    assert!(matches!(reason, CertificateError::NotValidForNameContext { .. }), "{reason:?}");
}

#[test]
fn a_server_that_wants_a_certificate_says_so_after_the_handshake() {
    let setup = Setup { client_certificates: true, ..Setup::default() };
    let mut world = World::new(setup, answers);
    world.run(|world| world.client.ended().is_some());
    // certificate_required (RFC 8446, 6.2); to the client the handshake is complete before it comes.
    assert_eq!(world.client.ended().unwrap().why, Why::ByAlert(116));
    assert!(world.client.handshake().is_some() && !world.client.began());
    assert_eq!(world.client.ended().unwrap().code_name().unwrap(), "CRYPTO_ERROR with alert 116");
}

#[test]
fn nobody_answers() {
    let mut options = options();
    options.transport.idle_timeout_ns = 3_000_000_000;
    let connector = Connector::new(&tls(), options).unwrap();
    let remote = "192.0.2.2:443".parse().unwrap();
    let mut client = Connection::new(&connector, remote, "server.test", 0).unwrap();
    let (mut out, mut log, mut now_ns, mut sent) = (Vec::new(), super::world::Log::default(), 0, 0);
    while client.ended().is_none() {
        while client.transmit(now_ns, &mut out).is_some() {
            sent += 1;
            // RFC 9000, 14.1.
            assert!(out.len() >= 1_200);
        }
        now_ns = client.deadline_ns().unwrap();
        client.expired(now_ns, &mut log);
    }
    assert_eq!(client.ended().unwrap().why, Why::IdleTimeout);
    assert!((3_000_000_000..4_000_000_000).contains(&now_ns), "{now_ns}");
    assert!(sent > 1, "it was said again");
}

#[test]
fn what_cannot_be_begun() {
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let old = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    assert!(matches!(Connector::new(&old, options()), Err(StartError::Tls(_))));
    let connector = Connector::new(&tls(), options()).unwrap();
    for (remote, name) in [("192.0.2.2:443", "no name"), ("192.0.2.2:0", "server.test")] {
        let begun = Connection::new(&connector, remote.parse().unwrap(), name, 0);
        assert!(matches!(begun, Err(StartError::Connect(_))), "{remote} {name}");
    }
}

#[test]
fn datagrams_have_the_size_that_was_asked_for() {
    let mut fixed = options();
    fixed.transport.datagram_bytes = Some(1_350);
    let mut world = World::with(fixed, &tls(), "server.test", Setup::default(), answers);
    world.connect();
    world.get(&["/100000"]);
    world.run(|world| world.log.ended() == 1);
    world.settle();
    assert_eq!(world.client.counts().datagram_bytes, 1_350);
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    assert_eq!(world.client.counts().datagram_bytes, 1_200);
    world.settle();
    // The path carries everything; what is tried ends at 1,452, found to within 20 bytes.
    let found = world.client.counts().datagram_bytes;
    assert!((1_432..=1_452).contains(&found), "{found}");
}

/// What the device takes bounds what is tried and what is accepted: more is tried on Ethernet by nobody.
#[test]
fn datagrams_grow_as_far_as_device_peer_and_path_permit() {
    // The device, whether there is content, what the server accepts, what the path carries; the sizes that the client's
    // datagrams and the server's come to have.
    let loopback = Some(65_507);
    for (device, sends_content, accepts, path_bytes, own, theirs) in [
        (None, true, 65_527, 0, 1_432..=1_452, 1_452..=1_472),
        (Some(1_472), true, 65_527, 0, 1_432..=1_452, 1_452..=1_472),
        (Some(8_972), true, 65_527, 0, 8_952..=8_972, 8_952..=8_972),
        (Some(8_972), true, 65_527, 1_472, 1_452..=1_472, 1_452..=1_472),
        (loopback, false, 65_527, 0, 1_432..=1_452, 65_487..=65_507),
        (loopback, true, 65_527, 0, 16_368..=16_368, 65_487..=65_507),
        (loopback, true, 1_452, 0, 1_452..=1_452, 65_487..=65_507),
        (loopback, true, 9_000, 0, 8_748..=9_000, 65_487..=65_507),
    ] {
        let mut options = options();
        options.transport.device_bytes_max = device;
        options.transport.sends_content = sends_content;
        let mut setup = Setup { accepts_bytes: accepts, ..Setup::default() };
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(65_527);
        setup.transport.mtu_discovery_config(Some(discovery));
        let mut world = World::with(options, &tls(), "server.test", setup, answers);
        world = world.faulty(Faults { path_bytes, ..Faults::default() }, 1);
        world.connect();
        world.get(&["/100000"]);
        world.run(|world| world.log.ended() == 1);
        world.run_for(20_000_000_000, |_| false);
        let shown = format!("{device:?} {accepts} {path_bytes}");
        let found = world.client.counts().datagram_bytes;
        assert!(own.contains(&found), "{shown}: {found}");
        let found = world.server.served.as_ref().unwrap().quic.current_mtu();
        assert!(theirs.contains(&found), "{shown}: the server's {found}");
        assert_eq!(world.client.counts().packets_lost, 0, "{shown}");
    }
}

#[test]
fn garbage_is_no_answer() {
    let mut world = World::new(Setup::default(), answers);
    for bytes in [&b""[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", &[0xff; 1_500], &[0x40; 3]] {
        let mut bytes = bytes.to_vec();
        for segment_bytes in [0, 1, 7, 1_500] {
            let received =
                ablaze_quic::datagrams::Received { bytes: &mut bytes, segment_bytes, ecn: 0xff };
            world.client.receive(received, world.now_ns, &mut world.log);
        }
    }
    world.connect();
}
