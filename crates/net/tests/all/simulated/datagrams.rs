//! Datagrams in the simulated network.

use std::cell::RefCell;
use std::rc::Rc;

use ablaze_net::driver::{CloseReason, OutDatagrams};
use ablaze_net::sim::{ConnectReply, FarEnd, Path, SimDriver, SimPeer};
use ablaze_net::{CloseHow, Driver, Io, Receive};

use super::recorder::{Recorder, What};
use super::{run_until, setup};

/// Answers each datagram with its bytes; notes what it got and that it was closed.
#[derive(Clone)]
struct Echo {
    path: Path,
    reply: ConnectReply,
    got: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Echo {
    fn over(path: Path) -> Self {
        Self { path, reply: ConnectReply::AcceptAfter(0), got: Rc::default() }
    }
}

impl SimPeer for Echo {
    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn connect(&mut self, _: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        self.reply
    }

    fn received(&mut self, _: &mut FarEnd<'_>, _: &[u8]) {
        panic!("datagrams only");
    }

    fn path(&self) -> Option<Path> {
        Some(self.path)
    }

    fn datagram(&mut self, far: &mut FarEnd<'_>, bytes: &[u8], ecn: u8) {
        self.got.borrow_mut().push(bytes.to_vec());
        far.send_datagram_after(0, bytes, ecn);
    }

