//! Nothing between worker and driver.

use std::io;

use ablaze_net::{Driver, Io, Turn, Wait};

use super::{Facts, Line};
use crate::worker::Worker;

/// A driver as it is.
pub struct Plain<D>(pub D);

impl<D: Driver> Line for Plain<D> {
    const SENDS_AT_ONCE: bool = <D::Io as Io>::SENDS_AT_ONCE;

    fn io(&mut self) -> impl Io {
        self.0.io()
    }

    #[inline]
    fn turn(&mut self, worker: &mut Worker, wait: Wait) -> io::Result<Turn> {
        self.0.turn(worker, wait)
    }

    fn facts(self) -> Facts {
        Facts::default()
    }
}
