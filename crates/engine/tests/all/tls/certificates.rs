//! Certificates: whom to believe, and what is said when one is not believed.

use ablaze_model::FailureKind as Kind;
use ablaze_model::plan::tls::{Tls, TlsVersion, Trust};
use ablaze_model::run::Ended;

use crate::tls::plans::*;
use ablaze_tamper::authority::{Authority, Issued, self_signed};
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, config_for_clients_of, run, with_tls};

fn outcome(issued: &Issued, tls: &Tls) -> Option<Kind> {
    let peer = TlsPeer::always(config(rustls::ALL_VERSIONS, issued), HELLO);
    let plan = with_tls(clock_before(plan(1000, 4)), tls.clone());
    let run = run(&plan, &peer, |run| {
        if run.record.responses == 0 {
            // Nobody wants to read of a thousand failures.
            assert_eq!(run.ended, Ended::Unreachable);
            assert!(run.record.failures_total() < 30, "{}", run.record.failures_total());
            let facts = run.record.tls.as_ref().unwrap();
            let first = run.record.first_failure.unwrap().kind;
            assert_eq!(facts.first_failure.as_ref().unwrap().0, first);
            assert_eq!(run.record.failures_of(first), run.record.failures_total());
        } else {
            assert_eq!((run.record.responses, run.record.failures_total()), (1000, 0));
        }
    });
    run.record.first_failure.map(|first| first.kind)
}

#[test]
fn each_reason_not_to_believe_a_certificate_is_a_kind_of_its_own() {
    let (authority, other) = (Authority::new(), Authority::new());
    let past = |params: &mut rcgen::CertificateParams| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    };
    let future = |params: &mut rcgen::CertificateParams| {
        params.not_before = rcgen::date_time_ymd(2200, 1, 1);
    };
    let trusted = authority.trusted("there");
    let rows = [
        (authority.issue("there", |_| {}), None),
        (authority.issue("elsewhere", |_| {}), Some(Kind::CertificateName)),
        (authority.issue("there", past), Some(Kind::CertificateExpired)),
        (authority.issue("there", future), Some(Kind::CertificateExpired)),
        (other.issue("there", |_| {}), Some(Kind::CertificateIssuer)),
        (self_signed("there"), Some(Kind::CertificateSelfSigned)),
    ];
    for (issued, expected) in rows {
        assert_eq!(outcome(&issued, &trusted), expected);
        let anyone = Tls { trust: Trust::Anyone, ..trusted.clone() };
        assert_eq!(outcome(&issued, &anyone), None);
    }
}

#[test]
fn a_certificate_that_was_given_is_believed_for_its_name() {
    let issued = self_signed("there");
    let given = |name: &str| Tls {
        trust: Trust::Issuers(vec![issued.certificate.to_vec()]),
        ..Tls::new(name)
    };
    assert_eq!(outcome(&issued, &given("there")), None);
    assert_eq!(outcome(&issued, &given("elsewhere")), Some(Kind::CertificateName));
}

#[test]
fn a_server_that_wants_a_certificate_gets_the_one_given_or_is_understood() {
    let (authority, other) = (Authority::new(), Authority::new());
    let issued = authority.issue("there", |_| {});
    let identity = |authority: &Authority| Some(authority.issue("me", |_| {}).identity());
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config_for_clients_of(&[version], &issued, &authority), HELLO);
        let rows = [(identity(&authority), true), (None, false), (identity(&other), false)];
        for (identity, accepted) in rows {
            let tls = Tls { identity, ..authority.trusted("there") };
            let plan = with_tls(plan(500, 2), tls);
            run(&plan, &peer, |run| {
                let record = &run.record;
                if accepted {
                    assert_eq!((record.responses, record.failures_total()), (500, 0), "{name}");
                    return;
                }
                let wanted = record.failures_of(Kind::ClientCertificate);
                let all = record.failures_total();
                assert!(wanted > 0 && wanted == all && all < 60, "{name}: {:?}", record.failures);
                assert_eq!(run.ended, Ended::Unreachable, "{name}");
            });
        }
    }
}

#[test]
fn what_is_not_in_common_is_said() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let trusted = authority.trusted("there");
    let old = Tls { newest: TlsVersion::V1_2, ..trusted.clone() };
    let chacha = Tls { suites: vec![0x1303], ..trusted.clone() };
    let p384 = Tls { groups: vec![24], ..trusted.clone() };
    let h2 = Tls { protocols: vec!["h2".to_owned()], ..trusted };
    let restricted = |tls: &Tls| {
        let mut provider = rustls::crypto::aws_lc_rs::default_provider();
        provider.cipher_suites.retain(|suite| u16::from(suite.suite()) == 0x1301);
        provider.kx_groups.retain(|group| u16::from(group.name()) == 29);
        let mut config = rustls::ServerConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![issued.certificate.clone()], issued.key.clone_key())
            .unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let plan = with_tls(clock_before(plan(100, 1)), tls.clone());
        let run = run(&plan, &TlsPeer::always(config, HELLO), |_| {});
        (run.record.first_failure.map(|first| first.kind), run.ended)
    };
    assert_eq!(restricted(&old), (Some(Kind::NoCommonTls), Ended::Unreachable));
    // Of suites and groups it says handshake_failure, which others send for other reasons.
    for tls in [chacha, p384] {
        assert_eq!(restricted(&tls), (Some(Kind::TlsRefused), Ended::Unreachable), "{tls:?}");
    }
    assert_eq!(restricted(&h2), (Some(Kind::NoHttp2), Ended::Unreachable));
}
