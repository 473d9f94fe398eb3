//! Far ends that are no TLS servers, or bad ones: each ends as its own kind, soon, and with little
//! memory.

use std::sync::Arc;

use ablaze_model::FailureKind as Kind;
use ablaze_model::plan::tls::{Tls, Trust};
use ablaze_model::run::Ended;
use ablaze_net::sim::{ConnectReply, FarEnd, Pieces, SimPeer};
use proptest::prelude::*;
use rustls::pki_types::CertificateDer;

use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, config_with_chain, run, with_tls};

/// Sends these bytes to whoever says something, and then the same again and again.
#[derive(Clone)]
struct Says {
    bytes: Arc<[u8]>,
    times: u32,
    pieces: Pieces,
}

impl Says {
    fn once(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), times: 1, pieces: Pieces::Whole }
    }
}

impl SimPeer for Says {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        far.cut(self.pieces, 0);
        ConnectReply::AcceptAfter(US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, _: &[u8]) {
        for time in 0..std::mem::take(&mut self.times) {
            far.send_after(US * u64::from(time + 1), 0, self.bytes.len() as u32);
        }
    }
}

fn first_kind(says: &Says) -> Option<Kind> {
    first_failure(says).0
}

/// The kind that the first connection ended with, and what TLS has to say on it.
fn first_failure(says: &Says) -> (Option<Kind>, String) {
    let tls = Tls { trust: Trust::Anyone, ..Tls::new("there") };
    let plan = with_tls(clock_before(with_timeout(plan(100, 1), 200 * MS)), tls);
    let run = run(&plan, says, |run| {
        assert_eq!(run.record.responses, 0);
        assert_eq!(run.ended, Ended::Unreachable, "{:?}", run.record.failures);
        assert!(run.record.failures_total() <= 11, "{:?}", run.record.failures);
    });
    let detail = run.record.tls.and_then(|facts| facts.first_failure).map(|(_, detail)| detail);
    (run.record.first_failure.map(|first| first.kind), detail.unwrap_or_default())
}

/// A record in the clear.
fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16).to_be_bytes();
    [&[kind, 3, 3, high, low], payload].concat()
}

#[test]
fn what_is_no_tls_is_named() {
    let http = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let huge = [22, 3, 3, 0xff, 0xff, 2, 0, 0, 0];
    let alert = [21, 3, 3, 0, 2, 2, 40];
    let rows: [(&[u8], Kind); 11] = [
        (http, Kind::AnsweredInPlain),
        (b"<html>\r\n<head><title>400 The plain", Kind::AnsweredInPlain),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Kind::TlsBroken),
        (&[0; 64], Kind::TlsBroken),
        (&huge, Kind::TlsBroken),
        (&alert, Kind::TlsRefused),
        (&[21, 3, 3, 0, 2, 2, 70], Kind::NoCommonTls),
        // About a certificate that was not asked for.
        (&[21, 3, 3, 0, 2, 2, 46], Kind::TlsRefused),
        (&[21, 3, 3, 0, 2, 2, 48], Kind::TlsRefused),
        (&[21, 3, 3, 0, 2, 2, 80], Kind::TlsRefused),
        (&[23, 3, 3, 0, 4, 1, 2, 3, 4], Kind::TlsBroken),
    ];
    for (bytes, kind) in rows {
        assert_eq!(first_kind(&Says::once(bytes)), Some(kind), "{bytes:?}");
    }
}

#[test]
fn an_alert_is_named_with_its_number() {
    for (number, name) in [(40, "HandshakeFailure"), (70, "ProtocolVersion"), (80, "InternalError")]
    {
        let (_, detail) = first_failure(&Says::once(&[21, 3, 3, 0, 2, 2, number]));
        assert!(detail.contains(&format!("{name} ({number})")), "{detail}");
    }
}

