//! What is done to a connection in a tunnel: the driver's own verbs, once the tunnel stands.

use ablaze_net::{CloseHow, DatagramCounts, Io, OutBuffer, OutDatagrams, Outgoing, Receive, Slot};

use super::{Stage, Tunnel, Tunnels};

/// The verbs of a driver whose connections go through tunnels.
pub struct TunnelIo<'a, I> {
    pub(super) io: &'a mut I,
    pub(super) tunnels: &'a mut Tunnels,
}

impl<I: Io> TunnelIo<'_, I> {
    pub(super) fn tunnel(&mut self, slot: Slot) -> &mut Tunnel {
        &mut self.tunnels.tunnels[slot as usize]
    }

    /// The proxy is asked the same on every connection: the bytes lie in one buffer, which never
    /// changes.
    fn request(&mut self) -> Outgoing {
        let bytes = &self.tunnels.request;
        let buffer = *self.tunnels.buffer.get_or_insert_with(|| {
            let buffer = self.io.lease(bytes.len());
            self.io.leased(buffer)[..bytes.len()].copy_from_slice(bytes);
            buffer
        });
        Outgoing::Leased { buffer, len: bytes.len() as u32 }
    }
}

impl<I: Io> Io for TunnelIo<'_, I> {
    const SENDS_AT_ONCE: bool = I::SENDS_AT_ONCE;

    fn now(&mut self) -> u64 {
        self.io.now()
    }

    fn open(&mut self, slot: Slot, endpoint: u16, first: Option<Outgoing>, receive: Receive) {
        let request = self.request();
        let tunnel = self.tunnel(slot);
        debug_assert!(tunnel.stage == Stage::Free, "slot {slot} is opened while in use");
        tunnel.stage = Stage::Asked;
        tunnel.first = first;
        tunnel.wanted = Some(receive);
        self.io.open(slot, endpoint, Some(request), Receive::Stream);
    }

    fn lease(&mut self, bytes: usize) -> OutBuffer {
        self.io.lease(bytes)
    }

    fn leased(&mut self, buffer: OutBuffer) -> &mut [u8] {
        self.io.leased(buffer)
    }

    fn release(&mut self, buffer: OutBuffer) {
        self.io.release(buffer);
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        debug_assert!(
            self.tunnel(slot).stage != Stage::Asked,
            "nothing is sent before the tunnel is established"
        );
        self.io.send(slot, bytes, notify);
    }

    fn send_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        self.io.send_datagrams(slot, datagrams);
    }

    fn datagram_counts(&mut self, slot: Slot) -> DatagramCounts {
        self.io.datagram_counts(slot)
    }

    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16> {
        self.io.datagram_bytes_max(slot)
    }

    fn unsent(&mut self, slot: Slot) -> bool {
        self.tunnel(slot).first.is_some() || self.io.unsent(slot)
    }

    #[inline]
    fn receive(&mut self, slot: Slot, mode: Receive) {
        let tunnel = self.tunnel(slot);
        if tunnel.stage == Stage::Asked {
            tunnel.wanted = Some(mode);
        } else {
            self.io.receive(slot, mode);
        }
    }

    fn close(&mut self, slot: Slot, how: CloseHow) {
        self.tunnel(slot).stage = Stage::Ended;
        self.io.close(slot, how);
    }
}
