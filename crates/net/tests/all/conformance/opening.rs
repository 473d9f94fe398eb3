//! Getting a connection, and who is to blame for none.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use ablaze_net::driver::{CloseHow, CloseReason, Io, Outgoing, Receive};
use ablaze_net::{Address, Endpoint};

use ablaze_testing::Bounded;
use ablaze_testing::skip::skip;

use crate::conformance::recorder::{Event, Recorder, driver_to, run, run_for, setup};
use crate::conformance::server::{RefusingPort, Server, drain, read_exactly, unix_path, write};
use crate::conformance::{TestDriver, WAIT_MAX};

const PING: Outgoing = Outgoing::Constant { start: 0, len: 4 };

/// Sends four bytes with the open, gets four, and sends again for each response, three times.
fn exchange<D: TestDriver>(server: Server) {
    let mut driver: D = driver_to(server.address.clone(), b"ping");
    let mut responses = 0;
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| {
        if let Event::Received { bytes, .. } = event {
            assert_eq!(bytes, b"pong");
            responses += 1;
            if responses < 3 {
                io.send(slot, PING, false);
            }
        }
    });
    driver.io().open(0, 0, Some(PING), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.events[0], (0, Event::Opened));
    assert_eq!(recorder.received(0), b"pongpongpong");
    assert_eq!(recorder.closed(0), Some(CloseReason::Eof));
    server.join();
}

fn response_three(stream: &mut (impl std::io::Read + std::io::Write)) {
    for _ in 0..3 {
        assert_eq!(read_exactly(stream, 4), b"ping");
        write(stream, b"pong");
    }
}

pub fn connects_and_exchanges_over_ipv4<D: TestDriver>() {
    exchange::<D>(Server::tcp(1, |mut stream| response_three(&mut stream)));
}

pub fn connects_and_exchanges_over_ipv6<D: TestDriver>() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        return skip("this machine has no IPv6 loopback");
    }
    let serve = |mut stream| response_three(&mut stream);
    exchange::<D>(Server::tcp_at((Ipv6Addr::LOCALHOST, 0).into(), 1, serve));
}

pub fn connects_and_exchanges_over_a_unix_socket<D: TestDriver>() {
    exchange::<D>(Server::unix(1, |mut stream| response_three(&mut stream)));
}

pub fn opens_without_first_bytes<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| write(&mut stream, b"hello"));
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(3, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(3).is_some());
    assert_eq!(recorder.received(3), b"hello");
    server.join();
}

/// Opens slot 0 and expects nothing but its failure.
fn fails<D: TestDriver>(endpoint: Endpoint) -> CloseReason {
    let mut driver = D::make(setup(1, vec![endpoint], b"ping")).unwrap();
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, Some(PING), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| !recorder.events.is_empty());
    assert_eq!(recorder.events.len(), 1);
    recorder.closed(0).expect("the only event is the end")
}

pub fn a_refused_port_is_the_peers_error<D: TestDriver>() {
    let port = RefusingPort::new();
    let endpoint = Endpoint::new(port.address());
    assert_eq!(fails::<D>(endpoint), CloseReason::Connect(libc::ECONNREFUSED));
}

pub fn a_missing_unix_socket_is_the_peers_error<D: TestDriver>() {
    let endpoint = Endpoint::new(Address::Unix(unix_path()));
    assert_eq!(fails::<D>(endpoint), CloseReason::Connect(libc::ENOENT));
}

pub fn a_full_unix_accept_queue_is_waited_for<D: TestDriver>() {
    const CONNECTIONS: u32 = 8;
    let path = unix_path();
    let listener =
        socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
    listener.bind(&socket2::SockAddr::unix(&path).unwrap()).unwrap();
    listener.listen(1).unwrap();
    let listener: UnixListener = listener.into();
    let (start_accepting, may_accept) = channel();
    let thread = std::thread::spawn(move || {
        may_accept.recv_timeout(WAIT_MAX).unwrap();
        for _ in 0..CONNECTIONS {
            let (mut stream, _) = listener.accept().unwrap();
            assert_eq!(read_exactly(&mut stream, 4), b"ping");
            write(&mut stream, b"pong");
        }
    });
    let endpoint = Endpoint::new(Address::Unix(path.clone()));
    let mut driver = D::make(setup(CONNECTIONS, vec![endpoint], b"ping")).unwrap();
    let mut recorder = Recorder::silent();
    for slot in 0..CONNECTIONS {
        driver.io().open(slot, 0, Some(PING), Receive::Stream);
    }
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) >= 2);
    start_accepting.send(()).unwrap();
    run(&mut driver, &mut recorder, |recorder| {
        (0..CONNECTIONS).all(|slot| recorder.closed(slot).is_some())
    });
    for slot in 0..CONNECTIONS {
        assert_eq!(recorder.received(slot), b"pong");
    }
    thread.join().unwrap();
    let _ = std::fs::remove_file(path);
}

