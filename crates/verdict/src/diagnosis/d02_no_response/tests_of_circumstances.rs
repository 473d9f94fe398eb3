//! What D02 says where more is known of the failures than their kinds.

use ablaze_model::record::AddressRecord;

use super::*;
use crate::live::sample;

fn with(kind: FailureKind, count: u64) -> Run {
    let mut run = sample::run();
    run.record.failures[kind as usize] = count;
    run
}

fn cause(run: &Run) -> String {
    on_run(run).unwrap().cause
}

#[test]
fn who_closed_is_said_where_it_was_the_client() {
    let mut run = with(FailureKind::ClosedWithoutResponse, 1_000);
    assert!(cause(&run).starts_with("The server closed some connections"), "{}", cause(&run));
    run.record.circumstances.closed_here = 1_000;
    run.record.circumstances.closed_for_surplus = 900;
    let said = cause(&run);
    assert!(said.contains("900 by the client, because bytes that belong to none"), "{said}");
    assert!(said.contains("100 by the client, behind a response"), "{said}");
    assert!(!said.contains("by the server"), "{said}");
    run.record.circumstances.closed_here = 950;
    assert!(cause(&run).contains("50 by the server"), "{}", cause(&run));
}

/// Each of these connections may have been closed behind a response.
#[test]
fn requests_pipelined_on_a_connection_are_lost_with_it() {
    let mut run = with(FailureKind::ClosedWithoutResponse, 1_000);
    run.record.repeated = 1_000;
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 10, pipeline: 4 };
    let said = cause(&run);
    assert!(!said.contains("without a response"), "{said}");
    assert_eq!(said.matches("lost with").count(), 1, "{said}");
    assert!(said.contains("all of them are lost with the connection"), "{said}");
}

#[test]
fn an_interim_response_is_no_beginning_of_a_head() {
    for kind in [FailureKind::ShortHead, FailureKind::Reset] {
        let mut run = with(kind, 1_000);
        assert!(!cause(&run).contains("interim"), "{}", cause(&run));
        run.record.circumstances.interim_only = 1_000;
        let said = cause(&run);
        assert!(said.starts_with("Only an interim response (1xx) came"), "{said}");
        // Of the others the head had begun, or nothing came.
        run.record.circumstances.interim_only = 999;
        assert!(!cause(&run).contains("interim"), "{}", cause(&run));
    }
}

#[test]
fn what_comes_behind_whole_responses_may_be_a_surplus() {
    let mut run = with(FailureKind::Malformed, 1_000);
    run.record.first_malformed = b"}".to_vec();
    assert!(cause(&run).contains("were not HTTP/1"), "{}", cause(&run));
    run.record.circumstances.malformed_behind = 1_000;
    let said = cause(&run);
    assert!(said.contains("more than the length of the response before that comes late"), "{said}");
    run.record.circumstances.malformed_behind = 999;
    assert!(cause(&run).contains("were not HTTP/1"), "{}", cause(&run));
}

#[test]
fn a_body_that_was_not_taken_is_no_silence() {
    let mut run = with(FailureKind::Timeout, 1_000);
    assert!(cause(&run).contains("did not respond"), "{}", cause(&run));
    run.record.circumstances.unsent_timed_out = 1_000;
    let said = cause(&run);
    assert!(
        said.starts_with("These requests") && said.contains("could not be sent whole"),
        "{said}"
    );
    run.record.circumstances.unsent_timed_out = 400;
    let said = cause(&run);
    assert!(said.starts_with("400 of the requests that timed out"), "{said}");
    run.record = ablaze_model::Record::new();
    run.record.unfinished = 4;
    run.record.circumstances.unsent_unfinished = 4;
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("4 of them had not been sent whole"), "{finding:?}");
    assert!(!finding.cause.contains("does not respond"), "{finding:?}");
}

fn alone(kind: FailureKind) -> Run {
    let mut run = sample::run();
    sample::nobody_answers(&mut run);
    run.record.failures[kind as usize] = 10;
    run
}

