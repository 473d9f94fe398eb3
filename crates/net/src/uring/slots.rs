//! The state of each slot's socket on the ring ([`stage`] has its parts), and the verbs that change it,
//! a module for each: [`opening`], [`sending`], [`receiving`] (with [`suspicion`] about what it is not
//! told), [`closing`], [`datagrams`] (with the [`messages`] they leave in); [`submission`] hands to the kernel what
//! they queued.

mod closing;
mod datagrams;
mod messages;
mod opening;
mod receiving;
mod sending;
mod stage;
mod submission;
mod suspicion;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};

use super::ring::{self, RingCompletion, tag};
use crate::driver::{CloseReason, Outgoing, Receive, Setup, Slot};
use crate::leases::Leases;
use crate::low_water::LowWater;
use crate::socket::Route;
use crate::waker::Waker;

pub use opening::Connected;
pub use receiving::Dropped;
use stage::{Doubt, Ending, Receiving, Sending, Stage, Suspicion};

/// What the kernel must be able to do.
pub const OPERATIONS: &[u8] = &[
    opcode::Socket::CODE,
    opcode::Connect::CODE,
    opcode::Send::CODE,
    opcode::Recv::CODE,
    opcode::AsyncCancel::CODE,
    opcode::PollAdd::CODE,
    opcode::SendMsg::CODE,
    opcode::RecvMsg::CODE,
];

pub const HEAD_GROUP: u16 = 0;
pub const BULK_GROUP: u16 = 1;
pub const DATAGRAM_GROUP: u16 = 2;

// Operations, as carried by their completions.
pub const SOCKET: u8 = 1;
pub const CONNECT: u8 = 2;
/// A send whose completion the handler waits for.
pub const SEND: u8 = 3;
/// A send that completes silently unless it fails.
pub const SILENT_SEND: u8 = 4;
/// A send whose completion only the queue behind it waits for.
pub const QUEUED_SEND: u8 = 12;
pub const STREAM: u8 = 5;
pub const HEAD: u8 = 6;
pub const BULK: u8 = 7;
pub const DISCARD: u8 = 8;
const CANCEL: u8 = 9;
const CLOSE: u8 = 10;
const WAKE: u8 = 11;
/// A cancel of all silent sends of a slot, of which the result is the number found.
const CANCEL_SILENT: u8 = 13;
/// Has a direct descriptor's connection reset.
const RESET: u8 = 14;
/// Tells that a socket for datagrams is there.
pub const BOUND: u8 = 15;
/// The receive of a socket for datagrams.
pub const DATAGRAMS: u8 = 16;
/// Datagrams are sent: tagged with the number of their message, completes silently unless it fails.
const MESSAGE: u8 = 17;
/// A socket for datagrams takes more of them.
pub const WRITABLE: u8 = 18;

/// Whom a completion is for.
pub enum Recognised {
    /// Nobody: its connection is gone, or it says nothing that matters.
    Nobody,
    /// The connection of this slot: this operation.
    Standing(Slot, u8),
    /// The slot whose connection is over, but for what the kernel still holds of it.
    Ending(Slot),
    /// The slot whose socket for datagrams is of no use any more: sending failed.
    Broken(Slot),
}

struct SlotState {
    generation: u32,
    stage: Stage,
    wanted: Receive,
    receiving: Receiving,
    suspicion: Suspicion,
    /// What the socket gathers before a receive completes.
    low_water: LowWater,
    sending: Sending,
    /// Bytes handed over since the peer was last heard.
    unheard_bytes: u32,
    /// Bytes handed over since the slot was opened.
    sent_bytes: u32,
    /// The length of the last send that tells its end.
    told_bytes: u32,
    /// Why a send failed: its errno, 0 for none.
    send_error: i32,
    /// The number of the submission that its last send is part of.
    sent_in: u32,
    /// The same of its last send from a leased buffer.
    leased_in: u32,
    endpoint: u16,
    attempts_left: u32,
    first: Option<Outgoing>,
    /// Sends waiting for the one before, or for the connection.
    queue: VecDeque<(Outgoing, bool)>,
    /// The descriptor; `None` for a direct one, which lives in the ring's table only.
    socket: Option<OwnedFd>,
}

