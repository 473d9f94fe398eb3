//! The loop: deadlines, waking, batches.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use ablaze_net::Endpoint;
use ablaze_net::driver::{CloseHow, CloseReason, Io, Outgoing, Receive, Wait};
use ablaze_sys::clock::monotonic_ns;

use crate::conformance::recorder::{Event, Recorder, driver_to, run, setup, turn, wait_ns};
use crate::conformance::server::{RefusingPort, Server, drain, read_exactly, write};
use crate::conformance::{TestDriver, WAIT_MAX, Wakes};

/// A driver to a place that nothing is asked of.
fn idle<D: TestDriver>() -> D {
    driver_to(RefusingPort::new().address(), b"")
}

pub fn a_turn_ends_by_its_deadline<D: TestDriver>() {
    let mut driver = idle::<D>();
    let mut recorder = Recorder::silent();
    // Others may have the processor until a deadline has passed, which leaves nothing to wait for.
    let slept = (0..20).any(|_| {
        let start = monotonic_ns();
        let mut waited_ns = 0;
        // A driver may return early; all its turns together must not go on for ever nor do nothing.
        while monotonic_ns() < start + 5_000_000 {
            let wait = Wait { until_ns: start + 5_000_000, ..wait_ns(&mut driver, 0) };
            let done = driver.turn(&mut recorder, wait).unwrap();
            assert_eq!(done.events, 0);
            waited_ns += done.waited_ns;
        }
        assert!(waited_ns <= monotonic_ns() - start);
        waited_ns >= 2_000_000
    });
    assert!(slept, "it never slept for 2 ms of 5");
    let past = Wait { until_ns: 0, ..wait_ns(&mut driver, 0) };
    assert_eq!(driver.turn(&mut recorder, past).unwrap().waited_ns, 0);
}

pub fn a_waker_ends_a_wait<D: Wakes>() {
    let mut driver = idle::<D>();
    let mut recorder = Recorder::silent();
    for _ in 0..3 {
        let waker = driver.waker();
        let start = Instant::now();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(10));
            waker.wake();
        });
        let wait = Wait { until_ns: u64::MAX, spin_ns: 0, at_least: 8, gather_ns: 60_000_000_000 };
        let done = driver.turn(&mut recorder, wait).unwrap();
        assert_eq!(done.events, 0);
        thread.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    // A wake-up while nobody waits ends the next wait.
    driver.waker().wake();
    turn(&mut driver, &mut recorder, 60_000_000_000);
    // And only that one.
    let start = Instant::now();
    turn(&mut driver, &mut recorder, 5_000_000);
    turn(&mut driver, &mut recorder, 5_000_000);
    assert!(start.elapsed() >= Duration::from_millis(5), "still awake from the last time");
}

pub fn spinning_sees_events_and_is_counted<D: TestDriver>() {
    let (go, may_go) = channel::<()>();
    let server = Server::tcp(1, move |mut stream| {
        may_go.recv_timeout(WAIT_MAX).unwrap();
        write(&mut stream, b"hello");
        drain(&mut stream);
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    let spin = |driver: &mut D, ns| Wait { spin_ns: ns, ..wait_ns(driver, ns) };
    // Time in which others had the processor does not count as spun, and that can be all of one turn.
    let mut spun_ns = 0;
    let start = Instant::now();
    while spun_ns < 1_000_000 && start.elapsed() < Duration::from_secs(20) {
        let wait = spin(&mut driver, 2_000_000);
        let done = driver.turn(&mut recorder, wait).unwrap();
        assert_eq!(done.events, 0);
        assert!(done.waited_ns < 1_000_000, "{done:?}");
        spun_ns += done.spun_ns;
    }
    assert!(spun_ns >= 1_000_000, "{spun_ns} ns spun in {:?}", start.elapsed());
    go.send(()).unwrap();
    let start = Instant::now();
    while recorder.received(0) != b"hello" && start.elapsed() < Duration::from_secs(20) {
        let wait = spin(&mut driver, 1_000_000);
        driver.turn(&mut recorder, wait).unwrap();
    }
    assert_eq!(recorder.received(0), b"hello");
}

/// The thread's CPU time less what it spun is its work: sending must not be taken for watching.
pub fn sending_in_a_turn_that_spins_is_no_watching<D: TestDriver>() {
    const BYTES: u32 = 64 * 1024;
    let server = Server::tcp(1, |mut stream| drain(&mut stream));
    let mut driver: D = driver_to(server.address.clone(), &vec![b'x'; BYTES as usize]);
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    let (mut spun_ns, mut elapsed_ns) = (0, 0);
    for _ in 0..50 {
        let sends = recorder.count(&Event::Sent) + 1;
        let start = Instant::now();
        // The kernel copies all of it, which takes longer than a look.
        driver.io().send(0, Outgoing::Constant { start: 0, len: BYTES }, true);
        let wait = Wait { spin_ns: 1, ..wait_ns(&mut driver, 1_000_000) };
        spun_ns += driver.turn(&mut recorder, wait).unwrap().spun_ns;
        elapsed_ns += start.elapsed().as_nanos() as u64;
        run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Sent) >= sends);
    }
    assert!(spun_ns < elapsed_ns / 4, "{spun_ns} of {elapsed_ns} ns");
}

