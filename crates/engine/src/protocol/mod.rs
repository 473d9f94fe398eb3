//! What a connection speaks: each protocol is a module of its own behind one trait, [`Protocol`].
//!
//! A run speaks one protocol, chosen once: its worker is made for it (`Worker<P>`), and nothing on the
//! way of a request asks which. The worker keeps what all of them share: the slots and what they are
//! doing, the table of exchanges, the schedule, the times at which it has to look at something, the
//! recorder. A protocol is told what happened to a slot and uses the worker's verbs: it takes requests
//! ([`Worker::take_request`]), sends through the [`Io`] it is handed, records how exchanges ended, and
//! ends connections ([`Worker::end_connection`]). What it keeps of the whole worker is the protocol
//! itself (`worker.protocol`), and what it keeps of a connection is that connection's `state`.
//!
//! # Protocols with streams
//!
//! HTTP/2 and HTTP/3 differ in what carries a stream, and in nothing that a worker does with one: both are [`streams`], over a
//! [`Multiplexer`](streams::Multiplexer) each. Nothing here assumes a stream of bytes below:
//! - [`Protocol::slot_open`] is the driver's word that there is a socket. Over TCP the connection
//!   stands with it; HTTP/3 sends its first flight there, and calls [`Worker::stands`] when its handshake
//!   is over.
//! - Timers for loss and silence are the protocol's own: [`Protocol::next_timer_ns`] and [`Protocol::expired`].
//! - What gathers in a turn leaves in [`Protocol::flush`], up to 64 datagrams by one call.
//! - [`Protocol::discarded`] and [`Protocol::nothing_more`] are never called over datagrams: nobody asks a socket for
//!   datagrams to discard, and no stream ends.
//!
//! # Where WebSocket will sit
//!
//! A connection may change its protocol once, at 101 (RFC 9110, 15.2.2). The run's protocol is then
//! WebSocket, whose `State` is HTTP/1's until the handshake and its own behind it: `connection.state` is
//! replaced, and everything below is told by slot and looks there. The place is
//! [`http1::Http1`]'s `enter_body`, where a head with status 101 is complete and the bytes behind it belong
//! to the next protocol. No request asks for that yet, so HTTP/1 counts the response and closes.

pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod http3;
pub(crate) mod streams;

use ablaze_model::failure::FailureKind;
use ablaze_model::record::Record;
use ablaze_net::{CloseReason, Datagrams, Io, Receive, Slot};

use crate::walk::Walk;
use crate::worker::Worker;
use crate::worker::waiting::Gathering;

/// What a worker's connections speak.
///
/// The functions are given the whole worker, which the protocol is a part of. `slot` is one of the
/// worker's connections, `at` and `now` are the driver's clock in ns.
pub(crate) trait Protocol: Sized {
    /// What it keeps of one connection.
    type State: State;

    /// Who sees the bodies of its responses.
    type Sink: Walk;

    /// How a new connection receives, as long as nothing is known of the responses.
    const FIRST_MODE: Receive;

    /// So many connections are made at once before the clock starts, at most.
    const OPENINGS_AT_ONCE: u32 = u32::MAX;

    /// Of a slot without a connection.
    fn state(&self) -> Self::State;

    /// Before the first connection: whatever has to be leased.
    fn prepare<I: Io>(worker: &mut Worker<Self>, io: &mut I);

