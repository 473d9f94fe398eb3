//! What the simulated driver knows of one slot: the client's socket, and the peer.

use std::collections::VecDeque;

use super::peer::Link;
use crate::driver::{CloseReason, Receive};
use crate::outbox::Queue;

/// Where a slot is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Free,
    Connecting,
    Open,
    AwaitingPeer,
    /// Open for datagrams.
    Datagrams,
    Ended(CloseReason),
}

/// One slot: the client's socket and the peer.
#[derive(Debug)]
pub(super) struct Connection<P> {
    pub(super) stage: Stage,
    pub(super) generation: u32,
    pub(super) receive: Receive,
    /// Ranges of the peer's bytes that arrived and were not read.
    pub(super) inbox: VecDeque<(u32, u32)>,
    /// What arrived behind them, if the stream ended: the reason to close with.
    pub(super) end: Option<CloseReason>,
    pub(super) listed: bool,
    pub(super) notices: u32,
    pub(super) peer: Option<P>,
    pub(super) link: Link,
    /// Bytes the kernel accepted and the peer has not read.
    pub(super) window: VecDeque<u8>,
    pub(super) queue: Queue,
    pub(super) failed: bool,
}

impl<P> Connection<P> {
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Free,
            generation: 0,
            receive: Receive::Stream,
            inbox: VecDeque::with_capacity(4),
            end: None,
            listed: false,
            notices: 0,
            peer: None,
            link: Link::new(),
            window: VecDeque::new(),
            queue: Queue::EMPTY,
            failed: false,
        }
    }

    /// Whether there is something to read, and it is wanted.
    pub(super) fn can_read(&self) -> bool {
        (!self.inbox.is_empty() || self.end.is_some())
            && (self.failed || self.receive != Receive::Pause)
    }

    pub(super) fn has_news(&self) -> bool {
        match self.stage {
            Stage::Free | Stage::Connecting => false,
            Stage::Open | Stage::AwaitingPeer => self.notices > 0 || self.can_read(),
            Stage::Datagrams => self.link.datagrams.as_ref().is_some_and(|link| link.has_arrived()),
            Stage::Ended(_) => true,
        }
    }
}
