//! Delivers what happened to one slot: connected, writable, readable, ended.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use ablaze_sys::clock::monotonic_ns;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::connection::{Hangup, Stage};
use super::{EpollDriver, EpollIo};
use crate::driver::{CloseReason, Handler, Receive, Slot};
use crate::socket;

/// One read while a head is expected. Small, so that the body behind it stays in the kernel and
/// can be dropped there; large enough for any usual head.
pub(super) const HEAD_BYTES: usize = 4 * 1024;
/// One read of small messages; stays in the first-level cache.
const STREAM_BYTES: usize = 16 * 1024;
/// One read of bodies that are wanted: half a megabyte and more fall out of the second-level
/// cache, less costs more calls.
pub(super) const BULK_BYTES: usize = 256 * 1024;
/// One dropping read. No copy is made, so only the kernel's own limit (2 GiB) counts.
const DROP_BYTES: u64 = 1 << 30;
/// Reads of one slot before the others have their turn.
pub(super) const READS_PER_VISIT: u32 = 8;

pub(super) const IN: u32 = libc::EPOLLIN as u32;
pub(super) const OUT: u32 = libc::EPOLLOUT as u32;
const RDHUP: u32 = libc::EPOLLRDHUP as u32;
pub(super) const BROKEN: u32 = (libc::EPOLLHUP | libc::EPOLLERR) as u32;

