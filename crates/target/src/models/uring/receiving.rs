//! Receiving on the ring: bytes come in buffers of the worker's group, are used at once where
//! that is possible, and the buffer goes back to the kernel.

use ablaze_net::uring::ring::RingCompletion;

use super::connection::{Receiving, Sending, Stage};
use super::operations as op;
use super::worker::RingWorker;
use crate::handler::Handler;
use crate::protocol::Next;

/// Bytes kept of a client that sends on while its responses wait: beyond, receiving stops.
const HELD_BYTES_MAX: usize = 64 * 1024;

impl<H: Handler> RingWorker<H> {
    /// Begins a receive, if none is under way. The first of a connection is a single one: if the
    /// connection ends behind its first response, nothing is left to be cancelled.
    #[inline]
    pub(super) fn arm(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if connection.receiving != Receiving::Nothing {
            return;
        }
        let file = connection.file.target();
        let many = connection.answered && connection.protocol.is_idle();
        let entry = if many {
            connection.receiving = Receiving::Many;
            op::receive_many(file, key)
        } else {
            connection.receiving = Receiving::Once;
            op::receive(file, key)
        };
        // SAFETY: it points at nothing; the kernel takes a buffer of the group.
        unsafe { self.queue.push(&entry) };
    }

    /// Asks the receive under way to stop.
    fn stop_receiving(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let operation = match connection.receiving {
            Receiving::Nothing => return,
            Receiving::Once => op::RECEIVE,
            Receiving::Many => op::RECEIVE_MANY,
        };
        if !connection.stopping {
            connection.stopping = true;
            // SAFETY: it points at nothing.
            unsafe { self.queue.push(&op::cancel(operation, key)) };
        }
    }

    /// A receive gave bytes, or the end, or failed.
    #[inline]
    pub(super) fn received(&mut self, key: u64, done: RingCompletion) {
        if let Some(buffer) = done.buffer() {
            if done.result > 0 {
                self.use_buffer(key, done, buffer);
            }
            self.buffers.give_back(buffer);
            if done.result > 0 {
                return self.go_on(key);
            }
        }
        let Some(connection) = self.slots.get_mut(key) else { return };
        connection.receiving = Receiving::Nothing;
        connection.stopping = false;
        match -done.result {
            0 => {
                self.counters.reads.one();
                connection.at_end = true;
                if connection.stage == Stage::Lingering {
                    self.close(key);
                } else {
                    self.advance(key);
                }
            }
            // Out of buffers: those of this batch are back before the next receive begins.
            libc::ENOBUFS | libc::ECANCELED | libc::EAGAIN | libc::EINTR => self.go_on(key),
            _ => {
                self.counters.reads.one();
                self.close(key);
            }
        }
    }

    /// Bytes are in a buffer: answers the requests they complete, or keeps them.
    #[inline]
    fn use_buffer(&mut self, key: u64, done: RingCompletion, buffer: u16) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let bytes = &*self.buffers.bytes_mut(buffer, done.result as usize);
        self.counters.reads.one();
        self.counters.read_bytes.add(bytes.len() as u64);
        self.read_timeouts.turn(&mut connection.waited, key);
        connection.more_there = done.socket_nonempty();
        if !done.more_to_come() {
            connection.receiving = Receiving::Nothing;
            connection.stopping = false;
        }
        if !connection.can_use_bytes() {
            if matches!(connection.stage, Stage::Next(_) | Stage::Waiting) {
                connection.held.extend_from_slice(bytes);
                self.prompt |= connection.sending == Sending::Now;
            }
            return;
        }
        let mut outgoing = self.pool.take();
        let out = &mut outgoing.output;
        let next = connection.protocol.receive(bytes, &self.service, &self.date, out);
        // Before the response leaves: who has it finds it counted.
        connection.protocol.count_into(&self.counters);
        connection.stage = Stage::Next(next);
        connection.answered = !outgoing.output.is_empty();
        if connection.answered {
            self.send(key, outgoing);
        } else {
            self.pool.give_back(outgoing);
        }
    }

    /// After bytes came: the next receive, or what else the connection wants.
    #[inline]
    fn go_on(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let reads = connection.stage == Stage::Next(Next::Read);
        match (connection.receiving, connection.sending) {
            (Receiving::Many, _) => {
                let incomplete = reads && !connection.answered;
                if incomplete || connection.held.len() > HELD_BYTES_MAX {
                    self.stop_receiving(key);
                }
                if !reads {
                    self.advance(key);
                }
            }
            (_, Sending::Nothing) if connection.stage == Stage::Lingering => self.arm(key),
            (_, Sending::Nothing) => self.advance(key),
            _ => {}
        }
    }
}
