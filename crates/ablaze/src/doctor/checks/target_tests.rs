//! The checks of the target on made-up facts.

use ablaze_monitor::preflight::PortProxy;

use super::*;
use crate::doctor::check::State;
use crate::doctor::sample::{listening, quiet, set, with_target};

#[test]
fn without_a_url_there_is_nothing_to_say() {
    let facts = &quiet();
    for check in [target, listen_backlog, server_descriptors, port_proxy, cpus_left] {
        assert_eq!(check(facts), None);
    }
}

#[test]
fn the_listener_is_here_elsewhere_absent_or_another_users() {
    let facts = &mut listening(128, 1024, 10);
    let check = target(facts).unwrap();
    assert_eq!(check.state, State::Ok);
    assert_eq!(check.figure, "server (pid 4711) listens on 127.0.0.1:80");
    facts.target.as_mut().unwrap().server.holders.clear();
    assert_eq!(target(facts).unwrap().state, State::Note);
    facts.target.as_mut().unwrap().server.listener = None;
    let check = target(facts).unwrap();
    assert_eq!(check.state, State::Problem);
    assert_eq!(check.command.as_deref(), Some("ablaze serve 127.0.0.1:80"));
    facts.target.as_mut().unwrap().server.listeners_are_told = false;
    assert_eq!(target(facts).unwrap().state, State::Unknown);
    let check = target(&with_target("192.0.2.1:80")).unwrap();
    assert_eq!(check.state, State::Note);
    assert!(check.figure.contains("another host"));
}

#[test]
fn the_backlog_must_hold_the_connections_opened_at_once() {
    let facts = &mut listening(128, 1024, 10);
    facts.load.connections = Some(129);
    assert_eq!(listen_backlog(facts).unwrap().state, State::Ok, "one more is let in");
    facts.load.connections = Some(130);
    let check = listen_backlog(facts).unwrap();
    assert_eq!((check.state, check.command), (State::Problem, None));
    let port = facts.target.as_ref().unwrap().address.port();
    assert!(check.advice.unwrap().contains(&format!("`listen {port} backlog=130`")));
    // What listen() is given is cut to the kernel's limit.
    facts.load.connections = Some(5_000_000);
    let check = listen_backlog(facts).unwrap();
    assert!(check.advice.unwrap().contains("after raising the limit"));
    assert_eq!(check.command.as_deref(), Some("sudo sysctl -w net.core.somaxconn=8388608"));
    facts.load.connections = Some(130);
    set(facts, "net.core.somaxconn", "128");
    let check = listen_backlog(facts).unwrap();
    assert_eq!(check.command.as_deref(), Some("sudo sysctl -w net.core.somaxconn=4096"));
    let listener = |facts: &mut Facts, backlog, longest_queue| {
        let listener = facts.target.as_mut().unwrap().server.listener.as_mut().unwrap();
        (listener.backlog, listener.longest_queue) = (backlog, longest_queue);
    };
    facts.load.connections = Some(1);
    listener(facts, Some(5), Some(5));
    assert_eq!(listen_backlog(facts).unwrap().state, State::Ok);
    listener(facts, Some(5), Some(6));
    assert_eq!(listen_backlog(facts).unwrap().state, State::Problem, "nobody accepts");
    listener(facts, None, None);
    assert_eq!(listen_backlog(facts).unwrap().state, State::Unknown);
}

#[test]
fn the_server_needs_descriptors_too() {
    let facts = &mut listening(4096, 1024, 24);
    facts.load.connections = Some(1000);
    assert_eq!(server_descriptors(facts).unwrap().state, State::Ok);
    facts.load.connections = Some(1001);
    let check = server_descriptors(facts).unwrap();
    assert_eq!(check.state, State::Problem);
    assert_eq!(check.command.as_deref(), Some("sudo prlimit --pid 4711 --nofile=2048:2048"));
    facts.target.as_mut().unwrap().server.holders.clear();
    assert_eq!(server_descriptors(facts).unwrap().state, State::Unknown);
}

#[test]
fn a_proxy_in_between_is_named_with_the_way_around() {
    let facts = &mut listening(128, 1024, 10);
    assert_eq!(port_proxy(facts).unwrap().state, State::Ok);
    let proxy = PortProxy { pid: 9, to: Some("172.17.0.2:80".to_owned()) };
    facts.target.as_mut().unwrap().server.proxy = Some(proxy);
    let check = port_proxy(facts).unwrap();
    assert_eq!(check.state, State::Problem);
    assert_eq!(check.command.as_deref(), Some("ablaze 172.17.0.2:80"));
    assert_eq!(port_proxy(&with_target("192.0.2.1:80")), None);
}

#[test]
fn a_server_here_needs_a_processor_of_its_own() {
    let facts = &mut listening(128, 1024, 10);
    assert_eq!(cpus_left(facts).unwrap().state, State::Ok);
    facts.preflight.environment.cpus_allowed = Some(vec![0]);
    facts.load.workers = 1;
    assert_eq!(cpus_left(facts).unwrap().state, State::Problem);
    facts.preflight.environment.cpus_allowed = Some(vec![0, 1]);
    facts.preflight.environment.cpu_quota = Some(1.5);
    let check = cpus_left(facts).unwrap();
    assert_eq!(check.state, State::Problem);
    assert!(check.figure.contains("leaving 0.5 to the server"), "{check:?}");
    facts.preflight.environment.cpu_quota = None;
    facts.preflight.environment.cpus_allowed = None;
    assert_eq!(cpus_left(facts).unwrap().state, State::Unknown);
    assert_eq!(cpus_left(&with_target("192.0.2.1:80")), None);
}
