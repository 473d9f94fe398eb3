//! The checks of the network on made-up facts.

use ablaze_model::monitor::Softnet;
use ablaze_monitor::preflight::Loopback;

use super::*;
use crate::doctor::check::State;
use crate::doctor::sample::{listening, quiet, set, unset, with_load, with_target};

#[test]
fn the_accept_queue_must_hold_the_connections_of_a_server_here() {
    let facts = &mut quiet();
    assert_eq!(accept_queue(facts).unwrap().state, State::Ok);
    set(facts, "net.core.somaxconn", "128");
    assert_eq!(accept_queue(facts).unwrap().state, State::Note);
    facts.load.connections = Some(1000);
    let check = accept_queue(facts).unwrap();
    assert_eq!(check.state, State::Problem);
    assert_eq!(check.command.as_deref(), Some("sudo sysctl -w net.core.somaxconn=4096"));
    facts.load.connections = Some(128);
    assert_eq!(accept_queue(facts).unwrap().state, State::Ok);
    unset(facts, "net.core.somaxconn");
    assert_eq!(accept_queue(facts).unwrap().state, State::Unknown);
    let facts = &mut with_target("192.0.2.1:80");
    set(facts, "net.core.somaxconn", "5");
    assert_eq!(accept_queue(facts).unwrap().state, State::Ok, "not this host's matter");
    let facts = &mut listening(5, 1024, 10);
    set(facts, "net.core.somaxconn", "5");
    assert_eq!(accept_queue(facts).unwrap().state, State::Ok, "listen-backlog says it");
}

#[test]
fn half_open_connections_matter_without_cookies() {
    let facts = &mut with_load(1000, None);
    let names = ["net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_syncookies"];
    for (most, cookies, state) in [
        ("128", "1", State::Ok),
        ("128", "0", State::Note),
        ("4096", "0", State::Ok),
        ("4096", "2", State::Note),
    ] {
        set(facts, names[0], most);
        set(facts, names[1], cookies);
        assert_eq!(syn_queue(facts).unwrap().state, state, "{most} {cookies}");
    }
    unset(facts, names[1]);
    assert_eq!(syn_queue(facts).unwrap().state, State::Unknown);
}

#[test]
fn packets_dropped_are_worse_than_a_short_queue() {
    let facts = &mut quiet();
    assert_eq!(packet_queue(facts).unwrap().state, State::Ok);
    set(facts, "net.core.netdev_max_backlog", "100");
    assert_eq!(packet_queue(facts).unwrap().state, State::Note);
    facts.preflight.sample.kernel.softnet = Some(Softnet { processed: 9, dropped: 1, squeezed: 0 });
    assert_eq!(packet_queue(facts).unwrap().state, State::Problem);
    unset(facts, "net.core.netdev_max_backlog");
    assert_eq!(packet_queue(facts).unwrap().state, State::Unknown);
}

#[test]
fn the_smallest_buffer_is_named() {
    let facts = &mut quiet();
    assert_eq!(socket_buffers(facts).unwrap().state, State::Ok);
    set(facts, "net.ipv4.tcp_wmem", "4096 16384 65536");
    let check = socket_buffers(facts).unwrap();
    assert_eq!(check.state, State::Note);
    assert!(check.figure.contains("tcp_wmem up to 65,536 B"), "{check:?}");
    assert!(!check.figure.contains("rmem"), "{check:?}");
    for name in ["net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]
    {
        unset(facts, name);
    }
    assert_eq!(socket_buffers(facts).unwrap().state, State::Unknown);
}

#[test]
fn loopback_is_up_and_wide() {
    let facts = &mut quiet();
    assert_eq!(loopback(facts).unwrap().state, State::Ok);
    for (lo, state) in [
        (Some(Loopback { up: true, mtu_bytes: Some(1500) }), State::Note),
        (Some(Loopback { up: false, mtu_bytes: Some(65_536) }), State::Problem),
        (None, State::Unknown),
    ] {
        facts.preflight.loopback = lo;
        assert_eq!(loopback(facts).unwrap().state, state, "{lo:?}");
    }
}

#[test]
fn the_tracking_table_has_room_for_the_load() {
    let facts = &mut quiet();
    assert!(connection_tracking(facts).unwrap().figure.contains("not in use"));
    set(facts, "net.netfilter.nf_conntrack_max", "1000");
    assert_eq!(connection_tracking(facts).unwrap().state, State::Unknown);
    set(facts, "net.netfilter.nf_conntrack_count", "10");
    assert_eq!(connection_tracking(facts).unwrap().state, State::Ok);
    facts.load.connections = Some(600);
    assert_eq!(connection_tracking(facts).unwrap().state, State::Note);
    facts.load.connections = Some(990);
    assert_eq!(connection_tracking(facts).unwrap().state, State::Problem);
    unset(facts, "net.netfilter.nf_conntrack_max");
    unset(facts, "net.core.somaxconn");
    assert_eq!(connection_tracking(facts).unwrap().state, State::Unknown);
}
