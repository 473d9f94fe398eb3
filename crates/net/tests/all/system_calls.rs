//! The system calls of the epoll driver: how many a request costs, and that they are counted
//! exactly (by strace, where there is one). How many datagrams cost on either driver.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

use ablaze_testing::skip::{installed, skip_outside_ci};
use ablaze_testing::{Bounded, ScratchFile};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::Command;

use ablaze_net::driver::Setup;
use ablaze_net::epoll::{EpollDriver, EpollIo};
use ablaze_net::uring::UringDriver;
use ablaze_net::{
    Address, CloseHow, CloseReason, Driver, Endpoint, Handler, Io, OutDatagrams, Outgoing, Receive,
    Slot, Turn, Wait,
};

const PING: Outgoing = Outgoing::Constant { start: 0, len: 4 };
const ADDRESS: &str = "ABLAZE_TEST_TRACED_ADDRESS";
const DATAGRAM_ADDRESS: &str = "ABLAZE_TEST_TRACED_DATAGRAM_ADDRESS";

/// Sends again for every response, so often per connection, over this many connections in turn.
struct Loop {
    requests: u32,
    requests_left: u32,
    connections_left: u32,
}

impl Handler<EpollIo> for Loop {
    fn opened(&mut self, _: &mut EpollIo, _: Slot, _: u64) {
        self.requests_left = self.requests - 1;
    }

    fn received(&mut self, io: &mut EpollIo, slot: Slot, bytes: &mut [u8], _: u64, _: bool) {
        assert_eq!(bytes, b"pong");
        match self.requests_left.checked_sub(1) {
            Some(left) => {
                self.requests_left = left;
                io.send(slot, PING, false);
            }
            None => io.close(slot, CloseHow::Fin),
        }
    }

    fn discarded(&mut self, _: &mut EpollIo, _: Slot, _: u64, _: u64) {}

    fn sent(&mut self, _: &mut EpollIo, _: Slot, _: u64) {}

    fn closed(&mut self, io: &mut EpollIo, slot: Slot, why: CloseReason, _: u64) {
        assert_eq!(why, CloseReason::Local);
        self.connections_left -= 1;
        if self.connections_left > 0 {
            io.open(slot, 0, Some(PING), Receive::Stream);
        }
    }

    fn batch_end(&mut self, _: &mut EpollIo, _: u32, _: u64, _: u64) {}
}

/// Runs the loop over one slot; system calls and turns made.
fn drive(address: SocketAddr, requests: u32, connections: u32) -> (u64, u64) {
    let setup = Setup {
        slots: 1,
        spares: 0,
        endpoints: vec![Endpoint::new(Address::Tcp(address))],
        constant_bytes: (*b"ping").into(),
        batch_cap: 64,
        short_connections: false,
        head_bytes: None,
    };
    let mut driver = EpollDriver::new(setup).unwrap();
    let mut handler = Loop { requests, requests_left: 0, connections_left: connections };
    // A system call that nothing else makes marks the beginning and the end in a trace.
    rustix::process::getpgid(None).unwrap();
    driver.io().open(0, 0, Some(PING), Receive::Stream);
    let (mut calls, mut turns) = (0, 0);
    while handler.connections_left > 0 {
        let wait = Wait { until_ns: u64::MAX, spin_ns: 0, at_least: 1, gather_ns: 0 };
        let Turn { system_calls, .. } = driver.turn(&mut handler, wait).unwrap();
        calls += u64::from(system_calls);
        turns += 1;
    }
    rustix::process::getpgid(None).unwrap();
    (calls, turns)
}

/// A server that answers every 4 bytes, for this many connections.
fn pong_server(connections: u32) -> (SocketAddr, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            while let Ok(()) = stream.read_exact(&mut [0; 4]) {
                if stream.write_all(b"pong").is_err() {
                    break;
                }
            }
        }
    });
    (address, thread)
}

#[test]
fn a_kept_alive_request_costs_a_wait_a_receive_and_a_send() {
    const REQUESTS: u32 = 10_000;
    let (address, server) = pong_server(1);
    let (calls, turns) = drive(address, REQUESTS, 1);
    server.join().unwrap();
    // One connection: socket, TCP_NODELAY, connect, epoll_ctl, close, and a wait for the connect.
    let expected = u64::from(REQUESTS) * 3 + 6;
    // A wait that nothing ended but a signal would add one.
    assert!(calls >= expected && calls <= expected + 10, "{calls} calls, {turns} turns");
}

/// Sends full calls of datagrams to a server that is there and does not answer; system calls made.
fn drive_datagrams<D: Driver>(mut driver: D, calls_of_64: u32) -> u64 {
    let mut handler = Ignore;
    rustix::process::getpgid(None).unwrap();
    let mut system_calls = 0;
    driver.io().open(0, 0, None, Receive::Pause);
    let mut turn = |driver: &mut D| {
        let wait = Wait { until_ns: driver.io().now(), spin_ns: 0, at_least: 1, gather_ns: 0 };
        system_calls += u64::from(driver.turn(&mut handler, wait).unwrap().system_calls);
    };
    turn(&mut driver);
    turn(&mut driver);
    for _ in 0..calls_of_64 {
        let datagrams = OutDatagrams { bytes: &[7; 63 * 1000 + 900], segment_bytes: 1000, ecn: 2 };
        assert_eq!(datagrams.count(), 64);
        driver.io().send_datagrams(0, datagrams);
        turn(&mut driver);
    }
    assert_eq!(driver.io().datagram_counts(0).sent.datagrams, 64 * u64::from(calls_of_64));
    driver.io().close(0, CloseHow::Fin);
    turn(&mut driver);
    turn(&mut driver);
    rustix::process::getpgid(None).unwrap();
    system_calls
}

