//! Flushes what gathers: one write per connection and turn, whatever is in it.

use ablaze_net::{Io, Outgoing, Slot};

use super::Http2;
use crate::protocol::streams::Streams;
use crate::walk::Walk;
use crate::worker::Worker;

impl<S: Walk> Worker<Streams<Http2, S>> {
    /// Sends what has gathered on a connection, unless a write is under way: then it gathers on.
    pub(super) fn flush_frames<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        let http2 = &mut self.protocol.multiplexer;
        let session = &mut self.connections[slot as usize].state;
        let framed = &mut session.multiplexer;
        if !framed.write.under_way
            && let Some(wire) = &mut framed.wire
        {
            wire.upload(&http2.set, &mut framed.out);
        }
        let leaves = !framed.write.under_way && !framed.out.is_empty();
        session.look_at_windows(at, &mut http2.facts.waits);
        let at = if I::SENDS_AT_ONCE && leaves { io.now() } else { at };
        self.stamp_unsent(slot, at, leaves);
        if !leaves {
            return;
        }
        let framed = &mut self.connections[slot as usize].state.multiplexer;
        let bytes = framed.out.len();
        let buffer = framed.write.buffer(io, bytes);
        io.leased(buffer)[..bytes].copy_from_slice(&framed.out);
        framed.out.clear();
        framed.write.under_way = true;
        self.protocol.multiplexer.writes_under_way += 1;
        self.recorder.record().sent_bytes += bytes as u64;
        io.send(slot, Outgoing::Leased { buffer, len: bytes as u32 }, true);
    }

    /// A write has left: what gathered meanwhile is next.
    pub(super) fn frames_left(&mut self, slot: Slot) {
        let protocol = &mut self.protocol;
        let session = &mut self.connections[slot as usize].state;
        let framed = &mut session.multiplexer;
        if !std::mem::take(&mut framed.write.under_way) {
            return;
        }
        protocol.multiplexer.writes_under_way -= 1;
        let uploads = framed.wire.as_ref().is_some_and(|wire| wire.can_upload());
        if uploads || !framed.out.is_empty() {
            protocol.list(session, slot);
        }
    }
}
