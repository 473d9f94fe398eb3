//! The simulated driver: exact times, exact bytes, the same every time.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

mod datagrams;
mod recorder;

use std::cell::RefCell;
use std::rc::Rc;

use ablaze_net::driver::Setup;
use ablaze_net::sim::{
    ConnectReply, FarEnd, FixedResponse, Misbehave, Pieces, START_NS, Silent, SimDriver, SimPeer,
};
use ablaze_net::{CloseHow, CloseReason, Driver, Handler, Io, Outgoing, Receive, Slot, Turn, Wait};

use recorder::{Recorder, What};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: there\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const ALL: Outgoing = Outgoing::Constant { start: 0, len: REQUEST.len() as u32 };

fn setup() -> Setup {
    Setup {
        slots: 4,
        spares: 0,
        endpoints: Vec::new(),
        constant_bytes: REQUEST.into(),
        batch_cap: 64,
        short_connections: false,
        head_bytes: None,
    }
}

fn wait_until(ns_after_start: u64) -> Wait {
    Wait { until_ns: START_NS + ns_after_start, spin_ns: 0, at_least: 1, gather_ns: 0 }
}

/// Turns until so much simulated time has passed.
fn run_until<P: SimPeer, const AT_ONCE: bool>(
    driver: &mut SimDriver<P, AT_ONCE>,
    handler: &mut impl Handler<ablaze_net::sim::SimIo<P, AT_ONCE>>,
    ns_after_start: u64,
) {
    let wait = wait_until(ns_after_start);
    while driver.io().now() < wait.until_ns {
        driver.turn(handler, wait).unwrap();
    }
    while driver.turn(handler, wait).unwrap().events > 0 {}
}

/// A closed loop over slot 0: one request after the other.
fn closed_loop<P: SimPeer>(peer: P, ns: u64) -> Recorder<impl FnMut(&mut SimIoOf<P>, Slot, &What)> {
    let mut driver: SimDriver<P> = SimDriver::new(&setup(), vec![peer]);
    let mut came = 0;
    let mut recorder = Recorder::new(move |io: &mut SimIoOf<P>, slot, what: &What| {
        if let What::Received(bytes) = what {
            came += bytes.len();
            if came == ANSWER.len() {
                came = 0;
                io.send(slot, ALL, false);
            }
        }
    });
    driver.io().open(0, 0, Some(ALL), Receive::Stream);
    run_until(&mut driver, &mut recorder, ns);
    recorder
}

type SimIoOf<P> = ablaze_net::sim::SimIo<P, true>;

fn is_received(what: &What) -> bool {
    matches!(what, What::Received(_))
}

#[test]
fn responses_come_exactly_after_their_delay() {
    let recorder = closed_loop(FixedResponse::new(ANSWER, 1_000), 5_500);
    assert_eq!(recorder.times(is_received), [1_000, 2_000, 3_000, 4_000, 5_000]);
    assert_eq!(recorder.received(0), ANSWER.repeat(5));
}

#[test]
fn a_delay_can_depend_on_the_request() {
    let peer = FixedResponse::with_delay_of(ANSWER, |number| if number == 1 { 700 } else { 100 });
    let recorder = closed_loop(peer, 1_050);
    assert_eq!(recorder.times(is_received), [100, 800, 900, 1_000]);
}

#[test]
fn a_response_can_be_split_anywhere() {
    for at in 1..ANSWER.len() as u32 {
        let peer = FixedResponse::new(ANSWER, 1_000).cut(Pieces::SplitAt(at), 10);
        let recorder = closed_loop(peer, 1_500);
        assert_eq!(recorder.times(is_received), [1_000, 1_010], "split at {at}");
        let first = recorder.log.iter().find(|(_, _, what)| is_received(what)).unwrap();
        assert_eq!(first.2, What::Received(ANSWER[..at as usize].to_vec()));
        assert_eq!(recorder.received(0), ANSWER);
    }
    let recorder = closed_loop(FixedResponse::new(ANSWER, 1_000).cut(Pieces::Of(1), 0), 1_500);
    assert_eq!(recorder.times(is_received), vec![1_000; ANSWER.len()]);
    assert_eq!(recorder.received(0), ANSWER);
}

