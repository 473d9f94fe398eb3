//! Sending: the bytes leave from where the Plan or a lease holds them, in order, and as silently as
//! possible.

use io_uring::types::Fixed;
use io_uring::{opcode, squeue};

use super::{QUEUED_SEND, SEND, SILENT_SEND, Sending, SlotState, Stage, Suspicion, UringIo};
use crate::driver::{Outgoing, Slot};
use crate::uring::ring::tag;

/// As many bytes fit any socket's send buffer at once (the least the kernel permits is 4,608), so
/// that silent sends leave in order although nobody waits for their completion.
pub(super) const SILENT_BYTES_MAX: u32 = 4096;

/// The kernel sends at most 2 GiB less a page at once (MAX_RW_COUNT), and calls that all.
const SEND_BYTES_MAX: u32 = 1 << 30;

/// What is too long for one send, as two.
pub(super) fn in_two(bytes: Outgoing) -> Option<(Outgoing, Outgoing)> {
    match bytes {
        Outgoing::Constant { start, len } if len > SEND_BYTES_MAX => Some((
            Outgoing::Constant { start, len: SEND_BYTES_MAX },
            Outgoing::Constant { start: start + SEND_BYTES_MAX, len: len - SEND_BYTES_MAX },
        )),
        _ => None,
    }
}

impl UringIo {
    #[inline]
    pub(in crate::uring) fn send_on(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        let state = &mut self.slots[slot as usize];
        if state.send_error != 0 {
            return;
        }
        match state.stage {
            Stage::Open => match state.sending {
                Sending::Ready => {}
                Sending::Linked { connected_in }
                    if connected_in != self.submissions && state.queue.is_empty() => {}
                Sending::Linked { .. } => {
                    self.linked.push((slot, state.generation));
                    return state.queue.push_back((bytes, notify));
                }
                Sending::Told(_) => return state.queue.push_back((bytes, notify)),
            },
            Stage::Connecting => return state.queue.push_back((bytes, notify)),
            Stage::Free | Stage::Unwanted(_) | Stage::AwaitingPeer | Stage::Ending(_) => return,
            Stage::Datagrams => return,
        }
        let operation = if notify { SEND } else { state.quiet_operation(bytes.len()) };
        self.push_send(slot, bytes, operation);
    }

    #[inline]
    pub(super) fn push_send(&mut self, slot: Slot, bytes: Outgoing, operation: u8) {
        if let Some((first, rest)) = in_two(bytes) {
            // Behind the completion of the first part.
            self.slots[slot as usize].queue.push_front((rest, operation == SEND));
            return self.push_send(slot, first, QUEUED_SEND);
        }
        let entry = self.send_entry(slot, bytes, operation);
        self.push(&entry);
        // After that, which may have submitted what was queued before.
        self.note_send(slot, bytes, operation);
    }

    /// Notes that these bytes are queued for the next submission.
    #[inline]
    pub(super) fn note_send(&mut self, slot: Slot, bytes: Outgoing, operation: u8) {
        let state = &mut self.slots[slot as usize];
        if state.suspicion == Suspicion::Suspected {
            state.suspicion = Suspicion::None;
        }
        state.sending = match operation {
            SILENT_SEND => Sending::Ready,
            told => Sending::Told(told),
        };
        if operation != SILENT_SEND {
            state.told_bytes = bytes.len();
        }
        state.sent_in = self.submissions;
        if let Outgoing::Leased { .. } = bytes {
            state.leased_in = self.submissions;
        }
        state.unheard_bytes = state.unheard_bytes.saturating_add(bytes.len());
        state.sent_bytes = state.sent_bytes.saturating_add(bytes.len());
    }

    /// Whether bytes wait for the send before, for the submission, or for the kernel to say that they left.
    /// Of sends that it says nothing of (up to [`SILENT_BYTES_MAX`] since the peer was heard) nobody can ask:
    /// they count as having left with their submission.
    #[inline]
    pub(in crate::uring) fn is_unsent(&self, slot: Slot) -> bool {
        let state = &self.slots[slot as usize];
        let queued = !state.queue.is_empty() || state.sent_in == self.submissions;
        queued || state.sending.told().is_some()
    }

    /// Sends what waited for the send before, or for the connection.
    pub(super) fn pump(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        if state.sending != Sending::Ready {
            return;
        }
        if let Some((bytes, notify)) = state.queue.pop_front() {
            // What is behind it in the queue waits for its completion.
            let operation = if notify { SEND } else { QUEUED_SEND };
            self.push_send(slot, bytes, operation);
        }
    }

    /// The kernel was entered: it has come to the first bytes of these slots.
    #[cold]
    pub(super) fn pump_linked(&mut self) {
        // Taken: sending may submit again.
        let mut linked = std::mem::take(&mut self.linked);
        for (slot, generation) in linked.drain(..) {
            let state = &mut self.slots[slot as usize];
            let stands = matches!(state.stage, Stage::Open | Stage::AwaitingPeer);
            if let (true, Sending::Linked { .. }) =
                (stands && state.generation == generation, state.sending)
            {
                state.sending = Sending::Ready;
                self.pump(slot);
            }
        }
        linked.append(&mut self.linked);
        self.linked = linked;
    }

    #[inline]
    pub(super) fn send_entry(&self, slot: Slot, bytes: Outgoing, operation: u8) -> squeue::Entry {
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

    /// A send completed; returns whether the handler is to be told.
    pub(in crate::uring) fn send_done(&mut self, slot: Slot, result: i32, operation: u8) -> bool {
        let state = &mut self.slots[slot as usize];
        if operation != SILENT_SEND {
            state.sending = Sending::Ready;
        }
        let error = match u32::try_from(result) {
            // It went on behind the first part until the socket failed, took the socket's error and tells what it had
            // sent instead (`io_send` in io_uring/net.c): a reset, or what a send says after one.
            Ok(sent) if operation != SILENT_SEND && sent < state.told_bytes => libc::ECONNRESET,
            Ok(_) => 0,
            Err(_) => -result,
        };
        if error != 0 {
            // What the peer had sent before is still to be read; the receive will tell the end,
            // or the next one does if none is wanted now.
            state.send_error = error;
            state.queue.clear();
            state.receiving.unchain();
            if state.receiving.is_nothing() {
                self.arm(slot);
            } else {
                // A multishot receive may have missed the reset: begin a new one.
                self.stop_receiving(slot);
            }
            return false;
        }
        let open = state.stage == Stage::Open;
        if open || state.stage == Stage::AwaitingPeer {
            self.pump(slot);
        }
        open && operation == SEND
    }
}

impl SlotState {
    /// The operation for a send that the handler wants no notice of.
    #[inline]
    pub(super) fn quiet_operation(&self, bytes: u32) -> u8 {
        match self.unheard_bytes.saturating_add(bytes) {
            0..=SILENT_BYTES_MAX => SILENT_SEND,
            _ => QUEUED_SEND,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_would_cut_is_sent_in_parts() {
        let mut rest = Outgoing::Constant { start: 7, len: u32::MAX - 7 };
        let mut next = 7;
        while let Some((first, behind)) = in_two(rest) {
            let Outgoing::Constant { start, len } = first else { panic!("{first:?}") };
            assert!(start == next && len < 0x7fff_f000, "{first:?}");
            next += len;
            rest = behind;
        }
        let Outgoing::Constant { start, len } = rest else { panic!("{rest:?}") };
        assert!(start == next && start + len == u32::MAX && len < 0x7fff_f000);
        assert!(in_two(Outgoing::Constant { start: 0, len: SEND_BYTES_MAX }).is_none());
    }
}
