//! A server that has nothing to do does nothing: no event that stays true makes it spin, neither
//! a client that does not read, nor bytes or an end of the stream that it does not want to read
//! yet, nor connections that it has no descriptor for.

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::child::{Kind, ServerProcess};
use crate::client::{Client, HELLO, get};
use crate::models::all_at_once;
use crate::storms::kinds;

const LIMIT: Duration = Duration::from_secs(90);
/// How often a server is looked at, and at what distance.
const LOOKS: usize = 50;
const APART: Duration = Duration::from_millis(10);

/// Whether any of its threads runs or waits for a CPU (proc_pid_stat(5): the field behind the
/// name, which may hold anything). Unlike its CPU time, that does not depend on who else runs.
fn is_runnable(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let stats =
        tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")).ok());
    let mut states = stats.map(|stat| stat.rsplit_once(") ").unwrap().1.as_bytes()[0]);
    states.any(|state| state == b'R')
}

/// Whoever spins is runnable whenever it is looked at, whoever sleeps hardly ever.
fn assert_still(server: &ServerProcess, while_what: &str) {
    // What happened before has settled by now.
    thread::sleep(Duration::from_millis(100));
    let mut runnable = 0;
    for _ in 0..LOOKS {
        thread::sleep(APART);
        runnable += usize::from(is_runnable(server.pid));
    }
    assert!(runnable < LOOKS / 3, "runnable in {runnable} of {LOOKS} looks {while_what}");
}

fn for_each_kind(run: impl Fn(Kind) + Send + Sync + Copy + 'static) {
    let named = kinds().into_iter().map(|kind| (format!("{kind:?}"), kind));
    all_at_once(LIMIT, named.collect(), run);
}

#[test]
fn a_server_that_has_to_wait_sleeps() {
    for_each_kind(|kind| {
        let server = ServerProcess::start(kind);
        let connect = || Client::connect_narrow(server.address);
        let mut clients: Vec<_> = (0..20).map(|_| connect()).collect();
        for client in &mut clients {
            assert_eq!(client.ask(get("/hello")).body, HELLO);
        }
        assert_still(&server, "with idle connections");
        for client in &mut clients[10..] {
            client.send(get("/bytes/8388608"));
        }
        thread::sleep(Duration::from_millis(50));
        for client in &mut clients[10..] {
            assert_eq!(client.response().body.len(), 8_388_608);
        }
        // Whoever waited for room to write has to stop waiting for it.
        assert_still(&server, "with idle connections whose responses had been blocked");
        for client in &mut clients[..5] {
            client.send(get("/bytes/8388608").repeat(3));
        }
        assert_still(&server, "with clients that do not read");
        for client in &clients[..5] {
            client.finish();
        }
        assert_still(&server, "with clients that do not read and have closed their side");
        for client in &mut clients[5..10] {
            client.send(get("/delay/2000"));
        }
        thread::sleep(Duration::from_millis(50));
        for client in &mut clients[5..10] {
            client.send(get("/hello").repeat(100));
            client.finish();
        }
        assert_still(&server, "with bytes, and their end, behind a delayed response");
        for client in &mut clients[5..10] {
            for _ in 0..101 {
                assert_eq!(client.response().body, HELLO);
            }
            assert_eq!(client.rest(), b"");
        }
        for client in &mut clients[..5] {
            for _ in 0..3 {
                assert_eq!(client.response().body.len(), 8_388_608);
            }
            assert_eq!(client.rest(), b"");
        }
    });
}

#[test]
fn connections_without_a_descriptor_wait_until_there_is_one() {
    const CLIENTS: usize = 150;
    for_each_kind(|kind| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""]);
        command.arg(std::env::current_exe().unwrap());
        let server = ServerProcess::start_as(command, kind).unwrap();
        let connected =
            (0..CLIENTS).map(|n| (format!("client {n}"), Client::connect(server.address)));
        let clients: Vec<_> = connected.collect();
        thread::sleep(Duration::from_millis(200));
        assert_still(&server, "without descriptors");
        // Whoever was accepted is served and leaves, which makes room for the next. Who that is
        // depends on the worker: all of them ask.
        all_at_once(LIMIT, clients, |mut client| {
            assert_eq!(client.ask(get("/hello")).body, HELLO);
        });
        assert_eq!(server.stop()["connections"], CLIENTS as i64);
    });
}
