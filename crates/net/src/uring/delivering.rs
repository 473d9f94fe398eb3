//! What completed on the ring, told to the handler: one completion at a time, for the connection it
//! belongs to, in the handler's terms.

use super::UringDriver;
use super::ring::RingCompletion;
use super::slots::{self, Dropped, Recognised, UringIo};
use crate::driver::{CloseHow, CloseReason, Handler, Slot};

impl UringDriver {
    /// Delivers one completion; returns whether it counts as an event: what only has to be tried again, or is
    /// told later, does not.
    #[inline]
    pub(super) fn deliver<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        done: RingCompletion,
        at: u64,
    ) -> bool {
        let (slot, operation) = match self.io.recognise(&done) {
            Recognised::Standing(slot, operation) => (slot, operation),
            Recognised::Ending(slot) => return self.deliver_ending(handler, slot, &done, at),
            Recognised::Nobody => {
                self.give_back_any(&done);
                return false;
            }
            Recognised::Broken(slot) => return self.deliver_broken(handler, slot, at),
        };
        match operation {
            slots::STREAM | slots::HEAD => return self.deliver_bytes(handler, slot, done, at),
            slots::BULK => return self.deliver_bytes(handler, slot, done, at),
            slots::DISCARD => return self.deliver_discard(handler, slot, done, at),
            slots::BOUND | slots::DATAGRAMS | slots::WRITABLE => {
                return self.deliver_datagrams(handler, slot, &done, at);
            }
            slots::CONNECT => self.deliver_connect(handler, slot, done.result, at),
            slots::SOCKET => {
                self.io.chain_broken(slot);
                return self.finish(handler, slot, CloseReason::Here("socket", -done.result), at);
            }
            slots::SEND | slots::SILENT_SEND | slots::QUEUED_SEND
                if self.io.send_done(slot, done.result, operation) =>
            {
                handler.sent(&mut self.io, slot, at);
            }
            _ => {}
        }
        true
    }

    #[inline]
    fn deliver_bytes<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: RingCompletion,
        at: u64,
    ) -> bool {
        if !done.more_to_come() {
            self.io.receive_ended(slot);
        }
        if done.result <= 0 {
            self.give_back_unseen(&done);
            return self.deliver_end(handler, slot, done.result, at);
        }
        if let Some(buffer) = done.buffer() {
            self.io.heard(slot);
            if self.io.listens(slot) {
                let buffers =
                    if done.operation() == slots::BULK { &mut self.bulk } else { &mut self.heads };
                let bytes = buffers.bytes_mut(buffer, done.result as usize);
                self.io.delivering(slot);
                handler.received(&mut self.io, slot, bytes, at, done.socket_nonempty());
                self.io.delivered();
                if done.more_to_come() {
                    self.io.suspect(slot, at);
                }
            }
            self.give_back_unseen(&done);
        }
        if self.io.is_current(slot, done.generation()) {
            self.drop_body(handler, slot, at);
        }
        self.io.arm_again(slot, done.generation());
        true
    }

    /// Drops the body behind a head that was just delivered, as far as it has come.
    #[inline]
    fn drop_body<H: Handler<UringIo>>(&mut self, handler: &mut H, slot: Slot, at: u64) {
        match self.io.drop_here(slot) {
            None => {}
            Some(Dropped::Bytes(bytes)) => {
                self.io.discarded_some(slot, bytes);
                handler.discarded(&mut self.io, slot, bytes, at);
            }
            Some(Dropped::Closed(reason)) => {
                self.finish(handler, slot, reason, at);
            }
        }
    }

    fn deliver_discard<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: RingCompletion,
        at: u64,
    ) -> bool {
        self.io.receive_ended(slot);
        // Where the kernel cannot drop bytes they were read into a buffer.
        self.give_back_unseen(&done);
        if done.result <= 0 {
            return self.deliver_end(handler, slot, done.result, at);
        }
        let bytes = done.result as u64;
        self.io.heard(slot);
        if self.io.listens(slot) {
            self.io.discarded_some(slot, bytes);
            handler.discarded(&mut self.io, slot, bytes, at);
        }
        self.io.arm_again(slot, done.generation());
        true
    }

    /// A receive ended without bytes: end of stream, an error, or something to try again. Returns whether the
    /// handler was told.
    fn deliver_end<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        result: i32,
        at: u64,
    ) -> bool {
        match self.io.why_ended(slot, result) {
            Some(reason) => self.finish(handler, slot, reason, at),
            None => {
                self.io.arm(slot);
                false
            }
        }
    }

    fn deliver_connect<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        result: i32,
        at: u64,
    ) {
        match self.io.connect_done(slot, result) {
            slots::Connected::Yes => {
                handler.opened(&mut self.io, slot, at);
                self.io.arm_if_open(slot);
            }
            slots::Connected::TryAgain | slots::Connected::Ending => {}
            slots::Connected::No(reason) => self.free(handler, slot, reason, at),
        }
    }

    /// The slot's connection is over: tells the handler, at once or when the kernel has let go of it.
    /// Returns whether it was told.
    pub(super) fn finish<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        reason: CloseReason,
        at: u64,
    ) -> bool {
        let told = self.io.end(slot, CloseHow::Fin, reason);
        if told {
            self.free(handler, slot, reason, at);
        }
        told
    }

    /// Something completed on a slot whose connection is over; returns whether that was the last.
    #[inline(never)]
    fn deliver_ending<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: &RingCompletion,
        at: u64,
    ) -> bool {
        self.give_back_any(done);
        let Some(reason) = self.io.released(slot, done) else { return false };
        self.free(handler, slot, reason, at);
        true
    }

    /// Frees the slot and tells the handler.
    pub(super) fn free<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        reason: CloseReason,
        at: u64,
    ) {
        self.io.free(slot);
        handler.closed(&mut self.io, slot, reason, at);
    }

    /// As [`Self::give_back_unseen`], whatever completed.
    fn give_back_any(&mut self, done: &RingCompletion) {
        if done.operation() == slots::DATAGRAMS {
            self.give_back_datagrams(done);
        } else {
            self.give_back_unseen(done);
        }
    }

    /// A buffer whose bytes are used up, or whose connection is gone, returns to the kernel.
    #[inline]
    fn give_back_unseen(&mut self, done: &RingCompletion) {
        if let Some(buffer) = done.buffer() {
            if matches!(done.operation(), slots::BULK | slots::DISCARD) {
                self.bulk.give_back(buffer);
            } else {
                self.heads.give_back(buffer);
            }
        }
    }
}
