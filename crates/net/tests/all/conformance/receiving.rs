//! Modes of receiving.

use std::sync::mpsc::channel;
use std::time::Duration;

use ablaze_net::driver::{CloseReason, Io, Outgoing, Receive};

use crate::conformance::recorder::{Event, Recorder, driver_to, pattern, run, run_for};
use crate::conformance::server::{Server, drain, write};
use crate::conformance::{TestDriver, WAIT_MAX};

/// Opens slot 0 in `mode` and records until it is closed.
fn receive_all<D: TestDriver>(server: Server, mode: Receive) -> Recorder<D::Io> {
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, mode);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Eof));
    server.join();
    recorder
}

pub fn a_response_split_at_every_byte_arrives_whole<D: TestDriver>() {
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let server = Server::tcp(1, move |mut stream| {
        for byte in response {
            write(&mut stream, &[*byte]);
            std::thread::yield_now();
        }
    });
    assert_eq!(receive_all::<D>(server, Receive::Stream).received(0), response);
}

pub fn more_bytes_than_the_buffer_arrive_in_order<D: TestDriver>() {
    let body = pattern(300_000);
    let sent = body.clone();
    let server = Server::tcp(1, move |mut stream| write(&mut stream, &sent));
    assert_eq!(receive_all::<D>(server, Receive::Stream).received(0), body);
}

pub fn bulk_arrives_whole<D: TestDriver>() {
    let body = pattern(5_000_000);
    let sent = body.clone();
    let server = Server::tcp(1, move |mut stream| write(&mut stream, &sent));
    assert_eq!(receive_all::<D>(server, Receive::Bulk).received(0), body);
}

/// A server that writes `body`, tells, and waits for the client to close.
fn stock(body: Vec<u8>) -> (Server, std::sync::mpsc::Receiver<()>) {
    let (tell, written) = channel();
    let server = Server::tcp(1, move |mut stream| {
        write(&mut stream, &body);
        tell.send(()).unwrap();
        drain(&mut stream);
    });
    (server, written)
}

pub fn a_head_is_read_in_one_small_piece<D: TestDriver>() {
    let body = pattern(60_000);
    let (server, written) = stock(body.clone());
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    written.recv_timeout(WAIT_MAX).unwrap();
    driver.io().receive(0, Receive::Head);
    run(&mut driver, &mut recorder, |recorder| !recorder.received(0).is_empty());
    run_for(&mut driver, &mut recorder, Duration::from_millis(30));
    let head = recorder.received(0);
    assert!(head.len() <= 16 * 1024, "{} bytes are no small piece", head.len());
    assert_eq!(head, body[..head.len()]);
    let is_first = recorder.events.iter().find_map(|(_, event)| match event {
        Event::Received { more, .. } => Some(*more),
        _ => None,
    });
    assert_eq!(is_first, Some(true), "the kernel held more");

    let left = (body.len() - head.len()) as u64;
    driver.io().receive(0, Receive::Discard(left));
    run(&mut driver, &mut recorder, |recorder| {
        recorder.discarded(0) + (recorder.received(0).len() - head.len()) as u64 == left
    });
}

/// Everything is there before the first read and nothing follows, so that no new event helps a
/// driver that stops in between, for the sake of fairness or otherwise.
pub fn a_stock_is_read_to_its_end_in_small_pieces<D: TestDriver>() {
    let body = pattern(60_000);
    let (server, written) = stock(body.clone());
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
        if matches!(event, Event::Received { .. }) {
            io.receive(slot, Receive::Head);
        }
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    written.recv_timeout(WAIT_MAX).unwrap();
    driver.io().receive(0, Receive::Head);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0).len() == body.len());
    assert_eq!(recorder.received(0), body);
}

/// Discards `asked` of `body` from the start, as a handler does: what still comes copied counts,
/// and what is left is asked for again. Then receives the rest.
fn discard<D: TestDriver>(server: Server, asked: u64, written: &std::sync::mpsc::Receiver<()>) {
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut gone = 0u64;
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| {
        match event {
            Event::Discarded(bytes) => gone += bytes,
            Event::Received { bytes, .. } if gone < asked => {
                gone += bytes.len() as u64;
                assert!(gone <= asked, "the case keeps copied bytes below what it asks for");
                if gone < asked {
                    io.receive(slot, Receive::Discard(asked - gone));
                }
            }
            _ => return,
        }
        assert!(gone <= asked, "more was dropped than asked: {gone} of {asked}");
        if gone == asked {
            io.receive(slot, Receive::Stream);
        }
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Discard(asked));
    run(&mut driver, &mut recorder, |recorder| {
        recorder.received(0).ends_with(b"END") || recorder.closed(0).is_some()
    });
    written.recv_timeout(WAIT_MAX).unwrap();
    let all = recorder.discarded(0) + recorder.received(0).len() as u64;
    assert_eq!(all, asked + 3);
    assert_eq!(recorder.discarded(0), asked, "nothing was armed that copies");
    assert_eq!(recorder.received(0), b"END");
}

