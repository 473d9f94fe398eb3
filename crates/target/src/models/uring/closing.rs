//! How connections on the ring end.

use std::os::fd::{FromRawFd, OwnedFd};

use io_uring::squeue::{Entry, Flags};
use rustix::net::{Shutdown, shutdown};

use super::accepting::Accepting;
use super::connection::{Connection, Receiving, Sending, Stage};
use super::operations::{self as op, File};
use super::worker::RingWorker;
use crate::event_loop::LINGER_NS;
use crate::handler::Handler;

impl<H: Handler> RingWorker<H> {
    /// Closes a connection, as soon as the kernel is done with what is being sent.
    pub(super) fn close(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        match connection.sending {
            Sending::Nothing | Sending::Waiting => {}
            Sending::Now | Sending::NowAndClose => {
                connection.stage = Stage::Ending;
                self.prompt = true;
                return;
            }
            Sending::Installing => {
                connection.stage = Stage::Ending;
                return;
            }
        }
        self.let_go(key);
        if let Some(connection) = self.forget(key) {
            // SAFETY: it points at nothing.
            unsafe { self.queue.push(&connection.file.close()) };
            connection.file.forget();
        }
    }

    /// Everything is written: closes, or lets the client close first, for what it still sends
    /// would turn a close into a reset.
    pub(super) fn close_or_linger(&mut self, key: u64, unread: bool) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let all_read = !unread && connection.held.is_empty() && !connection.more_there;
        if all_read || connection.at_end {
            return self.close(key);
        }
        connection.stage = Stage::Lingering;
        connection.held = Vec::new();
        match &connection.file {
            File::Owned(fd) => {
                let closed = shutdown(fd, Shutdown::Write);
                self.linger(key, closed);
            }
            // Not IORING_OP_SHUTDOWN: the kernel does it in a thread of its own, and looks the
            // socket up when it comes to it, which may be another by then.
            File::Direct(index) => {
                let install = op::install(*index, key);
                connection.sending = Sending::Installing;
                // SAFETY: it points at nothing.
                unsafe { self.queue.push(&install) };
            }
        }
    }

    /// A descriptor was made for a connection whose sending side is to be closed, or could not be.
    pub(super) fn installed(&mut self, key: u64, result: i32) {
        // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
        let fd = (result >= 0).then(|| unsafe { OwnedFd::from_raw_fd(result) });
        let Some(connection) = self.slots.get_mut(key) else { return };
        connection.sending = Sending::Nothing;
        match fd {
            Some(fd) if connection.stage == Stage::Lingering => {
                let closed = shutdown(&fd, Shutdown::Write);
                self.linger(key, closed);
            }
            _ => self.close(key),
        }
    }

    /// The client has all that it gets; it may close first, for a while.
    fn linger(&mut self, key: u64, closed: rustix::io::Result<()>) {
        if closed.is_err() {
            return self.close(key);
        }
        self.add_timer(LINGER_NS, key);
        self.arm(key);
    }

    /// The ring is told to close a connection's socket, or has: its place is free.
    #[inline]
    pub(super) fn forget(&mut self, key: u64) -> Option<Connection> {
        let connection = self.slots.remove(key)?;
        self.read_timeouts.forget(connection.waited, key);
        // The close is queued before the next accept.
        self.has_left |= self.accepting == Accepting::Nothing;
        Some(connection)
    }

    /// Closes a connection with a reset.
    pub(super) fn reset(&mut self, key: u64) {
        self.let_go(key);
        if let Some(connection) = self.forget(key) {
            let last = op::reset_on_close(connection.file.target());
            // SAFETY: the option's value is static; the close points at nothing.
            unsafe { self.queue.push_linked(&[last, connection.file.close()]) };
            connection.file.forget();
        }
    }

    /// Queues a send with the connection's close linked behind it. If not all is sent, the kernel
    /// drops the close.
    #[inline]
    pub(super) fn send_and_close(&mut self, key: u64, send: &Entry) {
        self.let_go(key);
        let Some(connection) = self.slots.get_mut(key) else { return };
        let send = send.clone().flags(Flags::IO_LINK);
        // SAFETY: the bytes to send are the connection's `outgoing`, see `send`; the close points
        // at nothing.
        unsafe { self.queue.push_linked(&[send, connection.file.close()]) };
    }

    /// Cancels what would keep the socket open. The completions find the connection gone.
    #[inline]
    fn let_go(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let receive = match connection.receiving {
            Receiving::Nothing => None,
            Receiving::Once => Some(op::RECEIVE),
            Receiving::Many => Some(op::RECEIVE_MANY),
        };
        connection.stopping = receive.is_some();
        let watch = std::mem::take(&mut connection.writable_watched).then_some(op::WRITABLE);
        for operation in receive.into_iter().chain(watch) {
            // SAFETY: it points at nothing.
            unsafe { self.queue.push(&op::cancel(operation, key)) };
        }
    }
}
