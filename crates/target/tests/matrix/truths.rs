//! What is known of the models beforehand, as their counters tell it: how many epoll_ctl a
//! blocked response costs, how many workers an accept wakes, what a context switch asks of the
//! kernel.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use ablaze_target::accepting::AcceptMode;
use ablaze_target::conditions::{AcceptBatch, SocketOptions};
use ablaze_target::{Counts, Model, Options, Running};

use crate::child::{Kind, ServerProcess};
use crate::client::{Client, HELLO, get};
use crate::models::{accept_modes, judged, options, start};
use crate::traced::{Traced, untraceable};

/// The models of this name that are there and can serve here: one or none.
fn named(name: &str) -> Option<Model> {
    judged().into_iter().find(|model| model.name() == name)
}

/// What one connection's responses cost, without what connecting and closing cost.
fn costs(model: Model, path: &str, responses: u64, body_bytes: usize) -> Counts {
    let sockets = SocketOptions { send_buffer_bytes: Some(65_536), ..SocketOptions::default() };
    let server = start(Options { sockets, ..options(model, accept_modes(model)[0], 1) });
    let mut client = Client::connect_narrow(server.address());
    assert_eq!(client.ask(get("/hello")).body, HELLO);
    let before = settled(&server);
    for _ in 0..responses {
        let blocked = server.served().write_eagains;
        client.send(get(path));
        if body_bytes > HELLO.len() {
            // Nobody reads, and no buffer holds all of it: it has to block.
            let end = Instant::now() + Duration::from_secs(10);
            while server.served().write_eagains == blocked {
                assert!(Instant::now() < end, "{model}: the response did not block");
                thread::sleep(Duration::from_millis(1));
            }
        }
        assert_eq!(client.response().body.len(), body_bytes);
    }
    settled(&server) - before
}

/// The counters, once nothing moves any more: the last epoll_ctl may come after the last byte.
fn settled(server: &Running) -> Counts {
    let mut last = server.served();
    loop {
        thread::sleep(Duration::from_millis(30));
        let now = server.served();
        let still = Counts { cpu_ns: 0, ..now } == Counts { cpu_ns: 0, ..last };
        if still {
            return now;
        }
        last = now;
    }
}

fn epoll_ctls(counts: &Counts) -> (u64, u64, u64) {
    (counts.epoll_adds, counts.epoll_mods, counts.epoll_dels)
}

#[test]
fn a_blocked_response_costs_two_epoll_ctl_level_triggered_and_none_edge_triggered() {
    const ANSWERS: u64 = 10;
    // However often a response blocks: armed once, disarmed once.
    for (name, expected) in [("epoll-lt", (0, 2 * ANSWERS, 0)), ("epoll-et", (0, 0, 0))] {
        let Some(model) = named(name) else { continue };
        let blocked = costs(model, "/bytes/8388608", ANSWERS, 8_388_608);
        assert!(blocked.write_eagains >= ANSWERS, "{name}: {blocked:?}");
        assert!(blocked.out_events >= ANSWERS, "{name}: {blocked:?}");
        assert_eq!(epoll_ctls(&blocked), expected, "{name}, blocked");
        let free = costs(model, "/hello", 50, HELLO.len());
        assert_eq!((free.write_eagains, free.out_events), (0, 0), "{name}");
        assert_eq!(epoll_ctls(&free), (0, 0, 0), "{name}, nothing blocks");
    }
}

/// Voluntary context switches of each of the server's threads: times it slept and was woken.
fn woken(server: &ServerProcess) -> BTreeMap<u32, u64> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid)).unwrap();
    let mut woken = BTreeMap::new();
    for task in tasks {
        let path = task.unwrap().path();
        let thread = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        if server.foreign_threads.contains(&thread) {
            continue;
        }
        let status = std::fs::read_to_string(path.join("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        woken.insert(thread, line.unwrap().trim().parse().unwrap());
    }
    woken
}

/// Workers that an accept wakes, on average: connections come one by one to workers that sleep.
fn workers_woken(model: Model, accept: AcceptMode) -> f64 {
    const CONNECTIONS: usize = 100;
    let kind = Kind { batch: AcceptBatch::One, ..Kind::new(model, accept, 4) };
    let server = ServerProcess::start(kind);
    let mut clients = Vec::new();
    let mut distinct = 0;
    thread::sleep(Duration::from_millis(50));
    for _ in 0..CONNECTIONS {
        let before = woken(&server);
        clients.push(Client::connect(server.address));
        thread::sleep(Duration::from_millis(3));
        let after = woken(&server);
        distinct += after.iter().filter(|(thread, count)| before[*thread] != **count).count();
    }
    distinct as f64 / CONNECTIONS as f64
}

#[test]
fn an_accept_wakes_the_herd_or_one_worker() {
    for name in ["epoll-lt", "epoll-et"] {
        let Some(model) = named(name) else { continue };
        let of = |accept| workers_woken(model, accept);
        // Four workers sleep on the shared listener, and the kernel wakes each of them.
        let shared = of(AcceptMode::Shared);
        assert!(shared > 1.5, "{name}, shared: {shared} workers woken per accept");
        for accept in [AcceptMode::Exclusive, AcceptMode::ReusePort] {
            let woken = of(accept);
            assert!((0.7..1.3).contains(&woken), "{name}, {accept}: {woken} woken per accept");
        }
    }
}

#[test]
fn a_ucontext_switch_sets_the_signal_mask_and_an_assembly_switch_does_not() {
    if untraceable().is_some() {
        return;
    }
    for name in ["fiber-ucontext", "fiber-asm"] {
        let Some(model) = named(name) else { continue };
        let traced = Traced::new(Kind::new(model, accept_modes(model)[0], 1), |server| {
            let mut client = Client::connect(server.address);
            for _ in 0..500 {
                assert_eq!(client.ask(get("/hello")).body, HELLO);
            }
        });
        let switches = traced.counted["switches"];
        assert!(switches >= 1000, "{name}: {switches} switches for 500 requests, there and back");
        let masks = traced.calls(&["rt_sigprocmask"]);
        // Starting and ending threads sets it a few times as well.
        let expected = if name == "fiber-ucontext" { switches } else { 0 };
        let stray = masks - expected;
        assert!((0..40).contains(&stray), "{name}: {masks} rt_sigprocmask, {switches} switches");
    }
}
