//! Closing: what is under way on a slot is ended, then its socket is let go.

use std::os::fd::AsFd;

use io_uring::opcode;
use io_uring::types::{CancelBuilder, Fixed};

use super::{CANCEL, CLOSE, CONNECT, Stage, UringIo};
use crate::driver::{CloseHow, CloseReason, Slot};
use crate::socket::reset_on_close;
use crate::uring::ring::{RingCompletion, tag};

impl UringIo {
    pub(in crate::uring) fn close_slot(&mut self, slot: Slot, how: CloseHow) {
        let state = &mut self.slots[slot as usize];
        match state.stage {
            Stage::Free => {}
            Stage::Connecting => {
                state.stage = Stage::Closing(how);
                self.cancel_waits(slot);
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
                    self.close_at_once(slot);
                }
            }
        }
    }

    /// No receive has to be ended first. An ordinary socket is closed right then, for which a send that is
    /// only queued, such as the last word of TLS, would come too late: it is submitted before.
    pub(super) fn close_at_once(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        let close = (slot, state.generation, CloseReason::Local);
        let send_queued = state.sent_in == self.submissions;
        if state.stage == Stage::Closing(CloseHow::Fin) && send_queued && state.socket.is_some() {
            self.after_submission.push(close);
        } else {
            self.local.push(close);
        }
    }

    /// Cancels the connect and the receive that are under way, each by its own tag: the kernel
    /// finds those in a table, while a search by descriptor looks at every request there is.
    pub(super) fn cancel_waits(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        if matches!(state.stage, Stage::Closing(_)) && !state.connected {
            self.cancel(slot, CONNECT);
        }
        if self.slots[slot as usize].armed != 0 {
            self.cancel(slot, self.slots[slot as usize].armed);
        }
    }

    pub(super) fn cancel(&mut self, slot: Slot, operation: u8) {
        let generation = self.slots[slot as usize].generation;
        let target = CancelBuilder::user_data(tag(operation, generation, slot));
        let cancel =
            opcode::AsyncCancel2::new(target).build().user_data(tag(CANCEL, generation, slot));
        self.push(&cancel);
    }

    /// A cancel found nothing although a receive is under way: it is a link of a chain that had not
    /// come to it. Again, then.
    pub(super) fn cancelled(&mut self, done: &RingCompletion) {
        let state = &self.slots[done.slot() as usize];
        let waits = state.stopping && state.armed != 0 && state.stage != Stage::Free;
        if done.result <= 0 && waits && state.generation == done.generation() {
            self.cancel_waits(done.slot());
        }
    }

    /// The slot's connection is over: lets go of the socket.
    pub(in crate::uring) fn free(&mut self, slot: Slot) {
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
    pub(super) fn unregister(&mut self, slot: Slot) {
        if let Some(socket) = self.slots[slot as usize].socket.take() {
            self.calls += 2;
            // It can only fail for a slot that does not exist.
            let _ = self.ring.submitter().register_files_update(slot, &[-1]);
            drop(socket);
        }
    }

    /// Whether closes wait for the next submission.
    pub(in crate::uring) fn closes_after_submission(&self) -> bool {
        !self.after_submission.is_empty()
    }

    pub(in crate::uring) fn take_local(&mut self) -> Vec<(Slot, u32, CloseReason)> {
        std::mem::take(&mut self.local)
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
