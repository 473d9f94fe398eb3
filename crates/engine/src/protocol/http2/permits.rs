//! How many streams a connection may have open, and what becomes of a request that the server did
//! not process.

use ablaze_net::Slot;
use ablaze_wire::http2::client::STREAMS_BEFORE_SETTINGS;
use ablaze_wire::http2::error::ErrorCode;

use super::Http2;
use crate::connection::Exchange;
use crate::walk::Walk;
use crate::worker::Worker;

/// The server's GOAWAY on a connection: the last, if there were several.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoAway {
    pub code: ErrorCode,
    /// The last stream that was or might be processed.
    pub last_stream: u32,
}

impl GoAway {
    /// Whether the server just replaces its connections, and got on with the load meanwhile: it
    /// answered on this one (`responses`), or will. A request that is refused then is not held against it, however
    /// often: with each connection there are fewer to go.
    pub fn is_rotation(&self, responses: u64) -> bool {
        self.code == ErrorCode::NO_ERROR && (responses > 0 || self.last_stream > 0)
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

impl<S: Walk> Worker<Http2<S>> {
    /// How many more streams may be opened on a slot.
    ///
    /// Before its SETTINGS came a server may refuse what is beyond them (RFC 9113, 5.1.2). So a
    /// connection begins with what the server permitted on those before; where there was none yet,
    /// with none in closed loop, as SETTINGS are the first that a server sends (3.4) and are under way
    /// already, and with one where no more than that would be sent.
    #[inline]
    pub(super) fn streams_left(&self, slot: Slot) -> u32 {
        let Some(wire) = &self.connections[slot as usize].state.wire else { return 0 };
        let room = wire.free_streams();
        if wire.peer_settings().is_some() {
            return room;
        }
        room.min(self.streams_before_settings().saturating_sub(wire.streams_live()))
    }

    /// How many streams may be opened at once on a new connection.
    #[cold]
    pub(super) fn streams_before_settings(&self) -> u32 {
        let known = self.protocol.facts.settings.map(|settings| settings.streams_max);
        match known {
            Some(permitted) => permitted.unwrap_or(u32::MAX).min(STREAMS_BEFORE_SETTINGS),
            None => {
                let several = self.protocol.options.streams > 1 && self.requests_per_connection > 1;
                u32::from(!several || self.open_loop.is_some())
            }
        }
    }
}