struct Ignore;

impl<I: Io> Handler<I> for Ignore {
    fn opened(&mut self, _: &mut I, _: Slot, _: u64) {}

    fn received(&mut self, _: &mut I, _: Slot, _: &mut [u8], _: u64, _: bool) {}

    fn discarded(&mut self, _: &mut I, _: Slot, _: u64, _: u64) {}

    fn sent(&mut self, _: &mut I, _: Slot, _: u64) {}

    fn closed(&mut self, _: &mut I, _: Slot, _: CloseReason, _: u64) {}

    fn batch_end(&mut self, _: &mut I, _: u32, _: u64, _: u64) {}
}

fn datagram_setup(address: SocketAddr) -> Setup {
    Setup {
        slots: 1,
        spares: 0,
        endpoints: vec![Endpoint::new(Address::Udp(address))],
        constant_bytes: [].into(),
        batch_cap: 64,
        short_connections: false,
        head_bytes: None,
    }
}

/// Opening and closing cost the same however much is sent between.
fn calls_for_each_64<D: Driver>(make: impl Fn(Setup) -> D) -> u64 {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let setup = datagram_setup(server.local_addr().unwrap());
    let few = drive_datagrams(make(setup.clone()), 10);
    let many = drive_datagrams(make(setup), 110);
    assert_eq!((many - few) % 100, 0, "{many} and {few}");
    (many - few) / 100
}

#[test]
fn sixty_four_datagrams_cost_a_send_and_a_wait_on_epoll() {
    assert_eq!(calls_for_each_64(|setup| EpollDriver::new(setup).unwrap()), 2);
}

#[test]
fn sixty_four_datagrams_cost_one_call_with_whatever_else_is_queued_on_io_uring() {
    assert_eq!(calls_for_each_64(|setup| UringDriver::new(setup).unwrap()), 1);
}

/// The traced program of datagrams: does nothing unless the test below started it.
#[test]
fn traced_datagrams() {
    if let Ok(address) = std::env::var(DATAGRAM_ADDRESS) {
        let driver = EpollDriver::new(datagram_setup(address.parse().unwrap())).unwrap();
        println!("counted {}", drive_datagrams(driver, 20));
    }
}

#[test]
fn strace_sees_one_call_for_sixty_four_datagrams() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let Some((counted, seen)) = traced_run("traced_datagrams", (DATAGRAM_ADDRESS, &address)) else {
        return;
    };
    assert_eq!(seen.get("sendmsg"), Some(&20), "{seen:?}");
    assert_eq!(of_driver(&seen), counted, "{seen:?}");
}

/// The traced program: does nothing unless the test below started it.
#[test]
fn traced() {
    if let Ok(address) = std::env::var(ADDRESS) {
        let (calls, _) = drive(address.parse().unwrap(), 7, 30);
        println!("counted {calls}");
    }
}

#[test]
fn the_count_is_what_strace_sees() {
    let (address, server) = pong_server(30);
    let traced = traced_run("traced", (ADDRESS, &address.to_string()));
    let Some((counted, seen)) = traced else { return };
    server.join().unwrap();
    assert_eq!(of_driver(&seen), counted, "{seen:?}");
}

/// Runs a traced program of the above under strace: what it counted, and what strace saw. `None` where there is no
/// strace, or it may not trace.
fn traced_run(name: &str, (variable, value): (&str, &str)) -> Option<(u64, BTreeMap<String, u64>)> {
    installed("strace")?;
    let trace = ScratchFile::new("trace");
    let output = Command::new("strace")
        .args(["-f", "-o", trace.word()])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("system_calls::{name}"), "--nocapture", "--test-threads=1"])
        .env(variable, value)
        .bounded_output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("ptrace") && !output.status.success() {
        skip_outside_ci(&format!("strace may not trace here: {errors}"));
        return None;
    }
    assert!(output.status.success(), "{said}\n{errors}");
    let counted: u64 = said
        .lines()
        .find_map(|line| line.split("counted ").nth(1))
        .map(|number| number.trim().parse().unwrap())
        .expect("the traced program says what it counted");
    Some((counted, between_marks(&std::fs::read_to_string(trace.path()).unwrap())))
}

/// The driver's calls of these. The allocator's are none of them; nor is the standard library's check, in debug
/// builds only, that a descriptor it closes is open.
fn of_driver(seen: &BTreeMap<String, u64>) -> u64 {
    let is_driver = |name: &str| {
        let by_allocator = ["brk", "mmap", "munmap", "mremap", "madvise", "prctl"].contains(&name);
        let by_check = cfg!(debug_assertions) && name == "fcntl";
        !by_allocator && !by_check
    };
    seen.iter().filter(|(name, _)| is_driver(name)).map(|(_, count)| count).sum()
}

/// System calls by name between the two marks, of the thread that made the marks.
fn between_marks(trace: &str) -> BTreeMap<String, u64> {
    let mark = trace.lines().find(|line| line.contains("getpgid(")).expect("the first mark");
    let thread = mark.split_whitespace().next().unwrap();
    let of_thread = trace.lines().filter(|line| line.split_whitespace().next() == Some(thread));
    let mut inside = false;
    let mut seen = BTreeMap::new();
    for line in of_thread {
        let call = line[thread.len()..].trim_start();
        if call.starts_with("getpgid(") {
            inside = !inside;
        } else if let (true, Some((name, _))) =
            (inside && !call.starts_with("<..."), call.split_once('('))
        {
            *seen.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    assert!(!inside, "the second mark");
    seen
}
