//! The io_uring driver as it is for connections of one request each: their sockets are direct
//! descriptors, which live in the ring's table only.

use std::io;

use ablaze_net::driver::{Driver, Handler, Outgoing, Setup, Turn, Wait};
use ablaze_net::uring::{UringDriver, UringIo};
use ablaze_net::waker::Waker;

use crate::conformance::{TestDriver, Wakes};

pub struct Direct(UringDriver);

impl Driver for Direct {
    type Io = UringIo;

    fn io(&mut self) -> &mut UringIo {
        self.0.io()
    }

    fn turn<H: Handler<UringIo>>(&mut self, handler: &mut H, wait: Wait) -> io::Result<Turn> {
        self.0.turn(handler, wait)
    }
}

impl TestDriver for Direct {
    /// Only connections whose first bytes are known are made directly, were they none.
    const NO_BYTES: Option<Outgoing> = Some(Outgoing::Constant { start: 0, len: 0 });

    fn make(setup: Setup) -> io::Result<Self> {
        UringDriver::new(Setup { short_connections: true, ..setup }).map(Self)
    }
}

impl Wakes for Direct {
    fn waker(&self) -> Waker {
        self.0.waker()
    }
}
