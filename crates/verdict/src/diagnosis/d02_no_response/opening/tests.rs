//! Connections that stood and were of no use: what they waited for, and who is why.

use ablaze_model::plan::proxy::{Proxy, Way};
use ablaze_model::record::{ProxyFacts, Record, Silent, TlsFacts};

use super::super::on_run;
use super::*;
use crate::finding::Finding;
use crate::live::sample;

/// How far connections through a proxy came: to it, through it, and through TLS behind it.
fn facts(run: &mut Run, connected: u64, tunnels: u64, handshakes_full: u64) {
    run.record.proxy = Some(ProxyFacts { connected, tunnels, ..ProxyFacts::default() }.into());
    let facts = TlsFacts { connected: tunnels, handshakes_full, ..TlsFacts::default() };
    run.record.tls = Some(facts.into());
    let proxy = Proxy { way: Way::Tunnel, ..sample::proxy() };
    run.plan.target.proxy = Some(proxy);
}

fn said(found: &Finding) -> String {
    format!("{} {} {}", found.evidence, found.cause, found.fix)
}

#[test]
fn a_timed_run_blames_the_one_that_connections_waited_for() {
    let until_the_end = |tunnels| {
        let mut run = sample::run();
        run.record = Record::new();
        run.record.unfinished = 4;
        facts(&mut run, 4, tunnels, 0);
        said(&on_run(&run).unwrap())
    };
    let silent = until_the_end(0);
    assert!(
        silent.contains("4 connections to the proxy stood, and it made no tunnel."),
        "{silent}"
    );
    assert!(silent.contains("did not complete a response to CONNECT"), "{silent}");
    assert!(!silent.contains("Connections open") && !silent.contains("s_client"), "{silent}");
    let mute = until_the_end(4);
    assert!(mute.contains("4 tunnels through the proxy stood, and no TLS handshake"), "{mute}");
    assert!(mute.contains("whether the proxy or the target is why does not show"), "{mute}");
    assert!(!mute.contains("may not speak TLS"), "{mute}");
}

#[test]
fn connections_that_stood_are_none_that_did_not_open() {
    let held = |tunnels, handshakes_full| {
        let mut run = sample::run();
        run.record.silent =
            Silent { connecting: 70, longest_ns: 9_000_000_000, ..Silent::default() };
        facts(&mut run, 100, tunnels, handshakes_full);
        said(&on_run(&run).unwrap())
    };
    let in_proxy = held(30, 30);
    let of_proxy = "70 connections to the proxy without a tunnel held 70 % of the 100 places";
    assert!(in_proxy.contains(of_proxy) && in_proxy.contains("made no tunnel"), "{in_proxy}");
    let in_tls = held(100, 30);
    assert!(in_tls.contains("70 connections without a completed TLS handshake held"), "{in_tls}");
    assert!(in_tls.contains("whether the proxy or the target is why"), "{in_tls}");
    for said in [in_proxy, in_tls] {
        assert!(!said.contains("syn-sent") && !said.contains("did not open"), "{said}");
    }
    // Fewer stood than did not open.
    let unopened = held(31, 31);
    assert!(unopened.contains("syn-sent") && unopened.contains("did not open"), "{unopened}");
    // What it refused waited for nothing.
    let mut run = sample::run();
    facts(&mut run, 10, 6, 6);
    assert_eq!(hung(&run, 4), Some(Hung::Proxy));
    run.record.failures[FailureKind::ProxyRefused as usize] = 1;
    assert_eq!(hung(&run, 4), None);
}

