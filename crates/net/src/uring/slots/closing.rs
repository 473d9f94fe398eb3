//! Closing: the kernel lets go of what is under way on a slot, then its socket goes, and only then the
//! handler hears of it: a request that the kernel holds keeps the socket open, and reads from a buffer
//! that the handler takes for free once the connection is closed.

use std::os::fd::AsFd;

use io_uring::types::{CancelBuilder, Fixed};
use io_uring::{opcode, squeue};

use super::receiving::is_of_the_path;
use super::sending::SILENT_BYTES_MAX;
use super::{
    CANCEL, CANCEL_SILENT, CLOSE, CONNECT, Doubt, Ending, RESET, Receiving, SILENT_SEND, Sending,
    Stage, Suspicion, UringIo,
};
use crate::driver::{CloseHow, CloseReason, Slot};
use crate::socket::reset_on_close;
use crate::uring::ring::{RingCompletion, tag};

/// An address of no family: connecting to it ends a TCP connection by RST (`tcp_disconnect` in
/// net/ipv4/tcp.c), whatever its peer reads.
static NOWHERE: [u8; 16] = [0; 16];

impl UringIo {
    pub(in crate::uring) fn close_slot(&mut self, slot: Slot, how: CloseHow) {
        let state = &mut self.slots[slot as usize];
        match state.stage {
            Stage::Free => {}
            Stage::Connecting => {
                state.stage = Stage::Unwanted(how);
                self.cancel(slot, CONNECT);
            }
            Stage::Unwanted(_) => state.stage = Stage::Unwanted(how),
            Stage::Open | Stage::AwaitingPeer if how == CloseHow::AwaitPeer => {
                state.stage = Stage::AwaitingPeer;
                if state.receiving.is_nothing() {
                    self.arm(slot);
                }
            }
            Stage::Open | Stage::AwaitingPeer => {
                if self.end(slot, how, CloseReason::Local) {
                    let generation = self.slots[slot as usize].generation;
                    self.local.push((slot, generation, CloseReason::Local));
                }
            }
            Stage::Datagrams => self.close_datagrams(slot, CloseReason::Local),
            Stage::Ending(_) if how == CloseHow::AwaitPeer => {}
            Stage::Ending(ending) => state.stage = Stage::Ending(Ending { how, ..ending }),
        }
    }

    /// The connection is over. Returns whether the slot can be freed at once; otherwise what is under
    /// way is cancelled, and [`Self::released`] says when.
    pub(in crate::uring) fn end(&mut self, slot: Slot, how: CloseHow, why: CloseReason) -> bool {
        let state = &mut self.slots[slot as usize];
        self.looks_whether_connected |= state.unheard_bytes == state.sent_bytes;
        state.queue.clear();
        // Fewer bytes than that never find the socket full.
        let doubt = match state.sent_bytes {
            0..=SILENT_BYTES_MAX => Doubt::Settled,
            _ if state.sent_in == self.submissions => Doubt::AskedEarly,
            _ => Doubt::Asked,
        };
        state.stage = Stage::Ending(Ending { how, why, doubt });
        let (generation, told) = (state.generation, state.sending.told());
        self.stop_receiving(slot);
        if let Some(operation) = told {
            self.cancel(slot, operation);
        }
        if doubt != Doubt::Settled {
            self.cancel_silent(slot);
        }
        if !self.is_released(slot) {
            return false;
        }
        if self.has_to_leave_first(slot) {
            self.after_submission.push((slot, generation, why));
            return false;
        }
        true
    }

    /// Whether the kernel holds nothing of a connection that is over.
    fn is_released(&self, slot: Slot) -> bool {
        let state = &self.slots[slot as usize];
        let settled = match state.stage {
            Stage::Ending(ending) => ending.doubt == Doubt::Settled,
            _ => true,
        };
        settled && state.receiving.is_nothing() && state.sending.told().is_none()
    }

    /// Whether a send is only queued that has to be with the kernel before the slot is freed: one from
    /// a leased buffer, which may change from then on, or one in front of the FIN of an ordinary
    /// socket, such as the last word of TLS. (A direct descriptor is closed by a request behind it.)
    fn has_to_leave_first(&self, slot: Slot) -> bool {
        let state = &self.slots[slot as usize];
        let Stage::Ending(Ending { how, why, .. }) = state.stage else { return false };
        let fin = how != CloseHow::Reset && why == CloseReason::Local;
        let sent_now = state.sent_in == self.submissions;
        state.leased_in == self.submissions || (sent_now && fin && state.socket.is_some())
    }

    /// Something completed on a slot whose connection is over. Returns the reason it ended for once
    /// the kernel holds nothing of it any more.
    pub(in crate::uring) fn released(
        &mut self,
        slot: Slot,
        done: &RingCompletion,
    ) -> Option<CloseReason> {
        let state = &mut self.slots[slot as usize];
        let Stage::Ending(mut ending) = state.stage else { return None };
        match done.operation() {
            CANCEL => self.cancelled(done),
            CANCEL_SILENT if ending.doubt == Doubt::Asked && done.result == 0 => {
                state.stage = Stage::Ending(Ending { doubt: Doubt::Settled, ..ending });
            }
            CANCEL_SILENT => {
                state.stage = Stage::Ending(Ending { doubt: Doubt::Asked, ..ending });
                self.cancel_silent(slot);
            }
            super::STREAM | super::HEAD | super::BULK | super::DISCARD | super::DATAGRAMS
                if !done.more_to_come() =>
            {
                state.receiving = Receiving::Nothing;
            }
            super::WRITABLE => state.sending = Sending::Ready,
            operation @ (super::SEND | super::QUEUED_SEND | SILENT_SEND) => {
                if operation != SILENT_SEND {
                    state.sending = Sending::Ready;
                }
                if done.result < 0 {
                    state.receiving.unchain();
                }
                // It took the socket's error, and told it after the receive told the end.
                if ending.why == CloseReason::Eof && is_of_the_path(-done.result) {
                    ending.why = state.why_transfer_failed(-done.result);
                    state.stage = Stage::Ending(ending);
                }
            }
            _ => {}
        }
        if !self.is_released(slot) {
            return None;
        }
        if self.has_to_leave_first(slot) {
            self.after_submission.push((slot, done.generation(), ending.why));
            return None;
        }
        Some(ending.why)
    }

