//! A process and its threads, read from /proc.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ablaze_testing::Bounded;

use super::super::thread::Account;
use super::*;
use crate::clock::monotonic_ns;

const STAT: &str = "4711 (a (b) c) S 1 2 3 4 -1 4194304 99 0 0 0 250 125 0 0 20 0 7 0 1592228 \
                    3133440 413 18446744073709551615 1 2 3";

#[test]
fn a_name_with_brackets_does_not_shift_the_fields() {
    let whole = parsed_stat(STAT, Some(9)).unwrap();
    assert_eq!((whole.user_ns, whole.system_ns), (ticks_ns(250), ticks_ns(125)));
    assert_eq!((whole.thread_count, whole.stopped_by), (7, None));
    let in_state = |state: &str| parsed_stat(&STAT.replace(") S", state), None).unwrap().stopped_by;
    assert_eq!([") T", ") t"].map(in_state), [Some(Stopper::Signal), Some(Stopper::Tracer)]);
    assert_eq!(whole.memory_bytes, 413 * rustix::param::page_size() as u64);
}

/// strace stops a process for a moment at each of its system calls; a debugger, and SIGSTOP, until it is continued.
#[test]
fn moments_in_which_a_tracer_stops_a_process_are_no_stop() {
    let counted = |states: &[(&str, u64)]| {
        let readings: Vec<(u64, Whole)> = states
            .iter()
            .map(|(state, ticks)| {
                let stat = STAT
                    .replace(") S", &format!(") {state}"))
                    .replace(" 250 ", &format!(" {ticks} "));
                (0, parsed_stat(&stat, None).unwrap())
            })
            .collect();
        stopped(&readings)
    };
    assert_eq!(counted(&[("S", 1), ("t", 2), ("t", 5), ("R", 9), ("t", 9), ("S", 9)]), 0);
    assert_eq!(counted(&[("S", 1), ("t", 2), ("t", 2), ("t", 2), ("R", 9)]), 3);
    assert_eq!(counted(&[("T", 2), ("S", 3), ("T", 4)]), 2);
}

#[test]
fn malformed_texts_are_none() {
    for text in ["", "4711", "4711 (a", "4711 (a) S 1 2", &STAT.replace("250", "x")] {
        assert!(parsed_stat(text, None).is_none(), "{text}");
    }
    assert!(parsed_stat(&STAT.replace(") S", ") Z"), None).is_none(), "it has ended");
    assert_eq!(account_of("5 6 7\n"), Some(Account { cpu_ns: 5, waited_ns: 6 }));
    for text in ["", "5", "x 6 7"] {
        assert_eq!(account_of(text), None, "{text}");
    }
}

/// A thread that works and one that sleeps, seen from outside. On a machine whose processors are
/// wanted by others the worker may not get a whole one, but it wants one all the time.
#[test]
fn a_spinning_thread_wants_a_core_and_a_sleeping_one_none() {
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    let spinning = std::thread::Builder::new()
        .name("spinning".into())
        .spawn(move || while !until.load(Ordering::Relaxed) {})
        .unwrap();
    let until = Arc::clone(&over);
    let sleeping = std::thread::Builder::new()
        .name("sleeping".into())
        .spawn(move || {
            while !until.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
        })
        .unwrap();
    let mut watched = Watched::new(std::process::id());
    let begun_ns = monotonic_ns();
    for _ in 0..12 {
        std::thread::sleep(Duration::from_millis(50));
        watched.look(monotonic_ns());
    }
    let process = watched.seen((begun_ns, monotonic_ns()));
    over.store(true, Ordering::Relaxed);
    spinning.join().unwrap();
    sleeping.join().unwrap();
    let share = |name: &str| {
        let thread = process.threads.iter().find(|thread| thread.name == name).unwrap();
        let wanted_ns = thread.cpu_ns + thread.waited_ns;
        wanted_ns as f64 / process.watched_ns as f64
    };
    // The kernel brings the account of a running thread up to date at its tick, 10 ms at most.
    assert!((0.9..1.1).contains(&share("spinning")), "{process:?}");
    assert!(share("sleeping") < 0.3, "{process:?}");
    assert!(process.watched_ns >= 500_000_000 && process.readings == 12, "{process:?}");
    assert!(process.memory_bytes.unwrap().max > 100_000);
    assert!(process.switches.unwrap().voluntary > 0);
}

