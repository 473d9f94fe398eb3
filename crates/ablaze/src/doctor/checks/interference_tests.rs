//! The checks of who else uses the machine, on made-up facts.

use ablaze_model::monitor::{Pressure, Processors};
use ablaze_monitor::preflight::{Holder, Neighbour};

use super::*;
use crate::doctor::check::State;
use crate::doctor::sample::{quiet, with_target};

fn neighbour(pid: u32, name: &str, share: f64, facts: &Facts) -> Neighbour {
    let cpu_ns = (share * facts.preflight.sample.length_ns as f64) as u64;
    Neighbour { pid, name: name.to_owned(), cpu_ns }
}

#[test]
fn neighbours_are_named_with_their_share() {
    let facts = &mut quiet();
    assert_eq!(neighbours(facts).unwrap().state, State::Ok);
    let two = [neighbour(7, "rustc", 0.9, facts), neighbour(8, "sshd", 0.05, facts)];
    facts.preflight.sample.neighbours = Some(two.to_vec());
    let check = neighbours(facts).unwrap();
    assert_eq!(check.state, State::Problem);
    assert_eq!(check.figure, "0.95 cores busy: rustc (pid 7) 90 % and sshd (pid 8) 5.0 %");
    facts.preflight.sample.neighbours = Some(vec![neighbour(7, "rustc", 0.2, facts)]);
    assert_eq!(neighbours(facts).unwrap().state, State::Note);
    facts.preflight.sample.neighbours = Some(vec![neighbour(7, "rustc", 0.02, facts)]);
    assert_eq!(neighbours(facts).unwrap().state, State::Ok);
    facts.preflight.sample.neighbours = None;
    assert_eq!(neighbours(facts).unwrap().state, State::Unknown);
}

#[test]
fn the_target_is_no_neighbour_and_what_cannot_be_seen_is_one() {
    let facts = &mut with_target("127.0.0.1:80");
    facts.preflight.sample.neighbours = Some(vec![neighbour(7, "nginx", 0.9, facts)]);
    assert_eq!(neighbours(facts).unwrap().state, State::Problem);
    let holder =
        Holder { pid: 7, name: "nginx".into(), descriptors_soft: None, descriptors_open: None };
    facts.target.as_mut().unwrap().server.holders = vec![holder];
    assert_eq!(neighbours(facts).unwrap().state, State::Ok);
    let busy_ns = 3 * facts.preflight.sample.length_ns;
    facts.preflight.sample.kernel.processors = Some(times(busy_ns, 0, busy_ns));
    let check = neighbours(facts).unwrap();
    assert_eq!(check.state, State::Note);
    assert!(check.figure.contains("2.1 more cores"), "{check:?}");
}

fn times(user_ns: u64, steal_ns: u64, idle_ns: u64) -> Processors {
    Processors {
        user_ns,
        system_ns: 0,
        interrupts_ns: 0,
        idle_ns,
        steal_ns,
        threads_include_interrupts: None,
    }
}

#[test]
fn steal_is_a_share_of_all_time() {
    let facts = &mut quiet();
    for (steal_ns, state) in
        [(0, State::Ok), (10, State::Ok), (30, State::Note), (100, State::Problem)]
    {
        facts.preflight.sample.kernel.processors = Some(times(0, steal_ns, 1000 - steal_ns));
        assert_eq!(steal(facts).unwrap().state, state, "{steal_ns}");
    }
    for processors in [None, Some(times(0, 0, 0))] {
        facts.preflight.sample.kernel.processors = processors;
        assert_eq!(steal(facts).unwrap().state, State::Unknown);
    }
}

#[test]
fn the_load_of_the_last_minute_is_held_against_the_cpus() {
    let facts = &mut quiet();
    assert_eq!(load_average(facts).unwrap().state, State::Ok);
    facts.preflight.environment.load_average = Some(8.5);
    assert_eq!(load_average(facts).unwrap().state, State::Note);
    facts.preflight.environment.load_average = None;
    assert_eq!(load_average(facts).unwrap().state, State::Unknown);
}

#[test]
fn pressure_on_memory_is_worse_than_on_processors() {
    let facts = &mut quiet();
    let ns = facts.preflight.sample.length_ns;
    let pressure_of = |cpu, memory| {
        Some(Pressure {
            cpu_some_ns: Some(cpu),
            memory_some_ns: Some(memory),
            memory_full_ns: None,
            io_some_ns: None,
            io_full_ns: None,
        })
    };
    for (waits, state) in [
        (pressure_of(ns / 10, 0), State::Ok),
        (pressure_of(ns / 2, 0), State::Note),
        (pressure_of(0, ns / 20), State::Problem),
        (None, State::Unknown),
    ] {
        facts.preflight.sample.kernel.pressure = waits;
        assert_eq!(pressure(facts).unwrap().state, state, "{waits:?}");
    }
    facts.preflight.sample.kernel.pressure = pressure_of(ns / 2, 0);
    let check = pressure(facts).unwrap();
    assert!(check.figure.contains("50 % of the time for processors"), "{check:?}");
    assert!(!check.figure.contains("disks"), "unknown is not none: {check:?}");
}

#[test]
fn memory_and_swap_are_told_by_what_is_left() {
    let facts = &mut quiet();
    assert_eq!((memory(facts).unwrap().state, swap(facts).unwrap().state), (State::Ok, State::Ok));
    let environment = &mut facts.preflight.environment;
    environment.memory_available_bytes = environment.memory_bytes.map(|bytes| bytes / 12);
    assert_eq!(memory(facts).unwrap().state, State::Note);
    facts.preflight.environment.memory_available_bytes = Some(100 * MEBIBYTE);
    assert_eq!(memory(facts).unwrap().state, State::Problem);
    facts.preflight.swap_bytes = Some(4096 * MEBIBYTE);
    for (used, state) in [(0, State::Ok), (1024 * MEBIBYTE, State::Note)] {
        facts.preflight.swap_used_bytes = Some(used);
        assert_eq!(swap(facts).unwrap().state, state);
    }
    assert_eq!(swap(facts).unwrap().command, None, "it would not fit");
    facts.preflight.environment.memory_available_bytes = Some(8192 * MEBIBYTE);
    assert!(swap(facts).unwrap().command.is_some());
    facts.preflight.swap_bytes = None;
    facts.preflight.environment.memory_bytes = None;
    let states = (memory(facts).unwrap().state, swap(facts).unwrap().state);
    assert_eq!(states, (State::Unknown, State::Unknown));
}
