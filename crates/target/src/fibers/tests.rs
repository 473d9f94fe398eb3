//! Servers of fibers as a whole: what must not stay behind, and what their counters say. What
//! they answer is judged with all other models, in `tests/matrix`.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use ablaze_testing::Bounded;
use rustix::net::sockopt::set_socket_recv_buffer_size;

use super::stack::Stack;
use super::switch::{Fiber, Switch};
use super::{assembly::Assembly, ucontext::Ucontext};
use crate::accepting::AcceptMode;
use crate::conditions::{Arm, FiberOptions, PerAccept, Scheduler, SocketOptions};
use crate::handler::{Body, Handler, Method, Reply, Request, Response};
use crate::{Counts, Model, Options, Running, Server};

const CHILD: &str = "ABLAZE_CHILD_OF_TEST";
const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n";

/// Runs a test of this file in a process of its own and returns how it ended; nothing in that
/// process itself.
fn in_a_child(test: &str) -> Option<(ExitStatus, String)> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("fibers::tests::{test}"), "--nocapture"]).env(CHILD, "1");
    let output = command.bounded_output().unwrap();
    Some((output.status, String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Uses more stack with each call, in frames smaller than a guard, down to an address.
fn recurse(depth: u64, down_to: usize) -> u64 {
    let frame = std::hint::black_box([depth; 32]);
    match frame.as_ptr() as usize {
        address if address < down_to => depth,
        _ => recurse(std::hint::black_box(depth + 1), down_to) + frame[depth as usize % 32],
    }
}

/// Overflows by less than a guard; without one, the process would end well.
fn overflow<S: Switch>() {
    let stack = Stack::new(64 * 1024).unwrap();
    let below = stack.lowest() - 1024;
    let mut fiber = S::Fiber::<(), ()>::new(stack, move |_, ()| {
        std::hint::black_box(recurse(0, below));
    });
    fiber.resume(());
}

#[test]
fn an_overflow_of_an_assembly_fiber_hits_the_guard() {
    match in_a_child("an_overflow_of_an_assembly_fiber_hits_the_guard") {
        None => overflow::<Assembly>(),
        Some((status, said)) => assert_eq!(status.signal(), Some(libc::SIGSEGV), "{said}"),
    }
}

#[test]
fn an_overflow_of_a_ucontext_fiber_hits_the_guard() {
    match in_a_child("an_overflow_of_a_ucontext_fiber_hits_the_guard") {
        None => overflow::<Ucontext>(),
        Some((status, said)) => assert_eq!(status.signal(), Some(libc::SIGSEGV), "{said}"),
    }
}

/// Options of every kind of fiber server.
fn kinds() -> Vec<Options> {
    let mut kinds = Vec::new();
    for model in [Model::FiberUcontext, Model::FiberAsm] {
        for arm in [Arm::Persistent, Arm::PerWait] {
            for scheduler in [Scheduler::PerThread, Scheduler::Shared] {
                let options = Options {
                    address: "127.0.0.1:0".parse().unwrap(),
                    threads: 2,
                    model,
                    accept: match scheduler {
                        Scheduler::PerThread => AcceptMode::ReusePort,
                        Scheduler::Shared => AcceptMode::Single,
                    },
                    fibers: FiberOptions { arm, scheduler, ..FiberOptions::default() },
                    ..Options::default()
                };
                if options.validate().is_ok() {
                    kinds.push(options);
                }
            }
        }
    }
    kinds
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Asks and reads a greeting.
fn ask(stream: &mut TcpStream) {
    stream.write_all(GET).unwrap();
    let mut response = Vec::new();
    while !response.ends_with(b"hello, world!\n") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "closed in a response");
        response.extend_from_slice(&bytes[..count]);
    }
}

fn until(what: &str, server: &Running, is_so: impl Fn(&Counts) -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so(&server.served()) {
        assert!(Instant::now() < end, "not within 30 s: {what}; {:?}", server.served());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Descriptors that are open, and bytes of address space, which holds every stack in full.
fn held() -> (usize, u64) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').next().unwrap().parse().unwrap();
    (descriptors, pages * rustix::param::page_size() as u64)
}

#[test]
fn a_stop_with_thousands_of_fibers_leaves_no_descriptor_and_no_stack() {
    let test = "a_stop_with_thousands_of_fibers_leaves_no_descriptor_and_no_stack";
    if let Some((status, said)) = in_a_child(test) {
        return assert!(status.success(), "{said}");
    }
    const EACH: usize = 400;
    ablaze_sys::limits::raise_descriptor_limit(u64::MAX);
    let body_bytes = Some(4 << 20);
    let sockets = SocketOptions { send_buffer_bytes: Some(65_536), ..SocketOptions::default() };
    for (round, options) in kinds().into_iter().chain(kinds().into_iter().take(1)).enumerate() {
        let name = format!("{} {:?}", options.model, options.fibers);
        let before = held();
        let server = Server::start(Options { body_bytes, sockets, ..options }).unwrap();
        let mut clients = Vec::new();
        for request in [&b""[..], b"GET /ha", GET, b"GET /delay/60000 HTTP/1.1\r\n\r\n"] {
            for _ in 0..EACH {
                let mut client = connect(server.address());
                // Small, so that a response of a few megabytes blocks.
                set_socket_recv_buffer_size(&client, 65_536).unwrap();
                client.write_all(request).unwrap();
                clients.push(client);
            }
        }
        let all = 4 * EACH as u64;
        until("all are served", &server, |counts| {
            counts.connections == all && counts.write_eagains >= EACH as u64
        });
        // Some go while the server stops.
        let stopping = std::thread::spawn(move || {
            let began = Instant::now();
            let counts = server.stop().unwrap();
            (counts, began.elapsed())
        });
        clients.truncate(3 * EACH + 10);
        let (counts, took) = stopping.join().unwrap();
        assert!(took < Duration::from_secs(20), "{name}: stopping took {took:?}");
        assert!(counts.stacks_made + counts.stacks_reused > all, "{name}: {counts:?}");
        drop(clients);
        let after = held();
        assert_eq!(after.0, before.0, "{name}: descriptors");
        // The first round also pays for what this process keeps, as the arenas of malloc.
        let grown = after.1.saturating_sub(before.1);
        let stacks = all * 64 * 1024;
        assert!(round == 0 || grown < stacks / 4, "{name}: {grown} bytes more than before");
    }
}

/// A server's counters, after this was done to it.
fn counts(options: Options, work: impl FnOnce(SocketAddr)) -> Counts {
    let server = Server::start(options).unwrap();
    work(server.address());
    server.stop().unwrap()
}

#[test]
fn a_wait_costs_two_epoll_ctl_or_none() {
    for options in kinds() {
        let arm = options.fibers.arm;
        let name = format!("{} {:?}", options.model, options.fibers);
        let counts = counts(options, |address| {
            let mut client = connect(address);
            (0..80).for_each(|_| ask(&mut client));
            // Where both share a processor, the next request is there before the server looks for it.
            (0..20).for_each(|_| {
                std::thread::sleep(Duration::from_millis(5));
                ask(&mut client);
            });
            client.shutdown(Shutdown::Write).unwrap();
            assert_eq!(client.read(&mut [0]).unwrap(), 0);
        });
        match arm {
            // The connection, two listeners at most, and what belongs to the workers.
            Arm::Persistent => {
                assert!(counts.epoll_adds <= 3 + 4, "{name}: {counts:?}");
                assert!(counts.epoll_dels <= 2, "{name}: {counts:?}");
            }
            Arm::PerWait => {
                // A wait for each read that found nothing; the others are for connections.
                let waits = counts.read_eagains + counts.write_eagains;
                assert!(waits >= 10, "{name}: {counts:?}");
                let of_accepting = counts.epoll_dels - waits;
                assert!((2..=4).contains(&of_accepting), "{name}: {counts:?}");
                let of_workers = counts.epoll_adds - counts.epoll_dels;
                assert!((3..=4).contains(&of_workers), "{name}: {counts:?}");
            }
        }
    }
}

#[test]
fn a_read_of_sylar_sets_a_timer_each_time_it_waits() {
    for options in kinds() {
        let name = format!("{} {:?}", options.model, options.fibers);
        let ask_often = |address| {
            let mut client = connect(address);
            (0..100).for_each(|_| ask(&mut client));
        };
        assert_eq!(counts(options.clone(), ask_often).timers, 0, "{name}");
        let arm = options.fibers.arm;
        let sylar = Options { per_accept: PerAccept::Sylar, ..options };
        let counts = counts(sylar, ask_often);
        match arm {
            // It waits before each read that may find nothing, here all but perhaps the first.
            Arm::Persistent => {
                assert!((100..=101).contains(&counts.timers), "{name}: {counts:?}");
            }
            // It reads first, and waits when that found nothing.
            Arm::PerWait => assert_eq!(counts.timers, counts.read_eagains, "{name}: {counts:?}"),
        }
    }
}

#[test]
fn workers_of_a_shared_scheduler_wake_each_other_and_carry_the_same_fibers() {
    for options in kinds() {
        if options.fibers.scheduler == Scheduler::PerThread {
            continue;
        }
        let name = format!("{} {:?}", options.model, options.fibers);
        // Work, so that those that can run pile up.
        let server = Server::start(Options { work_ns: 200_000, ..options }).unwrap();
        let registry = server.registry().clone();
        let mut clients: Vec<_> = (0..20).map(|_| connect(server.address())).collect();
        let shared_out = || {
            let switches = registry.workers().iter().map(|it| it.counters.read().switches);
            switches.min().unwrap() > 100 && registry.total().wakes > 10
        };
        let end = Instant::now() + Duration::from_secs(30);
        while !shared_out() {
            assert!(Instant::now() < end, "{name}: {:?}", registry.total());
            clients.iter_mut().for_each(|client| client.write_all(GET).unwrap());
            for client in &mut clients {
                let mut response = [0; 1024];
                assert!(client.read(&mut response).unwrap() > 0);
            }
        }
        // 20 connections cannot keep two workers busy without moving: one of them accepted all.
        assert_eq!(server.stop().unwrap().connections, 20, "{name}");
    }
}

/// Panics when it is asked to.
struct Brittle;

impl Handler for Brittle {
    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        false
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        assert_ne!(request.path, b"/panic", "a handler of the tests panics on purpose");
        Response::new(200, "text/plain", Body::Borrowed(b"hello, world!\n")).into()
    }
}

#[test]
fn a_handler_that_panics_costs_its_own_connection_only() {
    let blocking = Options {
        address: "127.0.0.1:0".parse().unwrap(),
        model: Model::Blocking,
        threads: 1,
        ..Options::default()
    };
    for options in kinds().into_iter().chain([blocking]) {
        let name = format!("{} {:?}", options.model, options.fibers);
        let server = Server::start_with(options, Brittle).unwrap();
        let mut kept = connect(server.address());
        ask(&mut kept);
        for _ in 0..5 {
            let mut failing = connect(server.address());
            // A response that was made, but not written, when the next request fails.
            let both = [GET, b"GET /panic HTTP/1.1\r\nHost: test\r\n\r\n"].concat();
            failing.write_all(&both).unwrap();
            let mut rest = Vec::new();
            failing.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"", "{name}");
            kept.write_all(GET).unwrap();
            let mut response = [0; 4096];
            let count = kept.read(&mut response).unwrap();
            let heads = response[..count].windows(9).filter(|nine| nine == b"HTTP/1.1 ").count();
            assert_eq!(heads, 1, "{name}: another's response was sent");
        }
        server.stop().unwrap();
    }
}