/// Behind the proxy's 200 nobody sees who ended the connection.
#[test]
fn what_happens_to_a_tunnel_may_be_the_proxy_s() {
    for kind in [
        FailureKind::Reset,
        FailureKind::ClosedWithoutResponse,
        FailureKind::ShortBody,
        FailureKind::ShortHead,
        FailureKind::Timeout,
    ] {
        let mut run = sample::run();
        run.record = Record::new();
        run.record.connections_opened = 20;
        run.record.failures[kind as usize] = 20;
        let direct = on_run(&run).unwrap().cause;
        assert!(direct.contains("server") && !direct.contains("proxy"), "{kind:?}: {direct}");
        facts(&mut run, 20, 20, 20);
        let through = on_run(&run).unwrap().cause;
        assert!(
            through.to_lowercase().contains("the target, or the proxy in front of it,"),
            "{kind:?}: {through}"
        );
        assert!(!through.contains("server"), "{kind:?}: {through}");
    }
    let mut run = sample::run();
    run.record.failures[FailureKind::Malformed as usize] = 1_000;
    facts(&mut run, 20, 20, 20);
    assert!(!on_run(&run).unwrap().cause.contains("proxy"));
}

/// Reused connections were closed, and new ones reset before their handshake was over: none of these dropped a request.
#[test]
fn a_handshake_that_is_reset_dropped_no_request() {
    let with = |reset_connecting| {
        let mut run = sample::run();
        run.record.responses = 20;
        run.record.repeated = 12;
        run.record.connections_opened = 20;
        run.record.failures[FailureKind::Reset as usize] = 12;
        run.record.circumstances.reset_connecting = reset_connecting;
        let facts = TlsFacts { connected: 32, handshakes_full: 20, ..TlsFacts::default() };
        run.record.tls = Some(facts.into());
        on_run(&run).unwrap()
    };
    let dropped = with(0);
    assert!(dropped.evidence.starts_with("24 of 44 requests sent"), "{dropped:?}");
    assert!(dropped.cause.contains("reuse is not why"), "{dropped:?}");
    let found = with(12);
    assert!(found.evidence.starts_with("12 of 32 requests (38 %)"), "{found:?}");
    assert!(!found.cause.contains("reuse"), "{found:?}");
    let seen = "reset connections during the TLS handshake: 12 requests waited for these, and no part of them was sent.";
    assert!(found.cause.contains(seen), "{found:?}");
    let some = with(8);
    assert!(some.cause.contains("8 requests waited for these"), "{some:?}");
    assert!(some.cause.contains("were reset behind it, with 4 requests."), "{some:?}");
}

/// Files of older versions have no count of them.
#[test]
fn requests_without_a_connection_are_counted_where_they_are_known() {
    let mut run = sample::run();
    run.record.failures[FailureKind::Timeout as usize] = 500;
    assert_eq!(unopened(&run), 0);
    run.record.circumstances.timed_out_connecting = 70;
    assert_eq!(unopened(&run), 70);
    let said = of_unopened(&run, 70);
    assert!(said.starts_with("70 of the requests that timed out had no connection"), "{said}");
}

/// With TLS 1.3 the client's handshake is over before the server judges its certificate.
#[test]
fn what_follows_a_completed_handshake_is_no_failed_handshake() {
    let mut run = sample::run();
    run.record.responses = 0;
    run.record.failures[FailureKind::ClientCertificate as usize] = 20_000;
    let facts = |handshakes_full| TlsFacts { connected: 10, handshakes_full, ..Default::default() };
    run.record.tls = Some(facts(10).into());
    assert!(on_run(&run).unwrap().cause.starts_with("The TLS handshakes were completed"));
    run.record.failures[FailureKind::TlsRefused as usize] = 20_000;
    run.record.tls = Some(facts(0).into());
    assert!(on_run(&run).unwrap().cause.contains("The TLS handshake failed"));
    // One was in its handshake when the run ended.
    run.record.failures = [0; FailureKind::ALL.len()];
    run.record.failures[FailureKind::TlsBroken as usize] = 9;
    run.record.tls = Some(facts(9).into());
    let said = "The TLS handshake was completed on 9 of 10 connections that opened; at least 8 of these requests failed behind \
                it.";
    assert_eq!(on_run(&run).unwrap().cause, said);
    run.record.tls = Some(facts(1).into());
    let said = on_run(&run).unwrap().cause;
    assert!(
        said.contains("on 1 of 10 connections that opened; these requests failed in it or"),
        "{said}"
    );
}
