//! What carries a connection's streams: HTTP/2 its frames over a stream of bytes, HTTP/3 over QUIC. Everything that both
//! have in common is in the rooms beside this one.

use ablaze_net::{CloseReason, Datagrams, Io, Receive, Slot};
use ablaze_wire::http2::request::RequestText;

use super::Streams;
use super::permits::GoAway;
use crate::walk::Walk;
use crate::worker::Worker;
use ablaze_model::failure::FailureKind;
use ablaze_model::record::{Record, WindowWaits};

/// A request to send.
#[derive(Debug)]
pub(crate) struct StreamRequest<'a> {
    /// Which of the Plan's templates it is.
    pub template: u32,
    /// What `{seq}` is in it.
    pub sequence: u64,
    /// What is sent instead of the template, and the scheme of where it goes.
    pub text: Option<(RequestText<'a>, &'static str)>,
}

/// Why a request is not sent.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// There is no room for it now.
    NoRoom,
    /// The server said that it takes none like it: in words.
    NotTaken(FailureKind, String),
}

/// A protocol that gives every exchange a stream of its own.
///
/// There is one of it for each worker; what it keeps of a connection is the slot's [`Multiplexer::OfSlot`].
pub(crate) trait Multiplexer: Sized {
    /// What it keeps of a slot: the connection, when there is one, and buffers that outlive it.
    type OfSlot: OfSlot;

    /// How the first line of a head begins that is kept, or shown to a walk.
    const VERSION: &'static str;

    /// What a server's breach of the protocol's rules is.
    const VIOLATED: FailureKind;

    /// So many streams are opened at once on a new connection, at most, before its server has said how many it permits.
    const STREAMS_AT_FIRST: u32;

    /// Whether the server's limit of streams comes only behind a connection that stands.
    const LIMIT_COMES_LATE: bool;

    /// So many connections are made at once before the clock starts, at most.
    const OPENINGS_AT_ONCE: u32 = u32::MAX;

    /// Writes a request; the number of its stream.
    ///
    /// # Errors
    /// When nothing was written: there is no room for it, or the server takes none like it.
    fn request(
        &mut self,
        slot: &mut Self::OfSlot,
        asked: StreamRequest<'_>,
        tag: u32,
    ) -> Result<u64, NotSent>;

    /// What servers permitted so far, once one did: the streams at once, `None` without a limit.
    fn streams_permitted(&self) -> Option<Option<u32>>;

    /// How long bodies wait for windows.
    fn waits(&mut self) -> &mut WindowWaits;

    /// Something failed: kept if it is the first.
    fn note_failure(&mut self, kind: FailureKind, words: impl FnOnce() -> String);

    /// A server did not process a repetition either.
    fn note_refused_again(&mut self);

    /// Sends that the driver has not reported as accepted: an event each, without a response.
    fn sends_under_way(&self) -> u32;

    /// The slot is about to be opened.
    fn begin<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, io: &mut I, slot: Slot);

    /// The driver, or the layer above it, has opened the slot.
    #[inline]
    fn slot_open<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        at: u64,
    ) {
        worker.stands(io, slot, at);
    }

    /// What has gathered on an open slot leaves.
    fn flush<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        at: u64,
    );

    /// The kernel accepted a send that asked for notice.
    fn sent<S: Walk>(_worker: &mut Worker<Streams<Self, S>>, _slot: Slot) {}

    /// Bytes arrived on an open slot.
    fn received<S: Walk, I: Io>(
        _worker: &mut Worker<Streams<Self, S>>,
        _io: &mut I,
        _slot: Slot,
        _bytes: &mut [u8],
        _at: u64,
    ) {
    }

    /// Datagrams arrived.
    fn datagrams<S: Walk, I: Io>(
        _worker: &mut Worker<Streams<Self, S>>,
        _io: &mut I,
        _slot: Slot,
        _datagrams: Datagrams<'_>,
        _at: u64,
    ) {
    }

    /// When a timer of some connection expires.
    #[inline(always)]
    fn next_timer_ns(&self) -> u64 {
        u64::MAX
    }

    /// Timers may have expired.
    fn expired<S: Walk, I: Io>(_worker: &mut Worker<Streams<Self, S>>, _io: &mut I, _now: u64) {}

    /// Whether it makes connections itself, and knows why one does not stand.
    const KNOWS_WHY_NONE_STANDS: bool = false;

    /// Whether servers have to be told that a connection is over.
    const TAKES_LEAVE: bool = false;

    /// The slot is about to be closed from here: what the server is told leaves now.
    fn take_leave<S: Walk, I: Io>(
        _worker: &mut Worker<Streams<Self, S>>,
        _io: &mut I,
        _slot: Slot,
    ) {
    }

    /// The slot's socket is gone; what the driver counted of it can still be asked for.
    fn socket_gone<S: Walk, I: Io>(
        _worker: &mut Worker<Streams<Self, S>>,
        _io: &mut I,
        _slot: Slot,
    ) {
    }

    /// The connection of a slot is gone. What its exchanges fail with, if the protocol knows.
    fn ended(
        &mut self,
        slot: &mut Self::OfSlot,
        why: CloseReason,
        goaway: Option<GoAway>,
    ) -> Option<FailureKind>;

    /// The measured window opens.
    fn window_opens(&mut self);

    /// From here on is counted what goes through sockets.
    fn counts_from<S: Walk, I: Io>(_worker: &mut Worker<Streams<Self, S>>, _io: &mut I) {}

    /// Until here.
    fn counts_until<S: Walk, I: Io>(_worker: &mut Worker<Streams<Self, S>>, _io: &mut I) {}

    /// Adds what is to be reported about the protocol itself.
    fn report(&mut self, record: &mut Record);

    /// How a connection receives, once the length of the bodies is known.
    fn mode(expected: Receive) -> Receive;
}

/// A slot's connection, as far as streams go. Without one there is no stream, and no room for any.
pub(crate) trait OfSlot: Default {
    /// Whether there is a connection.
    fn is_there(&self) -> bool;

    /// How many more streams may be opened.
    fn free_streams(&self) -> u32;

    /// How many are open.
    fn streams_live(&self) -> u32;

    /// No more streams are opened on it.
    fn is_draining(&self) -> bool;

    /// The server has said that it speaks the protocol.
    fn began(&self) -> bool;

    /// Bodies of requests that have not left in full.
    fn uploads_unfinished(&self) -> usize;

    /// Of these, how many wait for the window of their stream, and for that of the connection.
    fn uploads_held(&self) -> (u32, u32);

    /// Resets a stream: nobody waits for its response any more.
    fn reset(&mut self, stream: u64);

    /// The connection is gone.
    fn forget(&mut self);
}
