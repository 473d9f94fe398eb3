//! How long requests wait for a stream where all are in use, those that were asked for or those that the server permits: of the
//! requests that waited alone. In closed loop a request waits on its connection; in open loop arrivals do on the schedule, where
//! they are late for other reasons, too.

use ablaze_net::Slot;
use ablaze_stats::Latency;

use super::{Multiplexer, OfSlot, Streams};
use crate::connection::Stage;
use crate::walk::Walk;
use crate::worker::Worker;

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// Whether the server has said how many streams it permits.
    fn knows_limit(&self, slot: Slot) -> bool {
        !C::LIMIT_COMES_LATE || self.connections[slot as usize].state.multiplexer.began()
    }

    /// In open loop so many more streams can be opened on a slot.
    #[inline]
    pub(super) fn note_room(&mut self, slot: Slot, room: u32) {
        let is_full = room == 0 && self.knows_limit(slot);
        let full_since_ns = &mut self.connections[slot as usize].state.full_since_ns;
        if !is_full {
            *full_since_ns = 0;
        } else if *full_since_ns == 0 {
            *full_since_ns = self.now_ns;
        }
    }

    /// Whether an arrival that this slot takes now waited for a stream: the slot had none, and no other could have taken it.
    #[inline]
    pub(super) fn found_no_stream(&self, slot: Slot) -> bool {
        self.open_loop.as_ref().is_some_and(|open| {
            self.connections[slot as usize].state.full_since_ns > 0 && open.has_nobody()
        })
    }

    /// What was left on a connection waits for one of its streams from now on, unless the server has yet to say how many it
    /// permits.
    #[cold]
    pub(super) fn wait_for_streams(&mut self, slot: Slot, at: u64) {
        let is_known = self.knows_limit(slot);
        let connection = &mut self.connections[slot as usize];
        let session = &mut connection.state;
        if connection.stage != Stage::Open || !is_known || session.multiplexer.free_streams() > 0 {
            return;
        }
        for &tag in &session.waiting {
            let since_ns = &mut session.places[tag as usize].waits_since_ns;
            if *since_ns == 0 {
                *since_ns = at;
            }
        }
    }

    /// The connection that requests waited on is gone; they wait for another now.
    pub(super) fn forget_waits(&mut self, slot: Slot) {
        let session = &mut self.connections[slot as usize].state;
        for &tag in &session.waiting {
            session.places[tag as usize].waits_since_ns = 0;
        }
    }

    /// A request that waited was given a stream.
    #[cold]
    pub(super) fn has_its_stream(&mut self, slot: Slot, tag: u32, at: u64) {
        let place = self.place_of(slot, tag);
        let found_none = self.found_no_stream(slot);
        let session = &mut self.connections[slot as usize].state;
        let since_ns = match std::mem::take(&mut session.places[tag as usize].waits_since_ns) {
            0 if found_none => self.exchanges[place].intended_ns.max(session.full_since_ns),
            since_ns => since_ns,
        };
        let waited_ns = at.saturating_sub(since_ns);
        if since_ns > 0 && waited_ns > 0 && self.recorder.window_is_open() {
            let all = &mut self.recorder.record().stream_wait;
            all.get_or_insert_with(|| Box::new(Latency::new(3))).record(waited_ns);
        }
    }
}
