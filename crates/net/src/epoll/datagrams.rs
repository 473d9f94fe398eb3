//! Sockets for datagrams: one call sends up to 64, one call receives what came together.

use std::os::fd::AsFd;

use ablaze_sys::clock::monotonic_ns;

use super::connection::Stage;
use super::visit::{BROKEN, IN, OUT, READS_PER_VISIT};
use super::{EpollDriver, EpollIo};
use crate::driver::{CloseReason, DatagramCounts, Datagrams, Handler, OutDatagrams, Slot};
use crate::udp::{self, BATCH_BYTES};

impl EpollIo {
    pub(super) fn send_together(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        debug_assert!(datagrams.count() <= OutDatagrams::SEGMENTS_MAX, "{}", datagrams.count());
        let connection = &mut self.connections[slot as usize];
        let open = matches!(connection.stage, Stage::Bound | Stage::Datagrams);
        let Some(socket) = connection.socket.as_ref().filter(|_| open && connection.failed == 0)
        else {
            return;
        };
        let sent = self.datagrams[slot as usize].send(datagrams, |bytes, beside| {
            self.system_calls += 1;
            udp::send(socket.as_fd(), bytes, beside)
        });
        self.after_sending(slot, sent);
    }

    /// The socket takes datagrams again.
    fn send_kept(&mut self, slot: Slot) {
        let Some(socket) = &self.connections[slot as usize].socket else { return };
        let sent = self.datagrams[slot as usize].send_kept(|bytes, beside| {
            self.system_calls += 1;
            udp::send(socket.as_fd(), bytes, beside)
        });
        self.after_sending(slot, sent);
    }

    /// Watches for room if datagrams wait for it. Writability is reported whenever half of the buffer is free
    /// (`sock_def_write_space`), so it is not watched otherwise.
    fn after_sending(&mut self, slot: Slot, sent: Result<(), i32>) {
        let connection = &mut self.connections[slot as usize];
        if let Err(errno) = sent {
            connection.failed = errno;
            self.datagrams[slot as usize].give_up();
        }
        let waits = self.datagrams[slot as usize].waits();
        if connection.watches_writable != waits {
            self.watch(slot, false, waits);
        }
        self.list(slot);
    }

    pub(super) fn counts(&mut self, slot: Slot) -> DatagramCounts {
        self.count_dropped(slot);
        self.datagrams.get(slot as usize).map(|sending| sending.counts).unwrap_or_default()
    }

    pub(super) fn longest_datagram(&self, slot: Slot) -> Option<u16> {
        let route = self.routes.get(usize::from(self.connections[slot as usize].endpoint))?;
        route.datagrams()?.bytes_max
    }

    fn count_dropped(&mut self, slot: Slot) {
        let connection = &self.connections[slot as usize];
        let open = matches!(connection.stage, Stage::Bound | Stage::Datagrams);
        let Some(socket) = connection.socket.as_ref().filter(|_| open) else { return };
        if let Some(dropped) = udp::dropped(socket.as_fd(), &mut self.system_calls) {
            self.datagrams[slot as usize].note_dropped(dropped);
        }
    }

    /// Closes the slot's socket; the handler is told later.
    pub(super) fn end_datagrams(&mut self, slot: Slot, reason: CloseReason) {
        self.count_dropped(slot);
        self.datagrams[slot as usize].give_up();
        self.drop_socket(slot);
        self.connection(slot).stage = Stage::Ended(reason);
    }
}

impl EpollDriver {
    /// Delivers what there is on a socket for datagrams, given the kernel's event flags (0 for none).
    pub(super) fn visit_datagrams<H: Handler<EpollIo>>(
        &mut self,
        handler: &mut H,
        slot: Slot,
        flags: u32,
    ) {
        let connection = self.io.connection(slot);
        connection.readable |= flags & (IN | BROKEN) != 0;
        if connection.stage == Stage::Bound {
            connection.stage = Stage::Datagrams;
            self.batch.events += 1;
            handler.opened(&mut self.io, slot, monotonic_ns());
        }
        if flags & OUT != 0 && self.io.connection(slot).stage == Stage::Datagrams {
            self.io.send_kept(slot);
        }
        for _ in 0..READS_PER_VISIT {
            let connection = self.io.connection(slot);
            if connection.stage != Stage::Datagrams || !connection.has_news() {
                break;
            }
            self.read_datagrams(handler, slot);
        }
        if let Stage::Ended(reason) = self.io.connection(slot).stage {
            self.finish(handler, slot, reason);
        }
    }

    /// One read.
    fn read_datagrams<H: Handler<EpollIo>>(&mut self, handler: &mut H, slot: Slot) {
        let Some(socket) = &self.io.connections[slot as usize].socket else { return };
        let buffer = &mut self.buffer[..BATCH_BYTES];
        let came = udp::receive(socket.as_fd(), buffer, &mut self.io.system_calls);
        let connection = &mut self.io.connections[slot as usize];
        match came {
            Ok((bytes, beside)) => {
                let segment_bytes = self.io.datagrams[slot as usize].received(bytes, &beside);
                if bytes > 0 {
                    self.batch.events += 1;
                    let bytes = &mut self.buffer[..bytes];
                    let datagrams = Datagrams { bytes, segment_bytes, ecn: beside.ecn };
                    handler.datagrams(&mut self.io, slot, datagrams, monotonic_ns());
                }
            }
            Err(libc::EAGAIN) if connection.failed == 0 => connection.readable = false,
            // What the network says of a datagram too long for the path; QUIC finds that out by itself.
            Err(libc::EMSGSIZE) => {}
            // It is told in front of the datagrams that came before it, which are read first.
            Err(errno) if connection.failed == 0 => connection.failed = errno,
            Err(_) => {
                let reason = CloseReason::Transfer(connection.failed);
                self.io.end_datagrams(slot, reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::testing::what_was_refused_leaves_in_order;

    #[test]
    fn what_a_full_socket_refuses_leaves_when_there_is_room() {
        what_was_refused_leaves_in_order(
            |setup| EpollDriver::new(setup).unwrap(),
            |driver, datagrams| {
                driver.io.datagrams[0].keep(datagrams);
                driver.io.after_sending(0, Ok(()));
            },
        );
    }
}
