//! Handshakes: versions, phases, resumption, names, timeouts, new keys, close_notifies.

use ablaze_model::FailureKind;
use ablaze_model::plan::tls::{Tls, TlsVersion};
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::run::Ended;
use ablaze_net::sim::{ConnectReply, Silent};

use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, run, with_tls};

#[test]
fn both_versions_are_spoken_and_their_handshakes_timed_apart() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config(&[version], &issued), HELLO);
        let plan = with_tls(plan(20, 3), authority.trusted("there"));
        run(&plan, &peer, |run| {
            assert_eq!((run.record.responses, run.record.failures_total()), (20, 0), "{name}");
            let facts = run.record.tls.as_ref().unwrap();
            assert_eq!((facts.connected, facts.handshakes_full), (3, 3), "{name}");
            let agreed = &facts.agreed[0].0;
            let expected = if name == "1.2" { TlsVersion::V1_2 } else { TlsVersion::V1_3 };
            assert_eq!((agreed.version, agreed.group), (expected, Some(29)), "{name}");
            assert_eq!(facts.certificate, issued.certificate.to_vec());
            // 50 µs to connect. Then every flight of the server is 100 µs away: two in TLS 1.2,
            // one in 1.3 (RFC 8446, 2).
            let flights = if name == "1.2" { 2 } else { 1 };
            assert_eq!(run.record.setup_connect.max_ns(), Some(50 * US), "{name}");
            let handshakes = run.record.setup_tls.as_ref().unwrap();
            let each = (handshakes.count(), handshakes.min_ns(), handshakes.max_ns());
            assert_eq!(each, (3, Some(flights * 100 * US), Some(flights * 100 * US)), "{name}");
        });
    }
}

#[test]
fn a_connection_per_request_has_its_handshake_in_every_exchange() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config(&[version], &issued), HELLO_CLOSE);
        let plan = with_tls(closing_each(plan(12, 2)), authority.trusted("there"));
        run(&plan, &peer, |run| {
            assert_eq!((run.record.responses, run.record.failures_total()), (12, 0), "{name}");
            let tls = run.record.answered.tls.as_ref().unwrap();
            assert_eq!((tls.handshake.count(), tls.connected.count()), (12, 12));
            let flights = if name == "1.2" { 2 } else { 1 };
            assert_eq!(tls.handshake.max_ns(), Some(flights * 100 * US), "{name}");
            assert_eq!(tls.connected.max_ns(), Some((flights * 100 + 50) * US), "{name}");
            assert_eq!(run.record.answered.connect.max_ns(), Some(50 * US), "{name}");
            assert_eq!(run.record.answered.wait.max_ns(), Some(100 * US), "{name}");
            let total = run.record.answered.total.max_ns();
            assert_eq!(total, Some((flights * 100 + 150) * US), "{name}");
            assert_eq!(run.record.answered.processing.max_ns(), Some(100 * US), "{name}");
        });
    }
}

#[test]
fn sessions_are_resumed_only_when_asked_for() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for resume in [false, true] {
            let mut config = config(&[version], &issued);
            config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
            let peer = TlsPeer::always(config, HELLO_CLOSE);
            let tls = Tls { resume, ..authority.trusted("there") };
            let plan = with_tls(closing_each(plan(10, 1)), tls);
            run(&plan, &peer, |run| {
                assert_eq!(run.record.responses, 10, "{name}");
                let facts = run.record.tls.as_ref().unwrap();
                let expected = if resume { (1, 9) } else { (10, 0) };
                let handshakes = (facts.handshakes_full, facts.handshakes_resumed);
                assert_eq!(handshakes, expected, "{name}");
            });
        }
    }
}

