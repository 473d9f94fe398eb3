//! What the tests of several drivers have in common.

use std::net::UdpSocket;
use std::time::Duration;

use crate::driver::{
    CloseReason, Driver, Handler, Io, OutDatagrams, Receive, Setup, Slot, Traffic, Wait,
};
use crate::{Address, Endpoint};

/// Hears nothing.
struct Ignore;

impl<I: Io> Handler<I> for Ignore {
    fn opened(&mut self, _: &mut I, _: Slot, _: u64) {}

    fn received(&mut self, _: &mut I, _: Slot, _: &mut [u8], _: u64, _: bool) {}

    fn discarded(&mut self, _: &mut I, _: Slot, _: u64, _: u64) {}

    fn sent(&mut self, _: &mut I, _: Slot, _: u64) {}

    fn closed(&mut self, _: &mut I, _: Slot, _: CloseReason, _: u64) {}

    fn batch_end(&mut self, _: &mut I, _: u32, _: u64, _: u64) {}
}

/// Loopback takes every datagram at once, so `refuse` plays the kernel that took none of these on slot 0: they leave
/// when it says that there is room, and what is sent meanwhile leaves behind them.
pub(crate) fn what_was_refused_leaves_in_order<D: Driver>(
    make: impl FnOnce(Setup) -> D,
    refuse: impl FnOnce(&mut D, OutDatagrams<'_>),
) {
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut driver = make(Setup {
        slots: 1,
        spares: 0,
        endpoints: vec![Endpoint::new(Address::Udp(far.local_addr().unwrap()))],
        constant_bytes: [].into(),
        batch_cap: 16,
        short_connections: false,
        head_bytes: None,
    });
    let turn = |driver: &mut D| {
        let until_ns = driver.io().now() + 1_000_000;
        let wait = Wait { until_ns, spin_ns: 0, at_least: 1, gather_ns: 0 };
        driver.turn(&mut Ignore, wait).unwrap();
    };
    driver.io().open(0, 0, None, Receive::Pause);
    turn(&mut driver);
    turn(&mut driver);
    refuse(&mut driver, OutDatagrams { bytes: b"onetwo", segment_bytes: 3, ecn: 0 });
    assert!(driver.io().unsent(0), "it waits");
    assert_eq!(driver.io().datagram_counts(0).sent, Traffic::default());
    driver.io().send_datagrams(0, OutDatagrams { bytes: b"behind", segment_bytes: 6, ecn: 0 });
    for _ in 0..5 {
        turn(&mut driver);
    }
    for expected in [&b"one"[..], b"two", b"behind"] {
        let mut bytes = [0; 10];
        let count = far.recv(&mut bytes).expect("it has left");
        assert_eq!(&bytes[..count], expected);
    }
    assert!(!driver.io().unsent(0));
    let counts = driver.io().datagram_counts(0);
    assert_eq!((counts.sent.datagrams, counts.sent.calls, counts.given_up), (3, 2, 0));
}
