//! What a slot can be doing, so that only what can be is representable.

use std::collections::VecDeque;

use super::SlotState;
use crate::driver::{CloseHow, CloseReason, Receive};
use crate::low_water::LowWater;

/// Where a slot's connection is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Free,
    /// The connect is under way.
    Connecting,
    /// The same, and the handler has closed it in this manner.
    Unwanted(CloseHow),
    Open,
    /// A socket for datagrams: see [`super::datagrams`].
    Datagrams,
    /// Closed by the handler, who waits for the peer to close: what comes is dropped.
    AwaitingPeer,
    /// Over; the handler is told as soon as the kernel holds nothing of it any more.
    Ending(Ending),
}

/// How a connection ends, and what the end waits for beside the receive and the told send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) how: CloseHow,
    pub(super) why: CloseReason,
    pub(super) doubt: Doubt,
}

/// Whether the kernel may hold a silent send, which found the socket full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It cannot.
    Settled,
    /// It was asked to cancel them: none is left once it finds none.
    Asked,
    /// The same, in the submission that the last of them is part of: one that was about to be tried
    /// again would not be found, so it is asked once more.
    AskedEarly,
}

/// What the slot's receive is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiving {
    /// None is under way.
    Nothing,
    /// This operation is.
    Armed(u8),
    /// This operation is the last link of the chain that opened the connection: it is silently
    /// dropped if the send before it fails.
    Chained(u8),
    /// This operation was cancelled, and has not completed.
    Stopping(u8),
    /// This last link of a chain was.
    StoppingChained(u8),
}

impl Receiving {
    /// Whether none is under way.
    #[inline]
    pub(super) fn is_nothing(self) -> bool {
        self == Self::Nothing
    }

    /// The operation that was cancelled.
    pub(super) fn stopping(self) -> Option<u8> {
        match self {
            Self::Stopping(operation) | Self::StoppingChained(operation) => Some(operation),
            Self::Nothing | Self::Armed(_) | Self::Chained(_) => None,
        }
    }

    /// Whether this operation is under way and was not cancelled.
    #[inline]
    pub(super) fn is_armed(self, operation: u8) -> bool {
        self == Self::Armed(operation) || self == Self::Chained(operation)
    }

    /// Notes that a send failed: what was linked behind it is gone.
    pub(super) fn unchain(&mut self) {
        if let Self::Chained(_) | Self::StoppingChained(_) = self {
            *self = Self::Nothing;
        }
    }
}

/// What has to have left before the slot's next send can be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// Nothing.
    Ready,
    /// The send that this operation is, [`super::SEND`] or [`super::QUEUED_SEND`], has not completed; or datagrams
    /// wait for the socket to take more, [`super::WRITABLE`].
    Told(u8),
    /// The first bytes are a silent link of the chain that opens the connection. The kernel comes to
    /// it when it is entered again after the connect, which completed when this many submissions
    /// had been made: it tries what is submitted then first.
    Linked { connected_in: u32 },
}

impl Sending {
    /// The operation whose completion is awaited.
    #[inline]
    pub(super) fn told(self) -> Option<u8> {
        match self {
            Self::Told(operation) => Some(operation),
            Self::Ready | Self::Linked { .. } => None,
        }
    }
}

/// What is thought of a multishot receive: see [`super::suspicion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    None,
    /// It delivered bytes, and nothing was sent nor heard since: it may have missed a reset.
    Suspected,
    /// It was begun anew for that reason, and has not said anything yet.
    LookedAgain,
}

impl SlotState {
    /// That of a free slot.
    pub(super) fn new() -> Self {
        Self {
            generation: 0,
            stage: Stage::Free,
            wanted: Receive::Pause,
            receiving: Receiving::Nothing,
            suspicion: Suspicion::None,
            low_water: LowWater::new(),
            sending: Sending::Ready,
            unheard_bytes: 0,
            sent_bytes: 0,
            told_bytes: 0,
            send_error: 0,
            sent_in: 0,
            leased_in: 0,
            endpoint: 0,
            attempts_left: 0,
            first: None,
            queue: VecDeque::new(),
            socket: None,
        }
    }
}
