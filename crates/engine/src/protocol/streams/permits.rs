//! How many streams a connection may have open, and what becomes of a request that the server did
//! not process.

use super::{Multiplexer, OfSlot, Streams};
use crate::connection::Exchange;
use crate::walk::Walk;
use crate::worker::Worker;
use ablaze_net::Slot;

/// The server's GOAWAY on a connection: the last, if there were several.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GoAway {
    /// It says that something is wrong.
    pub is_error: bool,
    /// Streams from this one on were not processed.
    pub first_refused: u64,
}

impl GoAway {
    /// Whether the server just replaces its connections, and got on with the load meanwhile: it
    /// answered on this one (`responses`), or will. A request that is refused then is not held against it, however
    /// often: with each connection there are fewer to go.
    pub fn is_rotation(&self, responses: u64) -> bool {
        !self.is_error && (responses > 0 || self.first_refused > 1)
    }
}

/// The request as it is sent again: timed from when it first began.
pub(super) fn again(exchange: &Exchange, counts: bool) -> Exchange {
    Exchange {
        number: exchange.number,
        intended_ns: exchange.intended_ns,
        template: exchange.template,
        started_ns: exchange.started_ns,
        repeated: exchange.repeated || counts,
        ..Exchange::default()
    }
}

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// How many more streams may be opened on a slot.
    ///
    /// Before its SETTINGS came a server of HTTP/2 may refuse what is beyond them (RFC 9113, 5.1.2). So a
    /// connection begins with what the server permitted on those before; where there was none yet,
    /// with none in closed loop, as SETTINGS are the first that a server sends (3.4) and are under way
    /// already, and with one where no more than that would be sent. Over QUIC the limit comes with the handshake.
    #[inline]
    pub(super) fn streams_left(&self, slot: Slot) -> u32 {
        let multiplexer = &self.connections[slot as usize].state.multiplexer;
        let room = multiplexer.free_streams();
        if !C::LIMIT_COMES_LATE || multiplexer.began() || room == 0 {
            return room;
        }
        room.min(self.streams_at_first().saturating_sub(multiplexer.streams_live()))
    }

    /// How many streams may be opened at once on a new connection.
    #[cold]
    pub(super) fn streams_at_first(&self) -> u32 {
        match self.protocol.multiplexer.streams_permitted() {
            Some(permitted) => permitted.unwrap_or(u32::MAX).min(C::STREAMS_AT_FIRST),
            None => {
                let several = self.protocol.streams > 1 && self.requests_per_connection > 1;
                u32::from(!several || self.open_loop.is_some())
            }
        }
    }
}
