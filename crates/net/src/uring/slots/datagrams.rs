//! Sockets for datagrams: ordinary descriptors, for their options are set by system calls. One receive is armed for
//! good; sends leave in [`messages`](super::messages) with the submission.
//!
//! When the socket is full, what was refused waits for it, and what comes later waits behind. Only what was submitted
//! together can change its order when one is refused: those behind it may have left.

use std::os::fd::{AsFd, AsRawFd};

use io_uring::types::Fixed;
use io_uring::{opcode, squeue};

use super::messages::Messages;
use super::{
    BOUND, DATAGRAM_GROUP, DATAGRAMS, MESSAGE, Receiving, Recognised, Sending, Stage, UringIo,
    WRITABLE,
};
use crate::driver::{CloseHow, CloseReason, DatagramCounts, OutDatagrams, Slot};
use crate::udp;
use crate::udp::control::{ROOM_BYTES, Received};
use crate::udp::sending::{self, SendError};
use crate::uring::ring::{RingCompletion, tag};

/// What sockets for datagrams need beside the state of their slots.
pub(super) struct DatagramSlots {
    /// By slot; empty where no endpoint is one of datagrams.
    senders: Box<[sending::Sending]>,
    messages: Messages,
    /// What all receives point at: the room for what comes beside the bytes, and no address.
    header: Box<libc::msghdr>,
    /// What completed of the submissions before this one was seen.
    seen_before: u32,
}

impl DatagramSlots {
    pub(super) fn new(slots: u32) -> Self {
        Self {
            senders: (0..slots).map(|_| sending::Sending::new()).collect(),
            messages: Messages::default(),
            header: Box::new(udp::message(std::ptr::null_mut(), std::ptr::null_mut(), ROOM_BYTES)),
            seen_before: 0,
        }
    }

    pub(super) fn is_some(&self) -> bool {
        !self.senders.is_empty()
    }
}

impl UringIo {
    /// Everything that completed was seen, of all that was submitted.
    #[inline]
    pub(in crate::uring) fn seen_all(&mut self) {
        self.datagrams.seen_before = self.submissions;
    }

    pub(super) fn open_datagrams(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        state.stage = Stage::Datagrams;
        let generation = state.generation;
        let route = &mut self.routes[usize::from(state.endpoint)];
        let made = route.connect(&mut self.calls).and_then(|(socket, _)| {
            self.calls += 1;
            let registered =
                self.ring.submitter().register_files_update(slot, &[socket.as_raw_fd()]);
            state.socket = Some(socket);
            registered.map(drop).map_err(|error| {
                CloseReason::Here("io_uring_register", error.raw_os_error().unwrap_or(libc::EIO))
            })
        });
        let of_route = route.datagrams();
        let sender = &mut self.datagrams.senders[slot as usize];
        sender.begin(
            of_route.map_or(udp::Version::V4, |datagrams| datagrams.version),
            of_route.and_then(|datagrams| datagrams.no_coalescing),
        );
        match made {
            Err(reason) => self.local.push((slot, generation, reason)),
            Ok(()) => {
                let bound = opcode::Nop::new().build().user_data(tag(BOUND, generation, slot));
                self.push(&bound);
                // It completes during submission, as a connect on loopback does.
                self.connects_queued += 1;
            }
        }
    }

    /// Arms the receive.
    pub(in crate::uring) fn receive_datagrams(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        if state.stage != Stage::Datagrams || !state.receiving.is_nothing() {
            return;
        }
        state.receiving = Receiving::Armed(DATAGRAMS);
        let header: *const libc::msghdr = &raw const *self.datagrams.header;
        let receive = opcode::RecvMsgMulti::new(Fixed(slot), header, DATAGRAM_GROUP)
            .build()
            .user_data(tag(DATAGRAMS, state.generation, slot));
        self.push(&receive);
    }

    pub(in crate::uring) fn send_together(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        debug_assert!(datagrams.count() <= OutDatagrams::SEGMENTS_MAX, "{}", datagrams.count());
        let state = &self.slots[slot as usize];
        let open = state.stage == Stage::Datagrams && state.socket.is_some();
        if !open || state.send_error != 0 {
            return;
        }
        if self.datagrams.senders[slot as usize].waits() {
            self.datagrams.senders[slot as usize].keep(datagrams);
        } else {
            self.queue_datagrams(slot, datagrams);
        }
    }

