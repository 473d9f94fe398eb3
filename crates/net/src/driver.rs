//! The seam between the engine and the kernel: verbs, events, and the loop.
//!
//! A *slot* is a numbered place for one socket at a time. The engine's worker implements
//! [`Handler`] and is told what happened; it acts only through the [`Io`] it is handed, which
//! queues and never blocks. A [`Driver`] owns both the queue and the system calls.
//!
//! Rules every driver keeps:
//! - [`Handler::closed`] comes exactly once for every [`Io::open`], and last: by then the kernel reads no
//!   leased buffer of that connection any more.
//! - Received bytes are lent for the duration of the call; the handler keeps leftovers itself.
//! - Sends on one slot leave in the order they were queued, whatever the kernel accepts at once.
//! - End of stream is not an event of its own: it is `closed(CloseReason::Eof)`.
//! - A failed send does not hide a response that already arrived: what can be read is delivered
//!   before `closed`.
//!
//! A slot opened to [`Address::Udp`](crate::Address::Udp) is a connected datagram socket. It is open at once, sends by
//! [`Io::send_datagrams`] and receives by [`Handler::datagrams`]; it has no end of stream, and the verbs for streams of
//! bytes do not apply to it. What the network says of a datagram that came to nobody (ICMP) ends it:
//! [`CloseReason::Transfer`] with that errno.

use std::io;

use crate::endpoint::Endpoint;

/// Number of a connection's place within one driver, from 0.
pub type Slot = u32;

/// A buffer of the driver's own, for bytes that are not constant. Made by [`Io::lease`]; the
/// holder may send from it as often as it likes and gives it back with [`Io::release`].
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct OutBuffer(pub u32);

/// Bytes to send.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Outgoing {
    /// `len` bytes from `start` of the constant bytes the driver was made with.
    Constant {
        /// Offset of the first byte.
        start: u32,
        /// Number of bytes.
        len: u32,
    },
    /// The first `len` bytes of a leased buffer. They must not change, nor the buffer be given
    /// back, until [`Handler::sent`] if the send asked for it, until [`Io::unsent`] says no, or
    /// until [`Handler::closed`]. A response alone proves nothing: a server may send it before
    /// the request has left.
    Leased {
        /// The buffer.
        buffer: OutBuffer,
        /// Number of bytes, from its beginning.
        len: u32,
    },
}

impl Outgoing {
    /// Number of bytes to send.
    pub fn len(&self) -> u32 {
        match *self {
            Self::Constant { len, .. } | Self::Leased { len, .. } => len,
        }
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How a slot receives. Sticky: it holds until changed. The worker predicts it from the response
/// before, because under an armed [`Receive::Stream`] the kernel has already copied the bytes.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Receive {
    /// Small messages are expected one after the other: the driver keeps a receive armed.
    Stream,
    /// A head is expected, and behind it a body that will be discarded: the driver reads one
    /// small buffer and then waits for the next `receive`.
    Head,
    /// Many bytes are expected and wanted: large buffers.
    Bulk,
    /// Exactly this many bytes are to be dropped without a copy where the kernel can
    /// (`MSG_TRUNC`); reported by [`Handler::discarded`]. Bytes the kernel had copied already
    /// still come by [`Handler::received`]; the handler then asks again for what is left.
    Discard(u64),
    /// Everything up to the end of the stream is to be dropped.
    DiscardToEnd,
    /// Nothing is read. A close by the peer need not be noticed.
    Pause,
}

/// Datagrams that one call of the kernel handed over, one behind the other (`UDP_GRO`).
#[derive(Debug)]
pub struct Datagrams<'a> {
    /// Their bytes.
    pub bytes: &'a mut [u8],
    /// The length of each but the last, which may be shorter; at least 1.
    pub segment_bytes: usize,
    /// The ECN bits that they came with (RFC 3168, section 5).
    pub ecn: u8,
}

/// Datagrams to send, one behind the other.
#[derive(Debug, Clone, Copy)]
pub struct OutDatagrams<'a> {
    /// Their bytes; at most 65,507 and at most [`OutDatagrams::SEGMENTS_MAX`] datagrams.
    pub bytes: &'a [u8],
    /// The length of each but the last, which may be shorter; at least 1.
    pub segment_bytes: usize,
    /// The ECN bits to send them with (RFC 3168, section 5).
    pub ecn: u8,
}

impl OutDatagrams<'_> {
    /// The kernel takes no more in one call (`UDP_MAX_SEGMENTS` of Linux 4.18 to 6.8).
    pub const SEGMENTS_MAX: usize = 64;

    /// Number of datagrams.
    pub fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.segment_bytes.max(1))
    }
}