/// rustls has read the beginning of a message and waits for its end; what comes instead is none.
#[test]
fn a_message_that_does_not_go_on_ends_the_handshake_and_not_the_client() {
    let too_long = [&[2, 0xff, 0xff, 0xff][..], &[0; 10]].concat();
    let begun = record(22, &[2, 0, 0, 100, 3, 3, 0, 0, 0, 0]);
    let header = record(22, &[2, 0]);
    let then = |first: &[u8], second: &[u8]| [first, second].concat();
    let rows = [
        record(22, &too_long),
        // Its length comes in another record.
        then(&record(22, &[2, 1]), &record(22, &[0, 0, 0, 0, 0, 0])),
        then(&begun, &record(21, &[2, 40])),
        then(&begun, &record(21, &[1, 0])),
        then(&begun, &record(23, &[1, 2, 3, 4])),
        then(&begun, &record(20, &[1])),
        then(&begun, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        then(&begun, &record(24, &[1, 2, 3])),
        then(&begun, &record(22, &[])),
        then(&begun, &[22, 3, 3, 0xff, 0xff, 0]),
        then(&header, &record(21, &[2, 40])),
        then(&header, &record(23, &[1, 2, 3, 4])),
    ];
    for bytes in rows {
        for pieces in [Pieces::Whole, Pieces::Of(1), Pieces::Of(7), Pieces::SplitAt(15)] {
            let says = Says { bytes: bytes[..].into(), times: 1, pieces };
            assert_eq!(first_kind(&says), Some(Kind::TlsBroken), "{pieces:?}: {bytes:?}");
        }
    }
}

/// 65,535 bytes are the most that rustls reads of one message.
#[test]
fn a_certificate_chain_that_is_too_long_is_named() {
    let bytes = record(22, &[&[2, 0xff, 0xff, 0xff][..], &[0; 10]].concat());
    assert_eq!(bytes.len(), 19);
    let (_, detail) = first_failure(&Says::once(&bytes));
    assert!(detail.contains("65,535 bytes") && !detail.contains("certificate"), "{detail}");
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let between = CertificateDer::from(authority.der.clone());
    for (name, version) in BOTH {
        for (bytes, is_read) in [(60_000, true), (66_000, false), (200_000, false)] {
            let mut chain = vec![issued.certificate.clone()];
            chain.extend(vec![between.clone(); bytes / (between.len() + 5)]);
            let peer = TlsPeer::always(config_with_chain(&[version], chain, &issued), HELLO);
            let plan = with_tls(clock_before(plan(20, 2)), authority.trusted("there"));
            run(&plan, &peer, |run| {
                let first = run.record.tls.as_ref().unwrap().first_failure.as_ref();
                if is_read {
                    let counts = (run.record.responses, run.record.failures_total());
                    assert_eq!((counts, first), ((20, 0), None), "{name}, {bytes}");
                    return;
                }
                assert_eq!(run.ended, Ended::Unreachable, "{name}, {bytes}");
                let (kind, detail) = first.unwrap();
                assert_eq!(*kind, Kind::TlsBroken, "{name}, {bytes}");
                assert!(detail.contains("certificate chain is too long"), "{name}: {detail}");
            });
        }
    }
}

#[test]
fn a_handshake_without_end_is_ended() {
    // Harmless records without end: change_cipher_spec, and empty handshake messages.
    for bytes in [&[20, 3, 3, 0, 1, 1][..], &[22, 3, 3, 0, 4, 0, 0, 0, 0]] {
        let kind = first_kind(&Says { bytes: bytes.into(), times: 20_000, pieces: Pieces::Whole });
        assert!(matches!(kind, Some(Kind::TlsBroken | Kind::Timeout)), "{kind:?}");
    }
}

#[test]
fn a_server_that_sends_close_notify_instead_of_answering_is_asked_again() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::new(config(&[&rustls::version::TLS13], &issued), |moment| {
        if moment.request == 1 {
            moment.server.send_close_notify();
        }
        moment.response(HELLO);
    });
    let mut plan = with_tls(plan(10, 1), authority.trusted("there"));
    plan.connections.repeat = true;
    run(&plan, &peer, |run| {
        // It sent `close_notify` before it answered: the request is sent again elsewhere.
        assert_eq!((run.record.responses, run.record.failures_total()), (10, 0));
        assert!(run.record.repeated > 0);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_ends_as_an_error(bytes in prop::collection::vec(any::<u8>(), 1..600), kind in 20u8..24) {
        let mut bytes = bytes;
        bytes[0] = kind;
        let tls = Tls { trust: Trust::Anyone, list_messages: true, ..Tls::new("there") };
        let plan = with_tls(clock_before(with_timeout(plan(20, 1), 20 * MS)), tls);
        run(&plan, &Says::once(&bytes), |run| {
            // The beginning of a record may be waited for to the timeout, each time.
            let all_failed = run.record.failures_total() == 20;
            assert_eq!(run.record.responses, 0);
            assert!(all_failed || run.ended == Ended::Unreachable, "{:?}", run.ended);
        });
    }
}
