//! Ends of connections: whose, in which manner, and exactly once.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::channel;
use std::time::Duration;

use ablaze_net::Endpoint;
use ablaze_net::driver::{CloseHow, CloseReason, Io, Outgoing, Receive, Wait};

use crate::conformance::recorder::{
    Event, Recorder, driver_to, run, run_for, setup, turn, wait_ns,
};
use crate::conformance::server::{
    RefusingPort, Server, drain, read_exactly, reset_on_close, write,
};
use crate::conformance::{TestDriver, WAIT_MAX};

pub fn data_then_fin_is_data_then_eof<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| write(&mut stream, b"last words"));
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"last words");
    assert_eq!(recorder.closed(0), Some(CloseReason::Eof));
    server.join();
}

/// Opens in `mode`; the server runs `act` once the client has seen the connection, and resets.
fn reset_after<D: TestDriver>(
    mode: Receive,
    act: impl Fn(&mut std::net::TcpStream) + Send + 'static,
) -> (D, Recorder<D::Io>) {
    let (go, may_go) = channel::<()>();
    let (tell, done) = channel();
    let server = Server::tcp(1, move |mut stream| {
        may_go.recv_timeout(WAIT_MAX).unwrap();
        act(&mut stream);
        reset_on_close(&stream);
        drop(stream);
        tell.send(()).unwrap();
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, D::NO_BYTES, mode);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    go.send(()).unwrap();
    done.recv_timeout(WAIT_MAX).unwrap();
    (driver, recorder)
}

pub fn a_reset_is_a_transfer_error<D: TestDriver>() {
    let (mut driver, mut recorder) = reset_after::<D>(Receive::Stream, |_| {});
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Transfer(libc::ECONNRESET)));
}

/// The server reads a little of what is long and resets: the end is that reset, whichever call of the
/// kernel's took it.
pub fn a_reset_within_a_long_send_is_a_transfer_error<D: TestDriver>() {
    const LENGTH: u32 = 32 << 20;
    for _ in 0..20 {
        let server = Server::tcp(1, |mut stream| {
            let mut some = [0; 1000];
            let _ = stream.read(&mut some);
            std::thread::sleep(Duration::from_millis(5));
            reset_on_close(&stream);
        });
        let mut driver: D = driver_to(server.address.clone(), &vec![b'x'; LENGTH as usize]);
        driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
        let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
            if *event == Event::Opened {
                io.send(slot, Outgoing::Constant { start: 0, len: LENGTH }, false);
            }
        });
        run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
        assert_eq!(recorder.closed(0), Some(CloseReason::Transfer(libc::ECONNRESET)));
    }
}

/// While nobody receives, the send alone hears of the reset. It was not sent, and the end is that reset.
pub fn a_reset_within_a_long_send_is_heard_by_the_next_receive<D: TestDriver>() {
    const LENGTH: u32 = 32 << 20;
    let (tell, has_reset) = channel();
    let server = Server::tcp(1, move |mut stream| {
        let mut some = [0; 1000];
        let _ = stream.read(&mut some);
        std::thread::sleep(Duration::from_millis(5));
        reset_on_close(&stream);
        drop(stream);
        tell.send(()).unwrap();
    });
    let mut driver: D = driver_to(server.address.clone(), &vec![b'x'; LENGTH as usize]);
    driver.io().open(0, 0, D::NO_BYTES, Receive::Pause);
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
        if *event == Event::Opened {
            io.send(slot, Outgoing::Constant { start: 0, len: LENGTH }, true);
        }
    });
    let mut is_reset = false;
    run(&mut driver, &mut recorder, |_| {
        is_reset |= has_reset.try_recv().is_ok();
        is_reset
    });
    run_for(&mut driver, &mut recorder, Duration::from_millis(20));
    driver.io().receive(0, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.count(&Event::Sent), 0, "{LENGTH} bytes to a peer that read a thousand");
    assert_eq!(recorder.closed(0), Some(CloseReason::Transfer(libc::ECONNRESET)));
    server.join();
}

pub fn data_then_reset_is_data_first<D: TestDriver>() {
    let (mut driver, mut recorder) =
        reset_after::<D>(Receive::Stream, |stream| write(stream, b"last words"));
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"last words");
    assert_eq!(recorder.closed(0), Some(CloseReason::Transfer(libc::ECONNRESET)));
}

/// However the response was received: what was sent before the close has left when the FIN comes.
pub fn what_is_sent_before_a_fin_arrives<D: TestDriver>() {
    for mode in [Receive::Stream, Receive::Head, Receive::Bulk] {
        let (tell, told) = channel();
        let server = Server::tcp(1, move |mut stream| {
            write(&mut stream, b"response");
            let mut rest = Vec::new();
            let ended = stream.read_to_end(&mut rest);
            tell.send((rest, ended.is_ok())).unwrap();
        });
        let mut driver: D = driver_to(server.address.clone(), b"good bye");
        driver.io().open(0, 0, D::NO_BYTES, mode);
        let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
            if matches!(event, Event::Received { .. }) {
                io.send(slot, Outgoing::Constant { start: 0, len: 8 }, false);
                io.close(slot, CloseHow::Fin);
            }
        });
        run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
        assert_eq!(recorder.closed(0), Some(CloseReason::Local));
        assert_eq!(told.recv_timeout(WAIT_MAX).unwrap(), (b"good bye".to_vec(), true), "{mode:?}");
        server.join();
    }
}