/// What went through a datagram socket since it was opened.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DatagramCounts {
    /// What was sent.
    pub sent: Traffic,
    /// What was received.
    pub received: Traffic,
    /// Datagrams that the kernel dropped because the receive buffer was full (`SO_RXQ_OVFL`).
    pub dropped: u64,
    /// Datagrams that were given up because the kernel took none for too long.
    pub given_up: u64,
    /// `UDP_SEGMENT` was refused with this errno: each datagram is a call.
    pub no_segmentation: Option<i32>,
    /// `UDP_GRO` was refused with this errno: each datagram is a call.
    pub no_coalescing: Option<i32>,
}

/// Datagrams in one direction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// System calls, or operations of io_uring, that carried any.
    pub calls: u64,
    /// Datagrams.
    pub datagrams: u64,
    /// Their payload.
    pub bytes: u64,
}

/// How to end a connection.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum CloseHow {
    /// Read and drop until the peer closes, then close. The handler bounds the wait by a later
    /// `close` with [`CloseHow::Fin`].
    AwaitPeer,
    /// Close now, with FIN. What was sent before and the kernel does not take at once, because the
    /// peer does not read, is dropped.
    Fin,
    /// Close now, with RST, whether or not the peer reads.
    Reset,
}

/// Why a slot's connection ended.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum CloseReason {
    /// The handler asked for it.
    Local,
    /// The peer sent FIN.
    Eof,
    /// The connection could not be made: this errno. On io_uring this can follow
    /// [`Handler::opened`], which then was not true.
    Connect(i32),
    /// Receiving or sending failed: this errno.
    Transfer(i32),
    /// This machine refused a socket, a port or an address: the call and its errno.
    Here(&'static str, i32),
}

/// What the handler may do. Every verb queues and returns at once; its outcome comes as an event.
pub trait Io {
    /// Whether [`Io::send`] hands the bytes to the kernel during the call. If so, "sent" is the
    /// value of [`Io::now`] at that call; otherwise all sends of a batch leave right after
    /// [`Handler::batch_end`], whose time is their "sent".
    const SENDS_AT_ONCE: bool;

    /// The driver's clock: CLOCK_MONOTONIC in nanoseconds, or simulated time.
    fn now(&mut self) -> u64;

    /// Connects a free slot to the endpoint of this number and, once connected, sends `first`.
    /// Then [`Handler::opened`], or [`Handler::closed`] with the reason. The slot starts in
    /// `receive`.
    fn open(&mut self, slot: Slot, endpoint: u16, first: Option<Outgoing>, receive: Receive);

    /// A buffer of at least `bytes` bytes. May allocate: lease before the run or per connection.
    fn lease(&mut self, bytes: usize) -> OutBuffer;

    /// The bytes of a leased buffer.
    fn leased(&mut self, buffer: OutBuffer) -> &mut [u8];

    /// Gives a leased buffer back.
    fn release(&mut self, buffer: OutBuffer);

    /// Sends on an open slot. With `notify`, [`Handler::sent`] tells when the kernel has accepted
    /// the last byte.
    fn send(&mut self, slot: Slot, bytes: Outgoing, notify: bool);

    /// Sends on an open datagram socket. What the kernel does not take at once is kept, in order, and sent when it does;
    /// beyond a bound it is dropped and counted, as a network would.
    fn send_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>);

    /// What went through the slot's datagram socket. It can be asked until the slot is opened again.
    fn datagram_counts(&mut self, slot: Slot) -> DatagramCounts;

    /// The longest datagram that the network of an open datagram socket takes, as the kernel has it of the device and
    /// the route (`IP_MTU`); what the path behind them carries may be less. `None` where that is not known.
    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16>;

    /// Whether bytes of a send on this slot are still to be read by this driver or by the kernel:
    /// queued, not submitted, or waiting for the peer to read.
    fn unsent(&mut self, slot: Slot) -> bool;

    /// Chooses how the slot receives from now on.
    fn receive(&mut self, slot: Slot, mode: Receive);

    /// Ends the slot's connection. [`Handler::closed`] follows. Calling it again replaces the
    /// manner.
    fn close(&mut self, slot: Slot, how: CloseHow);
}

impl<I: Io> Io for &mut I {
    const SENDS_AT_ONCE: bool = I::SENDS_AT_ONCE;

    #[inline]
    fn now(&mut self) -> u64 {
        (**self).now()
    }

    #[inline]
    fn open(&mut self, slot: Slot, endpoint: u16, first: Option<Outgoing>, receive: Receive) {
        (**self).open(slot, endpoint, first, receive);
    }

