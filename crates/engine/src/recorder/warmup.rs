//! What is left of the warm-up when the window opens: its exchanges in flight. They are in no figure, and
//! neither is what is received for them.

use super::Recorder;
use crate::connection::Exchange;

/// The warm-up's exchanges that have not ended, and what came for them.
#[derive(Debug, Default)]
pub(super) struct WarmupLeft {
    /// Exchanges still in flight.
    exchanges: u32,
    /// Bytes of their bodies since this was last asked.
    body_bytes: u64,
    /// Bytes of the piece being read that lie behind the last of them that ended.
    behind: u64,
    /// What lies behind the response that is complete just now.
    behind_response: u64,
    /// While a piece is read: whether it began with one of theirs.
    piece: Option<bool>,
}

impl WarmupLeft {
    /// The window opens with this many in flight.
    pub fn with(exchanges: u32) -> Self {
        Self { exchanges, ..Self::default() }
    }

    /// One of them ended; `body_bytes` of its body came in the window.
    #[cold]
    #[inline(never)]
    pub fn ended(&mut self, body_bytes: u64) {
        // Before the window opens they are not counted.
        self.exchanges = self.exchanges.saturating_sub(1);
        self.add_body(body_bytes);
        self.behind = self.behind_response;
    }

    pub fn add_body(&mut self, body_bytes: u64) {
        self.body_bytes += body_bytes;
    }
}

impl Recorder {
    /// Whether exchanges of the warm-up are still in flight.
    #[inline]
    pub fn warmup_goes_on(&self) -> bool {
        self.warmup.exchanges > 0
    }

    /// Whether it was sent before the window opened.
    pub fn is_of_warmup(&self, exchange: &Exchange) -> bool {
        exchange.started_ns > 0 && exchange.started_ns < self.window_start_ns
    }

    /// A response is complete in the middle of a piece, of which this many bytes lie behind it.
    pub fn response_ends_before(&mut self, behind_bytes: u64) {
        self.warmup.behind_response = behind_bytes;
    }

    /// A piece is about to be read; whether its first bytes are the warm-up's.
    pub fn piece_begins(&mut self, with_warmup: bool) {
        let exchanges = self.warmup.exchanges;
        self.warmup = WarmupLeft { piece: Some(with_warmup), ..WarmupLeft::with(exchanges) };
    }

    /// A piece was read: what [`piece_begins`](Self::piece_begins) was told of it, if it was called.
    #[inline]
    pub fn take_piece(&mut self) -> Option<bool> {
        self.warmup.piece.take()
    }

    /// Bytes of the piece that was read behind the last response of the warm-up in it.
    pub fn behind_warmup(&self) -> u64 {
        self.warmup.behind
    }

    /// Bytes of the warm-up's bodies that ended with the piece that was read.
    pub fn warmup_body_bytes(&self) -> u64 {
        self.warmup.body_bytes
    }
}