#[test]
fn a_process_that_is_gone_has_no_figures() {
    let mut child = std::process::Command::new("true").start().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    let mut watched = Watched::new(pid);
    watched.look(5);
    let seen = watched.seen((0, 10));
    assert_eq!((seen.watched_ns, seen.readings, seen.switches), (0, 0, None));
    assert_eq!((seen.memory_bytes, seen.busiest_share()), (None, None));
}

/// However crowded the machine is, one of this process's threads gets some time while it works.
#[test]
fn a_thread_that_works_without_a_load_is_seen() {
    let mut watched = Watched::that_serves(std::process::id());
    let before = watched.busy_times();
    let begun_ns = monotonic_ns();
    while monotonic_ns() - begun_ns < 60_000_000 {
        std::hint::black_box(begun_ns);
    }
    let watched_ns = monotonic_ns() - begun_ns;
    watched.was_at_rest(Duration::from_millis(15), watched_ns, &before);
    let at_rest = watched.seen((0, u64::MAX)).at_rest.unwrap();
    assert_eq!((at_rest.settled_ns, at_rest.watched_ns), (15_000_000, watched_ns));
    assert!(at_rest.busiest_share > 0.0 && at_rest.busiest_share < 1.5, "{at_rest:?}");
    assert_eq!(Watched::new(std::process::id()).seen((0, 1)).serving, None, "the client");
}

/// A program that loads its own server: what the client's threads use is not the server's.
#[test]
fn a_process_that_serves_and_loads_is_without_the_clients_threads() {
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    let client = std::thread::Builder::new()
        .name("worker-0".into())
        .spawn(move || while !until.load(Ordering::Relaxed) {})
        .unwrap();
    let (mut server, mut all) =
        (Watched::that_serves(std::process::id()), Watched::new(std::process::id()));
    let begun_ns = monotonic_ns();
    for _ in 0..8 {
        std::thread::sleep(Duration::from_millis(50));
        let now_ns = monotonic_ns();
        server.look(now_ns);
        all.look(now_ns);
    }
    let window_ns = (begun_ns, monotonic_ns());
    let (server, all) = (server.seen(window_ns), all.seen(window_ns));
    over.store(true, Ordering::Relaxed);
    client.join().unwrap();
    let worker = all.threads.iter().find(|thread| thread.name == "worker-0").unwrap();
    assert!(server.threads.iter().all(|thread| thread.name != "worker-0"), "{server:?}");
    // Ticks of 10 ms in the account of the whole.
    let rest_ns = all.cpu_ns().saturating_sub(worker.cpu_ns);
    assert!(server.cpu_ns() <= rest_ns + 40_000_000, "{server:?}\n{all:?}");
}

#[test]
fn lists_of_cpus_are_read() {
    let read = |list| parsed_cpus(list).collect::<Vec<_>>();
    assert_eq!(read("\t0-2,7\n"), [0, 1, 2, 7]);
    assert_eq!(read("3"), [3]);
    assert_eq!(read("x,5-"), [0; 0]);
}

/// A shell and its child: the child is found, and told as ended when it is gone.
#[test]
fn children_are_found_and_their_end_is_seen() {
    use ablaze_testing::Bounded;

    let mut shell = std::process::Command::new("sh")
        .args(["-c", "sleep 30 & echo $!; read end; kill $!; wait"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .start()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let watched = Watched::new(shell.id());
    let child: u32 = line.trim().parse().unwrap();
    let found = watched.children();
    let mut of_child = Watched::new(child);
    of_child.look(1);
    assert!(!of_child.has_ended());
    drop(shell.stdin.take());
    shell.wait().unwrap();
    of_child.look(2);
    assert!(of_child.has_ended() && of_child.was_hardly_seen());
    // Kernels without CONFIG_PROC_CHILDREN do not tell.
    if std::path::Path::new("/proc/self/task")
        .join(std::process::id().to_string())
        .join("children")
        .exists()
    {
        assert_eq!(found, [child]);
    }
    assert!(!of_child.seen((0, 10)).cpus_allowed.is_empty());
}
