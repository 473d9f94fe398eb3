//! From options to a Plan: what is resolved, and what is refused.

use super::*;

fn target(host: &str, port: u16) -> TargetAsked {
    TargetAsked {
        url: format!("http://{host}:{port}/"),
        host: host.into(),
        port,
        path: "/".into(),
        family: Family::Any,
        connect_to: Vec::new(),
        unix_socket: None,
        proxy: None,
    }
}

fn asked(host: &str, port: u16) -> Asked {
    let requests = Requests {
        templates: Vec::new(),
        order: Vec::new(),
        method: "GET".into(),
        minor_version: 1,
        has_body: false,
        seed: 0,
    };
    Asked::new(target(host, port), requests)
}

#[test]
fn an_address_needs_no_resolver_and_each_stands_once() {
    assert_eq!(
        addresses::resolve(&target("127.0.0.1", 80)).unwrap(),
        ["127.0.0.1:80".parse().unwrap()]
    );
    assert_eq!(addresses::resolve(&target("::1", 80)).unwrap(), ["[::1]:80".parse().unwrap()]);
    let mut seen = addresses::resolve(&target("localhost", 80)).unwrap();
    let count = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

#[test]
fn a_family_that_the_host_lacks_is_refused_with_the_option_to_leave_away() {
    let v6_only = TargetAsked { family: Family::V6, ..target("127.0.0.1", 80) };
    let refusal = addresses::resolve(&v6_only).unwrap_err();
    assert_eq!(refusal.status, 1);
    assert!(refusal.line.contains("no IPv6 address") && refusal.line.contains("-6"), "{refusal}");
}

#[test]
fn connect_to_reads_both_tools_forms() {
    let to = |from: Option<&str>, from_port, host: Option<&str>, port| ConnectTo {
        from_host: from.map(Into::into),
        from_port,
        host: host.map(Into::into),
        port,
    };
    let table = [
        ("10.0.0.1:8080", to(None, None, Some("10.0.0.1"), Some(8080))),
        ("[::1]:8080", to(None, None, Some("::1"), Some(8080))),
        ("backend", to(None, None, Some("backend"), None)),
        ("a.example:80:[::1]:8080", to(Some("a.example"), Some(80), Some("::1"), Some(8080))),
        ("::127.0.0.1:", to(None, None, Some("127.0.0.1"), None)),
        (":80::81", to(None, Some(80), None, Some(81))),
    ];
    for (text, expected) in table {
        assert_eq!(ConnectTo::parse(text), Ok(expected), "{text}");
    }
    for text in ["", "a:b", "a:0", "a:1:2", "a:1:b:65536"] {
        assert!(ConnectTo::parse(text).is_err(), "{text}");
    }
}

#[test]
fn connect_to_changes_where_connections_go_and_only_for_its_host() {
    let mut target = target("shop.example", 80);
    target.connect_to = vec![
        ConnectTo::parse("other.example:80:127.0.0.9:1").unwrap(),
        ConnectTo::parse("SHOP.example:80:127.0.0.1:8080").unwrap(),
    ];
    assert_eq!(addresses::resolve(&target).unwrap(), ["127.0.0.1:8080".parse().unwrap()]);
}

#[test]
fn more_connections_than_requests_are_capped_and_said() {
    let mut asked = asked("127.0.0.1", 80);
    asked.limits.requests = Some(3);
    let planned = plan(asked).unwrap();
    assert_eq!(planned.plan.load.connections(), 3);
    assert!(planned.notes[0].contains("-c 50"), "{:?}", planned.notes);
}

#[test]
fn what_measures_nothing_is_refused() {
    let changes: [fn(&mut Asked); 5] = [
        |asked| asked.load = Load::Closed { connections: 0, pipeline: 1 },
        |asked| asked.load = Load::Closed { connections: 1, pipeline: 0 },
        |asked| asked.limits.requests = Some(0),
        |asked| asked.limits.duration_ns = Some(0),
        |asked| asked.target.port = 0,
    ];
    for change in changes {
        let mut asked = asked("127.0.0.1", 80);
        change(&mut asked);
        assert_eq!(plan(asked).unwrap_err().status, 2);
    }
}

#[test]
fn a_unix_socket_needs_no_address_and_is_on_this_host() {
    let mut asked = asked("shop.example", 80);
    asked.target.unix_socket = Some("/run/shop".into());
    let planned = plan(asked).unwrap();
    assert!(planned.plan.target.addresses.is_empty());
}
