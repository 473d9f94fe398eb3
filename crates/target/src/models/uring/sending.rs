//! Sending on the ring: one send at a time for each connection. It is first tried at once and
//! silently; what the socket does not take then is tried again when it has room.

use ablaze_net::uring::ring::RingCompletion;

use super::connection::{Connection, Sending, Stage};
use super::operations as op;
use super::outgoing::Outgoing;
use super::worker::RingWorker;
use crate::handler::Handler;
use crate::protocol::Next;

impl<H: Handler> RingWorker<H> {
    /// Sends a response. If the connection ends behind it and nothing speaks against, the close is
    /// linked to it.
    #[inline]
    pub(super) fn send(&mut self, key: u64, mut outgoing: Box<Outgoing>) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let file = connection.file.target();
        let left = outgoing.output.left();
        let entry = match outgoing.output.as_text() {
            Some(text) => {
                outgoing.sending_bytes = text.len() as u64;
                op::send_now(file, key, text)
            }
            None => {
                let (list, bytes) = outgoing.message();
                outgoing.sending_bytes = bytes;
                op::send_list_now(file, key, list)
            }
        };
        let whole = outgoing.sending_bytes == left;
        // In its box, untouched, until the send is known to be done: `sending` says so.
        connection.outgoing = Some(outgoing);
        connection.silent = self.queue.is_silent(key);
        if whole && closes_behind(connection) {
            connection.sending = Sending::NowAndClose;
            return self.send_and_close(key, &entry);
        }
        connection.sending = Sending::Now;
        let only_reads = whole
            && connection.stage == Stage::Next(Next::Read)
            && connection.held.is_empty()
            && !connection.at_end;
        // SAFETY: see above.
        unsafe { self.queue.push(&entry) };
        if only_reads {
            // The next request can be waited for while the response leaves.
            self.await_input(key);
        } else {
            // What comes next has to know that this send is done.
            self.prompt = true;
        }
    }

    /// The socket is full.
    fn wait_for_room(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        connection.sending = Sending::Waiting;
        // A response that waits does so from now on, not from when the client reads.
        if let Stage::Next(Next::Wait(delay_ns)) = connection.stage {
            self.wait(key, delay_ns);
        }
        self.watch_room(key);
    }

    /// From now on it is told when the socket gets room, and when the connection breaks.
    pub(super) fn watch_room(&mut self, key: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        if !connection.writable_watched {
            connection.writable_watched = true;
            let entry = op::watch_room(connection.file.target(), key);
            // SAFETY: it points at nothing.
            unsafe { self.queue.push(&entry) };
        }
    }

    /// A socket may have room, or the watch for it ended.
    pub(super) fn became_writable(&mut self, key: u64, done: RingCompletion) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        connection.writable_watched &= done.more_to_come();
        let broke = i32::from(libc::POLLERR | libc::POLLHUP);
        if connection.stage == Stage::Waiting && done.result > 0 && done.result & broke != 0 {
            // Nobody is left to respond to.
            return self.close(key);
        }
        if connection.sending != Sending::Waiting {
            return;
        }
        let room = libc::POLLOUT | libc::POLLERR | libc::POLLHUP;
        if done.result < 0 || done.result & i32::from(room) == 0 {
            return self.wait_for_room(key);
        }
        let Some(outgoing) = connection.outgoing.take() else { return };
        self.read_timeouts.turn(&mut connection.waited, key);
        self.counters.out_events.one();
        self.send(key, outgoing);
    }

    /// A silent send is done, unless its failure was told: then it is not the last any more, or
    /// no longer under way.
    #[inline]
    pub(super) fn sent_silently(&mut self, key: u64, number: u64) {
        let Some(connection) = self.slots.get_mut(key) else { return };
        let closed = match connection.sending {
            Sending::Now => false,
            Sending::NowAndClose => true,
            Sending::Nothing | Sending::Waiting | Sending::Installing => return,
        };
        if connection.silent != number {
            return;
        }
        if let Some(mut outgoing) = connection.outgoing.take() {
            self.counters.writes.one();
            self.counters.written_bytes.add(outgoing.sending_bytes);
            outgoing.output.wrote(outgoing.sending_bytes as usize);
            if !outgoing.output.is_empty() && connection.stage != Stage::Ending {
                return self.send(key, outgoing);
            }
            self.pool.give_back(outgoing);
        }
        if closed {
            if let Some(connection) = self.forget(key) {
                connection.file.forget();
            }
            return;
        }
        connection.sending = Sending::Nothing;
        let nothing_to_do = connection.is_receiving_on()
            && connection.stage == Stage::Next(Next::Read)
            && !self.draining;
        if !nothing_to_do {
            self.advance(key);
        }
    }

    /// A silent send failed, or sent less than all.
    pub(super) fn not_all_sent(&mut self, key: u64, result: i32) {
        self.counters.writes.one();
        let full = matches!(-result, libc::EAGAIN | libc::EINTR);
        if full {
            self.counters.write_eagains.one();
        }
        let Some(connection) = self.slots.get_mut(key) else { return };
        let Some(outgoing) = &mut connection.outgoing else { return };
        if let Ok(bytes) = u64::try_from(result) {
            self.counters.written_bytes.add(bytes);
            outgoing.output.wrote(bytes as usize);
        }
        if (result > 0 || full) && connection.stage != Stage::Ending {
            return self.wait_for_room(key);
        }
        connection.sending = Sending::Nothing;
        if let Some(outgoing) = connection.outgoing.take() {
            self.pool.give_back(outgoing);
        }
        self.close(key);
    }
}

/// Whether nothing is left to do for a connection behind the response that it gets now.
#[inline]
fn closes_behind(connection: &Connection) -> bool {
    connection.stage == Stage::Next(Next::Close { unread: false })
        && connection.held.is_empty()
        && !connection.more_there
        // Its watch would have to be cancelled before it is known whether all is sent.
        && !connection.writable_watched
}
