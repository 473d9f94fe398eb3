//! How long bodies of requests wait for the server's windows (RFC 9113, 5.2), as an integral of their
//! number over time. Looked at when frames came and when a connection was flushed, and only where
//! bodies are under way: nothing of it costs a request without one.

use ablaze_net::Slot;

use super::{Multiplexer, OfSlot, Session, Streams};
use crate::walk::Walk;
use crate::worker::Worker;
use ablaze_model::record::WindowWaits;

/// Bodies of one connection that wait for a window.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// For the window of their stream.
    by_stream: u32,
    /// For the connection's.
    by_connection: u32,
    /// From when on it was so.
    since_ns: u64,
    /// From when on some waited without a break.
    began_ns: u64,
}

impl Held {
    fn any(&self) -> bool {
        self.by_stream + self.by_connection > 0
    }

    /// Sets the number that wait now; the time with the number before is added up.
    fn becomes(
        &mut self,
        (by_stream, by_connection): (u32, u32),
        at: u64,
        waits: &mut WindowWaits,
    ) {
        let held_ns = u128::from(at.saturating_sub(self.since_ns));
        waits.stream_ns += u128::from(self.by_stream) * held_ns;
        waits.connection_ns += u128::from(self.by_connection) * held_ns;
        waits.stream_times += u64::from(by_stream.saturating_sub(self.by_stream));
        waits.connection_times += u64::from(self.by_connection == 0 && by_connection > 0);
        let waited = self.any();
        self.since_ns = at;
        (self.by_stream, self.by_connection) = (by_stream, by_connection);
        if !waited {
            self.began_ns = at;
        } else if !self.any() {
            waits.longest_ns = waits.longest_ns.max(at.saturating_sub(self.began_ns));
        }
    }

    /// The measured window opens: waiting counts from now on.
    pub(super) fn count_from(&mut self, at: u64) {
        self.since_ns = at;
        self.began_ns = at;
    }
}

impl<T: OfSlot> Session<T> {
    /// Looks at which bodies wait now.
    #[inline]
    pub(in crate::protocol) fn look_at_windows(&mut self, at: u64, waits: &mut WindowWaits) {
        let uploads = self.multiplexer.uploads_unfinished() > 0;
        if uploads || self.held.any() {
            let now = self.multiplexer.uploads_held();
            self.held.becomes(now, at, waits);
        }
    }

    /// The connection or the run is over.
    pub(super) fn nothing_waits(&mut self, at: u64, waits: &mut WindowWaits) {
        if self.held.any() {
            self.held.becomes((0, 0), at, waits);
        }
    }
}

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// What waits on a slot when the run ends has waited until now.
    pub(super) fn note_waits(&mut self, slot: Slot, at: u64) {
        let session = &mut self.connections[slot as usize].state;
        session.nothing_waits(at, self.protocol.multiplexer.waits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_the_number_of_bodies_times_how_long() {
        let (mut held, mut waits) = (Held::default(), WindowWaits::default());
        held.becomes((2, 0), 100, &mut waits);
        held.becomes((1, 3), 110, &mut waits);
        held.becomes((0, 3), 130, &mut waits);
        held.becomes((0, 0), 131, &mut waits);
        // 2 × 10 + 1 × 20 of streams, 3 × 20 + 3 × 1 of the connection.
        let expected = WindowWaits {
            stream_times: 2,
            stream_ns: 40,
            connection_times: 1,
            connection_ns: 63,
            longest_ns: 31,
        };
        assert_eq!(waits, expected);
        held.becomes((1, 0), 200, &mut waits);
        held.count_from(300);
        held.becomes((0, 0), 305, &mut waits);
        assert_eq!((waits.stream_ns, waits.longest_ns), (45, 31));
    }
}