#[test]
fn a_stall_holds_what_falls_into_it() {
    let peer = FixedResponse::new(ANSWER, 1_000).stalled(START_NS + 2_500, START_NS + 9_000);
    let recorder = closed_loop(peer, 10_500);
    assert_eq!(recorder.times(is_received), [1_000, 2_000, 9_000, 10_000]);
}

#[test]
fn wrappers_compose() {
    let peer = FixedResponse::new(ANSWER, 1_000).delayed(500).closing_after(2);
    let recorder = closed_loop(peer, 50_000);
    assert_eq!(recorder.times(is_received), [1_500, 3_000]);
    // The close is scheduled with the second response and takes as long.
    assert_eq!(recorder.closed(0), Some((3_000, CloseReason::Eof)));
}

#[test]
fn heads_are_recognised_however_they_are_cut() {
    let two = [REQUEST, REQUEST].concat();
    for cut in 1..two.len() {
        let mut setup = setup();
        setup.constant_bytes = two.clone().into();
        let mut driver: SimDriver<_> = SimDriver::new(&setup, vec![FixedResponse::new(ANSWER, 5)]);
        let mut recorder = Recorder::new(|_: &mut SimIoOf<FixedResponse>, _, _: &What| {});
        let first = Outgoing::Constant { start: 0, len: cut as u32 };
        let second = Outgoing::Constant { start: cut as u32, len: (two.len() - cut) as u32 };
        driver.io().open(0, 0, Some(first), Receive::Stream);
        driver.io().send(0, second, false);
        run_until(&mut driver, &mut recorder, 100);
        assert_eq!(recorder.received(0), ANSWER.repeat(2), "cut at {cut}");
    }
}

#[test]
fn a_full_window_makes_sends_partial() {
    // 31 bytes through a window of 10 of which 4 are read every 100 ns: after `k` reads the
    // kernel has accepted 10 + 4k, so the last byte is in after 6 reads, and read after 8.
    assert_eq!(REQUEST.len(), 31);
    let peer = FixedResponse::new(ANSWER, 0).reading_slowly(10, 4, 100);
    let mut driver: SimDriver<_> = SimDriver::new(&setup(), vec![peer]);
    let mut recorder = Recorder::new(|io: &mut SimIoOf<_>, slot, what: &What| {
        if *what == What::Opened {
            io.send(slot, ALL, true);
        }
    });
    driver.io().open(0, 0, None, Receive::Stream);
    run_until(&mut driver, &mut recorder, 5_000);
    assert_eq!(recorder.times(|what| *what == What::Sent), [600]);
    assert_eq!(recorder.times(is_received), [800]);
}

#[test]
fn modes_of_receiving() {
    let mut driver: SimDriver<_> = SimDriver::new(&setup(), vec![FixedResponse::new(ANSWER, 100)]);
    let mut recorder = Recorder::new(|_: &mut SimIoOf<FixedResponse>, _, _: &What| {});
    driver.io().open(0, 0, Some(ALL), Receive::Pause);
    run_until(&mut driver, &mut recorder, 1_000);
    assert_eq!(recorder.times(is_received), [0_u64; 0]);
    driver.io().receive(0, Receive::Discard(40));
    run_until(&mut driver, &mut recorder, 2_000);
    assert_eq!(recorder.times(|what| *what == What::Discarded(40)), [1_000]);
    assert_eq!(recorder.received(0), b"", "the surplus waits for the next mode");
    driver.io().receive(0, Receive::Head);
    run_until(&mut driver, &mut recorder, 3_000);
    assert_eq!(recorder.received(0), ANSWER[40..]);
    driver.io().send(0, ALL, false);
    run_until(&mut driver, &mut recorder, 4_000);
    assert_eq!(recorder.received(0), ANSWER[40..], "one head, then the next mode is awaited");
    driver.io().receive(0, Receive::DiscardToEnd);
    run_until(&mut driver, &mut recorder, 5_000);
    let all = What::Discarded(ANSWER.len() as u64);
    assert_eq!(recorder.times(|what| *what == all), [4_000]);
}

