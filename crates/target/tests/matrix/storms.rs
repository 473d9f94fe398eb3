//! Clients that misbehave, many at once, drawn from a seed: after each storm the server still
//! answers, and what it holds (descriptors, threads, memory) is what it held before.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use ablaze_random::SplitMix64;
use ablaze_target::accepting::AcceptMode;
use ablaze_target::conditions::{Arm, Scheduler};

use crate::child::{Kind, Numbers, ServerProcess};
use crate::client::{Client, HELLO, get};
use crate::models::{accept_modes, all_at_once, judged, long_tests, message};

/// Clients at once.
const AT_ONCE: usize = 8;
/// Clients of a storm, one after the other by `AT_ONCE` threads.
const CLIENTS: usize = 240;
const LIMIT: Duration = Duration::from_secs(240);
/// A connection may linger for two seconds after a response whose client still sends (RFC 9112,
/// 9.6); the rest is timeout with a busy machine.
const CALM: Duration = Duration::from_secs(20);

/// Random numbers.
struct Draws(SplitMix64);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit as u64) as usize
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most) + 1).map(|_| self.below(256) as u8).collect()
    }
}

/// Clients that keep their connection until the storm is over.
type Kept = Vec<Client>;

type Deed = fn(SocketAddr, &mut Draws, &mut Kept);

/// Everything a client may do, with what it must see, where that is defined.
const DEEDS: [(&str, Deed); 12] = [
    ("come and go", |address, _, _| drop(Client::connect(address))),
    ("come and reset", |address, _, _| Client::connect(address).reset()),
    ("bytes one by one", bytes_one_by_one),
    ("half a request", half_a_request),
    ("a reset during a large response", reset_during_a_large_response),
    ("a close during a large response", close_during_a_large_response),
    ("a half close", half_close),
    ("garbage behind a request", garbage_behind_a_request),
    ("nothing but garbage", nothing_but_garbage),
    ("never read", never_read),
    ("a delay that no one awaits", a_delay_that_no_one_awaits),
    ("an upload that breaks off", an_upload_that_breaks_off),
];

fn bytes_one_by_one(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    let request = format!("POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello{}", get("/hello"));
    for byte in request.as_bytes() {
        client.send([*byte]);
        if draws.below(20) == 0 {
            thread::sleep(Duration::from_micros(200));
        }
    }
    assert_eq!(client.response().body, b"hello");
    assert_eq!(client.response().body, HELLO);
}

fn half_a_request(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    let request = get("/hello").repeat(draws.below(3) + 1);
    client.send(&request[..draws.below(request.len())]);
    match draws.below(3) {
        0 => client.reset(),
        1 => drop(client),
        // It says that nothing will follow: the server has to end the connection.
        _ => {
            client.finish();
            client.until_closed();
        }
    }
}

fn reset_during_a_large_response(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    begin_a_large_response(address, draws).reset();
}

fn close_during_a_large_response(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    drop(begin_a_large_response(address, draws));
}

/// A client in the middle of a response.
fn begin_a_large_response(address: SocketAddr, draws: &mut Draws) -> Client {
    let mut client = Client::connect_narrow(address);
    client.send(get("/bytes/8388608").repeat(draws.below(2) + 1));
    client.take(draws.below(300_000));
    client
}

fn half_close(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    let requests = draws.below(5);
    client.send(get("/hello").repeat(requests));
    client.finish();
    for _ in 0..requests {
        assert_eq!(client.response().body, HELLO);
    }
    assert_eq!(client.rest(), b"");
}

fn garbage_behind_a_request(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    // No byte of a token (RFC 9110, 5.6.2): this begins no request.
    let garbage = [b"\x01\x02 / HTTP/1.1\r\n\r\n".to_vec(), draws.bytes(5000)].concat();
    client.send([get("/hello").into_bytes(), garbage].concat());
    assert_eq!(client.response().body, HELLO);
    let refusal = client.response();
    assert_eq!((refusal.status, refusal.field("Connection")), (400, Some("close")));
    assert_eq!(client.rest(), b"");
}

fn nothing_but_garbage(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    let garbage = draws.bytes(100_000);
    // The server may have refused it and closed before all was sent.
    let _ = client.stream.write_all(&garbage);
    let _ = client.stream.read(&mut [0; 100]);
}

fn never_read(address: SocketAddr, draws: &mut Draws, kept: &mut Kept) {
    let mut client = Client::connect_narrow(address);
    let path = ["/bytes/8388608", "/hello"][draws.below(2)];
    client.send(get(path).repeat(draws.below(200) + 1));
    kept.push(client);
}

fn a_delay_that_no_one_awaits(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    client.send(get("/delay/100").repeat(draws.below(2) + 1));
    if draws.below(2) == 0 {
        client.reset();
    }
}