#[test]
fn the_name_is_sent_unless_it_is_an_address_or_not_wanted() {
    let authority = Authority::new();
    let rows = [("there", true, Some("there")), ("there", false, None), ("127.0.0.1", true, None)];
    for (name, send_server_name, expected) in rows {
        let issued = authority.issue(name, |_| {});
        let peer = TlsPeer::always(config(&[&rustls::version::TLS13], &issued), HELLO);
        let tls = Tls { send_server_name, ..authority.trusted(name) };
        let seen = peer.seen.clone();
        run(&with_tls(plan(1, 1), tls), &peer, |run| assert_eq!(run.record.responses, 1));
        assert_eq!(seen.lock().unwrap().names[0].as_deref(), expected);
    }
}

#[test]
fn a_handshake_that_never_ends_is_a_timeout() {
    let tls = Tls { trust: ablaze_model::plan::tls::Trust::Anyone, ..Tls::new("there") };
    for plan in [clock_before(plan(3, 1)), plan(3, 1)] {
        let plan = with_tls(with_timeout(plan, 10 * MS), tls.clone());
        run(&plan, &Silent(ConnectReply::AcceptAfter(US)), |run| {
            assert_eq!(run.record.responses, 0);
            assert!(run.record.failures_of(FailureKind::Timeout) > 0, "{:?}", run.record.failures);
            assert_eq!(run.record.failures_of(FailureKind::Timeout), run.record.failures_total());
            assert!(run.record.tls.as_ref().unwrap().connected > 0);
        });
    }
}

#[test]
fn a_server_may_change_its_keys_at_any_time() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::new(config(&[&rustls::version::TLS13], &issued), |moment| {
        moment.server.refresh_traffic_keys().unwrap();
        moment.response(HELLO);
    });
    let plan = with_tls(plan(50, 2), authority.trusted("there"));
    run(&plan, &peer, |run| {
        assert_eq!((run.record.responses, run.record.failures_total()), (50, 0));
    });
}

/// RFC 8446, 6.1: each side says it. A server that waits for the client's holds nobody up.
#[test]
fn a_server_that_closes_when_it_got_close_notify_hears_it_at_once() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for speaks_first in [true, false] {
            let peer = TlsPeer::new(config(&[version], &issued), move |moment| {
                moment.response(HELLO_CLOSE);
                if speaks_first {
                    moment.server.send_close_notify();
                }
            });
            let peer = peer.closing_when_told();
            let plan = with_tls(closing_each(plan(10, 1)), authority.trusted("there"));
            run(&plan, &peer, |run| {
                assert_eq!((run.record.responses, run.record.failures_total()), (10, 0), "{name}");
                // Each exchange takes less than a millisecond here; a wait for what never comes, one
                // second.
                assert!(run.elapsed_ns < 100 * MS, "{name}: {}", run.elapsed_ns);
            });
        }
    }
}

#[test]
fn a_connection_that_is_closed_here_sends_close_notify() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config(&[version], &issued), HELLO);
        let mut plan = with_tls(plan(12, 1), authority.trusted("there"));
        plan.connections.requests_per_connection = Some(4);
        let seen = peer.seen.clone();
        run(&plan, &peer, |run| assert_eq!(run.record.responses, 12, "{name}"));
        // Of three connections in each of two runs, the last may end with the run; and where sends
        // leave with their batch, a close may overtake what was to be said before it.
        let close_notifies = seen.lock().unwrap().close_notifies;
        assert!(close_notifies >= 2, "{name}: {close_notifies}");
    }
}

#[test]
fn an_open_loop_and_a_pipeline_go_through_tls() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::always(config(&[version], &issued), HELLO);
        let plan_of = |plan| with_tls(plan, authority.trusted("there"));
        run(&plan_of(pipelined(plan(64, 2), 8)), &peer, |run| {
            assert_eq!((run.record.responses, run.record.failures_total()), (64, 0), "{name}");
        });
        let mut open = plan_of(plan(100, 1));
        open.load = Load::Open {
            rate: RateProfile::constant(10_000.0),
            arrivals: Arrivals::Constant,
            connections: 20,
            bounded: true,
        };
        run(&open, &peer, |run| {
            assert_eq!((run.record.responses, run.record.failures_total()), (100, 0), "{name}");
            assert_eq!(run.ended, Ended::Complete);
        });
    }
}