/// Opens and asks for `AwaitPeer` at the first bytes.
fn await_peer<D: TestDriver>(driver: &mut D) -> Recorder<D::Io> {
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    Recorder::new(|io: &mut D::Io, slot, event| {
        if matches!(event, Event::Received { .. }) {
            io.close(slot, CloseHow::AwaitPeer);
        }
    })
}

pub fn await_peer_drops_and_waits<D: TestDriver>() {
    let (go, may_go) = channel::<()>();
    let server = Server::tcp(1, move |mut stream| {
        write(&mut stream, b"response");
        may_go.recv_timeout(WAIT_MAX).unwrap();
        write(&mut stream, &vec![b'x'; 500_000]);
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = await_peer(&mut driver);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0) == b"response");
    run_for(&mut driver, &mut recorder, Duration::from_millis(20));
    assert_eq!(recorder.closed(0), None, "the peer has not closed");
    go.send(()).unwrap();
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.received(0), b"response");
    assert_eq!(recorder.discarded(0), 0);
    assert_eq!(recorder.closed(0), Some(CloseReason::Local));
    server.join();
}

pub fn a_later_close_replaces_the_wait<D: TestDriver>() {
    let server = Server::tcp(1, |mut stream| {
        write(&mut stream, b"response");
        drain(&mut stream);
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = await_peer(&mut driver);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0) == b"response");
    run_for(&mut driver, &mut recorder, Duration::from_millis(20));
    assert_eq!(recorder.closed(0), None, "the peer has not closed");
    driver.io().close(0, CloseHow::Fin);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Local));
    server.join();
}

pub fn await_peer_ends_with_a_reset_too<D: TestDriver>() {
    let (go, may_go) = channel::<()>();
    let server = Server::tcp(1, move |mut stream| {
        write(&mut stream, b"response");
        may_go.recv_timeout(WAIT_MAX).unwrap();
        reset_on_close(&stream);
    });
    let mut driver: D = driver_to(server.address.clone(), b"");
    let mut recorder = await_peer(&mut driver);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0) == b"response");
    go.send(()).unwrap();
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Local));
    server.join();
}

/// Closes in `manner` once the connection has carried bytes both ways; what the server's next
/// read says.
fn close_seen_by_server<D: TestDriver>(how: CloseHow) -> Result<usize, ErrorKind> {
    let (tell, seen) = channel();
    let server = Server::tcp(1, move |mut stream| {
        assert_eq!(read_exactly(&mut stream, 4), b"ping");
        write(&mut stream, b"pong");
        tell.send(stream.read(&mut [0; 16]).map_err(|error| error.kind())).unwrap();
    });
    let mut driver: D = driver_to(server.address.clone(), b"ping");
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| {
        if matches!(event, Event::Received { .. }) {
            io.close(slot, how);
        }
    });
    let ping = Outgoing::Constant { start: 0, len: 4 };
    driver.io().open(0, 0, Some(ping), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Local));
    let seen = seen.recv_timeout(WAIT_MAX).unwrap();
    server.join();
    seen
}

pub fn fin_reaches_the_peer_as_end_of_stream<D: TestDriver>() {
    assert_eq!(close_seen_by_server::<D>(CloseHow::Fin), Ok(0));
}

pub fn reset_reaches_the_peer_as_reset<D: TestDriver>() {
    assert_eq!(close_seen_by_server::<D>(CloseHow::Reset), Err(ErrorKind::ConnectionReset));
}

pub fn closed_comes_once_whatever_is_asked<D: TestDriver>() {
    const MANNERS: [CloseHow; 3] = [CloseHow::AwaitPeer, CloseHow::Fin, CloseHow::Reset];
    // Slots 0 to 3 close right after open, in opened, in received, and in received by way of
    // another slot; all ask twice and go on asking for other things.
    let server = Server::tcp(MANNERS.len() * 4, |mut stream| {
        write(&mut stream, b"some bytes");
        drop(stream);
    });
    for how in MANNERS {
        let mut driver: D = driver_to(server.address.clone(), b"ping");
        let ping = Outgoing::Constant { start: 0, len: 4 };
        let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| {
            let victim = match (slot, event) {
                (1, Event::Opened) => 1,
                (2, Event::Received { .. }) => 2,
                _ => return,
            };
            io.close(victim, how);
            io.send(victim, ping, true);
            io.receive(victim, Receive::Bulk);
            io.close(victim, CloseHow::Fin);
            io.close(victim, how);
        });
        for slot in 0..4 {
            driver.io().open(slot, 0, Some(ping), Receive::Stream);
        }
        driver.io().close(0, how);
        driver.io().close(0, how);
        run(&mut driver, &mut recorder, |recorder| {
            (0..4).all(|slot| recorder.closed(slot).is_some())
        });
        driver.io().close(1, how);
        run_for(&mut driver, &mut recorder, Duration::from_millis(20));
        for slot in 0..4 {
            assert_eq!(recorder.closes(slot).count(), 1, "slot {slot}, {how:?}");
        }
        for slot in 0..2 {
            assert_eq!(recorder.closed(slot), Some(CloseReason::Local), "slot {slot}, {how:?}");
        }
    }
}

