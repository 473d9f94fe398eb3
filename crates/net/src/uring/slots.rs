//! The state of each slot's socket on the ring, and the verbs that change it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use ablaze_sys::clock::monotonic_ns;
use io_uring::types::{CancelBuilder, DestinationSlot, Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::BULK_BUFFER_BYTES;
use super::ring::{self, RingCompletion, tag};
use crate::driver::{CloseHow, CloseReason, Outgoing, Receive, Setup, Slot, Turn};
use crate::leases::Leases;
use crate::low_water::LowWater;
use crate::socket::{Route, connect_failure, reset_on_close};
use crate::waker::Waker;

pub const HEAD_GROUP: u16 = 0;
pub const BULK_GROUP: u16 = 1;

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
/// `IORING_RECVSEND_POLL_FIRST`: wait for readiness before trying, where an answer cannot be there
/// yet. Saves an attempt that fails.
const POLL_FIRST: u16 = 1;
/// `IORING_RECV_MULTISHOT`.
const MULTISHOT: u16 = 2;
const CANCEL: u8 = 9;
const CLOSE: u8 = 10;
const WAKE: u8 = 11;

/// Bytes read at once where a head is expected whose body is dropped afterwards.
const HEAD_READ_BYTES: u32 = 1024;
/// Most that one request discards; the rest follows in another.
const DISCARD_BYTES_MAX: u64 = 1 << 30;
/// Bytes discarded at once when the end is not known.
const DISCARD_TO_END_BYTES: u32 = 1 << 20;
/// A multishot receive is stopped to discard at least so many bytes; fewer are copied sooner than
/// it is stopped.
const STOP_STREAM_BYTES: u64 = 64 * 1024;
/// First bytes up to this length fit one segment on any network, so that Nagle's algorithm never
/// holds them back and the socket needs no option set.
const ONE_SEGMENT_BYTES: u32 = 1400;
/// How long a multishot receive that delivered bytes may say nothing more before it is begun anew.
const LOOK_AGAIN_NS: u64 = 10_000_000;
/// As many bytes fit any socket's send buffer at once (the least the kernel permits is 4,608), so
/// that silent sends leave in order although nobody waits for their completion.
const SILENT_BYTES_MAX: u32 = 4096;
/// Waiting for a fuller batch never lasts longer: a wake-up from another thread is one event, and
/// must not be held up by the want for more.
const GATHER_NS_MAX: u64 = 10_000_000;

/// What the slot's socket is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Free,
    Connecting,
    Open,
    /// Closing, in this manner.
    Closing(CloseHow),
}

struct SlotState {
    generation: u32,
    stage: Stage,
    wanted: Receive,
    /// The receive operation under way; 0 for none.
    armed: u8,
    /// That receive was asked to stop.
    stopping: bool,
    /// The receive is the last link of the chain that opened the connection, so it is silently
    /// dropped if the send before it fails.
    chained: bool,
    /// What the socket gathers before a receive completes.
    low_water: LowWater,
    /// A send that is not silent has not completed: others queue behind it.
    send_under_way: bool,
    /// Bytes sent silently since the peer was last heard.
    silent_bytes: u32,
    send_error: i32,
    /// Waiting for more after bytes on a multishot receive.
    suspected: bool,
    /// The connect has completed.
    connected: bool,
    /// Its receive was begun anew for that reason, and has not said anything yet.
    looked_again: bool,
    endpoint: u16,
    attempts_left: u32,
    first: Option<Outgoing>,
    /// Sends waiting for the one before, or for the connection.
    queue: VecDeque<(Outgoing, bool)>,
    /// The descriptor; `None` for a direct one, which lives in the ring's table only.
    socket: Option<OwnedFd>,
}

impl SlotState {
    /// The operation for a send that the handler wants no notice of.
    #[inline]
    fn quiet_operation(&mut self, bytes: u32) -> u8 {
        if self.silent_bytes.saturating_add(bytes) > SILENT_BYTES_MAX {
            return QUEUED_SEND;
        }
        self.silent_bytes += bytes;
        SILENT_SEND
    }
}