#[test]
fn an_address_that_is_reported_unreachable_may_be_one_that_a_firewall_rejects() {
    let mut run = alone(FailureKind::Unreachable);
    run.record.connections_opened = 0;
    run.plan.target.addresses = vec!["192.0.2.1:80".parse().unwrap()];
    assert!(cause(&run).contains("or a firewall or a host on the way rejects"), "{}", cause(&run));
    run.plan.target.addresses = vec!["127.0.0.1:80".parse().unwrap()];
    let said = cause(&run);
    assert!(said.contains("a firewall on it rejects") && !said.contains("no route"), "{said}");
    assert!(on_run(&run).unwrap().fix.contains("iptables -S"), "{:?}", on_run(&run));
}

/// What nothing listens for, or speaks another protocol, has no log of requests: in a journey neither.
#[test]
fn nobody_s_log_is_advised() {
    use FailureKind::{Malformed, NoHttp2, Refused, Reset};
    let journey = || {
        let planned = crate::live::setup::sample::with_failed(0).plan.journey;
        assert!(planned.is_some());
        planned
    };
    for (kind, fix) in [(Refused, "`ss -lnt`"), (NoHttp2, "Try the target"), (Malformed, "Try the")]
    {
        let mut run = alone(kind);
        run.plan.journey = journey();
        let found = on_run(&run).unwrap();
        assert!(found.fix.contains(fix) && !found.fix.contains("'s log"), "{found:?}");
    }
    let mut run = alone(Reset);
    run.plan.journey = journey();
    assert!(on_run(&run).unwrap().fix.starts_with("See in the server's log"), "{:?}", on_run(&run));
    // It listened for a part of the run.
    let said = on_run(&with(Refused, 1_000)).unwrap().fix;
    assert!(said.contains("what is refused does not reach it"), "{said}");
}

#[test]
fn connections_that_opened_are_not_looked_for_where_none_opens() {
    let mut run = alone(FailureKind::Timeout);
    run.record.connections_opened = 0;
    run.record.first_failure = Some(ablaze_model::record::FirstFailure {
        at_ns: 1,
        kind: FailureKind::Timeout,
        errno: 0,
        connecting: true,
    });
    assert!(on_run(&run).unwrap().fix.contains("syn-sent"), "{:?}", on_run(&run));
    let mut proxied = run.clone();
    let facts = ablaze_model::record::TlsFacts { connected: 12, ..Default::default() };
    run.record.tls = Some(facts.into());
    let finding = on_run(&run).unwrap();
    assert!(finding.fix.contains("openssl s_client"), "{finding:?}");
    assert!(!finding.fix.contains("syn-sent"), "{finding:?}");
    let facts = ablaze_model::record::ProxyFacts { connected: 12, ..Default::default() };
    proxied.record.proxy = Some(facts.into());
    let finding = on_run(&proxied).unwrap();
    assert!(finding.fix.contains("proxy's log") && !finding.fix.contains("ss -"), "{finding:?}");
}

#[test]
fn a_limit_of_the_client_does_not_make_a_coding_invalid() {
    let mut run = alone(FailureKind::Malformed);
    assert!(cause(&run).contains("longer than 16 KiB"), "{}", cause(&run));
    run.record.responses = 100;
    assert!(cause(&run).contains("longer than 16 KiB"), "{}", cause(&run));
}

#[test]
fn codes_of_http2_are_named() {
    use ablaze_model::record::{Codes, Http2Facts};
    let with = |kind, resets: &[(u32, u64)], goaway_codes: &[(u32, u64)]| {
        let mut run = alone(kind);
        let facts = Http2Facts {
            resets: Codes(resets.to_vec()),
            goaway_codes: Codes(goaway_codes.to_vec()),
            ..Http2Facts::default()
        };
        run.record.http2 = Some(facts.into());
        on_run(&run).unwrap()
    };
    let found = with(FailureKind::GoAway, &[], &[(11, 10)]);
    assert!(found.cause.contains("(GOAWAY: 10 times ENHANCE_YOUR_CALM)"), "{found:?}");
    let found = with(FailureKind::StreamReset, &[(8, 10)], &[]);
    assert!(found.cause.contains("(RST_STREAM: 10 times CANCEL)"), "{found:?}");
    for found in [
        with(FailureKind::StreamReset, &[(13, 10)], &[]),
        with(FailureKind::GoAway, &[], &[(13, 10)]),
    ] {
        assert!(found.cause.contains("requires HTTP/1.1"), "{found:?}");
        assert!(found.fix.contains("--http 1.1"), "{found:?}");
    }
}

