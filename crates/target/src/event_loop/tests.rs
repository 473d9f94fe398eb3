//! The event loops by their counters: what each way to wait costs, and that none spins or hangs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::accepting::AcceptMode;
use crate::conditions::{AcceptBatch, PerAccept, SocketOptions};
use crate::handler::{Body, Handler, Reply, Request, Response};
use crate::http1::filler;
use crate::{Counts, Model, Options, Running, Server};
use ablaze_wire::http1::request_head::Method;

const LOOPS: [Model; 3] = [Model::EpollLt, Model::EpollEt, Model::Poll];

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n";

fn options(model: Model) -> Options {
    Options { address: "127.0.0.1:0".parse().unwrap(), threads: 1, model, ..Options::default() }
}

/// Responses that do not fit into the socket's buffers.
fn blocking(model: Model) -> Options {
    let small = SocketOptions { send_buffer_bytes: Some(65_536), ..SocketOptions::default() };
    Options { body_bytes: Some(LONG_BYTES as u64), sockets: small, ..options(model) }
}

const LONG_BYTES: usize = 8 << 20;

fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.set_nodelay(true).unwrap();
    // Else the kernel lets the buffer grow to `net.ipv4.tcp_rmem`'s largest, which can hold a
    // whole response.
    rustix::net::sockopt::set_socket_recv_buffer_size(&client, 65_536).unwrap();
    client
}

/// Reads a head, byte by byte, then a body of this many bytes.
fn read_response(client: &mut TcpStream, body_bytes: usize) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&head));
    let mut body = vec![0; body_bytes];
    client.read_exact(&mut body).unwrap();
    body
}

fn read_hello(client: &mut TcpStream) {
    assert_eq!(read_response(client, 14), b"hello, world!\n");
}