    /// A slot is free: opens it for the next requests, if there are any left.
    fn open_next<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot);

    /// The slot is about to be opened.
    fn begin<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot);

    /// The driver, or the layer above it, has opened the slot. Over a stream of bytes the connection
    /// stands with that.
    #[inline]
    fn slot_open<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, at: u64) {
        worker.stands(io, slot, at);
    }

    /// The connection stands, before the load begins.
    fn stands_early(worker: &mut Worker<Self>, slot: Slot);

    /// The connection stands: what waits for it leaves, or new requests do.
    fn stands<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, made: Made, at: u64);

    /// The load begins on a connection that stands.
    fn start<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot);

    /// An arrival is due that a slot, listed as idle, can take; if the slot still can.
    fn take_due<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot);

    /// What was sent or opened on the slot leaves with this batch, at this time.
    fn stamp(worker: &mut Worker<Self>, slot: Slot, at: u64);

    /// The batch is over: what gathered leaves now.
    fn flush<I: Io>(worker: &mut Worker<Self>, io: &mut I, at: u64);

    /// The kernel accepted a send that asked for notice.
    fn sent<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, at: u64);

    /// Bytes arrived, lent for the call.
    fn received<I: Io>(
        worker: &mut Worker<Self>,
        io: &mut I,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
    );

    /// Datagrams arrived, lent for the call. Only of slots that are open to an address of datagrams.
    fn datagrams<I: Io>(
        _worker: &mut Worker<Self>,
        _io: &mut I,
        _slot: Slot,
        _datagrams: Datagrams<'_>,
        _at: u64,
    ) {
    }

    /// `bytes` bytes were dropped, as the protocol asked.
    fn discarded<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, bytes: u64, at: u64);

    /// The server said that it will send nothing more; the connection is about to be ended.
    fn nothing_more(worker: &mut Worker<Self>, slot: Slot, at: u64);

    /// The connection is about to be reported as closed, and the server did not say that it would be.
    fn cut_off(worker: &mut Worker<Self>, slot: Slot, at: u64);

    /// A connection that stood, or was being ended, is gone: settles what was in flight on it.
    fn closed(worker: &mut Worker<Self>, slot: Slot, why: CloseReason, at: u64);

    /// Whether it is the protocol that makes connections, so that what one was given up for is why it does not stand.
    const KNOWS_WHY_NONE_STANDS: bool = false;

    /// Whether servers have to be told that a connection is over.
    const TAKES_LEAVE: bool = false;

    /// The slot is about to be closed from here: what the server is told leaves now.
    #[inline(always)]
    fn take_leave<I: Io>(_worker: &mut Worker<Self>, _io: &mut I, _slot: Slot) {}

    /// The slot's socket is gone; what the driver counted of it can still be asked for.
    #[inline(always)]
    fn socket_gone<I: Io>(_worker: &mut Worker<Self>, _io: &mut I, _slot: Slot) {}

    /// When a timer of the protocol's own expires; the worker waits no longer.
    #[inline(always)]
    fn next_timer_ns(&self) -> u64 {
        u64::MAX
    }

    /// That time has come.
    fn expired<I: Io>(_worker: &mut Worker<Self>, _io: &mut I, _now: u64) {}

    /// The exchange that began first on the slot, of those in flight, failed.
    fn fail_oldest(worker: &mut Worker<Self>, slot: Slot, at: u64, failure: Failure);

    /// What the timeout of a slot with exchanges in flight counts from; 0 if nothing has begun.
    fn oldest_ns(worker: &Worker<Self>, slot: Slot) -> u64;

    /// A deadline of a slot that is open, or being opened, has passed.
    fn overdue<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, now: u64);

    /// Whether the next response on a connection, where responses come in order, is to a request of the warm-up.
    fn answers_warmup(_worker: &Worker<Self>, _slot: Slot) -> bool {
        false
    }

    /// The measured window opens: bytes of bodies that came before do not count.
    fn window_opens(worker: &mut Worker<Self>, at: u64);

    /// The measured window has opened: what goes through sockets counts from here on.
    #[inline(always)]
    fn counts_from<I: Io>(_worker: &mut Worker<Self>, _io: &mut I) {}

    /// The measured window has closed: what goes through sockets counts until here.
    #[inline(always)]
    fn counts_until<I: Io>(_worker: &mut Worker<Self>, _io: &mut I) {}

    /// The run is over: records what is in flight on a slot as unfinished.
    fn unfinished(worker: &mut Worker<Self>, slot: Slot, at: u64);

    /// What the next turn may wait for.
    fn gathering(worker: &Worker<Self>) -> Gathering;

    /// Whether a user has begun something that it has not ended.
    fn is_walking(&self) -> bool {
        false
    }

    /// Whether users have something to do before the clock starts.
    fn is_preparing(&self) -> bool {
        false
    }

    /// All users of the run have done it: none pauses any more.
    fn prepared(_worker: &mut Worker<Self>) {}

    /// Whether no user begins anything any more.
    fn is_over(&self) -> bool {
        false
    }

    /// Which of the Plan's addresses connections go to first.
    fn first_address(&self) -> usize {
        0
    }

    /// The pause of the user of a place is over: it goes on, unless it has moved on before.
    fn go_on_after_pause<I: Io>(_worker: &mut Worker<Self>, _io: &mut I, _place: u32) {}

    /// Adds what is to be reported about the protocol itself, and the walk of its users; the window closed then.
    fn report(&mut self, record: &mut Record, closed_ns: u64);

    /// The run is over: the sink is given back.
    fn into_sink(self) -> Self::Sink;
}

/// What a protocol keeps of one connection.
pub(crate) trait State {
    /// The connection is about to be ended from here.
    fn ending(&mut self) {}

    /// The socket is gone: forgets what belonged to it. What concerns exchanges in flight stays.
    fn socket_gone(&mut self);
}

/// How a connection came to stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    /// How long connecting took, ns; at least 1.
    pub connect_ns: u64,
    /// How long the TLS handshake behind that took, ns; 0 where there was none.
    pub tls_ns: u64,
}

/// How an exchange failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    pub kind: FailureKind,
    /// 0 where no system call failed.
    pub errno: i32,
    /// The connection for it was still being made.
    pub connecting: bool,
}

impl Failure {
    /// Of an exchange whose connection stood.
    pub fn of((kind, errno): (FailureKind, i32)) -> Self {
        Self { kind, errno, connecting: false }
    }
}
