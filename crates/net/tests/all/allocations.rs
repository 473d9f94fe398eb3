//! Nothing is allocated per request, per connection or per simulated event, once the first ones
//! are through.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpListener;

use ablaze_net::driver::Setup;
use ablaze_net::epoll::EpollDriver;
use ablaze_net::sim::{FixedResponse, Misbehave, Pieces, SimDriver};
use ablaze_net::uring::UringDriver;
use ablaze_net::{
    Address, CloseHow, CloseReason, Driver, Endpoint, Handler, Io, Outgoing, Receive, Slot, Wait,
};
use ablaze_testing::allocations::of_this_thread;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const ALL: Outgoing = Outgoing::Constant { start: 0, len: REQUEST.len() as u32 };
const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// Closes every tenth connection's use, so that both requests and connections repeat.
struct Loop {
    mode: Receive,
    responses: u64,
    bytes: usize,
}

impl<I: Io> Handler<I> for Loop {
    fn opened(&mut self, _: &mut I, _: Slot, _: u64) {}

    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], _: u64, _: bool) {
        self.bytes += bytes.len();
        if self.bytes == ANSWER.len() {
            self.bytes = 0;
            self.responses += 1;
            match self.responses % 10 {
                // With the goodbye of TLS, or without.
                0 if self.responses.is_multiple_of(20) => {
                    io.send(slot, ALL, false);
                    io.close(slot, CloseHow::Fin);
                }
                0 => io.close(slot, CloseHow::Reset),
                _ => io.send(slot, ALL, self.responses.is_multiple_of(3)),
            }
        }
    }

    fn discarded(&mut self, _: &mut I, _: Slot, _: u64, _: u64) {}

    fn sent(&mut self, _: &mut I, _: Slot, _: u64) {}

    fn closed(&mut self, io: &mut I, slot: Slot, _: CloseReason, _: u64) {
        io.open(slot, 0, Some(ALL), self.mode);
    }

    fn batch_end(&mut self, _: &mut I, _: u32, _: u64, _: u64) {}
}

fn setup(address: Address) -> Setup {
    Setup {
        slots: 1,
        spares: 0,
        endpoints: vec![Endpoint::new(address)],
        constant_bytes: REQUEST.into(),
        batch_cap: 64,
        short_connections: false,
        head_bytes: None,
    }
}

/// Allocations of this thread while the driver serves 1000 responses, after the first 100.
fn allocations(driver: &mut impl Driver, mode: Receive) -> u64 {
    let mut handler = Loop { mode, responses: 0, bytes: 0 };
    driver.io().open(0, 0, Some(ALL), mode);
    let wait = Wait { until_ns: u64::MAX, spin_ns: 0, at_least: 1, gather_ns: 0 };
    while handler.responses < 100 {
        driver.turn(&mut handler, wait).unwrap();
    }
    let before = of_this_thread();
    while handler.responses < 1_100 {
        driver.turn(&mut handler, wait).unwrap();
    }
    of_this_thread() - before
}

/// A server of one connection at a time.
fn server() -> Address {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut request = [0; REQUEST.len()];
            while let Ok(()) = stream.read_exact(&mut request) {
                let _ = stream.write_all(ANSWER);
            }
        }
    });
    address
}

#[test]
fn epoll_allocates_nothing_per_request_or_connection() {
    for mode in [Receive::Stream, Receive::Bulk] {
        let mut driver = EpollDriver::new(setup(server())).unwrap();
        assert_eq!(allocations(&mut driver, mode), 0, "{mode:?}");
    }
}

#[test]
fn io_uring_allocates_nothing_per_request_or_connection() {
    for mode in [Receive::Stream, Receive::Bulk] {
        for short_connections in [false, true] {
            let setup = Setup { short_connections, ..setup(server()) };
            let mut driver = UringDriver::new(setup).unwrap();
            let count = allocations(&mut driver, mode);
            assert_eq!(count, 0, "{mode:?}, direct descriptors: {short_connections}");
        }
    }
}

#[test]
fn the_simulation_allocates_nothing_per_event() {
    let nowhere = Address::Tcp(([127, 0, 0, 1], 1).into());
    let peer = FixedResponse::new(ANSWER, 1_000).cut(Pieces::Of(9), 10);
    let mut driver: SimDriver<_> = SimDriver::new(&setup(nowhere.clone()), vec![peer.clone()]);
    assert_eq!(allocations(&mut driver, Receive::Stream), 0);
    let mut driver: SimDriver<_, false> = SimDriver::new(&setup(nowhere), vec![peer]);
    assert_eq!(allocations(&mut driver, Receive::Stream), 0);
}
