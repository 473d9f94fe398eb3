//! Nothing between worker and driver.

use std::io;

use ablaze_net::{Driver, Handler, Io, Turn, Wait};

use super::{Facts, Line};

/// A driver as it is.
pub struct Plain<D>(pub D);

impl<D: Driver, A: Handler<D::Io>> Line<A> for Plain<D> {
    const SENDS_AT_ONCE: bool = <D::Io as Io>::SENDS_AT_ONCE;

    fn io(&mut self) -> impl Io {
        self.0.io()
    }

    #[inline]
    fn turn(&mut self, above: &mut A, wait: Wait) -> io::Result<Turn> {
        self.0.turn(above, wait)
    }

    fn facts(self) -> Facts {
        Facts::default()
    }
}