/// The verbs on io_uring: they queue requests; [`super::UringDriver`] submits them.
pub struct UringIo {
    pub(super) ring: IoUring,
    pub(super) leases: Leases,
    pub(super) now_ns: u64,
    /// How long the last wait was for a fuller batch, at most.
    pub(super) gathered_ns: u64,
    /// System calls made since the turn began, apart from entering the ring.
    pub(super) calls: u32,
    slots: Vec<SlotState>,
    routes: Vec<Route>,
    constant_bytes: Arc<[u8]>,
    short_connections: bool,
    /// Whether short connections are ordinary sockets for now, so that it shows whether they stand.
    looks_whether_connected: bool,
    gathers: bool,
    /// Closes that need nothing from the kernel, to be told at the next occasion.
    local: Vec<(Slot, u32, CloseReason)>,
    /// The same, but a send is queued that has to leave first: they follow the next submission.
    after_submission: Vec<(Slot, u32, CloseReason)>,
    /// Slots that wait for the next submission to send what is queued behind their chain.
    linked: Vec<(Slot, u32)>,
    /// How often requests were handed to the kernel.
    submissions: u32,
    /// Direct descriptors of connections that are over: closed unless opening the slot again
    /// replaces them.
    left_open: Vec<(Slot, u32)>,
    /// Connects queued: on loopback they complete during submission and end a wait at once.
    connects_queued: u32,
    /// The slot whose bytes the handler is being shown, or [`NO_SLOT`].
    delivering: Slot,
    /// Slots whose multishot receive delivered bytes that the handler did not answer, by the time
    /// at which to look again: see [`Self::suspect`].
    suspects: VecDeque<(u64, Slot, u32)>,
    /// A reset was missed once: receives are armed one by one from then on.
    careful: bool,
    /// Bytes read at once where a head is expected.
    head_read_bytes: u32,
    waker: Waker,
    datagrams: datagrams::DatagramSlots,
}

/// A number no slot has.
const NO_SLOT: Slot = Slot::MAX;

impl UringIo {
    pub(super) fn new(setup: Setup) -> io::Result<Self> {
        // A chain has four requests, and submission empties the queue: its size only bounds how
        // often it is emptied.
        let submissions = (setup.slots * 4).clamp(64, 2048).next_power_of_two();
        let completions = (setup.slots * 4).clamp(256, 65_536).next_power_of_two();
        let ring = ring::make(submissions, completions)?;
        ring.submitter().register_files_sparse(setup.slots)?;
        let gathers = ring.params().is_feature_min_timeout();
        let routes: Vec<Route> =
            setup.endpoints.iter().map(Route::for_ring).collect::<io::Result<_>>()?;
        let slots = (0..setup.slots).map(|_| SlotState::new()).collect();
        let has_datagrams = routes.iter().any(|route| route.datagrams().is_some());
        let datagram_slots = if has_datagrams { setup.slots } else { 0 };
        let now_ns = monotonic_ns();
        let mut io = Self {
            ring,
            leases: Leases::default(),
            now_ns,
            gathered_ns: 0,
            calls: 0,
            slots,
            routes,
            constant_bytes: setup.constant_bytes,
            short_connections: setup.short_connections,
            looks_whether_connected: true,
            gathers,
            local: Vec::new(),
            after_submission: Vec::new(),
            linked: Vec::new(),
            submissions: 1,
            left_open: Vec::new(),
            connects_queued: 0,
            delivering: NO_SLOT,
            suspects: VecDeque::new(),
            careful: false,
            head_read_bytes: setup.head_bytes.unwrap_or(receiving::HEAD_READ_BYTES),
            waker: Waker::new()?,
            datagrams: datagrams::DatagramSlots::new(datagram_slots),
        };
        io.watch_waker();
        Ok(io)
    }

    /// Whether any endpoint is one of datagrams.
    pub(super) fn has_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    pub(super) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn watch_waker(&mut self) {
        let watch = opcode::PollAdd::new(Fd(self.waker.as_fd().as_raw_fd()), libc::POLLIN as u32)
            .multi(true)
            .build()
            .user_data(tag(WAKE, 0, 0));
        self.push(&watch);
    }

    /// The slot and operation of a completion.
    #[inline]
    pub(super) fn recognise(&mut self, done: &RingCompletion) -> Recognised {
        let operation = done.operation();
        if operation == WAKE {
            self.woken(done);
            return Recognised::Nobody;
        }
        if matches!(operation, CLOSE | RESET | MESSAGE) {
            return self.recognise_message(done);
        }
        let state = &self.slots[done.slot() as usize];
        if state.generation != done.generation() {
            return Recognised::Nobody;
        }
        match state.stage {
            Stage::Free => Recognised::Nobody,
            Stage::Ending(_) => Recognised::Ending(done.slot()),
            _ if operation == CANCEL => {
                self.cancelled(done);
                Recognised::Nobody
            }
            _ => Recognised::Standing(done.slot(), operation),
        }
    }

    fn woken(&mut self, done: &RingCompletion) {
        self.waker.clear();
        if !done.more_to_come() {
            self.watch_waker();
        }
    }

    pub(super) fn is_current(&self, slot: Slot, generation: u32) -> bool {
        let state = &self.slots[slot as usize];
        state.generation == generation && state.stage != Stage::Free
    }

    /// Whether the handler wants to know what arrives.
    #[inline]
    pub(super) fn listens(&self, slot: Slot) -> bool {
        self.slots[slot as usize].stage == Stage::Open
    }
}