    fn closed(&mut self, _: CloseHow) {
        self.got.borrow_mut().push(b"closed".to_vec());
    }
}

/// Sends these calls' datagrams right after the slot's open, runs for a simulated second; what the client saw.
fn exchange(peer: &Echo, calls: &[(&[u8], usize, u8)]) -> Vec<(u64, What)> {
    let mut driver: SimDriver<Echo> = SimDriver::new(&setup(), vec![peer.clone()]);
    let mut recorder = Recorder::new(|_: &mut _, _, _: &What| {});
    driver.io().open(2, 0, None, Receive::Pause);
    for &(bytes, segment_bytes, ecn) in calls {
        driver.io().send_datagrams(2, OutDatagrams { bytes, segment_bytes, ecn });
    }
    run_until(&mut driver, &mut recorder, 1_000_000_000);
    let log = recorder.log.into_iter();
    log.filter(|(_, slot, _)| *slot == 2).map(|(at, _, what)| (at, what)).collect()
}

fn datagrams(log: &[(u64, What)]) -> Vec<(u64, Vec<u8>)> {
    let mut all = Vec::new();
    for (at, what) in log {
        if let What::Datagrams { bytes, segment_bytes, .. } = what {
            all.extend(bytes.chunks(*segment_bytes).map(|bytes| (*at, bytes.to_vec())));
        }
    }
    all
}

#[test]
fn what_arrives_together_is_joined_as_a_kernel_joins_it() {
    let path = Path { delay_ns: 1000, ..Path::default() };
    let calls: &[(&[u8], usize, u8)] =
        &[(b"aaaabbbbcc", 4, 1), (b"dddd", 4, 1), (b"eeee", 4, 2), (b"ffffgggg", 4, 2)];
    let log = exchange(&Echo::over(path), calls);
    let joined =
        |bytes: &[u8], ecn| What::Datagrams { bytes: bytes.to_vec(), segment_bytes: 4, ecn };
    assert_eq!(
        log,
        [
            (0, What::Opened),
            (2000, joined(b"aaaabbbbcc", 1)),
            (2000, joined(b"dddd", 1)),
            (2000, joined(b"eeeeffffgggg", 2)),
        ]
    );
}

#[test]
fn no_more_than_sixty_four_are_joined() {
    let log = exchange(&Echo::over(Path::default()), &[(&[1; 64], 1, 0), (&[2; 64], 1, 0)]);
    let lengths: Vec<_> = log
        .iter()
        .filter_map(|(_, what)| match what {
            What::Datagrams { bytes, .. } => Some(bytes.len()),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, [64, 64]);
}

#[test]
fn a_seed_loses_the_same_each_time() {
    let bytes: Vec<u8> = (0..4000u16).flat_map(u16::to_be_bytes).collect();
    let calls: Vec<(&[u8], usize, u8)> = bytes.chunks(128).map(|bytes| (bytes, 2, 0)).collect();
    let came = |seed| {
        let path = Path { lost_ppm: 100_000, seed, ..Path::default() };
        datagrams(&exchange(&Echo::over(path), &calls))
    };
    let (first, again, other) = (came(7), came(7), came(8));
    assert!(first == again && first != other);
    // Both ways: 4000 · 0.9² = 3240, and its standard deviation is 25.
    assert!((3090..=3390).contains(&first.len()), "{}", first.len());
    let sorted = first.windows(2).all(|pair| pair[0].1 < pair[1].1);
    assert!(sorted, "none is doubled or overtakes another");
}

#[test]
fn each_may_come_twice() {
    let path = Path { doubled_ppm: 1_000_000, late_ns: 50, delay_ns: 100, ..Path::default() };
    let log = exchange(&Echo::over(path), &[(b"x", 1, 0)]);
    let times: Vec<_> = datagrams(&log).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [200, 250, 250, 300], "the second time later, in both directions");
}

#[test]
fn a_late_one_is_overtaken() {
    let path = Path { late_ppm: 300_000, late_ns: 1, seed: 3, ..Path::default() };
    let bytes: Vec<u8> = (0..=255).collect();
    let calls: Vec<(&[u8], usize, u8)> = bytes.chunks(64).map(|bytes| (bytes, 1, 0)).collect();
    let log = exchange(&Echo::over(path), &calls);
    let mut came: Vec<u8> = datagrams(&log).iter().map(|(_, bytes)| bytes[0]).collect();
    assert_ne!(came, bytes);
    came.sort_unstable();
    assert_eq!(came, bytes, "none is lost");
}

#[test]
fn what_is_too_long_for_the_path_is_lost_whatever_the_device_takes() {
    let path = Path { bytes_max: Some(3), device_bytes_max: Some(9_000), ..Path::default() };
    let log = exchange(&Echo::over(path), &[(b"aaaabbb", 4, 0), (b"ccc", 3, 0)]);
    let came: Vec<_> = datagrams(&log).into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(came, [b"bbb", b"ccc"]);
    for device_bytes_max in [None, Some(9_000)] {
        let path = Path { device_bytes_max, ..Path::default() };
        let mut driver: SimDriver<Echo> = SimDriver::new(&setup(), vec![Echo::over(path)]);
        driver.io().open(0, 0, None, Receive::Pause);
        assert_eq!(driver.io().datagram_bytes_max(0), device_bytes_max);
    }
}

#[test]
fn nobody_there_ends_the_slot_when_the_network_says_so() {
    let reply = ConnectReply::RefuseAfter(5000, libc::ECONNREFUSED);
    let peer = Echo { reply, ..Echo::over(Path::default()) };
    let log = exchange(&peer, &[(b"hello", 5, 0)]);
    let closed = What::Closed(CloseReason::Transfer(libc::ECONNREFUSED));
    assert_eq!(log, [(0, What::Opened), (5000, closed)]);
    assert!(peer.got.borrow().is_empty());
}

#[test]
fn what_is_sent_before_a_close_comes_to_the_peer_in_front_of_it() {
    let peer = Echo::over(Path { delay_ns: 1_000_000, ..Path::default() });
    let mut driver: SimDriver<Echo> = SimDriver::new(&setup(), vec![peer.clone()]);
    let mut recorder = Recorder::new(|_: &mut _, _, _: &What| {});
    driver.io().open(0, 0, None, Receive::Pause);
    driver.io().send_datagrams(0, OutDatagrams { bytes: b"onetwo", segment_bytes: 3, ecn: 0 });
    driver.io().close(0, CloseHow::Fin);
    run_until(&mut driver, &mut recorder, 10_000_000);
    assert_eq!(recorder.closed(0), Some((0, CloseReason::Local)));
    assert_eq!(*peer.got.borrow(), [&b"one"[..], b"two", b"closed"]);
    assert_eq!(driver.io().datagram_counts(0).sent.datagrams, 2);
}