/// Sends its response and ends the connection in one of the ways.
#[derive(Clone)]
struct Ending(fn(&mut FarEnd<'_>));

impl SimPeer for Ending {
    fn bytes(&self) -> &[u8] {
        ANSWER
    }

    fn received(&mut self, far: &mut FarEnd<'_>, _: &[u8]) {
        far.send_after(10, 0, ANSWER.len() as u32);
        (self.0)(far);
    }
}

#[test]
fn ends_come_after_the_bytes_before_them() {
    let reset = closed_loop(Ending(|far| far.reset_after(0)), 1_000);
    assert_eq!(reset.received(0), ANSWER);
    assert_eq!(reset.closed(0), Some((10, CloseReason::Transfer(libc::ECONNRESET))));
    let fin = closed_loop(Ending(|far| far.fin_after(30)), 1_000);
    assert_eq!(fin.received(0)[..ANSWER.len()], *ANSWER);
    assert_eq!(fin.closed(0), Some((30, CloseReason::Eof)));
}

#[test]
fn connects_are_answered_as_scripted() {
    let peers = vec![
        Silent(ConnectReply::AcceptAfter(70)),
        Silent(ConnectReply::RefuseAfter(50, libc::ECONNREFUSED)),
        Silent(ConnectReply::Never),
    ];
    let mut driver: SimDriver<_> = SimDriver::new(&setup(), peers);
    let mut recorder = Recorder::new(|_: &mut SimIoOf<Silent>, _, _: &What| {});
    for slot in 0..3 {
        driver.io().open(slot, slot as u16, None, Receive::Stream);
    }
    run_until(&mut driver, &mut recorder, 1_000);
    let refused = What::Closed(CloseReason::Connect(libc::ECONNREFUSED));
    let expected = [
        (50, 1, refused),
        (50, Slot::MAX, What::BatchEnd(1)),
        (70, 0, What::Opened),
        (70, Slot::MAX, What::BatchEnd(1)),
    ];
    assert_eq!(recorder.log, expected);
    driver.io().close(2, CloseHow::Fin);
    run_until(&mut driver, &mut recorder, 1_001);
    assert_eq!(recorder.closed(2), Some((1_000, CloseReason::Local)));
}

#[test]
fn a_response_under_way_does_not_reach_the_next_connection() {
    let mut driver: SimDriver<_> =
        SimDriver::new(&setup(), vec![FixedResponse::new(ANSWER, 1_000)]);
    let mut recorder = Recorder::new(|io: &mut SimIoOf<FixedResponse>, slot, what: &What| {
        if *what == What::Closed(CloseReason::Local) {
            io.open(slot, 0, None, Receive::Stream);
        }
    });
    driver.io().open(0, 0, Some(ALL), Receive::Stream);
    run_until(&mut driver, &mut recorder, 500);
    driver.io().close(0, CloseHow::Fin);
    run_until(&mut driver, &mut recorder, 5_000);
    assert_eq!(recorder.times(|what| *what == What::Opened), [0, 500]);
    assert_eq!(recorder.received(0), b"");
}

#[test]
fn await_peer_drops_until_the_peer_closes() {
    let peer = FixedResponse::new(ANSWER, 1_000).cut(Pieces::Of(10), 100).closing_after(1);
    let mut driver: SimDriver<_> = SimDriver::new(&setup(), vec![peer]);
    let mut recorder = Recorder::new(|io: &mut SimIoOf<_>, slot, what: &What| {
        if is_received(what) {
            io.close(slot, CloseHow::AwaitPeer);
        }
    });
    driver.io().open(0, 0, Some(ALL), Receive::Stream);
    run_until(&mut driver, &mut recorder, 5_000);
    assert_eq!(recorder.received(0), ANSWER[..10]);
    let pieces = ANSWER.len().div_ceil(10) as u64;
    assert_eq!(recorder.closed(0), Some((1_000 + 100 * pieces, CloseReason::Local)));
}

/// Writes down in a shared log that the request arrived.
#[derive(Clone)]
struct Noting(Rc<RefCell<Vec<&'static str>>>);

impl SimPeer for Noting {
    fn bytes(&self) -> &[u8] {
        b""
    }

    fn received(&mut self, _: &mut FarEnd<'_>, _: &[u8]) {
        self.0.borrow_mut().push("arrived");
    }
}

fn order_of_send<const AT_ONCE: bool>() -> Vec<&'static str> {
    let notes = Rc::new(RefCell::new(Vec::new()));
    let mut driver: SimDriver<_, AT_ONCE> = SimDriver::new(&setup(), vec![Noting(notes.clone())]);
    let log = notes.clone();
    let mut recorder = Recorder::new(
        move |io: &mut ablaze_net::sim::SimIo<Noting, AT_ONCE>, slot, what: &What| match what {
            What::Opened => {
                io.send(slot, ALL, false);
                log.borrow_mut().push("asked");
            }
            What::BatchEnd(_) => log.borrow_mut().push("batch end"),
            _ => {}
        },
    );
    driver.io().open(0, 0, None, Receive::Stream);
    run_until(&mut driver, &mut recorder, 100);
    notes.take()
}

#[test]
fn sends_leave_at_once_or_after_the_batch() {
    assert_eq!(order_of_send::<true>(), ["arrived", "asked", "batch end"]);
    assert_eq!(order_of_send::<false>(), ["asked", "batch end", "arrived"]);
}

#[test]
fn waits_gather_spin_and_end_as_told() {
    // Three responses, at 1000, 1300 and 1600.
    let delays = [1_000, 1_300, 1_600].map(|ns| FixedResponse::new(ANSWER, ns));
    let make = || {
        let mut driver: SimDriver<_> = SimDriver::new(&setup(), delays.to_vec());
        for slot in 0..3 {
            driver.io().open(slot, slot as u16, Some(ALL), Receive::Stream);
        }
        let mut recorder = Recorder::new(|_: &mut SimIoOf<FixedResponse>, _, _: &What| {});
        run_until(&mut driver, &mut recorder, 10);
        (driver, recorder)
    };
    let (mut driver, mut recorder) = make();
    let early = driver.turn(&mut recorder, wait_until(500)).unwrap();
    assert_eq!((early.events, early.waited_ns, driver.io().now()), (0, 490, START_NS + 500));
    let wait = Wait { at_least: 2, gather_ns: 10_000, spin_ns: 300, ..wait_until(50_000) };
    let two = driver.turn(&mut recorder, wait).unwrap();
    let expected = Turn { events: 2, waited_ns: 500, spun_ns: 300, system_calls: 0 };
    assert_eq!((two, driver.io().now()), (expected, START_NS + 1_300));
    // Gathering ends by its bound, with what there is.
    let (mut driver, mut recorder) = make();
    let wait = Wait { at_least: 3, gather_ns: 1_400, ..wait_until(50_000) };
    let two = driver.turn(&mut recorder, wait).unwrap();
    assert_eq!((two.events, driver.io().now()), (2, START_NS + 1_410));
    // After the bound, one event is enough.
    let (mut driver, mut recorder) = make();
    let wait = Wait { at_least: 3, gather_ns: 100, ..wait_until(50_000) };
    let one = driver.turn(&mut recorder, wait).unwrap();
    assert_eq!((one.events, driver.io().now()), (1, START_NS + 1_000));
}

#[test]
fn a_wait_without_end_for_nothing_is_an_error() {
    let mut driver: SimDriver<_> = SimDriver::new(&setup(), vec![FixedResponse::new(ANSWER, 0)]);
    let mut recorder = Recorder::new(|_: &mut SimIoOf<FixedResponse>, _, _: &What| {});
    let wait = Wait { until_ns: u64::MAX, ..wait_until(0) };
    driver.turn(&mut recorder, wait).expect_err("it would hang");
}

#[test]
fn two_runs_are_the_same() {
    let run = || {
        let peer = FixedResponse::with_delay_of(ANSWER, |number| number * 7919 % 1_000)
            .cut(Pieces::Of(7), 3)
            .closing_after(5);
        let mut driver: SimDriver<_> = SimDriver::new(&setup(), vec![peer]);
        let mut came = [0; 4];
        let mut recorder =
            Recorder::new(move |io: &mut SimIoOf<_>, slot, what: &What| match what {
                What::Received(bytes) => {
                    let came = &mut came[slot as usize];
                    *came += bytes.len();
                    if *came % ANSWER.len() == 0 {
                        io.send(slot, ALL, false);
                    }
                }
                What::Closed(_) => io.open(slot, 0, Some(ALL), Receive::Stream),
                _ => {}
            });
        for slot in 0..4 {
            driver.io().open(slot, 0, Some(ALL), Receive::Stream);
        }
        run_until(&mut driver, &mut recorder, 100_000);
        recorder.log
    };
    let log = run();
    assert!(log.len() > 1_000, "{}", log.len());
    assert!(log == run());
}
