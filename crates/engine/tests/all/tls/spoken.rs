//! The messages of the first connection, against what the RFCs say goes by in a handshake.

use std::sync::Arc;

use ablaze_model::plan::tls::Tls;
use ablaze_model::record::TlsParty;
use ablaze_model::{FailureKind, Run};
use ablaze_net::sim::{ConnectReply, Pieces, Silent};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;

use crate::tls::plans::*;
use ablaze_tamper::authority::{Authority, Issued};
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, config_for_clients_of, run, with_tls};

/// What was said, `>` before what the client said.
fn spoken(run: &Run) -> Vec<String> {
    let spoken = run.record.tls.as_ref().unwrap().spoken.iter();
    spoken
        .map(|spoken| {
            let from = if spoken.from == TlsParty::Client { '>' } else { '<' };
            format!("{from} {}", spoken.message)
        })
        .collect()
}

fn listed(tls: Tls) -> Tls {
    Tls { list_messages: true, ..tls }
}

/// RFC 8446, figure 1, the ChangeCipherSpecs of its appendix D.4, and rustls's two tickets.
const FULL_1_3: [&str; 11] = [
    "> ClientHello",
    "< ServerHello",
    "< ChangeCipherSpec",
    "< EncryptedExtensions",
    "< Certificate",
    "< CertificateVerify",
    "< Finished",
    "> ChangeCipherSpec",
    "> Finished",
    "< NewSessionTicket",
    "< NewSessionTicket",
];

/// RFC 5246, figure 1, with keys exchanged over elliptic curves (RFC 8422, 2).
const FULL_1_2: [&str; 10] = [
    "> ClientHello",
    "< ServerHello",
    "< Certificate",
    "< ServerKeyExchange",
    "< ServerHelloDone",
    "> ClientKeyExchange",
    "> ChangeCipherSpec",
    "> Finished, sealed",
    "< ChangeCipherSpec",
    "< Finished, sealed",
];

#[test]
fn a_full_handshake_is_listed_however_its_bytes_arrive() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for pieces in [Pieces::Whole, Pieces::Of(1), Pieces::Of(7), Pieces::SplitAt(100)] {
            let peer = TlsPeer::always(config(&[version], &issued), HELLO).cut(pieces);
            let plan = with_tls(plan(20, 3), listed(authority.trusted("there")));
            run(&plan, &peer, |run| {
                assert_eq!((run.record.responses, run.record.failures_total()), (20, 0), "{name}");
                let expected = if name == "1.2" { &FULL_1_2[..] } else { &FULL_1_3[..] };
                // When the client's ChangeCipherSpec leaves depends on what has come by then.
                for side in ['>', '<'] {
                    let of_side = |line: &&str| line.starts_with(side);
                    let spoken = spoken(run);
                    let spoken: Vec<_> =
                        spoken.iter().map(|line| &line[..]).filter(of_side).collect();
                    let expected: Vec<_> = expected.iter().copied().filter(of_side).collect();
                    assert_eq!(spoken, expected, "{name} {pieces:?}");
                }
                let spoken = &run.record.tls.as_ref().unwrap().spoken;
                let certificate = spoken.iter().find(|spoken| spoken.message == "Certificate");
                let der_bytes = issued.certificate.len();
                // Around it: lengths of list and certificate; in 1.3 a context and extensions.
                let around = if name == "1.2" { 6 } else { 9 };
                assert_eq!(certificate.unwrap().bytes, der_bytes + around, "{name}");
            });
        }
    }
}

#[test]
fn every_suite_of_tls_1_3_is_opened() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for suite in [0x1301, 0x1302, 0x1303] {
        let peer = TlsPeer::always(config(&[&rustls::version::TLS13], &issued), HELLO);
        let tls = Tls { suites: vec![suite], ..listed(authority.trusted("there")) };
        run(&with_tls(plan(2, 1), tls), &peer, |run| {
            assert_eq!(spoken(run), FULL_1_3, "{suite:#x}");
        });
    }
}

#[test]
fn a_client_that_is_asked_who_it_is_shows_it() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let identity = Some(authority.issue("client", |_| {}).identity());
    let versions = [&rustls::version::TLS13];
    let peer = TlsPeer::always(config_for_clients_of(&versions, &issued, &authority), HELLO);
    let tls = Tls { identity, ..listed(authority.trusted("there")) };
    run(&with_tls(plan(2, 1), tls), &peer, |run| {
        let spoken = spoken(run);
        assert_eq!(spoken[4], "< CertificateRequest", "{spoken:?}");
        let shown = ["> ChangeCipherSpec", "> Certificate", "> CertificateVerify", "> Finished"];
        assert_eq!(spoken[8..12], shown, "{spoken:?}");
    });
}

fn with_one_group(issued: &Issued) -> ServerConfig {
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups = vec![aws_lc_rs::kx_group::SECP384R1];
    ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![issued.certificate.clone()], issued.key.clone_key())
        .unwrap()
}

#[test]
fn a_server_that_wants_another_group_is_seen_to_ask_for_it() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::always(with_one_group(&issued), HELLO);
    run(&with_tls(plan(2, 1), listed(authority.trusted("there"))), &peer, |run| {
        let spoken = spoken(run);
        let hellos: Vec<_> = spoken.iter().filter(|line| !line.contains("Change")).collect();
        let expected = ["> ClientHello", "< HelloRetryRequest", "> ClientHello", "< ServerHello"];
        assert_eq!(hellos[..4], expected, "{spoken:?}");
        assert!(spoken.contains(&"> Finished".to_owned()), "{spoken:?}");
    });
}

#[test]
fn the_alert_that_refuses_a_certificate_is_the_last_word() {
    let (authority, other) = (Authority::new(), Authority::new());
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config(&[version], &issued), HELLO);
        run(&with_tls(plan(2, 1), listed(other.trusted("there"))), &peer, |run| {
            assert!(run.record.failures_of(FailureKind::CertificateIssuer) > 0, "{name}");
            let spoken = spoken(run);
            assert_eq!(spoken.last().unwrap(), "> fatal alert UnknownCA", "{spoken:?}");
        });
    }
}

#[test]
fn nothing_is_listed_unless_asked_for_and_nothing_of_who_never_answered() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::always(config(&[&rustls::version::TLS13], &issued), HELLO);
    run(&with_tls(plan(2, 1), authority.trusted("there")), &peer, |run| {
        assert_eq!(spoken(run), [""; 0]);
    });
    let plan = with_tls(with_timeout(plan(3, 1), 10 * MS), listed(authority.trusted("there")));
    run(&plan, &Silent(ConnectReply::RefuseAfter(US, libc::ECONNREFUSED)), |run| {
        assert!(run.record.failures_of(FailureKind::Refused) > 0);
        assert_eq!(spoken(run), [""; 0]);
    });
}
