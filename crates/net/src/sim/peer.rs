//! The peer of a simulated connection: a script, and what it can do.

use super::datagrams::{Exchange, Path, Toward};
use super::timeline::{Timeline, What};
use crate::driver::{CloseHow, Slot};

/// How a connect is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectReply {
    /// The connection stands after this many nanoseconds.
    AcceptAfter(u64),
    /// It fails after this many nanoseconds with this errno.
    RefuseAfter(u64, i32),
    /// Nothing comes back.
    Never,
}

/// Scripts the peer of one connection. Each connection gets a clone of its endpoint's peer.
pub trait SimPeer: Clone {
    /// The bytes that [`FarEnd::send_after`] takes its ranges from.
    fn bytes(&self) -> &[u8];

    /// A connection asks in: the `number`-th of the driver, from 0.
    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        let _ = (far, number);
        ConnectReply::AcceptAfter(0)
    }

    /// Bytes of the client arrived and were read.
    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]);

    /// A timer set by [`FarEnd::wake_after`].
    fn woken(&mut self, far: &mut FarEnd<'_>, token: u32) {
        let _ = (far, token);
    }

    /// How datagrams travel, if this is a peer of datagrams.
    fn path(&self) -> Option<Path> {
        None
    }

    /// A datagram of the client arrived, with these ECN bits. Answers go by [`FarEnd::send_datagram_after`].
    fn datagram(&mut self, far: &mut FarEnd<'_>, bytes: &[u8], ecn: u8) {
        let _ = (far, bytes, ecn);
    }

    /// The client closed, with FIN or RST.
    fn closed(&mut self, how: CloseHow) {
        let _ = how;
    }
}

/// How what the peer sends is cut into pieces that arrive one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// In one piece.
    Whole,
    /// In pieces of this many bytes.
    Of(u32),
    /// In two pieces, the first of this many bytes.
    SplitAt(u32),
}

/// How the peer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    AtOnce,
    Stopped,
    Slowly { bytes: usize, every_ns: u64 },
}

/// One connection as the network sees it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) reading: Reading,
    /// Bytes the client may send ahead of the peer's reading.
    pub(super) window_bytes: usize,
    /// Whether the peer's next read is on the timeline.
    pub(super) read_scheduled: bool,
    /// The peer closed for good: what is sent to it is answered with RST.
    pub(super) is_gone: bool,
    /// Nothing of this connection arrives before this, so that its bytes keep their order.
    arrives_from: u64,
    extra_delay_ns: u64,
    stall: (u64, u64),
    pieces: Pieces,
    piece_gap_ns: u64,
    sends_left: u32,
    /// Of datagrams.
    pub(super) datagrams: Option<Box<Exchange>>,
}

impl Link {
    pub(super) fn new() -> Self {
        Self {
            reading: Reading::AtOnce,
            window_bytes: usize::MAX,
            read_scheduled: false,
            is_gone: false,
            arrives_from: 0,
            extra_delay_ns: 0,
            stall: (0, 0),
            pieces: Pieces::Whole,
            piece_gap_ns: 0,
            sends_left: u32::MAX,
            datagrams: None,
        }
    }
}

/// What the peer of one connection can do. Delays are in nanoseconds from now; whatever is
/// sent arrives in the order of the calls.
#[derive(Debug)]
pub struct FarEnd<'a> {
    pub(super) link: &'a mut Link,
    pub(super) timeline: &'a mut Timeline,
    pub(super) now: u64,
    pub(super) slot: Slot,
    pub(super) generation: u32,
}