    /// Queues them for the next submission.
    fn queue_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        self.datagrams.messages.seen_before(self.datagrams.seen_before);
        let mut done = 0;
        while done < datagrams.bytes.len() {
            let generation = self.slots[slot as usize].generation;
            let sender = &mut self.datagrams.senders[slot as usize];
            let rest = OutDatagrams { bytes: &datagrams.bytes[done..], ..datagrams };
            let (bytes, beside) = sender.next_call(rest);
            let part = OutDatagrams { bytes, ..datagrams };
            let messages = &mut self.datagrams.messages;
            let Some(number) = messages.fill((slot, generation), part, beside) else {
                sender.counts.given_up += rest.count() as u64;
                return;
            };
            sender.sent(bytes.len(), datagrams.segment_bytes);
            done += bytes.len();
            let message = messages.get(number);
            let send = opcode::SendMsg::new(Fixed(slot), message.header())
                .flags(libc::MSG_DONTWAIT as u32)
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(tag(MESSAGE, message.generation, number));
            self.push(&send);
            // After that, which may have submitted what was queued before.
            self.datagrams.messages.queued(number, self.submissions);
            let state = &mut self.slots[slot as usize];
            state.sent_in = self.submissions;
            // So that the socket stays until they have left, however it is closed.
            state.leased_in = self.submissions;
        }
    }

    /// For whom the completion of a request without a slot is: a refused send concerns its socket.
    #[cold]
    pub(super) fn recognise_message(&mut self, done: &RingCompletion) -> Recognised {
        if done.operation() != MESSAGE || done.result >= 0 {
            return Recognised::Nobody;
        }
        let message = self.datagrams.messages.get(done.slot());
        let (slot, generation) = (message.slot, message.slot_generation);
        let state = &self.slots[slot as usize];
        if message.generation != done.generation() || state.generation != generation {
            return Recognised::Nobody;
        }
        let OutDatagrams { bytes, segment_bytes, ecn } = message.datagrams();
        let refused = sending::Kept { bytes: bytes.to_vec(), segment_bytes, ecn };
        let sender = &mut self.datagrams.senders[slot as usize];
        sender.not_sent(refused.bytes.len(), segment_bytes);
        let Some(socket) = state.socket.as_ref().filter(|_| state.stage == Stage::Datagrams) else {
            return Recognised::Nobody;
        };
        let cut = refused.bytes.len() > segment_bytes;
        let result = match -done.result {
            libc::EAGAIN => {
                sender.keep(refused.datagrams());
                Ok(())
            }
            errno if SendError::of(errno, cut) == SendError::Broken => Err(errno),
            // By calls of its own: the answer to one decides about the next.
            _ => sender.send(refused.datagrams(), |bytes, beside| {
                self.calls += 1;
                udp::send(socket.as_fd(), bytes, beside)
            }),
        };
        if sender.waits() {
            self.watch_writable(slot);
        }
        let Err(errno) = result else { return Recognised::Nobody };
        self.slots[slot as usize].send_error = errno;
        Recognised::Broken(slot)
    }

    fn watch_writable(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        if state.sending != Sending::Ready {
            return;
        }
        state.sending = Sending::Told(WRITABLE);
        let watch = opcode::PollAdd::new(Fixed(slot), libc::POLLOUT as u32).build().user_data(tag(
            WRITABLE,
            state.generation,
            slot,
        ));
        self.push(&watch);
    }

    /// The socket takes datagrams again.
    pub(in crate::uring) fn send_kept(&mut self, slot: Slot) {
        self.slots[slot as usize].sending = Sending::Ready;
        while let Some(kept) = self.datagrams.senders[slot as usize].take_kept() {
            self.queue_datagrams(slot, kept.datagrams());
        }
    }

    /// Takes note of what one receive brought; returns the length of each datagram but the last.
    pub(in crate::uring) fn received_datagrams(
        &mut self,
        slot: Slot,
        bytes: usize,
        beside: &Received,
    ) -> usize {
        self.datagrams.senders[slot as usize].received(bytes, beside)
    }

    /// Whether the slot's socket for datagrams is open.
    pub(in crate::uring) fn has_open_datagrams(&self, slot: Slot) -> bool {
        self.slots[slot as usize].stage == Stage::Datagrams
    }

    /// Why the slot's socket is of no use any more, if it is not: the errno.
    pub(in crate::uring) fn broken(&mut self, slot: Slot) -> &mut i32 {
        &mut self.slots[slot as usize].send_error
    }

    /// Whether the socket's receive has ended; if not, it is told to.
    pub(in crate::uring) fn receives_no_more(&mut self, slot: Slot) -> bool {
        self.stop_receiving(slot);
        self.slots[slot as usize].receiving.is_nothing()
    }

    /// Reads by a call of its own what has come; `None` if that is nothing.
    pub(in crate::uring) fn read_datagrams_here(
        &mut self,
        slot: Slot,
        buffer: &mut [u8],
    ) -> Option<(usize, Received)> {
        loop {
            let socket = self.slots[slot as usize].socket.as_ref()?;
            match udp::receive(socket.as_fd(), buffer, &mut self.calls) {
                Ok(came) => return Some(came),
                Err(libc::EMSGSIZE) => {}
                Err(_) => return None,
            }
        }
    }

    pub(in crate::uring) fn counts(&mut self, slot: Slot) -> DatagramCounts {
        self.count_dropped(slot);
        self.datagrams.senders.get(slot as usize).map(|sender| sender.counts).unwrap_or_default()
    }

    pub(in crate::uring) fn longest_datagram(&self, slot: Slot) -> Option<u16> {
        let route = self.routes.get(usize::from(self.slots[slot as usize].endpoint))?;
        route.datagrams()?.bytes_max
    }

    fn count_dropped(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        let open = state.stage == Stage::Datagrams;
        let Some(socket) = state.socket.as_ref().filter(|_| open) else { return };
        if let Some(dropped) = udp::dropped(socket.as_fd(), &mut self.calls) {
            self.datagrams.senders[slot as usize].note_dropped(dropped);
        }
    }

    /// What is still to be counted before the slot's socket goes.
    pub(in crate::uring) fn settle_datagrams(&mut self, slot: Slot) {
        self.count_dropped(slot);
        self.datagrams.senders[slot as usize].give_up();
    }

    pub(super) fn close_datagrams(&mut self, slot: Slot, reason: CloseReason) {
        self.settle_datagrams(slot);
        if self.end(slot, CloseHow::Fin, reason) {
            let generation = self.slots[slot as usize].generation;
            self.local.push((slot, generation, reason));
        }
    }
}

#[cfg(test)]
mod tests;
