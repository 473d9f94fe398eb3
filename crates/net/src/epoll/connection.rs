//! What the epoll driver knows of one slot.

use std::os::fd::OwnedFd;

use crate::driver::{CloseReason, Receive};
use crate::low_water::LowWater;
use crate::outbox::Queue;

/// Where a slot is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No connection.
    Free,
    /// A Unix socket's accept queue was full: the connect is tried again in a moment.
    Refilling,
    /// Connect was called; the outcome is not known.
    Connecting,
    /// Connected, and the handler has not been told.
    Connected,
    /// Open for both directions.
    Open,
    /// The handler wants it closed as soon as the peer closes.
    AwaitingPeer,
    /// A socket for datagrams is there, and the handler has not been told.
    Bound,
    /// It is open for datagrams.
    Datagrams,
    /// Gone; the handler has not been told.
    Ended(CloseReason),
}

/// What is known of the peer's end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hangup {
    /// Nothing.
    None,
    /// FIN arrived on a TCP socket, and no error: the receive queue gets no longer, so that a
    /// read which does not fill its buffer has reached the end.
    Fin,
    /// Something else ended it: read until the kernel says 0 or names the error.
    Unclear,
    /// Everything is read; the next thing to say is the end.
    Reached,
}

/// One slot.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: Option<OwnedFd>,
    /// Counts the slot's connections; events of an earlier one are recognised by it.
    pub(super) generation: u32,
    pub(super) stage: Stage,
    pub(super) receive: Receive,
    /// Readiness was reported, and no read since has emptied the receive queue.
    pub(super) readable: bool,
    pub(super) hangup: Hangup,
    /// Whether the slot is on the list of what is visited without an event, or is being visited.
    pub(super) listed: bool,
    /// Whether epoll reports writability of this socket.
    pub(super) watches_writable: bool,
    pub(super) is_tcp: bool,
    /// What the socket gathers before it is reported readable.
    pub(super) low_water: LowWater,
    pub(super) endpoint: u16,
    /// Errno of a failed send, or of a reset seen while connecting; 0 for none.
    pub(super) failed: i32,
    /// Finished sends whose `sent` has not been delivered.
    pub(super) notices: u32,
    pub(super) queue: Queue,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            socket: None,
            generation: 0,
            stage: Stage::Free,
            receive: Receive::Stream,
            readable: false,
            hangup: Hangup::None,
            listed: false,
            watches_writable: false,
            is_tcp: true,
            low_water: LowWater::new(),
            endpoint: 0,
            failed: 0,
            notices: 0,
            queue: Queue::EMPTY,
        }
    }

    /// Whether the handler can be told something without any new event from the kernel.
    pub(super) fn has_news(&self) -> bool {
        match self.stage {
            Stage::Free | Stage::Refilling | Stage::Connecting => false,
            Stage::Connected | Stage::Bound | Stage::Ended(_) => true,
            Stage::Datagrams => self.failed != 0 || self.readable,
            Stage::Open => self.notices > 0 || self.can_read(),
            Stage::AwaitingPeer => self.can_read(),
        }
    }

    /// Whether a read is worth a system call (or the end is known), and wanted.
    pub(super) fn can_read(&self) -> bool {
        self.failed != 0 || (self.readable && self.receive != Receive::Pause)
    }

    /// How many bytes were asked for and how many came: what that says about the next read.
    pub(super) fn after_read(&mut self, asked: usize, came: usize) {
        if came < asked {
            match self.hangup {
                Hangup::None => self.readable = false,
                Hangup::Fin => self.hangup = Hangup::Reached,
                Hangup::Unclear | Hangup::Reached => {}
            }
        }
    }
}
