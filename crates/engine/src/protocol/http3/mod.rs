//! HTTP/3 as what carries [streams](super::streams): QUIC on datagrams (RFC 9114, 9000).
//!
//! A connection is a socket of its own with a QUIC endpoint of its own. There is no layer of TLS below it: QUIC has TLS
//! inside, and what is lent by the driver are datagrams. A slot that is open at the driver is still being made here until
//! the handshake is over.
//!
//! `connecting` begins connections and tells when they stand, `exchanging` moves datagrams, `receiving` tells responses to
//! exchanges, `timers` says when a connection has to be looked at, `counting` what went through sockets, `origins` what
//! connections are made with, `trouble` why they failed.

mod connecting;
mod counting;
mod exchanging;
mod origins;
mod receiving;
mod timers;
mod trouble;

use std::sync::Arc;

use ablaze_model::failure::FailureKind;
use ablaze_model::record::{Http3Facts, Record, TlsFacts, WindowWaits};
use ablaze_net::{CloseReason, Datagrams, Io, Receive, Slot};
use ablaze_quic::client::{self, Connection, Counts, RequestSet};
use ablaze_wire::http1::patch::Digits;

use self::counting::Counted;
pub(crate) use self::origins::Origins;
use self::timers::Timers;
use super::streams::{GoAway, Multiplexer, NotSent, OfSlot, StreamRequest, Streams};
use crate::walk::Walk;
use crate::worker::{Assignment, Worker};

/// HTTP/3 of one worker.
pub(crate) struct Http3 {
    set: Arc<RequestSet>,
    digits: Digits,
    origins: Origins,
    timers: Timers,
    /// Datagrams on their way to the driver: a buffer.
    out: Vec<u8>,
    facts: Box<Http3Facts>,
    tls: Box<TlsFacts>,
    /// Exchanges that a connection can have in flight.
    streams: u32,
    /// When the last datagram came, on any connection; 0 before.
    received_ns: u64,
}

/// HTTP/3 of one slot.
#[derive(Default)]
pub(crate) struct Quic {
    connection: Option<Box<Connection>>,
    counted: Counted,
    /// The server has been told that the connection is over, or told so itself.
    is_over: bool,
}

impl Http3 {
    /// For one worker.
    pub fn new(assignment: &Assignment, set: Arc<RequestSet>, origins: Origins) -> Self {
        let plan = &assignment.plan;
        Self {
            set,
            digits: Digits::new(plan.requests.seed, u64::from(assignment.worker)),
            origins,
            timers: Timers::new(assignment.slots() as usize),
            out: Vec::new(),
            facts: Box::default(),
            tls: Box::default(),
            streams: plan.places_per_connection(),
            received_ns: 0,
        }
    }
}

impl Quic {
    /// What QUIC counted on a connection that stood, over or not.
    fn counts(&self) -> Option<Counts> {
        let stood = self.connection.as_ref().filter(|own| own.handshake().is_some());
        stood.map(|own| own.counts())
    }

    /// The connection is over: how many streams it was permitted in the end, where those of the handshake were too few.
    fn note_limit(&self, asked: u32, facts: &mut Http3Facts) {
        let Some(own) = &self.connection else { return };
        let first = own.handshake().map_or(0, |handshake| handshake.streams_permitted);
        if first < asked.into() {
            let raised = own.raised();
            let last = raised.map_or(first, |raised| raised.streams.into());
            facts.note_last_limit(last, raised.map_or(0, |raised| raised.after_ns));
        }
    }
}

impl OfSlot for Quic {
    #[inline]
    fn is_there(&self) -> bool {
        self.connection.is_some()
    }

    #[inline]
    fn free_streams(&self) -> u32 {
        self.connection.as_ref().map_or(0, |connection| connection.free_streams())
    }

    #[inline]
    fn streams_live(&self) -> u32 {
        self.connection.as_ref().map_or(0, |connection| connection.streams_live())
    }

    #[inline]
    fn is_draining(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_draining())
    }

    /// The handshake is over: both have agreed to HTTP/3.
    #[inline]
    fn began(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.handshake().is_some())
    }

    #[inline]
    fn uploads_unfinished(&self) -> usize {
        self.connection.as_ref().map_or(0, |connection| connection.uploads_unfinished())
    }

    fn uploads_held(&self) -> (u32, u32) {
        self.connection.as_ref().map_or((0, 0), |connection| connection.uploads_held())
    }

    fn reset(&mut self, stream: u64) {
        if let Some(connection) = &mut self.connection {
            connection.reset(stream);
        }
    }

    fn forget(&mut self) {
        self.connection = None;
    }
}

impl Multiplexer for Http3 {
    type OfSlot = Quic;