/// Waits until the counters say so.
fn until(server: &Running, what: &str, is_so: impl Fn(&Counts) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so(&server.served()) {
        assert!(Instant::now() < end, "{what}: {:?}", server.served());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until nothing moves any more.
fn until_still(server: &Running) -> Counts {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let before = server.served();
        std::thread::sleep(Duration::from_millis(30));
        let now = server.served();
        if (now.waits, now.written_bytes) == (before.waits, before.written_bytes) {
            return now;
        }
        assert!(Instant::now() < end, "it does not come to rest: {now:?}");
    }
}

#[test]
fn a_response_that_does_not_block_costs_one_read_and_one_write() {
    for model in LOOPS {
        let server = Server::start(options(model)).unwrap();
        let mut client = connect(server.address());
        until(&server, "accepted", |counts| counts.connections == 1);
        for _ in 0..100 {
            client.write_all(GET).unwrap();
            read_hello(&mut client);
        }
        let before = server.served();
        assert_eq!((before.requests, before.writes, before.write_eagains), (100, 100, 0));
        // The first read was tried before the request had come.
        assert!(before.reads - before.read_eagains == 100 && before.reads <= 101, "{before:?}");
        assert_eq!(before.read_bytes, 100 * GET.len() as u64);
        drop(client);
        let counts = server.stop().unwrap();
        // The listener, the descriptor that stops the worker, and the connection.
        let (adds, dels) = if model == Model::Poll { (0, 0) } else { (3, 2) };
        assert_eq!((counts.epoll_adds, counts.epoll_mods, counts.epoll_dels), (adds, 0, dels));
        assert!(counts.waits <= 100 + 10, "{model}: {counts:?}");
        assert_eq!((counts.out_events, counts.empty_wakes), (0, 0), "{model}: {counts:?}");
    }
}

#[test]
fn a_blocked_response_costs_two_changes_level_triggered_and_none_edge_triggered() {
    const ANSWERS: u64 = 5;
    for model in LOOPS {
        let server = Server::start(blocking(model)).unwrap();
        let mut client = connect(server.address());
        until(&server, "accepted", |counts| counts.connections == 1);
        for _ in 0..ANSWERS {
            let before = server.served().write_eagains;
            client.write_all(GET).unwrap();
            until(&server, "blocked", |counts| counts.write_eagains > before);
            let body = read_response(&mut client, LONG_BYTES);
            assert!((0..LONG_BYTES).all(|at| body[at] == filler::byte_at(at as u64)));
        }
        drop(client);
        let counts = server.stop().unwrap();
        let mods = if model == Model::EpollLt { 2 * ANSWERS } else { 0 };
        assert_eq!(counts.epoll_mods, mods, "{model}: {counts:?}");
        assert!(counts.out_events >= ANSWERS, "{model}: {counts:?}");
        // One event for each time a write could not go on, or for several of them together.
        assert!(counts.out_events <= counts.write_eagains, "{model}: {counts:?}");
        assert_eq!(counts.requests, ANSWERS);
    }
}

#[test]
fn pipelined_input_behind_a_blocked_response_makes_no_one_spin() {
    for model in LOOPS {
        let server = Server::start(blocking(model)).unwrap();
        let mut client = connect(server.address());
        client.write_all(GET).unwrap();
        until(&server, "blocked", |counts| counts.write_eagains > 0);
        let before = until_still(&server);
        for _ in 0..20 {
            client.write_all(GET).unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        client.shutdown(std::net::Shutdown::Write).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let waits = server.served().waits - before.waits;
        // Edge-triggered, each arrival is an event; else, none is.
        assert!(waits <= if model == Model::EpollEt { 21 } else { 1 }, "{model}: {waits}");
        for _ in 0..21 {
            read_response(&mut client, LONG_BYTES);
        }
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        assert_eq!(server.stop().unwrap().requests, 21);
    }
}

#[test]
fn input_behind_a_delayed_response_makes_no_one_spin() {
    let delay = Duration::from_millis(100);
    for model in LOOPS {
        let server = Server::start(Options { delay: delay.into(), ..options(model) }).unwrap();
        let began = Instant::now();
        let mut client = connect(server.address());
        client.write_all(GET).unwrap();
        until(&server, "delayed", |counts| counts.requests == 1);
        // The second request, and the end of the stream behind it.
        client.write_all(GET).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        for _ in 0..2 {
            read_hello(&mut client);
        }
        assert!(began.elapsed() >= 2 * delay);
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        let counts = server.stop().unwrap();
        assert!(counts.waits <= 15, "{model}: {counts:?}");
        assert!(counts.timers >= 2, "{model}: {counts:?}");
        // Taken out of sight, and back.
        assert!(counts.epoll_mods <= if model == Model::EpollLt { 4 } else { 0 });
    }
}

#[test]
fn a_delayed_response_without_further_input_changes_nothing() {
    let delay = Duration::from_millis(2);
    for model in LOOPS {
        let server = Server::start(Options { delay: delay.into(), ..options(model) }).unwrap();
        let mut client = connect(server.address());
        for _ in 0..20 {
            let began = Instant::now();
            client.write_all(GET).unwrap();
            read_hello(&mut client);
            assert!(began.elapsed() >= delay);
        }
        let counts = server.stop().unwrap();
        assert_eq!((counts.epoll_mods, counts.timers >= 20), (0, true), "{model}: {counts:?}");
    }
}

/// Responses `/hold` only while it has the lock, with it all workers stand still; everything else
/// with a long body.
struct Holding(Mutex<()>);

impl Handler for Holding {
    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        false
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let body = match request.path {
            b"/hold" => {
                drop(self.0.lock().unwrap());
                Body::Borrowed(b"held")
            }
            _ => Body::Owned((0..LONG_BYTES as u64).map(filler::byte_at).collect()),
        };
        Reply { response: Response::new(200, "text/plain", body), delay_ns: 0 }
    }
}

/// A handler that outlives the server, so that the test can hold it up.
struct Shared(&'static Holding);

impl Handler for Shared {
    fn wants_body(&self, method: Method, path: &[u8]) -> bool {
        self.0.wants_body(method, path)
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        self.0.reply(request)
    }
}

/// One event may say that there is input and that there is room for output: whoever handles only
/// one of them loses the other for ever when it is told but once.
#[test]
fn input_and_room_for_output_in_one_event_are_both_seen() {
    for model in LOOPS {
        let holding: &'static Holding = Box::leak(Box::new(Holding(Mutex::new(()))));
        let options = Options { body_bytes: None, ..blocking(model) };
        let server = Server::start_with(options, Shared(holding)).unwrap();
        let mut client = connect(server.address());
        let mut other = connect(server.address());
        client.write_all(GET).unwrap();
        until(&server, "blocked", |counts| counts.write_eagains > 0);
        until_still(&server);
        // The worker stands still in the handler.
        let held: MutexGuard<'_, ()> = holding.0.lock().unwrap();
        let before = server.served();
        other.write_all(b"GET /hold HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
        until(&server, "held", |counts| counts.reads > before.reads);
        // Meanwhile the first client takes what has come, and sends its next request: both are
        // told by the next wait.
        let mut beginning = vec![0; 100_000];
        client.read_exact(&mut beginning).unwrap();
        client.write_all(GET).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        drop(held);
        read_response(&mut other, 4);
        let head = beginning.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let mut rest = vec![0; head + LONG_BYTES - beginning.len()];
        client.read_exact(&mut rest).unwrap();
        read_response(&mut client, LONG_BYTES);
        assert_eq!(server.stop().unwrap().requests, 3, "{model}");
    }
}

#[test]
fn idle_connections_are_closed_after_the_read_timeout_and_busy_ones_are_not() {
    let timeout = Duration::from_millis(150);
    for model in LOOPS {
        for per_accept in [PerAccept::Nothing, PerAccept::Sylar] {
            let options = Options { read_timeout: Some(timeout), per_accept, ..options(model) };
            let server = Server::start(options).unwrap();
            let mut busy = connect(server.address());
            let mut idle = connect(server.address());
            idle.write_all(GET).unwrap();
            let began = Instant::now();
            read_hello(&mut idle);
            let watcher = std::thread::spawn(move || {
                assert_eq!(idle.read(&mut [0]).unwrap(), 0);
                began.elapsed()
            });
            let mut asked = 0;
            while began.elapsed() < 3 * timeout {
                busy.write_all(GET).unwrap();
                read_hello(&mut busy);
                asked += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            let closed_after = watcher.join().unwrap();
            // Sweeps come every 16th of the timeout; a busy machine may be late.
            let least = timeout * 15 / 16;
            assert!(closed_after >= least && closed_after < 3 * timeout, "{closed_after:?}");
            let counts = server.stop().unwrap();
            assert_eq!((counts.connections, counts.requests), (2, asked + 1));
            if per_accept == PerAccept::Sylar {
                // One for each time a connection waits for input.
                assert!(counts.timers >= asked + 2, "{model}: {counts:?}");
            } else {
                assert!(counts.timers < 60, "{model}: {counts:?}");
            }
        }
    }
}

#[test]
fn every_accept_mode_serves_with_every_loop_that_has_it() {
    for model in LOOPS {
        for accept in AcceptMode::ALL {
            for accept_batch in [AcceptBatch::One, AcceptBatch::Drain] {
                let options = Options { accept, accept_batch, threads: 2, ..options(model) };
                if model == Model::Poll && accept == AcceptMode::Exclusive {
                    let refused = Server::start(options).unwrap_err().to_string();
                    assert!(refused.contains("EPOLLEXCLUSIVE"), "{refused}");
                    continue;
                }
                let server = Server::start(options).unwrap();
                let mut clients: Vec<_> = (0..50).map(|_| connect(server.address())).collect();
                for client in &mut clients {
                    client.write_all(&GET.repeat(3)).unwrap();
                }
                for client in &mut clients {
                    (0..3).for_each(|_| read_hello(client));
                }
                let counts = server.stop().unwrap();
                assert_eq!((counts.connections, counts.requests), (50, 150));
                let found = counts.accepts - counts.accept_eagains;
                assert_eq!(found, 50, "{model} {accept}: {counts:?}");
                assert_eq!(counts.wakes > 0, accept == AcceptMode::Single);
            }
        }
    }
}

/// How often the four workers of a server slept per connection, of those that came one after
/// the other and asked for nothing.
fn sleeps_per_connection(model: Model, accept: AcceptMode) -> f64 {
    const CONNECTIONS: u64 = 200;
    let server = Server::start(Options { accept, threads: 4, ..options(model) }).unwrap();
    let before = until_still(&server);
    let mut clients = Vec::new();
    for number in 1..=CONNECTIONS {
        clients.push(connect(server.address()));
        until(&server, "accepted", |counts| counts.connections == number);
        // Whoever was woken in vain is asleep again before the next comes.
        std::thread::sleep(Duration::from_micros(500));
    }
    let counts = server.served() - before;
    counts.sleeps as f64 / CONNECTIONS as f64
}

#[test]
fn shared_wakes_several_workers_per_connection_exclusive_and_reuseport_about_one() {
    for model in LOOPS {
        for accept in [AcceptMode::Shared, AcceptMode::Exclusive, AcceptMode::ReusePort] {
            if model.refuses(accept).is_some() {
                continue;
            }
            let sleeps = sleeps_per_connection(model, accept);
            if accept == AcceptMode::Shared {
                assert!(sleeps > 2.0, "{model} {accept}: {sleeps}");
            } else {
                assert!((0.9..1.5).contains(&sleeps), "{model} {accept}: {sleeps}");
            }
        }
    }
}
