//! What is kept of one connection's TLS: where it is, what came of a record so far, what is to leave.

use std::collections::VecDeque;

use ablaze_net::{Io, OutBuffer, Outgoing, Receive};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;

use super::gathering::Messages;
use super::protection::Protection;
use super::trouble::CertificateRequest;

/// Where a connection's TLS is.
#[derive(Default)]
pub enum Phase {
    /// No connection.
    #[default]
    Free,
    /// rustls and the server are in the handshake.
    Handshake(Box<UnbufferedClientConnection>),
    /// Both have their keys.
    Data(Box<Keys>),
    /// A connection without TLS, beside others that have it.
    Plain,
}

impl Phase {
    /// Whether what the worker sends can leave.
    #[inline]
    pub fn carries_data(&self) -> bool {
        matches!(self, Self::Data(_) | Self::Plain)
    }
}

/// A connection's keys.
pub struct Keys {
    /// For what is sent.
    pub write: Protection,
    /// For what is received.
    pub read: Protection,
    /// What rustls still does: new keys, tickets.
    pub rustls: KernelConnection<ClientConnectionData>,
    /// The server changed its keys and asked for the same.
    pub owes_update: bool,
    /// The beginning of a handshake message that goes on in the next record.
    pub messages: Messages,
}

/// One connection's TLS.
#[derive(Default)]
pub struct Session {
    /// The phase of the connection.
    pub phase: Phase,
    /// The beginning of a record; the rest has not come.
    pub spill: Vec<u8>,
    /// Bytes at the front of the spill that rustls was shown as whole records: the beginning of a
    /// handshake message that goes on in the next.
    pub shown: usize,
    /// How the worker wants to receive once the handshake is over, in the driver's terms.
    pub wanted: Option<Receive>,
    /// How the driver was told to receive.
    pub told: Option<Receive>,
    /// When the connection below stood, ns.
    pub stood_ns: u64,
    /// Bytes were received.
    pub heard: bool,
    /// Whether the server asked for a certificate in the handshake, and what it got.
    pub asked_certificate: CertificateRequest,
    /// It was closed here: nothing is delivered any more.
    pub ended: bool,
    /// The server said that it will send nothing more.
    pub got_close_notify: bool,
    /// It is in the list of those with something to flush.
    pub listed: bool,
    /// Bytes of requests that are not sealed yet: before the handshake is over, or because much is
    /// leaving already.
    pub waiting: VecDeque<Waiting>,
    /// Sealed bytes that wait for the flush.
    pub out: Out,
    /// Buffers whose bytes are leaving, until the driver has said that they left.
    pub leaving: VecDeque<Leaving>,
    /// Holds the `close_notify` of a connection that is being closed.
    pub close_notify: Option<OutBuffer>,
    /// What the server is told when the connection is closed.
    pub farewell: Farewell,
}

/// The alert that ends a connection (RFC 8446, 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Farewell {
    /// `close_notify`: nothing more will come.
    #[default]
    CloseNotify,
    /// A fatal one: the server broke the rules.
    Fatal(u8),
    /// None: the server has ended it with a fatal one.
    Nothing,
}

/// Bytes of requests to be sealed.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// All bytes of the send.
    pub bytes: Outgoing,
    /// How many of them are sealed.
    pub sealed: u32,
    /// Whether the worker wants to know when the last has left.
    pub notify: bool,
}

/// A buffer that is leaving.
#[derive(Debug, Clone, Copy)]
pub struct Leaving {
    /// The buffer.
    pub buffer: OutBuffer,
    /// How many sends that ended in it the worker wants to know of.
    pub notices: u32,
}

/// The buffer that sealed bytes gather in until the flush.
#[derive(Debug, Default)]
pub struct Out {
    buffer: Option<OutBuffer>,
    capacity: usize,
    filled: usize,
    /// Its bytes were handed over, and the server's response to them says that they left.
    quiet: bool,
    /// How many sends that end in it the worker wants to know of.
    pub notices: u32,
    /// A request ends in it, to which there will be a response.
    pub asks: bool,
}

/// The least that is leased: a ClientHello, or a request with its record around it.
const LEASE_BYTES: usize = 1024;

impl Out {
    /// Bytes to be flushed.
    pub fn unsent(&self) -> usize {
        if self.quiet { 0 } else { self.filled }
    }

    /// Whether its bytes were handed over, and nobody will say that they left.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Makes space for this many more bytes, behind those that wait for the flush. What was handed over before
    /// has left: the worker sends nothing more on a connection that has something [`Io::unsent`], and
    /// a handshake goes on only with what a server can say who has all of the message before.
    pub fn reserve<I: Io>(&mut self, io: &mut I, bytes: usize) -> &mut Self {
        if self.quiet {
            self.quiet = false;
            self.asks = false;
            self.filled = 0;
        }
        if self.buffer.is_none() || self.capacity - self.filled < bytes {
            let capacity = (self.filled + bytes).max(LEASE_BYTES).next_power_of_two();
            let buffer = io.lease(capacity);
            if let Some(smaller) = self.buffer.replace(buffer) {
                let kept = io.leased(smaller)[..self.filled].to_vec();
                io.leased(buffer)[..kept.len()].copy_from_slice(&kept);
                io.release(smaller);
            }
            self.capacity = capacity;
        }
        self
    }

    /// The free bytes; [`Out::reserve`] was called.
    pub fn free<'b, I: Io>(&self, io: &'b mut I) -> &'b mut [u8] {
        match self.buffer {
            Some(buffer) => &mut io.leased(buffer)[self.filled..],
            None => &mut [],
        }
    }

    /// Notes that `bytes` of the free bytes were written.
    pub fn wrote(&mut self, bytes: usize) {
        self.filled += bytes;
    }

    /// The bytes that wait for the flush, from the `from`th on.
    pub fn written<'b, I: Io>(&self, io: &'b mut I, from: usize) -> &'b [u8] {
        self.buffer.map_or(&[], |buffer| &io.leased(buffer)[from..self.filled])
    }

    /// What is to be sent; counts as handed over.
    pub fn hand_over(&mut self) -> Option<Outgoing> {
        let buffer = self.buffer.filter(|_| self.unsent() > 0)?;
        self.quiet = true;
        Some(Outgoing::Leased { buffer, len: self.filled as u32 })
    }

    /// The buffer goes its own way until the driver says that its bytes have left.
    pub fn let_go(&mut self) -> Option<Leaving> {
        let notices = std::mem::take(&mut self.notices);
        self.filled = 0;
        self.quiet = false;
        self.asks = false;
        self.buffer.take().map(|buffer| Leaving { buffer, notices })
    }

    /// Forgets what was written; the buffer stays for the next connection.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.quiet = false;
        self.asks = false;
        self.notices = 0;
    }
}

impl Session {
    /// The connection is gone: everything of it is given back.
    pub fn clear<I: Io>(&mut self, io: &mut I) {
        self.out.clear();
        for leaving in self.leaving.drain(..) {
            io.release(leaving.buffer);
        }
        if let Some(buffer) = self.close_notify.take() {
            io.release(buffer);
        }
        self.waiting.clear();
        let session = std::mem::take(self);
        // Keeps its memory and its place in the list.
        self.out = session.out;
        self.waiting = session.waiting;
        self.leaving = session.leaving;
        self.listed = session.listed;
    }
}
