//! How connections on the ring end.

use io_uring::squeue::{Entry, Flags};

use super::connection::{Receiving, Sending, Stage};
use super::operations as op;
use super::slots::Key;
use super::worker::{LINGER, RingWorker, timer};
use crate::handler::Handler;

/// How long a connection that was closed with unread input may linger (RFC 9112, 9.6).
const LINGER_NS: u64 = 2_000_000_000;

impl<H: Handler> RingWorker<H> {
    /// Closes a connection, as soon as the kernel is done with what is being sent.
    pub(super) fn close(&mut self, key: Key) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        match connection.sending {
            Sending::Nothing => {}
            Sending::Now | Sending::NowAndClose => {
                connection.stage = Stage::Ending;
                self.prompt = true;
                return;
            }
            Sending::Waiting => {
                if connection.stage != Stage::Ending {
                    connection.stage = Stage::Ending;
                    // SAFETY: it points at nothing.
                    unsafe { self.queue.push(&op::cancel(op::SEND, key)) };
                }
                return;
            }
        }
        self.cancel_receive(key);
        if let Some(connection) = self.slots.remove(key) {
            // SAFETY: it points at nothing.
            unsafe { self.queue.push(&connection.file.close()) };
            connection.file.forget();
        }
    }

    /// Everything is written: closes, or lets the client close first, for what it still sends
    /// would turn a close into a reset.
    pub(super) fn close_or_linger(&mut self, key: Key, unread: bool) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let all_read = !unread && connection.held.is_empty() && !connection.more_there;
        if all_read || connection.at_end {
            return self.close(key);
        }
        connection.stage = Stage::Lingering;
        connection.held = Vec::new();
        // SAFETY: it points at nothing.
        unsafe { self.queue.push(&op::shut_down_sending(connection.file.target())) };
        self.counters.timers.one();
        self.timers.add(LINGER_NS, timer(LINGER, key));
        self.arm(key);
    }

    /// Closes a connection with a reset.
    pub(super) fn reset(&mut self, key: Key) {
        self.cancel_receive(key);
        if let Some(connection) = self.slots.remove(key) {
            let last = op::reset_on_close(connection.file.target());
            // SAFETY: the option's value is static; the close points at nothing.
            unsafe { self.queue.push_linked(&[last, connection.file.close()]) };
            connection.file.forget();
        }
    }

    /// Queues a send with the connection's close linked behind it. If not all is sent, the kernel
    /// drops the close.
    #[inline]
    pub(super) fn send_and_close(&mut self, key: Key, send: &Entry) {
        self.cancel_receive(key);
        let Some(connection) = self.slots.get_mut(key) else { return };
        let send = send.clone().flags(Flags::IO_LINK);
        // SAFETY: the bytes to send are the connection's `outgoing`, see `send`; the close points
        // at nothing.
        unsafe { self.queue.push_linked(&[send, connection.file.close()]) };
    }

    /// Cancels a receive that would keep the socket open. Its completion finds the connection
    /// gone.
    #[inline]
    fn cancel_receive(&mut self, key: Key) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let operation = match connection.receiving {
            Receiving::Nothing => return,
            Receiving::Once => op::RECEIVE,
            Receiving::Many => op::RECEIVE_MANY,
        };
        connection.stopping = true;
        // SAFETY: it points at nothing.
        unsafe { self.queue.push(&op::cancel(operation, key)) };
    }
}
