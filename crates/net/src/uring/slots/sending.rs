//! Sending: the bytes leave from where the Plan or a lease holds them, in order, and as silently as
//! possible.

use io_uring::types::Fixed;
use io_uring::{opcode, squeue};

use super::{QUEUED_SEND, SEND, SILENT_SEND, SlotState, Stage, UringIo};
use crate::driver::{Outgoing, Slot};
use crate::uring::ring::tag;

/// As many bytes fit any socket's send buffer at once (the least the kernel permits is 4,608), so
/// that silent sends leave in order although nobody waits for their completion.
const SILENT_BYTES_MAX: u32 = 4096;

impl UringIo {
    #[inline]
    pub(in crate::uring) fn send_on(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
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
    pub(super) fn push_send(&mut self, slot: Slot, bytes: Outgoing, operation: u8) {
        self.slots[slot as usize].suspected = false;
        self.slots[slot as usize].send_under_way = operation != SILENT_SEND;
        self.slots[slot as usize].sent_in = self.submissions;
        let entry = self.send_entry(slot, bytes, operation);
        self.push(&entry);
    }

    /// Sends what waited for the send before, or for the connection.
    pub(super) fn pump(&mut self, slot: Slot) {
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
}

impl SlotState {
    /// The operation for a send that the handler wants no notice of.
    #[inline]
    pub(super) fn quiet_operation(&mut self, bytes: u32) -> u8 {
        if self.silent_bytes.saturating_add(bytes) > SILENT_BYTES_MAX {
            return QUEUED_SEND;
        }
        self.silent_bytes += bytes;
        SILENT_SEND
    }
}
