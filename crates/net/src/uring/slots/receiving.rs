//! Receiving: which request is armed for which mode, and what its completion means.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use io_uring::types::Fixed;
use io_uring::{opcode, squeue};

use super::{
    BULK, BULK_GROUP, DISCARD, HEAD, HEAD_GROUP, NO_SLOT, Receiving, STREAM, SlotState, Stage,
    Suspicion, UringIo,
};
use crate::driver::{CloseReason, Receive, Slot};
use crate::uring::BULK_BUFFER_BYTES;
use crate::uring::ring::tag;

/// `IORING_RECVSEND_POLL_FIRST`: wait for readiness before trying, where a response cannot be there
/// yet. Saves an attempt that fails.
const POLL_FIRST: u16 = 1;
/// `IORING_RECV_MULTISHOT`.
const MULTISHOT: u16 = 2;
/// Bytes read at once where a head is expected whose body is dropped afterwards.
pub(super) const HEAD_READ_BYTES: u32 = 1024;
/// Most that one request discards; the rest follows in another.
const DISCARD_BYTES_MAX: u64 = 1 << 30;
/// Bytes discarded at once when the end is not known.
const DISCARD_TO_END_BYTES: u32 = 1 << 20;
/// A multishot receive is stopped to discard at least this many bytes; fewer are copied sooner than
/// it is stopped.
const STOP_STREAM_BYTES: u64 = 64 * 1024;

/// What came of dropping bytes at once.
pub enum Dropped {
    Bytes(u64),
    Closed(CloseReason),
}

impl UringIo {
    #[inline]
    pub(in crate::uring) fn receive_on(&mut self, slot: Slot, mode: Receive) {
        let state = &mut self.slots[slot as usize];
        state.wanted = mode;
        if state.stage != Stage::Open {
            return;
        }
        match state.receiving {
            // Dropped at once, in `drop_here`, when its head was just delivered.
            Receiving::Nothing
                if self.delivering == slot && matches!(mode, Receive::Discard(_)) => {}
            Receiving::Nothing => self.arm(slot),
            Receiving::Armed(STREAM) | Receiving::Chained(STREAM) => {
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

    /// Arms a receive of the wanted kind.
    #[inline]
    pub(in crate::uring) fn arm(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        let wanted = match state.stage {
            Stage::Open => state.wanted,
            Stage::AwaitingPeer => Receive::DiscardToEnd,
            _ => return,
        };
        debug_assert!(state.receiving.is_nothing(), "one receive at a time");
        self.set_low_water(slot, wanted);
        if let Some((entry, operation)) = self.receive_entry(slot, wanted) {
            self.push(&entry);
            self.slots[slot as usize].receiving = Receiving::Armed(operation);
        }
    }

    /// After the handler saw an event: arms the next receive if the mode goes on by itself.
    #[inline]
    pub(in crate::uring) fn arm_again(&mut self, slot: Slot, generation: u32) {
        let state = &self.slots[slot as usize];
        if !state.receiving.is_nothing() || state.generation != generation {
            return;
        }
        match (state.stage, state.wanted) {
            (Stage::AwaitingPeer, _)
            | (
                Stage::Open,
                Receive::Stream | Receive::Bulk | Receive::DiscardToEnd | Receive::Discard(_),
            ) => self.arm(slot),
            _ => {}
        }
    }

    pub(in crate::uring) fn arm_if_open(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        if state.stage == Stage::Open && state.receiving.is_nothing() {
            self.arm(slot);
        }
    }

    /// Says how many bytes a receive of this kind waits for.
    #[inline]
    pub(super) fn set_low_water(&mut self, slot: Slot, wanted: Receive) {
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
    pub(super) fn receive_entry(&self, slot: Slot, mode: Receive) -> Option<(squeue::Entry, u8)> {
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
                let entry = opcode::Recv::new(file, nowhere, self.head_read_bytes)
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

    #[inline]
    pub(in crate::uring) fn receive_ended(&mut self, slot: Slot) {
        self.slots[slot as usize].receiving = Receiving::Nothing;
    }

    /// Notes that `bytes` of the bytes to discard are gone.
    pub(in crate::uring) fn discarded_some(&mut self, slot: Slot, bytes: u64) {
        let state = &mut self.slots[slot as usize];
        if let Receive::Discard(wanted) = state.wanted {
            state.wanted = match wanted.saturating_sub(bytes) {
                0 => Receive::Pause,
                left => Receive::Discard(left),
            };
        }
    }

    /// Drops what has arrived of a body right behind its head, by a call of its own: the body is
    /// mostly there, and a request on the ring would cost another turn to hear of it. `None` where
    /// that is not possible or nothing has come yet.
    pub(in crate::uring) fn drop_here(&mut self, slot: Slot) -> Option<Dropped> {
        let state = &self.slots[slot as usize];
        let Receive::Discard(wanted) = state.wanted else { return None };
        let socket = state.socket.as_ref()?;
        let is_tcp = self.routes[usize::from(state.endpoint)].is_tcp();
        if state.stage != Stage::Open || !state.receiving.is_nothing() || !is_tcp {
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

    /// A slot whose receive the handler is being told of: it may ask for a discard, see
    /// [`Self::drop_here`].
    pub(in crate::uring) fn delivering(&mut self, slot: Slot) {
        self.delivering = slot;
    }

    /// The handler is done with the slot's event.
    pub(in crate::uring) fn delivered(&mut self) {
        self.delivering = NO_SLOT;
    }

    /// Why a slot's connection is over after a receive ended with this result; `None` if it is
    /// not, and the receive is to be armed again.
    pub(in crate::uring) fn why_ended(&mut self, slot: Slot, result: i32) -> Option<CloseReason> {
        let state = &self.slots[slot as usize];
        if state.suspicion == Suspicion::LookedAgain && -result == libc::ECONNRESET {
            self.careful = true;
        }
        let passing =
            matches!(-result, libc::ENOBUFS | libc::EAGAIN | libc::EINTR | libc::ECANCELED);
        match state.stage {
            Stage::AwaitingPeer if result != 0 && passing => None,
            Stage::AwaitingPeer => Some(CloseReason::Local),
            // The send took the socket's error, and left nothing for the receive.
            _ if result == 0 && is_of_the_socket(state.send_error) => {
                Some(state.why_transfer_failed(state.send_error))
            }
            _ if result == 0 => Some(CloseReason::Eof),
            _ if passing => None,
            _ => Some(state.why_transfer_failed(-result)),
        }
    }
}

impl SlotState {
    /// What an error of a send or a receive says. A connect that was completed with 0 may have been rejected
    /// (see `rejected_while_held`): the SYN is sent again, and what its rejection brings is told by the first send or receive.
    pub(super) fn why_transfer_failed(&self, errno: i32) -> CloseReason {
        let never_heard = self.unheard_bytes == self.sent_bytes;
        match never_heard && is_of_the_path(errno) {
            true => CloseReason::Connect(errno),
            false => CloseReason::Transfer(errno),
        }
    }
}

/// Whether a send took this error from the socket, for which the receive then tells an end.
fn is_of_the_socket(errno: i32) -> bool {
    errno == libc::ECONNRESET || is_of_the_path(errno)
}

/// Whether this error is what a connect fails with where the peer, or a host on the way, rejects it.
pub(super) fn is_of_the_path(errno: i32) -> bool {
    matches!(errno, libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH)
}