pub fn a_batch_is_no_larger_than_its_cap<D: TestDriver>() {
    const SLOTS: u32 = 40;
    const CAP: u32 = 8;
    let (tell, written) = channel();
    let mut streams = Vec::new();
    let server = Server::tcp(SLOTS as usize, move |mut stream| {
        write(&mut stream, b"x");
        streams.push(stream);
        tell.send(()).unwrap();
    });
    let mut setup = setup(SLOTS, vec![Endpoint::new(server.address.clone())], b"");
    setup.batch_cap = CAP;
    let mut driver = D::make(setup).unwrap();
    let mut recorder = Recorder::silent();
    for slot in 0..SLOTS {
        driver.io().open(slot, 0, D::NO_BYTES, Receive::Stream);
    }
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == SLOTS as usize);
    for _ in 0..SLOTS {
        written.recv_timeout(WAIT_MAX).unwrap();
    }
    server.join();
    run(&mut driver, &mut recorder, |recorder| {
        (0..SLOTS).all(|slot| recorder.closed(slot) == Some(CloseReason::Eof))
    });
    let events: u32 = recorder.batches.iter().sum();
    assert_eq!(events as usize, recorder.events.len(), "every event belongs to a batch");
    // One slot's opened, bytes and end come in one visit, which is not torn.
    assert!(recorder.batches.iter().all(|&batch| batch < CAP + 3), "{:?}", recorder.batches);
}

pub fn gathering_waits_for_more_but_not_for_ever<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| {
        while let Ok(()) = std::io::Read::read_exact(&mut stream, &mut [0; 4]) {
            write(&mut stream, b"pong");
        }
    });
    let mut driver: D = driver_to(server.address.clone(), b"ping");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    let ping = ablaze_net::driver::Outgoing::Constant { start: 0, len: 4 };
    driver.io().send(0, ping, false);
    let start = Instant::now();
    let wait = Wait { at_least: 16, gather_ns: 3_000_000, ..wait_ns(&mut driver, 60_000_000_000) };
    while recorder.received(0).is_empty() {
        driver.turn(&mut recorder, wait).unwrap();
    }
    assert_eq!(recorder.received(0), b"pong");
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(10), "one event must do after the bound: {elapsed:?}");
    driver.io().close(0, CloseHow::Fin);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    server.join();
}

pub fn verbs_outside_of_a_turn_are_delivered_inside<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| {
        assert_eq!(read_exactly(&mut stream, 4), b"ping");
        drain(&mut stream);
    });
    let mut driver: D = driver_to(server.address.clone(), b"ping");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    let ping = ablaze_net::driver::Outgoing::Constant { start: 0, len: 4 };
    driver.io().send(0, ping, true);
    assert_eq!(recorder.count(&Event::Sent), 0);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Sent) == 1);
    driver.io().close(0, CloseHow::Fin);
    assert_eq!(recorder.closed(0), None);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Local));
    server.join();
}
