//! A peer of any kind behind one type, so that what is generic over it is compiled once and not for
//! every kind of peer that a test scripts.

use super::datagrams::Path;
use super::peer::{ConnectReply, FarEnd, SimPeer};
use crate::driver::CloseHow;

/// Any peer.
pub struct AnyPeer<'p>(Box<dyn Scripted + Send + Sync + 'p>);

impl<'p> AnyPeer<'p> {
    /// This peer.
    pub fn new(peer: impl SimPeer + Send + Sync + 'p) -> Self {
        Self(Box::new(peer))
    }
}

/// [`SimPeer`] without what keeps it from being an object.
trait Scripted {
    fn bytes(&self) -> &[u8];
    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply;
    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]);
    fn woken(&mut self, far: &mut FarEnd<'_>, token: u32);
    fn path(&self) -> Option<Path>;
    fn datagram(&mut self, far: &mut FarEnd<'_>, bytes: &[u8], ecn: u8);
    fn closed(&mut self, how: CloseHow);
    fn another<'p>(&self) -> Box<dyn Scripted + Send + Sync + 'p>
    where
        Self: 'p;
}

impl<P: SimPeer + Send + Sync> Scripted for P {
    fn bytes(&self) -> &[u8] {
        SimPeer::bytes(self)
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        SimPeer::connect(self, far, number)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        SimPeer::received(self, far, bytes);
    }

    fn woken(&mut self, far: &mut FarEnd<'_>, token: u32) {
        SimPeer::woken(self, far, token);
    }

    fn path(&self) -> Option<Path> {
        SimPeer::path(self)
    }

    fn datagram(&mut self, far: &mut FarEnd<'_>, bytes: &[u8], ecn: u8) {
        SimPeer::datagram(self, far, bytes, ecn);
    }

    fn closed(&mut self, how: CloseHow) {
        SimPeer::closed(self, how);
    }

    fn another<'p>(&self) -> Box<dyn Scripted + Send + Sync + 'p>
    where
        Self: 'p,
    {
        Box::new(self.clone())
    }
}

impl Clone for AnyPeer<'_> {
    fn clone(&self) -> Self {
        Self(self.0.another())
    }
}

impl SimPeer for AnyPeer<'_> {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        self.0.connect(far, number)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.0.received(far, bytes);
    }

    fn woken(&mut self, far: &mut FarEnd<'_>, token: u32) {
        self.0.woken(far, token);
    }

    fn path(&self) -> Option<Path> {
        self.0.path()
    }

    fn datagram(&mut self, far: &mut FarEnd<'_>, bytes: &[u8], ecn: u8) {
        self.0.datagram(far, bytes, ecn);
    }

    fn closed(&mut self, how: CloseHow) {
        self.0.closed(how);
    }
}
