//! Connections that cannot be opened: a short accept queue, no local ports, no descriptors.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use ablaze_testing::skip::installed;

use ablaze_testing::Bounded;

use crate::alone;
use crate::controls::support::{Loading, Server, load};

#[test]
fn an_accept_queue_of_5_loses_attempts_of_1000_connections() {
    let _alone = alone();
    let server = Server::start(&["--backlog", "5"]);
    // Not one is accepted while the first attempts come, so that the queue is full for certain.
    server.process.signal(Signal::STOP);
    let loading = Loading::start(&[&server.url("/"), "-c1000", "-d1.2s", "-t1"]);
    std::thread::sleep(Duration::from_millis(500));
    server.process.signal(Signal::CONT);
    let report = loading.report();
    let evidence = report.assert_root("D08", "suspect");
    assert!(evidence.contains("given a backlog of 5, and Linux lets one more wait"), "{evidence}");
    assert!(evidence.contains("took a second or more to open"), "{evidence}");
}

/// Ports of the range are held by the test, so that the last connections find none.
#[test]
fn without_a_local_port_left_connections_fail_for_want_of_ports() {
    let _alone = alone();
    let server = Server::start(&[]);
    let (first, held) = half_of_a_range(100);
    let range = format!("{first}-{}", first + 99);
    let report = load(&[&server.url("/"), "-c100", "-d1.2s", "--local-ports", &range]);
    let evidence = report.assert_root("D20", "suspect");
    assert!(evidence.contains("had no local port left"), "{evidence}");
    assert!(report.number("/failed/by_kind/local-ports") >= 50.0);
    drop(held);
}

/// The first of so many ports in a row, of which every second is taken.
fn half_of_a_range(length: u16) -> (u16, Vec<TcpListener>) {
    // Below the ports that the kernel gives out by itself.
    let mut begins = (20_000..32_000).step_by(usize::from(length));
    begins
        .find_map(|first| {
            let all: Vec<_> = (first..first + length)
                .map(|port| TcpListener::bind(("127.0.0.1", port)))
                .collect::<Result<_, _>>()
                .ok()?;
            Some((first, all.into_iter().step_by(2).collect()))
        })
        .expect("somewhere 100 ports in a row are free")
}

#[test]
fn without_a_descriptor_left_connections_fail_for_want_of_descriptors() {
    let _alone = alone();
    if installed("prlimit").is_none() {
        return;
    }
    let server = Server::start(&[]);
    // With io_uring sockets are no descriptors of the process.
    let words = [&server.url("/"), "-c50", "-d1.5s", "--no-keepalive", "--io", "epoll"];
    let loading = Loading::start(&words);
    server.wait_for_requests(1000);
    let id = loading.process.id().to_string();
    let lowered = Command::new("prlimit").args(["--pid", &id, "--nofile=30:100"]).bounded_status();
    assert!(lowered.unwrap().success());
    let report = loading.report();
    let evidence = report.assert_root("D21", "suspect");
    assert!(evidence.contains("failed because no descriptor was left"), "{evidence}");
}

#[test]
fn a_server_without_a_descriptor_left_is_told_from_a_client_without() {
    let _alone = alone();
    if installed("prlimit").is_none() {
        return;
    }
    let server = Server::start_by(&["prlimit", "--nofile=64:64"], &[]);
    let report = load(&[&server.url("/"), "-c200", "-d1.2s"]);
    let evidence = report.assert_root("D21", "suspect");
    assert!(
        evidence.contains("descriptors open; its limit was 64 when the run started"),
        "{evidence}"
    );
}