/// By its number, in whatever words the failure is described.
#[test]
fn an_alert_is_told_with_its_name_and_what_it_says() {
    let mut run = alone(FailureKind::TlsRefused);
    let mut said = |number: u8, handshakes_full: u64| {
        let facts = ablaze_model::record::TlsFacts {
            connected: 1,
            handshakes_full,
            first_failure: Some((FailureKind::TlsRefused, "words".to_owned())),
            first_alert: Some(ablaze_model::record::TlsAlert { number, asked_certificate: false }),
            ..Default::default()
        };
        run.record.tls = Some(facts.into());
        cause(&run)
    };
    assert!(
        said(112, 0).contains("unrecognized_name (112): it does not serve"),
        "{}",
        said(112, 0)
    );
    assert!(said(120, 0).contains("none of the application protocols"), "{}", said(120, 0));
    assert!(!said(80, 0).contains("name that"), "{}", said(80, 0));
    let failed = said(40, 0);
    assert!(failed.contains("handshake_failure (40), which does not say why"), "{failed}");
    // Nobody asked for one.
    assert_eq!(
        said(46, 0),
        "The server ended the TLS handshake with the alert certificate_unknown (46)."
    );
    assert!(said(48, 1).ends_with("then the server ended TLS with the alert unknown_ca (48)."));
    assert!(said(200, 0).ends_with("with the alert number 200."), "{}", said(200, 0));
    // Behind its handshake, or in that of another connection.
    let facts = run.record.tls.as_mut().unwrap();
    (facts.connected, facts.handshakes_full) = (11, 10);
    let said = cause(&run);
    assert!(
        said.ends_with(
            "on 10 of 11 connections that opened; the server ended TLS with the alert number 200."
        ),
        "{said}"
    );
}

fn first(run: &mut Run, kind: FailureKind, errno: i32, connecting: bool) {
    let first = ablaze_model::record::FirstFailure { at_ns: 1, kind, errno, connecting };
    run.record.first_failure = Some(first);
}

#[test]
fn what_ends_a_tls_handshake_is_told_as_that() {
    for (kind, how) in [
        (FailureKind::Reset, "reset them during the TLS handshake"),
        (FailureKind::ClosedWithoutResponse, "closed them during the TLS handshake"),
    ] {
        let mut run = alone(kind);
        first(&mut run, kind, 0, true);
        let facts = |handshakes_full| ablaze_model::record::TlsFacts {
            connected: 10,
            handshakes_full,
            ..Default::default()
        };
        run.record.tls = Some(facts(0).into());
        assert!(cause(&run).contains(how), "{}", cause(&run));
        // Through a tunnel the proxy may have done it.
        let mut proxied = run.clone();
        let tunnels =
            ablaze_model::record::ProxyFacts { connected: 10, tunnels: 10, ..Default::default() };
        proxied.record.proxy = Some(tunnels.into());
        assert!(cause(&proxied).contains("by the proxy or by the target"), "{}", cause(&proxied));
        run.record.tls = Some(facts(10).into());
        assert!(!cause(&run).contains("handshake"), "{}", cause(&run));
    }
}

#[test]
fn a_tunnel_that_is_dead_is_not_blamed_on_the_target() {
    let mut run = alone(FailureKind::Timeout);
    run.record.connections_opened = 0;
    first(&mut run, FailureKind::Timeout, 0, true);
    let mut facts = ablaze_model::record::ProxyFacts { connected: 10, ..Default::default() };
    run.record.proxy = Some(facts.clone().into());
    assert!(cause(&run).contains("did not respond to CONNECT"), "{}", cause(&run));
    facts.first_failure = Some((FailureKind::Timeout, "words".to_owned()));
    run.record.proxy = Some(facts.into());
    assert!(cause(&run).contains("began its response to CONNECT"), "{}", cause(&run));
    let facts =
        ablaze_model::record::ProxyFacts { connected: 10, tunnels: 10, ..Default::default() };
    run.record.proxy = Some(facts.into());
    run.plan.target.proxy = Some(ablaze_model::plan::proxy::Proxy {
        way: ablaze_model::plan::proxy::Way::Tunnel,
        host: "p".to_owned(),
        port: 3128,
        credentials: None,
    });
    let facts = ablaze_model::record::TlsFacts { connected: 10, ..Default::default() };
    run.record.tls = Some(facts.into());
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("whether the proxy or the target is"), "{finding:?}");
    assert!(finding.fix.contains("s_client -proxy PROXY_HOST:PROXY_PORT"), "{finding:?}");
}