impl EpollDriver {
    /// Delivers what there is, given the kernel's event flags (0 for none).
    pub(super) fn visit<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot, flags: u32) {
        // Counts as listed meanwhile: what the handler asks for is seen below anyway.
        let was_listed = std::mem::replace(&mut self.io.connection(slot).listed, true);
        self.progress(handler, slot, flags);
        self.io.connection(slot).listed = was_listed;
        self.io.list(slot);
    }

    fn progress<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot, flags: u32) {
        let connection = self.io.connection(slot);
        match connection.stage {
            Stage::Free | Stage::Refilling => return,
            Stage::Bound | Stage::Datagrams => return self.visit_datagrams(handler, slot, flags),
            Stage::Connecting => self.judge_connect(slot, flags),
            Stage::Connected | Stage::Open | Stage::AwaitingPeer | Stage::Ended(_) => {}
        }
        self.note_readiness(slot, flags);
        if self.io.connection(slot).stage == Stage::Connected {
            let at = monotonic_ns();
            self.io.connection(slot).stage = Stage::Open;
            self.io.flush(slot);
            self.batch.events += 1;
            handler.opened(&mut self.io, slot, at);
        } else if flags & OUT != 0 && !self.io.connection(slot).queue.is_empty() {
            self.io.flush(slot);
        }
        while self.io.connection(slot).notices > 0 && self.is_open(slot) {
            self.io.connection(slot).notices -= 1;
            self.batch.events += 1;
            handler.sent(&mut self.io, slot, monotonic_ns());
        }
        self.read(handler, slot);
    }

    fn is_open(&mut self, slot: Slot) -> bool {
        matches!(self.io.connection(slot).stage, Stage::Open | Stage::AwaitingPeer)
    }

    /// Finds out what a started connect came to.
    fn judge_connect(&mut self, slot: Slot, flags: u32) {
        let connection = self.io.connection(slot);
        if flags & BROKEN != 0 {
            let Some(fd) = &connection.socket else { return };
            let errno = socket::take_error(fd.as_fd());
            self.io.system_calls += 1;
            let connection = self.io.connection(slot);
            match errno {
                0 => connection.stage = Stage::Connected,
                // A reset while connecting is ECONNREFUSED; these say that the connection stood
                // and is gone again (`tcp_reset`). What arrived before can still be read.
                libc::ECONNRESET | libc::EPIPE => {
                    connection.stage = Stage::Connected;
                    self.io.fail_sending(slot, Errno::from_raw_os_error(errno));
                }
                _ => connection.stage = Stage::Ended(socket::connect_failure(errno)),
            }
        } else if flags & OUT != 0 {
            connection.stage = Stage::Connected;
        }
    }

    fn note_readiness(&mut self, slot: Slot, flags: u32) {
        let connection = self.io.connection(slot);
        if flags & (IN | RDHUP | BROKEN) != 0 {
            connection.readable = true;
        }
        if connection.hangup == Hangup::Reached {
            return;
        }
        if flags & BROKEN != 0 || (flags & RDHUP != 0 && !connection.is_tcp) {
            connection.hangup = Hangup::Unclear;
        } else if flags & RDHUP != 0 && connection.hangup == Hangup::None {
            connection.hangup = Hangup::Fin;
        }
    }

    /// Reads as the handler wants, until the receive queue is known to be empty, the handler
    /// pauses, the stream ends, or others must have their turn.
    fn read<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot) {
        for _ in 0..READS_PER_VISIT {
            let connection = self.io.connection(slot);
            let goes_on = match connection.stage {
                Stage::Open | Stage::AwaitingPeer if !connection.can_read() => false,
                Stage::Open | Stage::AwaitingPeer if connection.hangup == Hangup::Reached => {
                    self.finish_at_end(handler, slot);
                    false
                }
                Stage::Open => self.read_once(handler, slot),
                Stage::AwaitingPeer => self.drop_once(handler, slot, u64::MAX).is_some(),
                Stage::Ended(_) | Stage::Free => break,
                Stage::Refilling | Stage::Connecting | Stage::Connected => false,
                Stage::Bound | Stage::Datagrams => false,
            };
            if !goes_on {
                break;
            }
        }
        if let Stage::Ended(reason) = self.io.connection(slot).stage {
            self.finish(handler, slot, reason);
        }
    }

    /// One read in the slot's mode; whether to go on reading.
    fn read_once<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot) -> bool {
        let connection = &self.io.connections[slot as usize];
        let capacity = match connection.receive {
            Receive::Head => self.head_bytes,
            Receive::Bulk => BULK_BYTES,
            // Paused, it comes here only after a failed send, to deliver what had arrived.
            Receive::Stream | Receive::Pause => STREAM_BYTES,
            Receive::Discard(bytes) => return self.discard(handler, slot, bytes),
            Receive::DiscardToEnd => return self.discard(handler, slot, u64::MAX),
        };
        let Some(fd) = &connection.socket else { return false };
        let buffer = &mut self.buffer[..capacity];
        let came = receive(fd, buffer, &mut self.io.system_calls);
        let Some(came) = self.accept_read(handler, slot, capacity, came) else { return false };
        let connection = self.io.connection(slot);
        if connection.receive == Receive::Head {
            connection.receive = Receive::Pause;
        }
        let at = monotonic_ns();
        self.batch.events += 1;
        let bytes = &mut self.buffer[..came];
        handler.received(&mut self.io, slot, bytes, at, came == capacity);
        true
    }

    /// One dropping read that the handler is told of; whether to go on reading.
    fn discard<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot, wanted: u64) -> bool {
        let came = match wanted {
            0 => 0,
            _ => match self.drop_once(handler, slot, wanted) {
                Some(came) => came as u64,
                None => return false,
            },
        };
        let connection = self.io.connection(slot);
        if let Receive::Discard(wanted) = connection.receive {
            connection.receive = match wanted - came {
                0 => Receive::Pause,
                left => Receive::Discard(left),
            };
        }
        if came > 0 {
            let at = monotonic_ns();
            self.batch.events += 1;
            self.io.gather(slot, at);
            handler.discarded(&mut self.io, slot, came, at);
        }
        true
    }

    /// Drops at most `wanted` bytes in one read; how many, or `None` if there are none now or the
    /// connection ended.
    fn drop_once<H: Handler<EpollIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        wanted: u64,
    ) -> Option<usize> {
        let connection = &self.io.connections[slot as usize];
        let fd = connection.socket.as_ref()?;
        let (asked, came) = if connection.is_tcp {
            let asked = wanted.min(DROP_BYTES) as usize;
            (asked, drop_unread(fd, asked, &mut self.io.system_calls))
        } else {
            // On other sockets MSG_TRUNC means something else (recv(2)).
            let asked = wanted.min(BULK_BYTES as u64) as usize;
            (asked, receive(fd, &mut self.buffer[..asked], &mut self.io.system_calls))
        };
        self.accept_read(handler, slot, asked, came)
    }

    /// Takes note of what a read came to. `None`: nothing to deliver, and the connection may be
    /// gone.
    fn accept_read<H: Handler<EpollIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        asked: usize,
        came: Result<usize, Errno>,
    ) -> Option<usize> {
        let connection = self.io.connection(slot);
        match came {
            Ok(0) => self.finish_at_end(handler, slot),
            Ok(came) => {
                connection.after_read(asked, came);
                return Some(came);
            }
            Err(Errno::AGAIN) if connection.failed == 0 => connection.readable = false,
            Err(Errno::AGAIN) => self.finish_at_end(handler, slot),
            Err(_) if connection.stage == Stage::AwaitingPeer => {
                self.finish(handler, slot, CloseReason::Local);
            }
            Err(errno) => {
                self.finish(handler, slot, CloseReason::Transfer(errno.raw_os_error()));
            }
        }
        None
    }

    /// Everything that arrived is delivered: ends the connection with the reason for that.
    fn finish_at_end<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot) {
        let connection = self.io.connection(slot);
        let reason = match (connection.stage, connection.failed) {
            (Stage::AwaitingPeer, _) => CloseReason::Local,
            // EPIPE on a stream that ended in order: the peer had closed before the send.
            (_, 0 | libc::EPIPE) => CloseReason::Eof,
            (_, errno) => CloseReason::Transfer(errno),
        };
        self.finish(handler, slot, reason);
    }

    /// Frees the slot and says so.
    pub(super) fn finish<H: Handler<EpollIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        reason: CloseReason,
    ) {
        self.io.drop_socket(slot);
        self.io.connection(slot).stage = Stage::Free;
        self.batch.events += 1;
        handler.closed(&mut self.io, slot, reason, monotonic_ns());
    }
}

fn receive(fd: &OwnedFd, buffer: &mut [u8], calls: &mut u32) -> Result<usize, Errno> {
    loop {
        *calls += 1;
        match rustix::net::recv(fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Err(Errno::INTR) => {}
            result => return result.map(|(came, _)| came),
        }
    }
}

/// Drops up to `asked` bytes of a TCP socket's receive queue without copying them (tcp(7)).
fn drop_unread(fd: &OwnedFd, asked: usize, calls: &mut u32) -> Result<usize, Errno> {
    loop {
        *calls += 1;
        let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
        // SAFETY: with MSG_TRUNC the kernel writes nothing for a TCP socket (tcp(7)); were the
        // socket of another kind, it would answer EFAULT for the null pointer, not write to it.
        let came = unsafe { libc::recv(fd.as_raw_fd(), std::ptr::null_mut(), asked, flags) };
        match usize::try_from(came) {
            Ok(came) => return Ok(came),
            Err(_) => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                errno => return Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO))),
            },
        }
    }
}
