//! Tunnels through a proxy: what is above hears nothing of how its response was cut, and a proxy that
//! makes none is named, soon.

use std::sync::Arc;

use ablaze_model::FailureKind as Kind;
use ablaze_model::plan::Plan;
use ablaze_model::plan::proxy::{Credentials, Proxy, Way};
use ablaze_model::run::Ended;
use ablaze_net::sim::{ConnectReply, FarEnd, Pieces, SimPeer};
use proptest::prelude::*;

use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, run, with_tls};

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\nVia: there\r\n\r\n";

fn through(mut plan: Plan) -> Plan {
    let (host, credentials) = ("proxy".to_owned(), Some(Credentials::basic("me:secret")));
    plan.target.proxy = Some(Proxy { host, port: 3128, way: Way::Tunnel, credentials });
    plan
}

#[test]
fn tls_in_a_tunnel_is_what_it_is_without_one() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config(&[version], &issued), HELLO).behind_proxy(ESTABLISHED);
        let mut closing = plan(20, 4);
        closing.connections.requests_per_connection = Some(2);
        for plan in [plan(20, 4), closing_each(plan(20, 4)), closing] {
            let plan = through(with_tls(plan, authority.trusted("there")));
            run(&plan, &peer, |run| {
                assert_eq!((run.record.responses, run.record.failures_total()), (20, 0), "{name}");
                let (tls, proxy) = (run.record.tls.as_ref(), run.record.proxy.as_ref());
                let proxy = proxy.unwrap();
                assert_eq!(proxy.tunnels, run.record.connections_opened);
                assert_eq!((proxy.connected, &proxy.first_failure), (proxy.tunnels, &None));
                assert_eq!(tls.unwrap().handshakes(), proxy.tunnels);
            });
        }
        let seen = peer.seen.lock().unwrap();
        assert!(seen.close_notifies > 0, "what is above closes as it does without a proxy");
        let asked = &seen.tunnels[0];
        assert!(asked.starts_with(b"CONNECT there:80 HTTP/1.1\r\nHost: there:80\r\n"), "{asked:?}");
        let text = String::from_utf8_lossy(asked);
        // RFC 7617: base64 of me:secret.
        assert!(text.contains("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"), "{text}");
    }
}

#[test]
fn asking_for_the_tunnel_is_a_part_of_connecting_and_no_part_of_the_handshake() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let config = config(&[&rustls::version::TLS13], &issued);
    let times = |plan: &Plan, peer: &TlsPeer| {
        let run = run(plan, peer, |run| assert_eq!(run.record.responses, 1));
        let phases = &run.record.answered;
        let tls = phases.tls.as_ref().unwrap();
        (phases.connect.max_ns().unwrap(), tls.handshake.max_ns().unwrap())
    };
    let plain = closing_each(clock_before(with_tls(plan(1, 1), authority.trusted("there"))));
    let straight = times(&plain, &TlsPeer::always(config.clone(), HELLO));
    let peer = TlsPeer::always(config, HELLO).behind_proxy(ESTABLISHED);
    let tunnelled = times(&through(plain), &peer);
    // The peer takes 100 µs to say anything, the response to CONNECT too; three digits are kept.
    let more = tunnelled.0 - straight.0;
    assert!((99 * US..=101 * US).contains(&more), "{straight:?} {tunnelled:?}");
    assert_eq!(tunnelled.1, straight.1);
}

#[test]
fn the_proxys_response_may_come_byte_by_byte_and_in_several() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let responses: [&[u8]; 5] = [
        ESTABLISHED,
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 299 \r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200\n\n",
    ];
    for response in responses {
        let peer = || {
            TlsPeer::always(config(&[&rustls::version::TLS13], &issued), HELLO)
                .behind_proxy(response)
        };
        let whole = [Pieces::Whole, Pieces::Of(1), Pieces::Of(2), Pieces::Of(3)];
        let splits = (1..response.len() as u32).map(Pieces::SplitAt);
        for pieces in whole.into_iter().chain(splits) {
            let plan = through(with_tls(plan(4, 2), authority.trusted("there")));
            run(&plan, &peer().cut(pieces), |run| {
                let counted = (run.record.responses, run.record.failures_total());
                assert_eq!(counted, (4, 0), "{pieces:?} {}", response.escape_ascii());
            });
        }
    }
}