impl FarEnd<'_> {
    /// The simulated time, ns.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sends `len` bytes of [`SimPeer::bytes`] from `start`: one response.
    pub fn send_after(&mut self, delay_ns: u64, start: u32, len: u32) {
        if self.link.sends_left == 0 {
            return;
        }
        self.link.sends_left -= 1;
        let mut delay_ns = delay_ns;
        let (mut start, end) = (start, start + len);
        let mut piece = match self.link.pieces {
            Pieces::Whole => len,
            Pieces::Of(bytes) | Pieces::SplitAt(bytes) => bytes.max(1),
        };
        while start < end {
            let len = piece.min(end - start);
            self.arrive(delay_ns, What::Arrives { start, len });
            start += len;
            delay_ns += self.link.piece_gap_ns;
            if let Pieces::SplitAt(_) = self.link.pieces {
                piece = end - start;
            }
        }
        if self.link.sends_left == 0 {
            self.close_after(delay_ns);
        }
    }

    /// Sends a datagram; when it arrives, how often, and whether, is up to the [`Path`].
    pub fn send_datagram_after(&mut self, delay_ns: u64, bytes: &[u8], ecn: u8) {
        let at = self.now + delay_ns;
        if let Some(datagrams) = &mut self.link.datagrams {
            datagrams.travel(Toward::Client, bytes, ecn, |number, takes_ns| {
                let what = What::Datagram(number);
                self.timeline.schedule(at + takes_ns, self.slot, self.generation, what);
            });
        }
    }

    /// Half-closes: FIN. The peer goes on reading.
    pub fn fin_after(&mut self, delay_ns: u64) {
        self.arrive(delay_ns, What::Fin);
    }

    /// Closes for good: FIN, and RST to whatever comes after.
    pub fn close_after(&mut self, delay_ns: u64) {
        self.arrive(delay_ns, What::FarClose);
    }

    /// Resets the connection.
    pub fn reset_after(&mut self, delay_ns: u64) {
        self.arrive(delay_ns, What::Reset);
    }

    /// Calls [`SimPeer::woken`].
    pub fn wake_after(&mut self, delay_ns: u64, token: u32) {
        let what = What::FarTimer(token);
        self.timeline.schedule(self.now + delay_ns, self.slot, self.generation, what);
    }

    /// Limits how many bytes the client can send ahead of what is read here.
    pub fn set_window(&mut self, bytes: usize) {
        self.link.window_bytes = bytes;
    }

    /// Reads no more, until told otherwise.
    pub fn stop_reading(&mut self) {
        self.link.reading = Reading::Stopped;
    }

    /// Reads this many bytes at a time, each so long after the last.
    pub fn read_slowly(&mut self, bytes: usize, every_ns: u64) {
        self.link.reading = Reading::Slowly { bytes: bytes.max(1), every_ns };
        self.schedule_read(every_ns);
    }

    /// Reads everything as it comes.
    pub fn read_at_once(&mut self) {
        self.link.reading = Reading::AtOnce;
        self.schedule_read(0);
    }

    /// How later sends are cut into pieces, and how far apart these arrive.
    pub fn cut(&mut self, pieces: Pieces, gap_ns: u64) {
        self.link.pieces = pieces;
        self.link.piece_gap_ns = gap_ns;
    }

    /// Everything sent from now on takes so much longer.
    pub fn delay(&mut self, extra_ns: u64) {
        self.link.extra_delay_ns += extra_ns;
    }

    /// Whatever would arrive in this span of simulated time arrives at its end.
    pub fn stall(&mut self, from_ns: u64, until_ns: u64) {
        self.link.stall = (from_ns, until_ns);
    }

    /// Closes behind the `responses`-th send from now; later ones are not made.
    pub fn close_after_sends(&mut self, responses: u32) {
        self.link.sends_left = responses;
    }

    /// The client, all of its connections, gets no processor for so long: its next turn ends late.
    pub fn hold_client(&mut self, held_ns: u64) {
        let until = self.now + held_ns;
        self.timeline.client_held_until = self.timeline.client_held_until.max(until);
    }

    pub(super) fn schedule_read(&mut self, delay_ns: u64) {
        if !self.link.read_scheduled {
            self.link.read_scheduled = true;
            let at = self.now + delay_ns;
            self.timeline.schedule(at, self.slot, self.generation, What::FarReads);
        }
    }

    fn arrive(&mut self, delay_ns: u64, what: What) {
        let mut at = self.now + delay_ns + self.link.extra_delay_ns;
        let (stall_from, stall_until) = self.link.stall;
        if at >= stall_from && at < stall_until {
            at = stall_until;
        }
        at = at.max(self.link.arrives_from);
        self.link.arrives_from = at;
        self.timeline.schedule(at, self.slot, self.generation, what);
    }
}