    #[inline]
    fn lease(&mut self, bytes: usize) -> OutBuffer {
        (**self).lease(bytes)
    }

    #[inline]
    fn leased(&mut self, buffer: OutBuffer) -> &mut [u8] {
        (**self).leased(buffer)
    }

    #[inline]
    fn release(&mut self, buffer: OutBuffer) {
        (**self).release(buffer);
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        (**self).send(slot, bytes, notify);
    }

    #[inline]
    fn send_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        (**self).send_datagrams(slot, datagrams);
    }

    #[inline]
    fn datagram_counts(&mut self, slot: Slot) -> DatagramCounts {
        (**self).datagram_counts(slot)
    }

    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16> {
        (**self).datagram_bytes_max(slot)
    }

    #[inline]
    fn unsent(&mut self, slot: Slot) -> bool {
        (**self).unsent(slot)
    }

    #[inline]
    fn receive(&mut self, slot: Slot, mode: Receive) {
        (**self).receive(slot, mode);
    }

    #[inline]
    fn close(&mut self, slot: Slot, how: CloseHow) {
        (**self).close(slot, how);
    }
}

/// What happens to slots. `at` is the driver's clock when the event was seen.
pub trait Handler<I: Io> {
    /// The connection stands; its first bytes are on their way.
    fn opened(&mut self, io: &mut I, slot: Slot, at: u64);

    /// Bytes arrived. `more`: the kernel holds more already.
    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool);

    /// Datagrams arrived, lent for the call. Only of slots opened to [`Address::Udp`](crate::Address::Udp).
    fn datagrams(&mut self, _io: &mut I, _slot: Slot, _datagrams: Datagrams<'_>, _at: u64) {}

    /// `bytes` bytes were dropped as asked by [`Receive::Discard`] or [`Receive::DiscardToEnd`].
    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64);

    /// The kernel accepted the last byte of a send that asked for notice.
    fn sent(&mut self, io: &mut I, slot: Slot, at: u64);

    /// The connection is gone and the slot free.
    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64);

    /// A batch of events was handled; what was queued leaves next. `oldest_at` is the time the
    /// driver saw the batch's first event: the difference is the client's own delay.
    fn batch_end(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64);
}

/// How long one [`Driver::turn`] may wait.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Wait {
    /// Return by then even if nothing happened (driver's clock).
    pub until_ns: u64,
    /// Watch actively for this long before sleeping.
    pub spin_ns: u64,
    /// Wait for this many events, but at most `gather_ns`; after that, for one.
    pub at_least: u32,
    /// The bound on waiting for a fuller batch.
    pub gather_ns: u64,
}

/// What one turn did.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub struct Turn {
    /// Events delivered.
    pub events: u32,
    /// Time spent asleep in the kernel or waiting for it, ns; part of no one's busy time.
    pub waited_ns: u64,
    /// Time spent watching actively, ns: without what was submitted or fetched meanwhile, and without the time in which
    /// others had the processor.
    pub spun_ns: u64,
    /// System calls made.
    pub system_calls: u32,
}

/// Moves bytes for up to a fixed number of slots.
pub trait Driver {
    /// What handlers of this driver are given.
    type Io: Io;

    /// Whether its network is simulated.
    const IS_SIMULATED: bool = false;

    /// The verbs, outside of a turn (to open the first connections).
    fn io(&mut self) -> &mut Self::Io;

    /// Submits what is queued, waits, and delivers what happened, in batches.
    ///
    /// # Errors
    /// Only when the loop itself fails (the ring or the epoll descriptor); what happens to a
    /// connection is an event.
    fn turn<H: Handler<Self::Io>>(&mut self, handler: &mut H, wait: Wait) -> io::Result<Turn>;
}

/// What every driver is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Number of slots.
    pub slots: u32,
    /// Of these, how many wait for their peer to close, at most: they need no buffers.
    pub spares: u32,
    /// Where [`Io::open`] can go, by number.
    pub endpoints: Vec<Endpoint>,
    /// The bytes that [`Outgoing::Constant`] refers to.
    pub constant_bytes: std::sync::Arc<[u8]>,
    /// Events handled before what they queued is submitted: bounds the client's own queueing.
    pub batch_cap: u32,
    /// Every connection carries one request and is not ended by RST: prefer what makes short
    /// connections cheap.
    pub short_connections: bool,
    /// How much of a message is read in one piece where a head is expected, if it is there; `None` for what costs
    /// least.
    pub head_bytes: Option<u32>,
}
