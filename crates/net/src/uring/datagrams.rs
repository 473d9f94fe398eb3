//! What completed on sockets for datagrams, told to the handler.

use super::UringDriver;
use super::ring::RingCompletion;
use super::slots::{self, UringIo};
use crate::driver::{CloseReason, Datagrams, Handler, Slot};
use crate::udp::BATCH_BYTES;
use crate::udp::control::{self, ROOM_BYTES};

/// What the kernel puts in front of what came beside the bytes: `struct io_uring_recvmsg_out` of
/// include/uapi/linux/io_uring.h, four numbers of 32 bits, of which the second is how much that is.
const HEADER_BYTES: usize = 16;
const BESIDE_BYTES_AT: usize = 4;
/// Room for as much as one receive brings.
pub(super) const BUFFER_BYTES: u32 =
    (HEADER_BYTES + ROOM_BYTES + BATCH_BYTES).next_multiple_of(4096) as u32;
pub(super) const BUFFERS: u16 = 64;

impl UringDriver {
    /// Delivers one completion of a slot with a socket for datagrams; returns whether it counts as an event.
    pub(super) fn deliver_datagrams<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: &RingCompletion,
        at: u64,
    ) -> bool {
        match done.operation() {
            slots::BOUND => {
                handler.opened(&mut self.io, slot, at);
                self.io.receive_datagrams(slot);
                true
            }
            slots::WRITABLE => {
                self.io.send_kept(slot);
                false
            }
            _ => self.deliver_received(handler, slot, done, at),
        }
    }

    fn deliver_received<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        done: &RingCompletion,
        at: u64,
    ) -> bool {
        if !done.more_to_come() {
            self.io.receive_ended(slot);
        }
        let mut told = false;
        if let (Some(buffer), Some(buffers)) = (done.buffer(), &mut self.datagrams) {
            let came = buffers.bytes_mut(buffer, usize::try_from(done.result).unwrap_or(0));
            if let Some((head, bytes)) = came.split_at_mut_checked(HEADER_BYTES + ROOM_BYTES) {
                let beside = control::read(beside(head));
                let segment_bytes = self.io.received_datagrams(slot, bytes.len(), &beside);
                if !bytes.is_empty() {
                    told = true;
                    let datagrams = Datagrams { bytes, segment_bytes, ecn: beside.ecn };
                    handler.datagrams(&mut self.io, slot, datagrams, at);
                }
            }
        }
        self.give_back_datagrams(done);
        // The handler may have closed the slot, and with it what the receive is to go on for.
        if done.more_to_come() || !self.io.has_open_datagrams(slot) {
            return told;
        }
        let errno = match -done.result {
            // EMSGSIZE is what the network says of a datagram too long for the path.
            libc::ENOBUFS | libc::ECANCELED | libc::EAGAIN | libc::EINTR | libc::EMSGSIZE => 0,
            errno => errno.max(0),
        };
        let broken = self.io.broken(slot);
        if *broken == 0 {
            *broken = errno;
        }
        if *broken == 0 {
            self.io.receive_datagrams(slot);
            return told;
        }
        self.deliver_broken(handler, slot, at) || told
    }

    /// The socket has an error, which is told in front of the datagrams that came before it: those first.
    pub(super) fn deliver_broken<H: Handler<UringIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        at: u64,
    ) -> bool {
        if !self.io.receives_no_more(slot) {
            // It is told when it has ended.
            return false;
        }
        let mut buffer = vec![0; BATCH_BYTES];
        while self.io.has_open_datagrams(slot)
            && let Some((count, beside)) = self.io.read_datagrams_here(slot, &mut buffer)
        {
            let segment_bytes = self.io.received_datagrams(slot, count, &beside);
            if count > 0 {
                let datagrams =
                    Datagrams { bytes: &mut buffer[..count], segment_bytes, ecn: beside.ecn };
                handler.datagrams(&mut self.io, slot, datagrams, at);
            }
        }
        if !self.io.has_open_datagrams(slot) {
            return true;
        }
        self.io.settle_datagrams(slot);
        let reason = CloseReason::Transfer(*self.io.broken(slot));
        self.finish(handler, slot, reason, at)
    }

    /// A buffer whose datagrams are used up, or whose socket is gone, returns to the kernel.
    pub(super) fn give_back_datagrams(&mut self, done: &RingCompletion) {
        if let (Some(buffer), Some(buffers)) = (done.buffer(), &mut self.datagrams) {
            buffers.give_back(buffer);
            buffers.publish();
        }
    }
}

/// The control messages behind the header.
fn beside(head: &[u8]) -> &[u8] {
    let (header, room) = head.split_at(HEADER_BYTES);
    let length =
        header[BESIDE_BYTES_AT..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
    &room[..(length as usize).min(room.len())]
}
