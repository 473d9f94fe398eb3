//! HTTP/2 as what carries [streams](super::streams): frames on a stream of bytes (RFC 9113).
//!
//! `sending` flushes what gathers, one write per connection and turn; `receiving` reads frames.

mod receiving;
mod sending;

use std::sync::Arc;

use ablaze_model::failure::FailureKind;
use ablaze_model::record::{Http2Facts, Record, WindowWaits};
use ablaze_net::{CloseReason, Io, OutBuffer, Receive, Slot};
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, Options, STREAMS_BEFORE_SETTINGS};
use ablaze_wire::http2::request::RequestSet;

use super::streams::{GoAway, Multiplexer, NotSent, OfSlot, StreamRequest, Streams};
use crate::walk::Walk;
use crate::worker::{Assignment, Worker};

/// A connection's output holds bodies only up to this many bytes; the rest follows when these left.
const OUTPUT_BYTES: usize = 64 * 1024;
/// The smallest buffer a connection sends from.
const WRITE_BYTES_MIN: usize = 4 * 1024;

/// HTTP/2 of one worker.
pub(crate) struct Http2 {
    set: Arc<RequestSet>,
    digits: Digits,
    options: Options,
    /// Writes whose end the driver has not reported.
    writes_under_way: u32,
    facts: Box<Http2Facts>,
}

/// HTTP/2 of one slot.
#[derive(Default)]
pub(crate) struct Framed {
    /// The codec's state; `None` without a connection.
    wire: Option<Box<Connection>>,
    /// What gathers until the next flush.
    out: Vec<u8>,
    write: Write,
}

/// The buffer a connection sends from. It must not change while the write is under way.
#[derive(Debug, Default)]
struct Write {
    buffer: Option<OutBuffer>,
    capacity: usize,
    under_way: bool,
}

impl Http2 {
    /// For one worker.
    pub fn new(assignment: &Assignment, set: Arc<RequestSet>) -> Self {
        let plan = &assignment.plan;
        Self {
            set,
            digits: Digits::new(plan.requests.seed, u64::from(assignment.worker)),
            options: Options {
                streams: plan.places_per_connection(),
                header_list_bytes: plan.limits.max_head_bytes.try_into().unwrap_or(u32::MAX),
                output_bytes: OUTPUT_BYTES,
                ..Options::default()
            },
            writes_under_way: 0,
            facts: Box::default(),
        }
    }
}

impl Write {
    /// The buffer, with room for this many bytes.
    fn buffer<I: Io>(&mut self, io: &mut I, bytes: usize) -> OutBuffer {
        if let Some(buffer) = self.buffer {
            if bytes <= self.capacity {
                return buffer;
            }
            io.release(buffer);
        }
        self.capacity = bytes.max(WRITE_BYTES_MIN).next_power_of_two();
        *self.buffer.insert(io.lease(self.capacity))
    }
}

impl OfSlot for Framed {
    #[inline]
    fn is_there(&self) -> bool {
        self.wire.is_some()
    }

    #[inline]
    fn free_streams(&self) -> u32 {
        self.wire.as_ref().map_or(0, |wire| wire.free_streams())
    }

    #[inline]
    fn streams_live(&self) -> u32 {
        self.wire.as_ref().map_or(0, |wire| wire.streams_live())
    }

    #[inline]
    fn is_draining(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| wire.is_draining())
    }

    /// The server's SETTINGS came.
    #[inline]
    fn began(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| wire.peer_settings().is_some())
    }

    #[inline]
    fn uploads_unfinished(&self) -> usize {
        self.wire.as_ref().map_or(0, |wire| wire.uploads_unfinished())
    }

    fn uploads_held(&self) -> (u32, u32) {
        self.wire.as_ref().map_or((0, 0), |wire| wire.uploads_held())
    }

    fn reset(&mut self, stream: u64) {
        if let Some(wire) = &mut self.wire {
            // Streams of HTTP/2 have numbers of 31 bits.
            wire.reset(stream as u32, &mut self.out);
        }
    }

    fn forget(&mut self) {
        self.wire = None;
        self.out.clear();
    }
}

impl Multiplexer for Http2 {
    type OfSlot = Framed;

    const VERSION: &'static str = "HTTP/2";
    const VIOLATED: FailureKind = FailureKind::Http2Violated;
    const STREAMS_AT_FIRST: u32 = STREAMS_BEFORE_SETTINGS;
    const LIMIT_COMES_LATE: bool = true;

    #[inline]
    fn request(
        &mut self,
        slot: &mut Framed,
        asked: StreamRequest<'_>,
        tag: u32,
    ) -> Result<u64, NotSent> {
        let wire = slot.wire.as_mut().ok_or(NotSent::NoRoom)?;
        let out = &mut slot.out;
        let stream = match asked.text {
            Some((text, scheme)) => wire.request_text(&self.set, &text, scheme, tag, out),
            None => {
                let (template, digits) = (asked.template as usize, &mut self.digits);
                wire.request(&self.set, template, asked.sequence, digits, tag, out)
            }
        };
        stream.map(u64::from).map_err(|_| NotSent::NoRoom)
    }

    fn streams_permitted(&self) -> Option<Option<u32>> {
        self.facts.settings.map(|settings| settings.streams_max)
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
        self.writes_under_way
    }

    /// The first bytes are ready when the connection stands.
    fn begin<S: Walk, I: Io>(worker: &mut Worker<Streams<Self, S>>, _io: &mut I, slot: Slot) {
        let options = worker.protocol.multiplexer.options;
        let framed = &mut worker.connections[slot as usize].state.multiplexer;
        framed.out.clear();
        framed.wire = Some(Box::new(Connection::new(options, &mut framed.out)));
    }

    #[inline]
    fn flush<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        at: u64,
    ) {
        worker.flush_frames(io, slot, at);
    }

    fn sent<S: Walk>(worker: &mut Worker<Streams<Self, S>>, slot: Slot) {
        worker.frames_left(slot);
    }

    #[inline]
    fn received<S: Walk, I: Io>(
        worker: &mut Worker<Streams<Self, S>>,
        io: &mut I,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
    ) {
        worker.read_frames(io, slot, bytes, at);
    }

    fn ended(
        &mut self,
        slot: &mut Framed,
        _why: CloseReason,
        goaway: Option<GoAway>,
    ) -> Option<FailureKind> {
        self.writes_under_way -= u32::from(std::mem::take(&mut slot.write.under_way));
        goaway.filter(|goaway| goaway.is_error).map(|_| FailureKind::GoAway)
    }

    fn window_opens(&mut self) {
        self.facts.open_window();
    }

    fn report(&mut self, record: &mut Record) {
        record.http2 = Some(std::mem::take(&mut self.facts));
    }

    #[inline]
    fn mode(expected: Receive) -> Receive {
        expected
    }
}