pub fn discard_drops_exactly_what_was_asked<D: TestDriver>() {
    let mut body = pattern(3_000_000);
    body.extend_from_slice(b"END");
    let (server, written) = stock(body);
    discard::<D>(server, 3_000_000, &written);
}

/// The bytes in front of a body's last part are waited for together; the few bytes behind it are
/// told at once anyway, body after body.
pub fn large_bodies_dropped_in_parts_do_not_hold_up_what_follows<D: TestDriver>() {
    const BODY_BYTES: u64 = 300_000;
    let server = Server::tcp(1, |mut stream| {
        for _ in 0..3 {
            for _ in 0..3 {
                write(&mut stream, &pattern(BODY_BYTES as usize / 3));
                std::thread::sleep(Duration::from_millis(3));
            }
            std::thread::sleep(Duration::from_millis(10));
            write(&mut stream, b"END");
            // Whoever waits for more than these three bytes waits until the test gives up.
            let mut go_on = [0];
            std::io::Read::read_exact(&mut stream, &mut go_on).unwrap();
        }
    });
    let mut driver: D = driver_to(server.address.clone(), b"+");
    let mut left = BODY_BYTES;
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| match event {
        Event::Discarded(bytes) => {
            left -= bytes;
            if left == 0 {
                io.receive(slot, Receive::Stream);
            }
        }
        Event::Received { bytes, .. } => {
            assert_eq!(bytes, b"END");
            left = BODY_BYTES;
            io.send(slot, Outgoing::Constant { start: 0, len: 1 }, false);
            io.receive(slot, Receive::Discard(BODY_BYTES));
        }
        _ => {}
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Discard(BODY_BYTES));
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.discarded(0), 3 * BODY_BYTES);
    assert_eq!(recorder.received(0), b"ENDENDEND");
    server.join();
}

pub fn a_large_body_cut_short_is_counted_to_its_last_byte<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| {
        for _ in 0..3 {
            write(&mut stream, &pattern(100_000));
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let recorder = receive_all::<D>(server, Receive::Discard(3_000_000));
    assert_eq!(recorder.discarded(0), 300_000);
}

pub fn discard_leaves_the_surplus<D: TestDriver>() {
    let mut body = pattern(1_000);
    body.extend_from_slice(b"END");
    let (server, written) = stock(body);
    discard::<D>(server, 1_000, &written);
}

pub fn discard_over_a_unix_socket<D: TestDriver>() {
    let mut body = pattern(1_000_000);
    body.extend_from_slice(b"END");
    let (tell, written) = channel();
    let server = Server::unix(1, move |mut stream| {
        write(&mut stream, &body);
        tell.send(()).unwrap();
        drain(&mut stream);
    });
    discard::<D>(server, 1_000_000, &written);
}

pub fn discard_to_end_counts_everything<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| write(&mut stream, &pattern(2_000_000)));
    let recorder = receive_all::<D>(server, Receive::DiscardToEnd);
    assert_eq!(recorder.discarded(0), 2_000_000);
    assert_eq!(recorder.received(0), b"");
}

pub fn a_pause_holds_bytes_until_resumed<D: TestDriver>() {
    let (server, written) = stock(b"held".to_vec());
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    written.recv_timeout(WAIT_MAX).unwrap();
    run_for(&mut driver, &mut recorder, Duration::from_millis(30));
    assert_eq!(recorder.received(0), b"");
    // No new edge comes: the bytes have been there for long.
    driver.io().receive(0, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0) == b"held");
}

pub fn a_pause_from_another_slots_event_is_resumed<D: TestDriver>() {
    let (held, written) = stock(b"held".to_vec());
    let other = Server::tcp(1, |mut stream| write(&mut stream, b"go"));
    let endpoints = [&held, &other].map(|server| ablaze_net::Endpoint::new(server.address.clone()));
    let mut driver =
        D::make(crate::conformance::recorder::setup(2, endpoints.to_vec(), b"")).unwrap();
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
        if slot == 1 && matches!(event, Event::Received { .. }) {
            io.receive(0, Receive::Stream);
        }
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    written.recv_timeout(WAIT_MAX).unwrap();
    run_for(&mut driver, &mut recorder, Duration::from_millis(10));
    driver.io().open(1, 1, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0) == b"held");
    other.join();
}