fn an_upload_that_breaks_off(address: SocketAddr, draws: &mut Draws, _: &mut Kept) {
    let mut client = Client::connect(address);
    let coding = ["Content-Length: 1000000", "Transfer-Encoding: chunked"][draws.below(2)];
    client.send(format!("POST /echo HTTP/1.1\r\n{coding}\r\n\r\n"));
    let chunk = format!("10000\r\n{}\r\n", "u".repeat(0x1_0000));
    for _ in 0..draws.below(8) {
        client.send(&chunk);
    }
    if draws.below(2) == 0 {
        client.reset();
    }
}

/// One storm: every client does something, and what must be seen is seen.
fn storm(address: SocketAddr, seed: u64) {
    let clients = (0..AT_ONCE).map(|number| (format!("client {number} of storm {seed}"), number));
    all_at_once(LIMIT, clients.collect(), move |number| {
        let mut draws = Draws::new(seed * AT_ONCE as u64 + number as u64);
        let mut kept = Kept::new();
        for client in 0..CLIENTS / AT_ONCE {
            // Each begins elsewhere, so that all deeds are done in every storm.
            let at = match client < DEEDS.len() {
                true => (client + number) % DEEDS.len(),
                false => draws.below(DEEDS.len()),
            };
            let (name, deed) = DEEDS[at];
            let done = catch_unwind(AssertUnwindSafe(|| deed(address, &mut draws, &mut kept)));
            if let Err(panic) = done {
                panic!("{name}: {}", message(&*panic));
            }
        }
    });
}

/// Waits until the server holds no more than before, and says what it holds.
fn calm(server: &mut ServerProcess, before: Option<&Numbers>) -> Numbers {
    let mut last = server.look();
    let end = Instant::now() + CALM;
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = server.look();
        let settled = match before {
            Some(before) => {
                ["descriptors", "threads"].iter().all(|&name| now[name] <= before[name])
            }
            None => ["descriptors", "threads"].iter().all(|&name| now[name] == last[name]),
        };
        if settled || Instant::now() > end {
            return now;
        }
        last = now;
    }
}

/// Heap that a server may keep after further storms: rounding, buffers that grew, nothing per
/// connection. 480 connections that leave 200 bytes each would be as much.
const HEAP_SLACK_BYTES: i64 = 96 * 1024;
/// Resident memory: what the allocator and the kernel do not give back at once.
const RESIDENT_SLACK_KIB: i64 = 48 * 1024;

fn weather(kind: Kind) {
    let mut server = ServerProcess::start(kind);
    let idle = calm(&mut server, None);
    // The first fills pools and buffers up to their limits.
    storm(server.address, 0);
    let before = calm(&mut server, Some(&idle));
    let storms = if long_tests() { 12 } else { 2 };
    for seed in 1..=storms {
        storm(server.address, seed);
        for _ in 0..3 {
            let mut client = Client::connect(server.address);
            assert_eq!(client.ask(get("/hello")).body, HELLO);
        }
    }
    let after = calm(&mut server, Some(&before));
    assert_eq!(after["descriptors"], idle["descriptors"], "descriptors, of an idle server");
    assert_eq!(after["threads"], idle["threads"], "threads, of an idle server");
    let heap_bytes = after["live_bytes"] - before["live_bytes"];
    assert!(heap_bytes <= HEAP_SLACK_BYTES, "{heap_bytes} bytes of heap were not given back");
    let resident_kib = after["resident_kib"] - before["resident_kib"];
    assert!(resident_kib <= RESIDENT_SLACK_KIB, "{resident_kib} KiB more are resident");
    let counted = server.stop();
    let connections = (storms as i64 + 1) * CLIENTS as i64 + storms as i64 * 3;
    assert_eq!(counted["connections"], connections, "connections");
}

/// What is stormed at: each model under one of its accept modes, or under all of them.
pub fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for (number, model) in judged().into_iter().enumerate() {
        let modes = accept_modes(model);
        let chosen: Vec<AcceptMode> = match long_tests() {
            true => modes,
            false => vec![modes[number % modes.len()]],
        };
        for accept in chosen {
            kinds.push(Kind::new(model, accept, 2));
            let fibers = model.name().starts_with("fiber");
            if fibers && (long_tests() || number % 2 == 0) {
                let others = Kind::new(model, accept, 2);
                kinds.push(Kind { scheduler: Scheduler::Shared, arm: Arm::PerWait, ..others });
            }
        }
    }
    kinds.retain(|kind| kind.options().validate().is_ok());
    kinds
}

#[test]
fn storms_pass_and_leave_nothing_behind() {
    // A few at a time: what is asked for is disorder, not a busy machine.
    for few in kinds().chunks(2) {
        let named = few.iter().map(|kind| (format!("{kind:?}"), *kind));
        all_at_once(LIMIT, named.collect(), weather);
    }
}