    /// Cancels a request by its own tag: the kernel finds it in a table, while a search by descriptor
    /// looks at every request there is.
    fn cancel(&mut self, slot: Slot, operation: u8) {
        let generation = self.slots[slot as usize].generation;
        let target = CancelBuilder::user_data(tag(operation, generation, slot));
        let cancel =
            opcode::AsyncCancel2::new(target).build().user_data(tag(CANCEL, generation, slot));
        self.push(&cancel);
    }

    /// Cancels all sends that would complete silently. Each that is found tells its failure.
    fn cancel_silent(&mut self, slot: Slot) {
        let generation = self.slots[slot as usize].generation;
        let target = CancelBuilder::user_data(tag(SILENT_SEND, generation, slot)).all();
        let entry = opcode::AsyncCancel2::new(target).build();
        self.push(&entry.user_data(tag(CANCEL_SILENT, generation, slot)));
    }

    /// Ends the receive that is under way, if there is one.
    pub(super) fn stop_receiving(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        let (operation, stopped) = match state.receiving {
            Receiving::Armed(operation) => (operation, Receiving::Stopping(operation)),
            Receiving::Chained(operation) => (operation, Receiving::StoppingChained(operation)),
            _ => return,
        };
        state.receiving = stopped;
        self.cancel(slot, operation);
    }

    /// A cancel found nothing although what it was for is under way: it is a link of a chain that had
    /// not come to it, or has completed and will be seen. Again, then.
    pub(super) fn cancelled(&mut self, done: &RingCompletion) {
        if done.result >= 0 {
            return;
        }
        let slot = done.slot();
        let state = &self.slots[slot as usize];
        let told = state.sending.told().filter(|_| matches!(state.stage, Stage::Ending(_)));
        let connect = matches!(state.stage, Stage::Unwanted(_)).then_some(CONNECT);
        for operation in [state.receiving.stopping(), told, connect].into_iter().flatten() {
            self.cancel(slot, operation);
        }
    }

    /// The slot's connection is over, and the kernel holds nothing of it: lets go of the socket.
    pub(in crate::uring) fn free(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        let reset = matches!(
            state.stage,
            Stage::Ending(Ending { how: CloseHow::Reset, .. }) | Stage::Unwanted(CloseHow::Reset)
        );
        state.stage = Stage::Free;
        state.receiving = Receiving::Nothing;
        state.suspicion = Suspicion::None;
        state.sending = Sending::Ready;
        state.send_error = 0;
        state.unheard_bytes = 0;
        state.sent_bytes = 0;
        state.queue.clear();
        let generation = state.generation;
        match &state.socket {
            None => {
                if reset {
                    self.reset_direct(slot);
                }
                self.left_open.push((slot, generation));
            }
            Some(socket) => {
                if reset {
                    self.calls += 1;
                    // Without it the peer gets a FIN, which is all that can be done then.
                    let _ = reset_on_close(socket.as_fd());
                }
                self.unregister(slot);
            }
        }
    }

    /// A direct descriptor has no options that could be set by a system call.
    fn reset_direct(&mut self, slot: Slot) {
        let generation = self.slots[slot as usize].generation;
        let length = NOWHERE.len() as libc::socklen_t;
        let reset = opcode::Connect::new(Fixed(slot), NOWHERE.as_ptr().cast(), length)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(tag(RESET, generation, slot));
        self.push(&reset);
    }

    /// Takes an ordinary socket out of the ring's table and closes it.
    pub(super) fn unregister(&mut self, slot: Slot) {
        if let Some(socket) = self.slots[slot as usize].socket.take() {
            self.calls += 2;
            // It can only fail for a slot that does not exist.
            let _ = self.ring.submitter().register_files_update(slot, &[-1]);
            drop(socket);
        }
    }

    /// Whether closes or sends wait for the next submission.
    pub(in crate::uring) fn waits_for_submission(&self) -> bool {
        !self.after_submission.is_empty() || !self.linked.is_empty()
    }

    /// Exchanges the list of closes that need nothing from the kernel for an empty one, so that both
    /// keep their memory.
    pub(in crate::uring) fn swap_local(&mut self, empty: &mut Vec<(Slot, u32, CloseReason)>) {
        debug_assert!(empty.is_empty(), "what was in it would be told twice");
        std::mem::swap(&mut self.local, empty);
    }

    /// Closes direct descriptors whose slot was not opened again.
    pub(super) fn close_left_open(&mut self) {
        while let Some((slot, generation)) = self.left_open.pop() {
            let state = &self.slots[slot as usize];
            if state.generation == generation && state.stage == Stage::Free {
                let close =
                    opcode::Close::new(Fixed(slot)).build().user_data(tag(CLOSE, generation, slot));
                self.push(&close);
            }
        }
    }
}