    const VERSION: &'static str = "HTTP/3";
    const VIOLATED: FailureKind = FailureKind::Http3Violated;
    /// What RFC 9114, 6.1, wants servers to permit at least.
    const STREAMS_AT_FIRST: u32 = 100;
    const LIMIT_COMES_LATE: bool = false;
    const TAKES_LEAVE: bool = true;
    const KNOWS_WHY_NONE_STANDS: bool = true;

    /// A server has one socket for the first datagrams of all connections, and the kernel's usual buffer of 212,992 bytes
    /// holds about ninety of them; what is dropped is repeated a second later, then two (RFC 9002, 6.2.2).
    const OPENINGS_AT_ONCE: u32 = 32;

    #[inline]
    fn request(
        &mut self,
        slot: &mut Quic,
        asked: StreamRequest<'_>,
        tag: u32,
    ) -> Result<u64, NotSent> {
        let connection = slot.connection.as_mut().ok_or(NotSent::NoRoom)?;
        let stream = match asked.text {
            Some((text, scheme)) => connection.request_text(&self.set, &text, scheme, tag),
            None => {
                let (template, digits) = (asked.template as usize, &mut self.digits);
                connection.request(&self.set, template, asked.sequence, digits, tag)
            }
        };
        stream.map_err(|error| match error {
            client::NotSent::NoRoom(_) => NotSent::NoRoom,
            client::NotSent::TooLarge { .. } => {
                NotSent::NotTaken(FailureKind::RequestTooLarge, error.to_string())
            }
        })
    }

    fn streams_permitted(&self) -> Option<Option<u32>> {
        let permitted = self.facts.streams_permitted?;
        Some(Some(u32::try_from(permitted).unwrap_or(u32::MAX)))
    }

    fn waits(&mut self) -> &mut WindowWaits {
        &mut self.facts.waits
    }

    fn note_failure(&mut self, kind: FailureKind, words: impl FnOnce() -> String) {
        self.facts.first_failure.get_or_insert_with(|| (kind, words()));
    }

    fn note_refused_again(&mut self) {
        self.facts.refused_again += 1;
    }

    fn sends_under_way(&self) -> u32 {
        0
    }

    fn begin<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I, slot: Slot) {
        worker.count(io, slot, true);
        let quic = &mut worker.connections[slot as usize].state.multiplexer;
        *quic = Quic::default();
    }

    fn slot_open<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        at: u64,
    ) {
        worker.begin_handshake(io, slot, at);
    }

    #[inline]
    fn flush<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        at: u64,
    ) {
        worker.flush_datagrams(io, slot, at);
    }

    #[inline]
    fn datagrams<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        datagrams: Datagrams<'_>,
        at: u64,
    ) {
        worker.read_datagrams(io, slot, datagrams, at);
    }

    #[inline(always)]
    fn next_timer_ns(&self) -> u64 {
        self.timers.next_ns()
    }

    fn expired<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I, now: u64) {
        worker.timers_expired(io, now);
    }

    fn take_leave<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I, slot: Slot) {
        worker.close_connection(io, slot);
    }

    fn socket_gone<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I, slot: Slot) {
        worker.count(io, slot, true);
    }

    fn ended(
        &mut self,
        slot: &mut Quic,
        _why: CloseReason,
        goaway: Option<GoAway>,
    ) -> Option<FailureKind> {
        // What went through the socket was counted when it was gone.
        let (socket, counts) = (slot.counted.socket(), slot.counts());
        if slot.counted.add(socket, counts, true, &mut self.facts.quic) {
            slot.note_limit(self.streams, &mut self.facts);
        }
        let ended = slot.connection.as_ref().and_then(|connection| connection.ended());
        let known = ended.and_then(trouble::of_ended).map(|trouble| trouble.kind);
        known.or(goaway.filter(|goaway| goaway.is_error).map(|_| FailureKind::GoAway))
    }

    /// Facts begin anew with the counts of sockets, right behind this.
    fn window_opens(&mut self) {}

    fn counts_from<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I) {
        worker.count_all(io, false);
        // What was counted until now was before the window.
        worker.protocol.multiplexer.facts.open_window();
    }

    fn counts_until<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I) {
        worker.count_all(io, true);
        let Http3 { facts, received_ns, .. } = &mut worker.protocol.multiplexer;
        if *received_ns > 0 {
            facts.quic.silent_ns = Some(worker.now_ns.saturating_sub(*received_ns));
        }
    }

    fn report(&mut self, record: &mut Record) {
        // A socket for datagrams is there at once: connecting is the handshake, and there is nothing before it to be timed.
        let connects = [&mut record.answered.connect, &mut record.failed.connect];
        connects.into_iter().chain([&mut record.setup_connect]).for_each(|none| none.clear());
        record.http3 = Some(std::mem::take(&mut self.facts));
        record.tls = Some(std::mem::take(&mut self.tls));
    }

    /// Datagrams are received as they come.
    #[inline]
    fn mode(_expected: Receive) -> Receive {
        Receive::Stream
    }
}