/// It is the one that was met: the target behind it was not.
#[test]
fn a_proxy_that_forwards_is_named() {
    use FailureKind::{ClosedWithoutResponse, Malformed, Refused, Reset, Timeout};
    let without = [
        (ClosedWithoutResponse, "The proxy, or the target behind it, closes connections without"),
        (Timeout, "Connections open, and the proxy, or the target behind it, does not respond"),
        (Reset, "The proxy, or the target behind it, resets connections."),
        (Malformed, "What the proxy sends is not HTTP/1."),
    ];
    let through = |mut run: Run| {
        run.plan.target.proxy = Some(sample::proxy());
        let found = on_run(&run).unwrap();
        let said = format!("{} {} {}", found.evidence, found.cause, found.fix);
        assert!(!said.contains("erver"), "{said}");
        said
    };
    for (kind, cause) in without {
        let mut run = alone(kind);
        run.record.first_malformed = b"SSH-2.0-x".to_vec();
        let said = through(run);
        assert!(said.contains(cause), "{said}");
    }
    let said = through(with(Reset, 1_000));
    assert!(said.contains("See in the logs of the proxy and of the target what became"), "{said}");
    through(with(Refused, 1_000));
    // Nothing of the waits, and of a queue, is the target's either.
    let mut silent = sample::run();
    sample::nobody_answers(&mut silent);
    through(silent);
}

#[test]
fn a_socket_without_permission_is_no_server_that_is_not_there() {
    let mut run = alone(FailureKind::Unreachable);
    run.plan.target.unix_socket = Some("/tmp/s".into());
    first(&mut run, FailureKind::Unreachable, 2, true);
    assert!(cause(&run).contains("There is no Unix socket"), "{}", cause(&run));
    first(&mut run, FailureKind::Unreachable, 13, true);
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("does not permit this user"), "{finding:?}");
    assert!(finding.fix.contains("namei -l"), "{finding:?}");
}

/// A flood breaks no rule: the client's limit ends it.
#[test]
fn what_ended_http2_is_quoted() {
    let mut run = alone(FailureKind::Http2Violated);
    let words = "a flood of PING frames (RFC 9113, 10.5)";
    let facts = ablaze_model::record::Http2Facts {
        first_failure: Some((FailureKind::Http2Violated, words.to_owned())),
        ..Default::default()
    };
    run.record.http2 = Some(facts.into());
    let said = cause(&run);
    assert!(said.contains(words) && !said.contains("breaks the rules"), "{said}");
}

/// One that drops packets and one that refuses.
#[test]
fn of_several_addresses_none_is_blamed_for_another() {
    let mut run = alone(FailureKind::Timeout);
    run.record.failures[FailureKind::Refused as usize] = 10;
    run.record.connections_opened = 0;
    run.plan.target.addresses =
        vec!["127.0.0.2:80".parse().unwrap(), "127.0.0.3:80".parse().unwrap()];
    let said = cause(&run);
    assert_eq!(said.matches("At one or more of the 2 addresses").count(), 2, "{said}");
    assert!(said.contains("were refused") && said.contains("established in time"), "{said}");
    // Where it is known, each is told what it did.
    let all = run.plan.target.addresses.iter().map(|address| AddressRecord::new(*address));
    run.record.by_address = all.collect();
    run.record.by_address[0].failures[FailureKind::Timeout as usize] = 10;
    run.record.by_address[1].failures[FailureKind::Refused as usize] = 10;
    let said = cause(&run);
    assert!(said.contains("At 127.0.0.2:80 no connection could be established"), "{said}");
    assert!(said.contains("At 127.0.0.3:80 connections were refused"), "{said}");
}