/// What came of dropping bytes at once.
pub enum Dropped {
    Bytes(u64),
    Closed(CloseReason),
}

/// What came of a connect.
pub enum Connected {
    Yes,
    /// Another local address or port is being tried.
    TryAgain,
    No(CloseReason),
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
    gathers: bool,
    /// Closes that need nothing from the kernel, to be told at the next occasion.
    local: Vec<(Slot, u32, CloseReason)>,
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
    waker: Waker,
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
        let routes = setup.endpoints.iter().map(Route::for_ring).collect::<io::Result<_>>()?;
        let slots = (0..setup.slots)
            .map(|_| SlotState {
                generation: 0,
                stage: Stage::Free,
                wanted: Receive::Pause,
                armed: 0,
                stopping: false,
                low_water: LowWater::new(),
                chained: false,
                send_under_way: false,
                silent_bytes: 0,
                send_error: 0,
                suspected: false,
                connected: false,
                looked_again: false,
                endpoint: 0,
                attempts_left: 0,
                first: None,
                queue: VecDeque::new(),
                socket: None,
            })
            .collect();
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
            gathers,
            local: Vec::new(),
            left_open: Vec::new(),
            connects_queued: 0,
            delivering: NO_SLOT,
            suspects: VecDeque::new(),
            careful: false,
            waker: Waker::new()?,
        };
        io.watch_waker();
        Ok(io)
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

    // ----- the verbs -----

    pub(super) fn open_slot(
        &mut self,
        slot: Slot,
        endpoint: u16,
        first: Option<Outgoing>,
        receive: Receive,
    ) {
        let route = &self.routes[usize::from(endpoint)];
        let attempts_left = route.attempts();
        let state = &mut self.slots[slot as usize];
        debug_assert!(state.stage == Stage::Free, "a slot is opened only when it is free");
        state.generation = state.generation.wrapping_add(1) & 0xff_ffff;
        state.stage = Stage::Connecting;
        state.connected = false;
        state.low_water = LowWater::new();
        state.wanted = receive;
        state.endpoint = endpoint;
        state.first = first;
        state.attempts_left = attempts_left;
        let direct = self.short_connections
            && first.is_some_and(|first| first.len() <= ONE_SEGMENT_BYTES)
            && route.is_tcp()
            && !route.binds()
            && route.options().send_buffer_bytes.is_none()
            && route.options().receive_buffer_bytes.is_none();
        if direct { self.open_direct(slot) } else { self.open_ordinary(slot) }
    }

    /// One chain: socket, connect, send, receive. The socket takes the slot's place in the ring's
    /// table, where it replaces, and so closes, what was left there.
    fn open_direct(&mut self, slot: Slot) {
        self.make_room(4);
        let domain = self.routes[usize::from(self.slots[slot as usize].endpoint)].domain();
        let generation = self.slots[slot as usize].generation;
        let Ok(place) = DestinationSlot::try_from_slot_target(slot) else {
            self.local.push((slot, generation, CloseReason::Here("socket", libc::ENFILE)));
            return;
        };
        let socket = opcode::Socket::new(domain, libc::SOCK_STREAM, 0)
            .file_index(Some(place))
            .build()
            .flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS)
            .user_data(tag(SOCKET, generation, slot));
        self.push(&socket);
        self.push_connect(slot);
    }

    /// A descriptor of the process, registered with the ring as well.
    fn open_ordinary(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        let route = &mut self.routes[usize::from(state.endpoint)];
        match route.socket(&mut self.calls) {
            Ok(socket) => {
                self.calls += 1;
                let registered =
                    self.ring.submitter().register_files_update(slot, &[socket.as_raw_fd()]);
                self.slots[slot as usize].socket = Some(socket);
                if let Err(error) = registered {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    let generation = self.slots[slot as usize].generation;
                    self.local.push((
                        slot,
                        generation,
                        CloseReason::Here("io_uring_register", errno),
                    ));
                    return;
                }
                self.make_room(3);
                self.push_connect(slot);
            }
            Err(failure) => {
                let generation = self.slots[slot as usize].generation;
                self.local.push((slot, generation, failure.into()));
            }
        }
    }

    /// Queues the connect, and linked behind it the first bytes and a receive.
    fn push_connect(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        let (generation, first, wanted) = (state.generation, state.first, state.wanted);
        let remote = self.routes[usize::from(state.endpoint)].remote();
        let mut connect = opcode::Connect::new(Fixed(slot), remote.as_ptr().cast(), remote.len())
            .build()
            .user_data(tag(CONNECT, generation, slot));
        let mut flags = squeue::Flags::empty();
        if first.is_some() {
            flags |= squeue::Flags::IO_LINK;
        }
        if !self.routes[usize::from(state.endpoint)].is_tcp() {
            // A full accept queue of a Unix socket cannot be polled for: the kernel's own thread
            // waits for room.
            flags |= squeue::Flags::ASYNC;
        }
        connect = connect.flags(flags);
        self.push(&connect);
        self.connects_queued += 1;
        let Some(first) = first else { return };
        let receive = self.receive_entry(slot, wanted);
        let operation = self.slots[slot as usize].quiet_operation(first.len());
        self.slots[slot as usize].send_under_way = operation != SILENT_SEND;
        let mut send = self.send_entry(slot, first, operation);
        if operation != SILENT_SEND {
            // A receive linked behind it would wait for the last byte to leave, and the peer
            // may answer before.
            self.push(&send);
            return;
        }
        if receive.is_some() {
            send = send.flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS);
        }
        self.push(&send);
        if let Some((entry, operation)) = receive {
            self.push(&entry);
            let state = &mut self.slots[slot as usize];
            state.armed = operation;
            state.chained = true;
        }
    }

    #[inline]
    pub(super) fn send_on(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        let state = &mut self.slots[slot as usize];
        if state.send_error != 0 || matches!(state.stage, Stage::Free | Stage::Closing(_)) {
            return;
        }
        if state.send_under_way || state.stage == Stage::Connecting {
            state.queue.push_back((bytes, notify));
            return;
        }
        let operation = if notify { SEND } else { state.quiet_operation(bytes.len()) };
        self.push_send(slot, bytes, operation);
    }

    #[inline]
    fn push_send(&mut self, slot: Slot, bytes: Outgoing, operation: u8) {
        self.slots[slot as usize].suspected = false;
        self.slots[slot as usize].send_under_way = operation != SILENT_SEND;
        let entry = self.send_entry(slot, bytes, operation);
        self.push(&entry);
    }

    /// Sends what waited for the send before, or for the connection.
    fn pump(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        if state.send_under_way {
            return;
        }
        if let Some((bytes, notify)) = state.queue.pop_front() {
            // What is behind it in the queue waits for its completion.
            let operation = if notify { SEND } else { QUEUED_SEND };
            self.push_send(slot, bytes, operation);
        }
    }

    #[inline]
    fn send_entry(&self, slot: Slot, bytes: Outgoing, operation: u8) -> squeue::Entry {
        let bytes = match bytes {
            Outgoing::Constant { start, len } => {
                &self.constant_bytes[start as usize..][..len as usize]
            }
            Outgoing::Leased { buffer, len } => &self.leases.bytes(buffer)[..len as usize],
        };
        // With MSG_WAITALL the kernel goes on by itself after a partial send.
        let entry = opcode::Send::new(Fixed(slot), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .user_data(tag(operation, self.slots[slot as usize].generation, slot));
        if operation == SILENT_SEND { entry.flags(squeue::Flags::SKIP_SUCCESS) } else { entry }
    }

    #[inline]
    pub(super) fn receive_on(&mut self, slot: Slot, mode: Receive) {
        let state = &mut self.slots[slot as usize];
        state.wanted = mode;
        if state.stage != Stage::Open {
            return;
        }
        match state.armed {
            // Dropped at once, in `drop_here`, when its head was just delivered.
            0 if self.delivering == slot && matches!(mode, Receive::Discard(_)) => {}
            0 => self.arm(slot),
            STREAM if !state.stopping => {
                let stop = match mode {
                    Receive::Stream => false,
                    Receive::Discard(bytes) => bytes >= STOP_STREAM_BYTES,
                    Receive::Head | Receive::Bulk | Receive::DiscardToEnd | Receive::Pause => true,
                };
                if stop {
                    self.stop_receiving(slot);
                }
            }
            _ => {}
        }
    }

    pub(super) fn close_slot(&mut self, slot: Slot, how: CloseHow) {
        let state = &mut self.slots[slot as usize];
        match state.stage {
            Stage::Free => {}
            Stage::Connecting => {
                state.stage = Stage::Closing(how);
                self.cancel_all(slot);
            }
            Stage::Open | Stage::Closing(_) => {
                state.stage = Stage::Closing(how);
                if how == CloseHow::AwaitPeer {
                    if state.armed == 0 {
                        self.arm(slot);
                    }
                } else if state.armed != 0 {
                    self.stop_receiving(slot);
                } else {
                    let generation = state.generation;
                    self.local.push((slot, generation, CloseReason::Local));
                }
            }
        }
    }

    // ----- receiving -----

    /// Arms a receive of the wanted kind.
    #[inline]
    pub(super) fn arm(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        let wanted = match state.stage {
            Stage::Open => state.wanted,
            Stage::Closing(CloseHow::AwaitPeer) => Receive::DiscardToEnd,
            _ => return,
        };
        debug_assert!(state.armed == 0, "one receive at a time");
        self.set_low_water(slot, wanted);
        if let Some((entry, operation)) = self.receive_entry(slot, wanted) {
            self.push(&entry);
            let state = &mut self.slots[slot as usize];
            state.armed = operation;
            state.chained = false;
        }
    }

    /// Says how many bytes a receive of this kind waits for.
    #[inline]
    fn set_low_water(&mut self, slot: Slot, wanted: Receive) {
        let state = &mut self.slots[slot as usize];
        let Some(socket) = &state.socket else { return };
        self.calls += match wanted {
            Receive::Discard(left) if self.routes[usize::from(state.endpoint)].is_tcp() => {
                state.low_water.raise(socket.as_fd(), left, self.now_ns)
            }
            _ => state.low_water.lower(socket.as_fd(), self.now_ns),
        };
    }

    #[inline]
    fn receive_entry(&self, slot: Slot, mode: Receive) -> Option<(squeue::Entry, u8)> {
        let state = &self.slots[slot as usize];
        let file = Fixed(slot);
        let nowhere = std::ptr::null_mut();
        let bulk = |length| {
            opcode::Recv::new(file, nowhere, length)
                .buf_group(BULK_GROUP)
                .build()
                .flags(squeue::Flags::BUFFER_SELECT)
        };
        // Only TCP drops bytes for MSG_TRUNC (tcp(7)); elsewhere they are read.
        let drops = self.routes[usize::from(state.endpoint)].is_tcp();
        let (entry, operation) = match mode {
            Receive::Pause => return None,
            Receive::Stream => {
                let waits = if state.stage == Stage::Connecting { POLL_FIRST } else { 0 };
                let repeats = if self.careful { 0 } else { MULTISHOT };
                let entry = opcode::Recv::new(file, nowhere, 0)
                    .ioprio(waits | repeats)
                    .buf_group(HEAD_GROUP)
                    .build()
                    .flags(squeue::Flags::BUFFER_SELECT);
                (entry, STREAM)
            }
            Receive::Head => {
                let entry = opcode::Recv::new(file, nowhere, HEAD_READ_BYTES)
                    .ioprio(POLL_FIRST)
                    .buf_group(HEAD_GROUP)
                    .build()
                    .flags(squeue::Flags::BUFFER_SELECT);
                (entry, HEAD)
            }
            Receive::Discard(bytes) if drops => {
                // Not with MSG_WAITALL: since the kernel keeps the iterator of a partial receive
                // (seen on 6.18) and dropping does not advance it, the retry would want, and
                // drop, the whole length again.
                let length = bytes.min(DISCARD_BYTES_MAX) as u32;
                let waits = if state.low_water.is_raised() { POLL_FIRST } else { 0 };
                let entry = opcode::Recv::new(file, nowhere, length)
                    .ioprio(waits)
                    .flags(libc::MSG_TRUNC)
                    .build();
                (entry, DISCARD)
            }
            Receive::DiscardToEnd if drops => {
                let entry = opcode::Recv::new(file, nowhere, DISCARD_TO_END_BYTES)
                    .flags(libc::MSG_TRUNC)
                    .build();
                (entry, DISCARD)
            }
            Receive::Bulk => (bulk(0), BULK),
            Receive::Discard(bytes) => {
                (bulk(bytes.min(u64::from(BULK_BUFFER_BYTES)) as u32), DISCARD)
            }
            Receive::DiscardToEnd => (bulk(0), DISCARD),
        };
        Some((entry.user_data(tag(operation, state.generation, slot)), operation))
    }

    fn stop_receiving(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        if !state.stopping {
            state.stopping = true;
            self.cancel_all(slot);
        }
    }

    /// Cancels the connect and the receive that are under way, each by its own tag: the kernel
    /// finds those in a table, while a search by descriptor looks at every request there is.
    fn cancel_all(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        if matches!(state.stage, Stage::Closing(_)) && !state.connected {
            self.cancel(slot, CONNECT);
        }
        if self.slots[slot as usize].armed != 0 {
            self.cancel(slot, self.slots[slot as usize].armed);
        }
    }

    fn cancel(&mut self, slot: Slot, operation: u8) {
        let generation = self.slots[slot as usize].generation;
        let target = CancelBuilder::user_data(tag(operation, generation, slot));
        let cancel =
            opcode::AsyncCancel2::new(target).build().user_data(tag(CANCEL, generation, slot));
        self.push(&cancel);
    }

    // ----- completions -----

    /// The slot and operation of a completion, unless it belongs to a connection that is gone.
    #[inline]
    pub(super) fn recognise(&mut self, done: &RingCompletion) -> Option<(Slot, u8)> {
        let operation = done.operation();
        if matches!(operation, CANCEL | CLOSE) {
            if operation == CANCEL {
                self.cancelled(done);
            }
            return None;
        }
        if operation == WAKE {
            self.woken(done);
            return None;
        }
        let state = &self.slots[done.slot() as usize];
        let current = state.generation == done.generation() && state.stage != Stage::Free;
        current.then_some((done.slot(), operation))
    }

    /// A cancel found nothing although a receive is under way: it is a link of a chain that had not
    /// come to it. Again, then.
    fn cancelled(&mut self, done: &RingCompletion) {
        let state = &self.slots[done.slot() as usize];
        let waits = state.stopping && state.armed != 0 && state.stage != Stage::Free;
        if done.result <= 0 && waits && state.generation == done.generation() {
            self.cancel_all(done.slot());
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

    /// Bytes came from the peer: it has what was sent before.
    #[inline]
    pub(super) fn heard(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        state.silent_bytes = 0;
        state.suspected = true;
        state.looked_again = false;
    }

    /// After a multishot receive delivered bytes. A reset that came together with them is never
    /// told: the poll behind it has fired, and the kernel does not look again (seen on 6.18; a
    /// FIN it does tell). Who answers the bytes with a send learns of it by that. For who goes on
    /// waiting, for the rest or for the end, the receive is begun anew after a while.
    #[inline]
    pub(super) fn suspect(&mut self, slot: Slot, at: u64) {
        let state = &self.slots[slot as usize];
        if state.suspected && state.armed == STREAM && !state.stopping && !self.careful {
            self.suspects.push_back((at + LOOK_AGAIN_NS, slot, state.generation));
        }
    }

    /// Begins receives anew that are due for it; returns when the next one is.
    pub(super) fn look_again(&mut self, now: u64) -> u64 {
        while let Some(&(due, slot, generation)) = self.suspects.front() {
            if due > now {
                return due;
            }
            self.suspects.pop_front();
            let state = &mut self.slots[slot as usize];
            let waits = state.suspected && state.armed == STREAM && !state.stopping;
            if waits && state.generation == generation && state.stage != Stage::Free {
                state.suspected = false;
                state.looked_again = true;
                self.stop_receiving(slot);
            }
        }
        u64::MAX
    }

    #[inline]
    pub(super) fn receive_ended(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        state.armed = 0;
        state.stopping = false;
        state.chained = false;
    }

    /// So many of the bytes to discard are gone.
    pub(super) fn discarded_some(&mut self, slot: Slot, bytes: u64) {
        let state = &mut self.slots[slot as usize];
        if let Receive::Discard(wanted) = state.wanted {
            state.wanted = match wanted.saturating_sub(bytes) {
                0 => Receive::Pause,
                left => Receive::Discard(left),
            };
        }
    }

    /// A slot whose receive the handler is being told of: it may ask for a discard, see
    /// [`Self::drop_here`].
    pub(super) fn delivering(&mut self, slot: Slot) {
        self.delivering = slot;
    }

    /// The handler is done with the slot's event.
    pub(super) fn delivered(&mut self) {
        self.delivering = NO_SLOT;
    }

    /// Drops what has arrived of a body right behind its head, by a call of its own: the body is
    /// mostly there, and a request on the ring would cost another turn to hear of it. `None` where
    /// that is not possible or nothing has come yet.
    pub(super) fn drop_here(&mut self, slot: Slot) -> Option<Dropped> {
        let state = &self.slots[slot as usize];
        let Receive::Discard(wanted) = state.wanted else { return None };
        let socket = state.socket.as_ref()?;
        let is_tcp = self.routes[usize::from(state.endpoint)].is_tcp();
        if state.stage != Stage::Open || state.armed != 0 || !is_tcp {
            return None;
        }
        self.calls += 1;
        let length = wanted.min(DISCARD_BYTES_MAX) as usize;
        // SAFETY: the descriptor is open as long as `socket`; with MSG_TRUNC a TCP socket writes
        // nothing through the address (tcp(7)), which may then be null.
        let dropped = unsafe {
            let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
            libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), length, flags)
        };
        match dropped {
            0 => Some(Dropped::Closed(CloseReason::Eof)),
            bytes if bytes > 0 => Some(Dropped::Bytes(bytes as u64)),
            _ => match io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) {
                libc::EAGAIN | libc::EINTR => None,
                errno => Some(Dropped::Closed(CloseReason::Transfer(errno))),
            },
        }
    }

    /// After the handler saw an event: arms the next receive if the mode goes on by itself.
    #[inline]
    pub(super) fn arm_again(&mut self, slot: Slot, generation: u32) {
        let state = &self.slots[slot as usize];
        if state.armed != 0 || state.generation != generation {
            return;
        }
        match (state.stage, state.wanted) {
            (Stage::Closing(CloseHow::AwaitPeer), _)
            | (
                Stage::Open,
                Receive::Stream | Receive::Bulk | Receive::DiscardToEnd | Receive::Discard(_),
            ) => self.arm(slot),
            (Stage::Closing(_), _) => {
                self.local.push((slot, generation, CloseReason::Local));
            }
            _ => {}
        }
    }

    pub(super) fn arm_if_open(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        if state.stage == Stage::Open && state.armed == 0 {
            self.arm(slot);
        }
    }

    /// Why a slot's connection is over after a receive ended with this result; `None` if it is
    /// not, and the receive is to be armed again.
    pub(super) fn why_ended(&mut self, slot: Slot, result: i32) -> Option<CloseReason> {
        let state = &self.slots[slot as usize];
        if state.looked_again && -result == libc::ECONNRESET {
            self.careful = true;
        }
        let passing =
            matches!(-result, libc::ENOBUFS | libc::EAGAIN | libc::EINTR | libc::ECANCELED);
        match state.stage {
            Stage::Closing(CloseHow::AwaitPeer) if result != 0 && passing => None,
            Stage::Closing(_) => Some(CloseReason::Local),
            // The send took the socket's error, and left nothing for the receive.
            _ if result == 0 && state.send_error == libc::ECONNRESET => {
                Some(CloseReason::Transfer(libc::ECONNRESET))
            }
            _ if result == 0 => Some(CloseReason::Eof),
            _ if passing => None,
            _ => Some(CloseReason::Transfer(-result)),
        }
    }

    pub(super) fn connect_done(&mut self, slot: Slot, result: i32) -> Connected {
        let state = &mut self.slots[slot as usize];
        state.connected = true;
        if let Stage::Closing(_) = state.stage {
            return Connected::No(CloseReason::Local);
        }
        if result == 0 {
            state.stage = Stage::Open;
            self.pump(slot);
            return Connected::Yes;
        }
        let errno = -result;
        let route = &self.routes[usize::from(state.endpoint)];
        if errno == libc::EADDRNOTAVAIL && route.binds() && state.attempts_left > 1 {
            // That local address and port are taken toward this far end: the next one.
            state.attempts_left -= 1;
            state.armed = 0;
            state.chained = false;
            state.generation = state.generation.wrapping_add(1) & 0xff_ffff;
            self.unregister(slot);
            self.open_ordinary(slot);
            return Connected::TryAgain;
        }
        Connected::No(connect_failure(errno))
    }

    /// A send completed; returns whether the handler is to be told.
    pub(super) fn send_done(&mut self, slot: Slot, result: i32, operation: u8) -> bool {
        let state = &mut self.slots[slot as usize];
        if operation != SILENT_SEND {
            state.send_under_way = false;
        }
        if result < 0 {
            // What the peer had sent before is still to be read; the receive will tell the end,
            // or the next one does if none is wanted now.
            state.send_error = -result;
            state.queue.clear();
            if state.chained {
                state.armed = 0;
                state.chained = false;
            }
            if state.armed == 0 {
                self.arm(slot);
            } else {
                // A multishot receive may have missed the reset: begin a new one.
                self.stop_receiving(slot);
            }
            return false;
        }
        if state.stage != Stage::Open {
            return false;
        }
        self.pump(slot);
        operation == SEND
    }

    /// The slot's connection is over: lets go of the socket.
    pub(super) fn free(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        let how = state.stage;
        state.stage = Stage::Free;
        let armed = std::mem::take(&mut state.armed);
        let under_way = armed != 0;
        state.stopping = false;
        state.chained = false;
        state.send_error = 0;
        state.suspected = false;
        state.looked_again = false;
        state.queue.clear();
        state.silent_bytes = 0;
        let unsent = std::mem::take(&mut state.send_under_way);
        if state.socket.is_none() {
            let generation = state.generation;
            self.left_open.push((slot, generation));
            if under_way {
                self.cancel(slot, armed);
            }
            return;
        }
        if let Some(socket) = &state.socket {
            if how == Stage::Closing(CloseHow::Reset) {
                self.calls += 1;
                // Without it the peer gets a FIN, which is all that can be done then.
                let _ = reset_on_close(socket.as_fd());
            } else if unsent || under_way {
                self.calls += 1;
                // Ends the send or receive that still holds the socket.
                let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
            }
        }
        self.unregister(slot);
    }

    /// Takes an ordinary socket out of the ring's table and closes it.
    fn unregister(&mut self, slot: Slot) {
        if let Some(socket) = self.slots[slot as usize].socket.take() {
            self.calls += 2;
            // It can only fail for a slot that does not exist.
            let _ = self.ring.submitter().register_files_update(slot, &[-1]);
            drop(socket);
        }
    }

    pub(super) fn take_local(&mut self) -> Vec<(Slot, u32, CloseReason)> {
        std::mem::take(&mut self.local)
    }

    // ----- the queue -----

    /// Closes direct descriptors whose slot was not opened again.
    fn close_left_open(&mut self) {
        while let Some((slot, generation)) = self.left_open.pop() {
            let state = &self.slots[slot as usize];
            if state.generation == generation && state.stage == Stage::Free {
                let close =
                    opcode::Close::new(Fixed(slot)).build().user_data(tag(CLOSE, generation, slot));
                self.push(&close);
            }
        }
    }

    /// Room for a chain, which must be submitted whole.
    fn make_room(&mut self, entries: usize) {
        let queue = self.ring.submission();
        if queue.capacity() - queue.len() < entries {
            drop(queue);
            self.flush();
        }
    }

    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        loop {
            // SAFETY: every entry made here points at the constant bytes, a leased buffer or a
            // route's address, all of which live as long as `self`, which holds the ring.
            // Receives with a null address are MSG_TRUNC or choose a registered buffer. After the
            // ring is gone nothing touches this memory: with deferred task run a request makes
            // progress only inside our own `io_uring_enter`, and what is left over is cancelled
            // by a kernel thread, which does not have this process's memory. (Cancelling it
            // ourselves takes the square of the number of connections.)
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.calls += 1;
        // The only failures are passing (EINTR, EAGAIN, EBUSY): the entries stay queued.
        let _ = self.ring.submit();
    }

    /// Submits what is queued without waiting.
    pub(super) fn submit(&mut self, turn: &mut Turn) -> io::Result<()> {
        self.close_left_open();
        self.connects_queued = 0;
        if self.ring.submission().is_empty() && !self.ring.submission().taskrun() {
            return Ok(());
        }
        turn.system_calls += 1;
        settled(self.ring.submit())
    }

    /// Fetches completions the kernel holds back for us.
    pub(super) fn fetch(&mut self, turn: &mut Turn) -> io::Result<()> {
        turn.system_calls += 1;
        settled(self.ring.submit())
    }

    /// Submits, then sleeps until there are completions or `left_ns` is over.
    pub(super) fn submit_and_wait(
        &mut self,
        at_least: u32,
        gather_ns: u64,
        left_ns: u64,
        turn: &mut Turn,
    ) -> io::Result<()> {
        self.close_left_open();
        let connects = std::mem::take(&mut self.connects_queued);
        let time = Timespec::from(Duration::from_nanos(left_ns));
        let gather_us = (gather_ns.min(GATHER_NS_MAX) / 1000) as u32;
        turn.system_calls += 1;
        let args = SubmitArgs::new().timespec(&time);
        self.gathered_ns = 0;
        // With few in flight every completion ends the wait, so that a connect is seen when it
        // happens; with many, those that complete during submission do not count.
        if self.gathers && gather_us > 0 && at_least > 1 {
            self.gathered_ns = gather_ns;
            let args = args.min_wait_usec(gather_us);
            return settled(
                self.ring.submitter().submit_with_args((at_least + connects) as usize, &args),
            );
        }
        settled(self.ring.submitter().submit_with_args(1, &args))
    }
}

/// Time over, a signal, or completions to be fetched first: all are reasons to look again.
fn settled(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => match error.raw_os_error() {
            Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        },
    }
}