/// Sends the first of its texts at the first word, the second at the next, and so on; closes or
/// resets behind the last, if told.
#[derive(Clone)]
struct Says {
    bytes: Arc<[u8]>,
    lengths: Vec<u32>,
    said: usize,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Stays,
    Closes,
    Resets,
    /// Says it again, without end.
    Goes,
}

impl Says {
    fn new(texts: &[&[u8]], end: End) -> Self {
        let lengths = texts.iter().map(|text| text.len() as u32).collect();
        Self { bytes: texts.concat().into(), lengths, said: 0, end }
    }
}

impl SimPeer for Says {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn connect(&mut self, _: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        ConnectReply::AcceptAfter(US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, _: &[u8]) {
        if let Some(length) = self.lengths.get(self.said).copied() {
            let start: u32 = self.lengths[..self.said].iter().sum();
            self.said += 1;
            let times = if self.end == End::Goes { 5_000 } else { 1 };
            for time in 0..times {
                far.send_after(US * (time + 1), start, length);
            }
        }
        if self.said >= self.lengths.len() {
            match self.end {
                End::Closes => far.close_after(2 * US),
                End::Resets => far.reset_after(2 * US),
                End::Stays | End::Goes => {}
            }
        }
    }
}

#[test]
fn a_proxy_that_makes_no_tunnel_is_named_and_soon() {
    let wanted =
        b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n\
                   Content-Length: 4\r\n\r\nnope";
    let long = [&b"HTTP/1.1 200 OK\r\nX: "[..], &[b'x'; 20_000]].concat();
    let rows: [(&[u8], End, Kind, &str); 20] = [
        (wanted, End::Stays, Kind::ProxyAuthentication, "407 Proxy Authentication Required"),
        (wanted, End::Closes, Kind::ProxyAuthentication, "it rejected the credentials"),
        (
            b"HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\n\r\n",
            End::Stays,
            Kind::ProxyAuthentication,
            "it accepts NTLM, but only Basic is supported",
        ),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", End::Stays, Kind::ProxyRefused, "403 Forbidden"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", End::Closes, Kind::ProxyRefused, "502 Bad Gateway"),
        (b"HTTP/1.1 302 Found\r\n\r\n", End::Stays, Kind::ProxyRefused, "302 Found"),
        (b"HTTP/1.0 500\r\n\r\n", End::Stays, Kind::ProxyRefused, "500"),
        (b"HTTP/1.1 405 \x1b[31mNo\r\n\r\n", End::Stays, Kind::ProxyRefused, "405 \\u{1b}[31mNo"),
        (b"", End::Closes, Kind::ProxyClosed, "without a response to CONNECT"),
        (b"", End::Resets, Kind::ProxyClosed, "reset"),
        (b"HTTP/1.1 200 OK\r\n", End::Closes, Kind::ProxyClosed, "`HTTP/1.1 200 OK`"),
        (b"HTT", End::Closes, Kind::ProxyClosed, "`HTT`"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", End::Stays, Kind::ProxyMalformed, "`SSH-2.0-OpenSSH_9.2`"),
        (b"HTTP/2 200\r\n\r\n", End::Stays, Kind::ProxyMalformed, "`HTTP/2 200`"),
        (b"HTTP/1.1 abc OK\r\n\r\n", End::Stays, Kind::ProxyMalformed, "`HTTP/1.1 abc OK`"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", End::Stays, Kind::ProxyMalformed, "2000"),
        (b"HTTP/1.1\r\n\r\n", End::Stays, Kind::ProxyMalformed, "`HTTP/1.1`"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", End::Stays, Kind::ProxyMalformed, "101 Switching"),
        (&[21, 3, 1, 0, 2, 2, 70], End::Closes, Kind::ProxyMalformed, "it expects TLS"),
        (&long, End::Stays, Kind::ProxyMalformed, "longer than 16384 bytes"),
    ];
    for (bytes, end, kind, words) in rows {
        let authority = Authority::new();
        let tls = with_tls(plan(1_000, 5), authority.trusted("there"));
        for plan in [tls, plan(1_000, 5)] {
            let shown = bytes[..bytes.len().min(60)].escape_ascii().to_string();
            let first = |plan: &Plan| {
                let run = run(plan, &Says::new(&[bytes], end), |run| {
                    assert_eq!(
                        (run.record.responses, &run.ended),
                        (0, &Ended::Unreachable),
                        "{shown}"
                    );
                    assert!(run.record.failures_total() <= 11, "{shown}");
                    assert_eq!(run.record.proxy.as_ref().unwrap().tunnels, 0, "{shown}");
                });
                let first = run.record.proxy.unwrap().first_failure.unwrap();
                assert_eq!(run.record.first_failure.unwrap().kind, first.0, "{shown}");
                first
            };
            let plan = through(with_timeout(plan, 200 * MS));
            for plan in [clock_before(plan.clone()), plan] {
                let (found, detail) = first(&plan);
                assert_eq!(found, kind, "{shown}: {detail}");
                assert!(detail.contains(words), "{shown}: {detail}");
            }
        }
    }
}

#[test]
fn a_proxy_that_never_comes_to_its_response_is_waited_for_up_to_the_timeout() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    for says in [Says::new(&[b""], End::Stays), Says::new(&[interim], End::Goes)] {
        let plan = through(clock_before(with_timeout(plan(3, 1), 20 * MS)));
        run(&plan, &says, |run| {
            assert_eq!(run.record.responses, 0);
            assert_eq!(run.record.failures_of(Kind::Timeout), run.record.failures_total());
        });
    }
}

#[test]
fn what_comes_behind_the_response_in_the_same_segment_is_the_targets() {
    // A target that speaks first: its response to the request that leaves with the tunnel.
    let both = [ESTABLISHED, HELLO].concat();
    let plan = through(clock_before(closing_each(without_repeat(plan(5, 1)))));
    run(&plan, &Says::new(&[&both], End::Stays), |run| {
        assert_eq!(
            (run.record.responses, run.record.body_bytes),
            (5, 25),
            "{:?}",
            run.record.failures
        );
    });
}

#[test]
fn a_proxy_that_tires_fails_what_comes_later_and_no_more() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::always(config(&[&rustls::version::TLS13], &issued), HELLO)
        .behind_proxy(ESTABLISHED)
        .tiring_after(10, b"HTTP/1.1 503 Enough\r\n\r\n");
    let plan = through(closing_each(with_tls(plan(30, 1), authority.trusted("there"))));
    run(&plan, &peer, |run| {
        assert_eq!(run.record.responses, 10);
        assert_eq!(run.record.failures_of(Kind::ProxyRefused), 20);
        assert_eq!(run.ended, Ended::Complete);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_ends_as_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        begin in prop_oneof![Just(&b""[..]), Just(&b"HTTP/1.1 "[..]), Just(&b"HTTP/1.1 407 "[..])],
    ) {
        let bytes = [begin, &bytes].concat();
        let plan = through(clock_before(with_timeout(plan(20, 1), 20 * MS)));
        run(&plan, &Says::new(&[&bytes], End::Stays), |run| {
            assert_eq!(run.record.responses, 0);
            let all_failed = run.record.failures_total() == 20;
            assert!(all_failed || run.ended == Ended::Unreachable, "{:?}", run.ended);
        });
    }
}