pub fn a_slot_is_free_for_the_next_connection_in_closed<D: TestDriver>() {
    const CONNECTIONS: usize = 200;
    let server = Server::tcp(CONNECTIONS, |mut stream| {
        assert_eq!(read_exactly(&mut stream, 4), b"ping");
        write(&mut stream, b"pong");
    });
    let mut driver: D = driver_to(server.address.clone(), b"ping");
    let ping = Outgoing::Constant { start: 0, len: 4 };
    let mut opened = 1;
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| match event {
        Event::Received { .. } => io.close(slot, CloseHow::AwaitPeer),
        Event::Closed(_) if opened < CONNECTIONS => {
            opened += 1;
            io.open(slot, 0, Some(ping), Receive::Stream);
        }
        _ => {}
    });
    driver.io().open(0, 0, Some(ping), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.closes(0).count() == CONNECTIONS);
    assert_eq!(recorder.received(0), b"pong".repeat(CONNECTIONS));
    assert!(recorder.closes(0).all(|reason| reason == CloseReason::Local));
    server.join();
}

/// Both slots have bytes waiting when the client looks. The first event closes the other slot and
/// opens it anew, to another server: the old connection's event must not reach the new one.
pub fn events_of_an_earlier_connection_are_dropped<D: TestDriver>() {
    let (go, may_go) = channel::<()>();
    let (tell, written) = channel();
    let old = Server::tcp(2, move |mut stream| {
        may_go.recv_timeout(WAIT_MAX).unwrap();
        write(&mut stream, b"old");
        tell.send(()).unwrap();
        std::thread::spawn(move || drain(&mut stream));
    });
    let new = Server::tcp(1, |mut stream| write(&mut stream, b"new"));
    let endpoints = [&old, &new].map(|server| Endpoint::new(server.address.clone()));
    let mut driver = D::make(setup(2, endpoints.to_vec(), b"")).unwrap();
    let mut closed_by = None;
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| match event {
        Event::Received { bytes, .. } if bytes == b"old" && closed_by.is_none() => {
            closed_by = Some(slot);
            io.close(1 - slot, CloseHow::Fin);
        }
        Event::Closed(_) if closed_by == Some(1 - slot) => {
            closed_by = Some(9);
            io.open(slot, 1, D::NO_BYTES, Receive::Stream);
        }
        _ => {}
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    driver.io().open(1, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 2);
    for _ in 0..2 {
        go.send(()).unwrap();
        written.recv_timeout(WAIT_MAX).unwrap();
    }
    turn(&mut driver, &mut recorder, 20_000_000);
    run(&mut driver, &mut recorder, |recorder| {
        (0..2).any(|slot| recorder.received(slot).ends_with(b"new"))
    });
    let renewed = if recorder.received(0).ends_with(b"new") { 0 } else { 1 };
    let after_close = recorder.events.iter().skip_while(|(slot, event)| {
        (*slot, event) != (renewed, &Event::Closed(CloseReason::Local))
    });
    let bytes: Vec<u8> = after_close
        .filter_map(|(slot, event)| match event {
            Event::Received { bytes, .. } if *slot == renewed => Some(bytes.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(bytes, b"new");
    new.join();
}

/// The bytes and the end of one connection are gathered into one batch. The handler closes at the
/// bytes and opens the slot anew, to a port that refuses: the old end must not be taken for news
/// of the new connect.
pub fn gathered_events_of_an_earlier_connection_are_dropped<D: TestDriver>() {
    let (go, may_go) = channel::<()>();
    let server = Server::tcp(1, move |mut stream| {
        may_go.recv_timeout(WAIT_MAX).unwrap();
        write(&mut stream, b"x");
        std::thread::sleep(Duration::from_millis(20));
    });
    let port = RefusingPort::new();
    let endpoints = vec![Endpoint::new(server.address.clone()), Endpoint::new(port.address())];
    let mut driver = D::make(setup(1, endpoints, b"")).unwrap();
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| match event {
        Event::Received { .. } => io.close(slot, CloseHow::Fin),
        Event::Closed(CloseReason::Local) => io.open(slot, 1, D::NO_BYTES, Receive::Stream),
        _ => {}
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    go.send(()).unwrap();
    let wait =
        Wait { at_least: 2, gather_ns: 5_000_000_000, ..wait_ns(&mut driver, 10_000_000_000) };
    driver.turn(&mut recorder, wait).unwrap();
    run(&mut driver, &mut recorder, |recorder| recorder.closes(0).count() == 2);
    assert_eq!(recorder.count(&Event::Opened), 1);
    assert_eq!(recorder.closes(0).nth(1), Some(CloseReason::Connect(libc::ECONNREFUSED)));
    server.join();
}
