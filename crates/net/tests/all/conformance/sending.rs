//! Sends: partial, queued, leased, failed.

use std::io::{Read, Write};
use std::sync::mpsc::channel;
use std::time::Duration;

use ablaze_net::driver::{CloseReason, Io, Outgoing, Receive};

use crate::conformance::recorder::{Event, Recorder, driver_to, pattern, run, run_for};
use crate::conformance::server::{Server, read_exactly, write};
use crate::conformance::{TestDriver, WAIT_MAX};

const LARGE: usize = 8 * 1024 * 1024;

/// Reads in bites with a pause in front, checks every byte, responses, and closes.
fn read_slowly(stream: &mut (impl Read + Write), expected: &[u8]) {
    std::thread::sleep(Duration::from_millis(50));
    for (number, bite) in expected.chunks(256 * 1024).enumerate() {
        assert_eq!(read_exactly(stream, bite.len()), bite, "bite {number}");
        if number % 8 == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    write(stream, b"thanks");
}

/// Sends 8 MiB, and while that is under way 4 bytes and 1 MiB more.
fn send_to_slow_reader<D: TestDriver>(serve: impl FnOnce(Vec<u8>) -> Server) {
    let bytes = pattern(LARGE);
    let all = [&bytes[..], &bytes[..4], &bytes[4..1_000_000]].concat();
    let server = serve(all);
    let mut driver: D = driver_to(server.address.clone(), &bytes);
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
        if *event == Event::Opened {
            io.send(slot, Outgoing::Constant { start: 0, len: LARGE as u32 }, true);
            io.send(slot, Outgoing::Constant { start: 0, len: 4 }, false);
            io.send(slot, Outgoing::Constant { start: 4, len: 1_000_000 - 4 }, true);
        }
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"thanks");
    assert_eq!(recorder.count(&Event::Sent), 2);
    assert_eq!(recorder.closed(0), Some(CloseReason::Eof));
    server.join();
}

pub fn a_slow_reader_gets_everything_in_order<D: TestDriver>() {
    send_to_slow_reader::<D>(|all| {
        Server::tcp(1, move |mut stream| read_slowly(&mut stream, &all))
    });
}

pub fn a_slow_reader_on_a_unix_socket_gets_everything<D: TestDriver>() {
    send_to_slow_reader::<D>(|all| {
        Server::unix(1, move |mut stream| read_slowly(&mut stream, &all))
    });
}

/// From the call on until the kernel has the last byte.
pub fn what_has_not_left_is_unsent<D: TestDriver>() {
    let bytes = pattern(LARGE);
    let all = bytes.clone();
    let server = Server::tcp(1, move |mut stream| read_slowly(&mut stream, &all));
    let mut driver: D = driver_to(server.address.clone(), &bytes);
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| match event {
        Event::Opened => {
            assert!(!io.unsent(slot), "nothing was sent");
            io.send(slot, Outgoing::Constant { start: 0, len: LARGE as u32 }, true);
            assert!(io.unsent(slot), "no socket takes 8 MiB at once");
        }
        Event::Sent => assert!(!io.unsent(slot), "the kernel has it"),
        _ => {}
    });
    driver.io().open(0, 0, None, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.count(&Event::Sent), 1);
    server.join();
}

pub fn leased_bytes_are_sent<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| {
        assert_eq!(read_exactly(&mut stream, 6), b"first.");
        assert_eq!(read_exactly(&mut stream, 7), b"second.");
        write(&mut stream, b"ok");
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let first = driver.io().lease(6);
    let second = driver.io().lease(100);
    driver.io().leased(first)[..6].copy_from_slice(b"first.");
    driver.io().leased(second)[..7].copy_from_slice(b"second.");
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| match event {
        Event::Opened => io.send(slot, Outgoing::Leased { buffer: second, len: 7 }, true),
        Event::Closed(_) => {
            io.release(first);
            io.release(second);
        }
        _ => {}
    });
    let first_bytes = Outgoing::Leased { buffer: first, len: 6 };
    driver.io().open(0, 0, Some(first_bytes), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"ok");
    assert_eq!(recorder.count(&Event::Sent), 1);
    server.join();
}

pub fn sends_before_the_connection_stands_keep_their_order<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| {
        assert_eq!(read_exactly(&mut stream, 9), b"123456789");
        write(&mut stream, b"ok");
    });
    let mut driver: D = driver_to(server.address.clone(), b"123456789");
    let mut recorder = Recorder::silent();
    let part = |start, len| Outgoing::Constant { start, len };
    driver.io().open(0, 0, Some(part(0, 3)), Receive::Stream);
    driver.io().send(0, part(3, 1), false);
    driver.io().send(0, part(4, 5), true);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"ok");
    assert_eq!(recorder.count(&Event::Sent), 1);
    server.join();
}

/// The server answers and closes for good while the client has not looked; then the client sends
/// twice: the first provokes an RST, the second fails.
pub fn a_failed_send_does_not_hide_the_response<D: TestDriver>() {
    let (tell, gone) = channel();
    let server = Server::tcp(1, move |mut stream| {
        write(&mut stream, b"response");
        drop(stream);
        tell.send(()).unwrap();
    });
    let mut driver: D = driver_to(server.address.clone(), b"late");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    gone.recv_timeout(WAIT_MAX).unwrap();
    for _ in 0..2 {
        driver.io().send(0, Outgoing::Constant { start: 0, len: 4 }, false);
        run_for(&mut driver, &mut recorder, Duration::from_millis(20));
    }
    driver.io().receive(0, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"response");
    let reason = recorder.closed(0).unwrap();
    assert!(matches!(reason, CloseReason::Eof | CloseReason::Transfer(_)), "{reason:?}");
    server.join();
}
