//! What happens below the tunnels, and what of it is told to whoever is above.

use ablaze_net::{CloseHow, CloseReason, Handler, Io, Receive, Slot};

use super::response::{Got, Trouble};
use super::{Stage, TunnelIo, Tunnels};
use crate::transport::Above;

/// The handler that the driver calls.
pub struct Layer<'a, A> {
    pub(super) above: &'a mut A,
    pub(super) tunnels: &'a mut Tunnels,
}

impl<I: Io, A: Above> Handler<I> for Layer<'_, A> {
    fn opened(&mut self, _io: &mut I, _slot: Slot, _at: u64) {
        // The proxy is there, and was sent its request; whoever is above still waits.
        self.tunnels.facts.connected += 1;
    }

    #[inline]
    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool) {
        let mut io = TunnelIo { io, tunnels: self.tunnels };
        match io.tunnel(slot).stage {
            Stage::Through => self.above.received(&mut io, slot, bytes, at, more),
            Stage::Asked => answered(self.above, &mut io, slot, bytes, at, more),
            Stage::Free | Stage::Ended => {}
        }
    }

    #[inline]
    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        self.above.discarded(&mut TunnelIo { io, tunnels: self.tunnels }, slot, bytes, at);
    }

    #[inline]
    fn sent(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.above.sent(&mut TunnelIo { io, tunnels: self.tunnels }, slot, at);
    }

    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        let mut io = TunnelIo { io, tunnels: self.tunnels };
        let tunnel = std::mem::take(io.tunnel(slot));
        if tunnel.stage == Stage::Asked
            && let Some(trouble) = tunnel.response.cut_off(why)
        {
            self.above.handshake_failed(slot, trouble.kind);
            io.note(trouble);
        }
        // The time was over, most often. What refused a tunnel was noted before.
        if let Some(trouble) = tunnel.response.unfinished(why) {
            io.note(trouble);
        }
        self.above.closed(&mut io, slot, why, at);
    }

    #[inline]
    fn batch_end(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64) {
        self.above.batch_end(&mut TunnelIo { io, tunnels: self.tunnels }, events, oldest_at, at);
    }
}

/// The proxy says something about the tunnel. What comes behind its response is of the peer.
#[cold]
fn answered<I: Io>(
    above: &mut impl Above,
    io: &mut TunnelIo<'_, I>,
    slot: Slot,
    bytes: &mut [u8],
    at: u64,
    more: bool,
) {
    let max_head_bytes = io.tunnels.max_head_bytes;
    match io.tunnel(slot).response.read(bytes, max_head_bytes) {
        Got::Further => {}
        Got::Nowhere(trouble) => {
            let trouble = trouble.if_credentials_were_sent(io.tunnels.has_credentials);
            above.handshake_failed(slot, trouble.kind);
            io.note(trouble);
            io.close(slot, CloseHow::Fin);
        }
        Got::Through { head_bytes } => {
            let tunnel = io.tunnel(slot);
            tunnel.stage = Stage::Through;
            let (first, wanted) = (tunnel.first.take(), tunnel.wanted.take());
            io.tunnels.facts.tunnels += 1;
            if let Some(mode) = wanted.filter(|mode| *mode != Receive::Stream) {
                io.io.receive(slot, mode);
            }
            if let Some(first) = first {
                io.io.send(slot, first, false);
            }
            above.opened(io, slot, at);
            let rest = &mut bytes[head_bytes..];
            if !rest.is_empty() && io.tunnel(slot).stage == Stage::Through {
                above.received(io, slot, rest, at, more);
            }
        }
    }
}

impl<I: Io> TunnelIo<'_, I> {
    /// Keeps the first trouble for reports.
    fn note(&mut self, trouble: Trouble) {
        let facts = &mut self.tunnels.facts;
        if facts.first_failure.is_none() {
            facts.first_failure = Some((trouble.kind, trouble.detail));
        }
    }
}
