//! Datagrams on their way to the kernel, which reads them where they lie when they are submitted.
//!
//! A send is tried during submission, is not waited for (MSG_DONTWAIT), and completes silently. So a message
//! is free for others as soon as it was submitted and what completed by then was seen: a refusal would have been
//! among it.

use std::collections::VecDeque;

use crate::driver::{OutDatagrams, Slot};
use crate::udp;
use crate::udp::control::Beside;

/// Bounds the memory: this many are submitted at once, at most. More than slots that anyone sends on in one batch.
const MESSAGES_MAX: usize = 16_384;

/// What one `sendmsg` sends.
pub(super) struct Message {
    header: libc::msghdr,
    part: libc::iovec,
    beside: Beside,
    bytes: Vec<u8>,
    segment_bytes: usize,
    ecn: u8,
    /// Counts its uses, 24 bits.
    pub(super) generation: u32,
    queued_in: u32,
    pub(super) slot: Slot,
    pub(super) slot_generation: u32,
}

impl Message {
    fn new() -> Self {
        Self {
            header: udp::message(std::ptr::null_mut(), std::ptr::null_mut(), 0),
            part: libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 },
            beside: Beside::NONE,
            bytes: Vec::new(),
            segment_bytes: 1,
            ecn: 0,
            generation: 0,
            queued_in: 0,
            slot: 0,
            slot_generation: 0,
        }
    }

    pub(super) fn datagrams(&self) -> OutDatagrams<'_> {
        OutDatagrams { bytes: &self.bytes, segment_bytes: self.segment_bytes, ecn: self.ecn }
    }

    /// Where the kernel finds it. The message stays where it is: it lies in a box of its own.
    pub(super) fn header(&self) -> *const libc::msghdr {
        &raw const self.header
    }
}

/// All messages; each lies in a box of its own, so that it keeps its place.
#[derive(Default)]
pub(super) struct Messages {
    // The kernel is given their addresses, and a vector that grows moves what it holds.
    #[allow(clippy::vec_box)]
    all: Vec<Box<Message>>,
    free: Vec<u32>,
    /// Those in use, in the order in which they were queued.
    queued: VecDeque<u32>,
}

impl Messages {
    /// A message with a copy of these datagrams: its number. `None` if too many are under way.
    pub(super) fn fill(
        &mut self,
        (slot, slot_generation): (Slot, u32),
        datagrams: OutDatagrams<'_>,
        beside: Beside,
    ) -> Option<u32> {
        let number = match self.free.pop() {
            Some(number) => number,
            None if self.all.len() >= MESSAGES_MAX => return None,
            None => {
                self.all.push(Box::new(Message::new()));
                (self.all.len() - 1) as u32
            }
        };
        let message = &mut *self.all[number as usize];
        message.generation = message.generation.wrapping_add(1) & 0xff_ffff;
        message.bytes.clear();
        message.bytes.extend_from_slice(datagrams.bytes);
        (message.segment_bytes, message.ecn) = (datagrams.segment_bytes, datagrams.ecn);
        (message.slot, message.slot_generation) = (slot, slot_generation);
        message.beside = beside;
        message.part = libc::iovec {
            iov_base: message.bytes.as_mut_ptr().cast(),
            iov_len: message.bytes.len(),
        };
        let beside = message.beside.bytes();
        let (beside, beside_bytes) = (beside.as_ptr().cast_mut(), beside.len());
        message.header = udp::message(&raw mut message.part, beside, beside_bytes);
        Some(number)
    }

    pub(super) fn get(&self, number: u32) -> &Message {
        &self.all[number as usize]
    }

    /// It was queued for this submission.
    pub(super) fn queued(&mut self, number: u32, submission: u32) {
        self.all[number as usize].queued_in = submission;
        self.queued.push_back(number);
    }

    /// What completed of all submissions before this one was seen.
    pub(super) fn seen_before(&mut self, submission: u32) {
        while let Some(&number) = self.queued.front() {
            let age = submission.wrapping_sub(self.all[number as usize].queued_in);
            if age == 0 || age > u32::MAX / 2 {
                break;
            }
            self.queued.pop_front();
            self.free.push(number);
        }
    }
}
