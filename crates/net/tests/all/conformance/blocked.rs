//! Ends of connections whose peer does not read, so that a send is under way that cannot go on.

use std::io::{ErrorKind, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ablaze_net::driver::{CloseHow, CloseReason, Io, Outgoing, Receive};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::conformance::recorder::{Event, Recorder, driver_to, run, run_for};
use crate::conformance::server::{Server, read_exactly, write};
use crate::conformance::{TestDriver, WAIT_MAX};

/// More than two sockets hold.
const LENGTH: usize = 48 << 20;
const PING: Outgoing = Outgoing::Constant { start: 0, len: 4 };
/// What is waited for until a send has met the full socket.
const BLOCKS_WITHIN: Duration = Duration::from_millis(100);

/// What a server that had not read made of the end: the bytes behind the ping, up to the first that is
/// no `x`, and what its last read said.
#[derive(Debug)]
struct Seen {
    bytes: usize,
    all_as_sent: bool,
    end: Result<usize, ErrorKind>,
}

fn see(stream: &mut TcpStream) -> Seen {
    let mut seen = Seen { bytes: 0, all_as_sent: true, end: Ok(0) };
    let mut piece = vec![0; 1 << 20];
    loop {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => {
                seen.bytes += count;
                seen.all_as_sent &= piece[..count].iter().all(|&byte| byte == b'x');
            }
            end => {
                seen.end = end.map_err(|error| error.kind());
                return seen;
            }
        }
    }
}

/// A server that reads four bytes, then does what it is told before it reads the rest.
struct Stubborn {
    server: Server,
    told: Sender<Told>,
    seen: Receiver<Seen>,
    /// Whether the connection was seen to end although nothing was read.
    hung_up: Receiver<bool>,
}

enum Told {
    /// Say whether the connection ends without reading.
    Watch,
    /// Send a FIN.
    Fin,
    /// Read all there is.
    Read,
}

fn stubborn() -> Stubborn {
    let (told, tasks) = channel();
    let (tell, seen) = channel();
    let (say, hung_up) = channel();
    let server = Server::tcp(1, move |mut stream| {
        assert_eq!(read_exactly(&mut stream, 4), b"ping");
        loop {
            match tasks.recv_timeout(WAIT_MAX).unwrap() {
                Told::Watch => {
                    // Errors and the end of both directions are told without being asked for.
                    let mut ends = [PollFd::new(&stream, PollFlags::empty())];
                    let timeout = Timespec { tv_sec: 5, tv_nsec: 0 };
                    say.send(poll(&mut ends, Some(&timeout)).unwrap() > 0).unwrap();
                }
                Told::Fin => stream.shutdown(Shutdown::Write).unwrap(),
                Told::Read => return tell.send(see(&mut stream)).unwrap(),
            }
        }
    });
    Stubborn { server, told, seen, hung_up }
}

/// Connects and sends from a leased buffer more than the server's and the client's socket take. Once
/// the connection is closed, its holder writes to the buffer as to any that is free.
fn block<D: TestDriver>(server: &Stubborn) -> (D, Recorder<D::Io>) {
    let mut driver: D = driver_to(server.server.address.clone(), b"ping");
    let buffer = driver.io().lease(LENGTH);
    driver.io().leased(buffer).fill(b'x');
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| match event {
        Event::Opened => {
            io.send(slot, Outgoing::Leased { buffer, len: LENGTH as u32 }, true);
        }
        Event::Closed(_) => {
            io.leased(buffer).fill(b'y');
            io.release(buffer);
        }
        _ => {}
    });
    driver.io().open(0, 0, Some(PING), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    run_for(&mut driver, &mut recorder, BLOCKS_WITHIN);
    assert_eq!(recorder.count(&Event::Sent), 0, "the sockets took all of it");
    (driver, recorder)
}

/// Turns until slot 0 is closed, and a little longer; once, and for this reason.
fn closes<D: TestDriver>(driver: &mut D, recorder: &mut Recorder<D::Io>, why: CloseReason) {
    run(driver, recorder, |recorder| recorder.closed(0).is_some());
    run_for(driver, recorder, Duration::from_millis(20));
    assert_eq!(recorder.closes(0).collect::<Vec<_>>(), [why]);
}

/// The server reads now; what it saw was cut off, and nothing else than what was sent.
fn read_rest(server: Stubborn) -> Seen {
    server.told.send(Told::Read).unwrap();
    let seen = server.seen.recv_timeout(WAIT_MAX).unwrap();
    assert!(seen.all_as_sent, "bytes written after the close were sent: {seen:?}");
    assert!(seen.bytes < LENGTH, "what had not been accepted was sent all the same: {seen:?}");
    server.server.join();
    seen
}

pub fn a_reset_during_a_blocked_send_reaches_a_peer_that_does_not_read<D: TestDriver>() {
    let server = stubborn();
    let (mut driver, mut recorder) = block::<D>(&server);
    driver.io().close(0, CloseHow::Reset);
    closes(&mut driver, &mut recorder, CloseReason::Local);
    server.told.send(Told::Watch).unwrap();
    assert!(server.hung_up.recv_timeout(WAIT_MAX).unwrap(), "the reset did not come");
    assert_eq!(read_rest(server).end, Err(ErrorKind::ConnectionReset));
}