/// The server's accept queue is full, so that nothing comes back; the client closes before it even
/// asked, and while it waits.
pub fn a_connect_without_response_is_given_up_at_once<D: TestDriver>() {
    let listener =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let filling: Vec<_> = (0..4)
        .map(|_| {
            let socket =
                socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&address.into());
            socket
        })
        .collect();
    let mut driver: D = driver_to(Address::Tcp(address), b"ping");
    let mut recorder = Recorder::silent();
    for how in [CloseHow::AwaitPeer, CloseHow::Fin, CloseHow::Reset] {
        for waits in [false, true] {
            recorder.events.clear();
            driver.io().open(0, 0, Some(PING), Receive::Stream);
            if waits {
                run_for(&mut driver, &mut recorder, Duration::from_millis(20));
                assert_eq!(recorder.events, []);
            }
            driver.io().close(0, how);
            run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
            assert_eq!(recorder.events, [(0, Event::Closed(CloseReason::Local))]);
        }
    }
    drop(filling);
}

pub fn local_addresses_take_turns<D: TestDriver>() {
    let (report, peers) = channel();
    let server = Server::tcp(4, move |stream| report.send(stream.peer_addr().unwrap()).unwrap());
    let mut endpoint = Endpoint::new(server.address.clone());
    let wanted = [IpAddr::from([127, 0, 0, 2]), IpAddr::from([127, 0, 0, 3])];
    endpoint.local_addresses = wanted.to_vec();
    let mut driver = D::make(setup(4, vec![endpoint], b"")).unwrap();
    let mut recorder = Recorder::silent();
    for slot in 0..4 {
        driver.io().open(slot, 0, D::NO_BYTES, Receive::Stream);
    }
    run(&mut driver, &mut recorder, |recorder| {
        (0..4).all(|slot| recorder.closed(slot) == Some(CloseReason::Eof))
    });
    server.join();
    let peers: Vec<_> = peers.iter().map(|peer| peer.ip()).collect();
    for address in wanted {
        assert_eq!(peers.iter().filter(|&&peer| peer == address).count(), 2, "{peers:?}");
    }
}

pub fn a_foreign_local_address_fails_here<D: TestDriver>() {
    let port = RefusingPort::new();
    let mut endpoint = Endpoint::new(port.address());
    // TEST-NET-1 (RFC 5737) belongs to no machine.
    endpoint.local_addresses = vec![IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))];
    assert_eq!(fails::<D>(endpoint), CloseReason::Here("bind", libc::EADDRNOTAVAIL));
}

/// Two neighbouring ports that were free a moment ago, below the usual ephemeral range.
fn free_port_pair() -> u16 {
    let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = 20_000 + (std::process::id() % 5_000) as u16 * 2;
    (0..1000)
        .map(|step| start.wrapping_add(step * 2).max(1024))
        .find(|&port| is_free(port) && is_free(port + 1))
        .expect("two free ports")
}

pub fn local_ports_take_turns_and_run_out_here<D: TestDriver>() {
    let (report, peers) = channel();
    let (end, may_end) = channel::<()>();
    let mut streams = Vec::new();
    let server = Server::tcp(2, move |stream| {
        report.send(stream.peer_addr().unwrap().port()).unwrap();
        streams.push(stream);
        if streams.len() == 2 {
            may_end.recv_timeout(WAIT_MAX).unwrap();
        }
    });
    let mut endpoint = Endpoint::new(server.address.clone());
    let first = free_port_pair();
    endpoint.local_ports = Some(first..=first + 1);
    let mut driver = D::make(setup(3, vec![endpoint], b"")).unwrap();
    let mut recorder = Recorder::silent();
    for slot in 0..2 {
        driver.io().open(slot, 0, D::NO_BYTES, Receive::Stream);
    }
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 2);
    let ports: HashSet<u16> =
        [peers.recv_timeout(WAIT_MAX).unwrap(), peers.recv_timeout(WAIT_MAX).unwrap()].into();
    assert_eq!(ports, HashSet::from([first, first + 1]));

    driver.io().open(2, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(2).is_some());
    let reason = recorder.closed(2).unwrap();
    let no_port_left = matches!(
        reason,
        CloseReason::Here("bind", libc::EADDRINUSE)
            | CloseReason::Here("connect", libc::EADDRNOTAVAIL)
    );
    assert!(no_port_left, "{reason:?}");
    end.send(()).unwrap();
    server.join();
}

/// Lowers the limit of the whole process, so it runs in one of its own.
pub fn no_descriptor_left_fails_here<D: TestDriver>() {
    const MARK: &str = "ABLAZE_TEST_FEW_DESCRIPTORS";
    if std::env::var_os(MARK).is_none() {
        // `conformance!` names each driver's tests after the module that the driver lives in.
        let module = std::any::type_name::<D>().rsplit("::").nth(1).unwrap();
        let name = format!(
            "conformance::{module}::of_the_process::opening::no_descriptor_left_fails_here"
        );
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture", "--test-threads=1"])
            .env(MARK, "1")
            .bounded_output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}\n{errors}");
        return;
    }
    let (tell, accepted) = channel();
    let server = Server::tcp(1, move |mut stream| {
        tell.send(()).unwrap();
        drain(&mut stream);
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let next_fd = std::fs::File::open("/dev/null").map(|file| {
        use std::os::fd::AsRawFd;
        file.as_raw_fd()
    });
    let limit = rustix::process::Rlimit {
        // One socket of the client, one of the server.
        current: Some(next_fd.unwrap() as u64 + 2),
        maximum: rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum,
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    // Else the server might find none left for it.
    accepted.recv_timeout(WAIT_MAX).unwrap();
    driver.io().open(1, 0, D::NO_BYTES, Receive::Stream);
    driver.io().open(2, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(2).is_some());
    assert_eq!(recorder.closed(2), Some(CloseReason::Here("socket", libc::EMFILE)));
}