pub fn a_fin_during_a_blocked_send_ends_the_stream_behind_what_was_accepted<D: TestDriver>() {
    let server = stubborn();
    let (mut driver, mut recorder) = block::<D>(&server);
    driver.io().close(0, CloseHow::Fin);
    closes(&mut driver, &mut recorder, CloseReason::Local);
    assert_eq!(read_rest(server).end, Ok(0));
}

pub fn a_peers_fin_during_a_blocked_send_ends_the_connection<D: TestDriver>() {
    let server = stubborn();
    let (mut driver, mut recorder) = block::<D>(&server);
    server.told.send(Told::Fin).unwrap();
    closes(&mut driver, &mut recorder, CloseReason::Eof);
    assert_eq!(read_rest(server).end, Ok(0));
}

/// The server writes single bytes and reads nothing. The client sends something small at each, until
/// the sockets are full.
pub fn a_reset_during_blocked_small_sends_reaches_a_peer_that_does_not_read<D: TestDriver>() {
    const SMALL: u32 = 4000;
    let (go, may_watch) = channel::<()>();
    let (tell, told) = channel();
    let server = Server::tcp(1, move |mut stream| {
        for _ in 0..6_000 {
            write(&mut stream, b"+");
            // So that each arrives alone.
            std::thread::sleep(Duration::from_micros(20));
        }
        may_watch.recv_timeout(WAIT_MAX).unwrap();
        let mut ends = [PollFd::new(&stream, PollFlags::empty())];
        let timeout = Timespec { tv_sec: 5, tv_nsec: 0 };
        let hung_up = poll(&mut ends, Some(&timeout)).unwrap() > 0;
        tell.send((hung_up, see(&mut stream).end)).unwrap();
    });
    let mut driver: D = driver_to(server.address.clone(), &[b'x'; SMALL as usize]);
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
        if matches!(event, Event::Received { .. }) {
            io.send(slot, Outgoing::Constant { start: 0, len: SMALL }, false);
        }
    });
    driver.io().open(0, 0, D::NO_BYTES, Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.received(0).len() == 6_000);
    run_for(&mut driver, &mut recorder, BLOCKS_WITHIN);
    driver.io().close(0, CloseHow::Reset);
    closes(&mut driver, &mut recorder, CloseReason::Local);
    go.send(()).unwrap();
    assert_eq!(told.recv_timeout(WAIT_MAX).unwrap(), (true, Err(ErrorKind::ConnectionReset)));
    server.join();
}

/// Unlike `Fin`, waiting for the peer gives what was sent before all the time it needs.
pub fn what_waits_behind_a_blocked_send_arrives_before_the_peer_is_awaited<D: TestDriver>() {
    let (go, may_read) = channel::<()>();
    let server = Server::tcp(1, move |mut stream| {
        assert_eq!(read_exactly(&mut stream, 4), b"ping");
        may_read.recv_timeout(WAIT_MAX).unwrap();
        let bytes = read_exactly(&mut stream, LENGTH + 4);
        assert!(bytes[..LENGTH].iter().all(|&byte| byte == b'x'));
        assert_eq!(bytes[LENGTH..], *b"ping");
    });
    let stubborn_bytes = [&b"ping"[..], &vec![b'x'; LENGTH]].concat();
    let mut driver: D = driver_to(server.address.clone(), &stubborn_bytes);
    let mut recorder = Recorder::new(|io: &mut D::Io, slot, event| {
        if *event == Event::Opened {
            io.send(slot, Outgoing::Constant { start: 4, len: LENGTH as u32 }, false);
            io.send(slot, PING, false);
        }
    });
    driver.io().open(0, 0, Some(PING), Receive::Stream);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    run_for(&mut driver, &mut recorder, BLOCKS_WITHIN);
    driver.io().close(0, CloseHow::AwaitPeer);
    run_for(&mut driver, &mut recorder, Duration::from_millis(10));
    assert_eq!(recorder.closed(0), None, "the peer has not closed");
    go.send(()).unwrap();
    closes(&mut driver, &mut recorder, CloseReason::Local);
    server.join();
}

/// The handler answers, closes, and in `closed` writes something else to the same buffer, all before
/// the driver had to hand anything to the kernel.
pub fn a_buffer_changed_once_closed_came_was_sent_as_it_was<D: TestDriver>() {
    for mode in [Receive::Stream, Receive::Head, Receive::Bulk] {
        let (tell, told) = channel();
        let server = Server::tcp(2, move |mut stream| {
            write(&mut stream, b"response");
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            tell.send(rest).unwrap();
        });
        let mut driver: D = driver_to(server.address.clone(), b"");
        let buffer = driver.io().lease(8);
        driver.io().open(0, 0, D::NO_BYTES, mode);
        let mut closes = 0;
        let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| match event {
            Event::Received { .. } => {
                io.leased(buffer)[..8].copy_from_slice(b"good bye");
                io.send(slot, Outgoing::Leased { buffer, len: 8 }, false);
                io.close(slot, CloseHow::Fin);
            }
            Event::Closed(_) if closes == 0 => {
                closes += 1;
                io.leased(buffer)[..8].copy_from_slice(b"WRONG!!!");
                io.open(slot, 0, D::NO_BYTES, mode);
            }
            _ => {}
        });
        run(&mut driver, &mut recorder, |recorder| recorder.closes(0).count() == 2);
        for _ in 0..2 {
            assert_eq!(told.recv_timeout(WAIT_MAX).unwrap(), b"good bye", "{mode:?}");
        }
        server.join();
    }
}
