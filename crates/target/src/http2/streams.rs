//! The streams of a connection that are under way: requests that are not complete, and responses
//! that have not left. Most requests are none of these: they come in one frame, and their response
//! leaves before the next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ops::Range;

use ablaze_wire::http2::error::ErrorCode;

use crate::handler::{Method, Stream as Source};
use crate::http1::output::Output;

/// The most recent streams that we ended first are remembered, up to this number: what the client had sent before
/// it knew is no fault of its (RFC 9113, 5.1).
const DROPPED_MAX: usize = 256;

/// A request whose body is not complete.
#[derive(Debug)]
pub struct Upload {
    /// Its head, as it would be in HTTP/1.
    pub head: Vec<u8>,
    /// The method.
    pub method: Method,
    /// Where the target stands in the head.
    pub target: Range<usize>,
    /// The body so far, if it is wanted.
    pub body: Vec<u8>,
    /// Longest body that is kept; none if it is dropped.
    pub keep_bytes_max: Option<u64>,
    /// What is still to come, if that was announced.
    pub content_left: Option<u64>,
    /// Bytes that came since the window was last enlarged.
    pub window_used: u32,
}

/// A response that has not left.
#[derive(Debug)]
pub struct Reply {
    /// Its head as it would be in HTTP/1, until it leaves: only then is it known what the client's
    /// table holds.
    pub head: Option<Vec<u8>>,
    /// What of the body is there.
    pub body: Output,
    /// What makes the rest of it.
    pub source: Option<Box<dyn Source>>,
    /// It leaves in pieces of this many bytes, with pauses of this many nanoseconds between them.
    pub pace: Option<(u64, u64)>,
    /// When what is there has left, it goes on this many nanoseconds later.
    pub pause_ns: u64,
    /// What comes behind it.
    pub then: Then,
    /// It is among the ready ones.
    pub ready: bool,
    /// It waits for its time.
    pub waits: bool,
}

/// What comes behind a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The end of its stream.
    End,
    /// A reset of its stream.
    Reset(ErrorCode),
    /// The end of its stream and a reset of the connection.
    ResetConnection,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// What we may still send on it.
    pub window: i64,
    /// Its request, as long as it is not complete.
    pub upload: Option<Box<Upload>>,
    /// Its response, when there is one.
    pub reply: Option<Box<Reply>>,
}

impl Stream {
    /// Its response tells the client to stop: the rest of the request is not wanted.
    pub fn is_refused(&self) -> bool {
        self.reply.as_ref().is_some_and(|reply| reply.then == Then::Reset(ErrorCode::NO_ERROR))
    }
}

/// The streams that are under way.
#[derive(Debug, Default)]
pub struct Streams {
    open: HashMap<u32, Stream>,
    /// Responses that go on when the connection's window permits, in turn.
    ready: VecDeque<u32>,
    /// When responses go on that wait for a time.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    dropped: VecDeque<u32>,
}

impl Streams {
    /// Whether nothing is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// How many are under way.
    #[inline]
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// Adds a stream.
    pub fn open(&mut self, id: u32, stream: Stream) {
        self.open.insert(id, stream);
    }

    /// One that is under way.
    pub fn get(&mut self, id: u32) -> Option<&mut Stream> {
        self.open.get_mut(&id)
    }

    /// All that are under way.
    pub fn all(&mut self) -> impl Iterator<Item = (&u32, &mut Stream)> {
        self.open.iter_mut()
    }

    /// It is over on both sides.
    pub fn close(&mut self, id: u32) -> Option<Stream> {
        self.open.remove(&id)
    }

    /// It is over because we ended it, whatever the client still sends.
    pub fn drop_stream(&mut self, id: u32) -> Option<Stream> {
        if self.dropped.len() == DROPPED_MAX {
            self.dropped.pop_front();
        }
        self.dropped.push_back(id);
        self.open.remove(&id)
    }

    /// Whether we ended this one first.
    pub fn was_dropped(&self, id: u32) -> bool {
        self.dropped.contains(&id)
    }

    /// Its response may go on.
    pub fn make_ready(&mut self, id: u32) {
        if let Some(Stream { reply: Some(reply), .. }) = self.open.get_mut(&id)
            && reply.head.is_none()
            && !reply.waits
            && !std::mem::replace(&mut reply.ready, true)
        {
            self.ready.push_back(id);
        }
    }

    /// The next whose response may go on; it is made ready again if more of it can leave.
    pub fn next_ready(&mut self) -> Option<u32> {
        let id = self.ready.pop_front()?;
        if let Some(Stream { reply: Some(reply), .. }) = self.open.get_mut(&id) {
            reply.ready = false;
        }
        Some(id)
    }

    /// Whether a response may go on.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Its response goes on at this time.
    pub fn wait(&mut self, id: u32, due_ns: u64) {
        if let Some(Stream { reply: Some(reply), .. }) = self.open.get_mut(&id) {
            reply.waits = true;
            self.timers.push(Reverse((due_ns, id)));
        }
    }

    /// Whether a response waits for a time.
    #[inline]
    pub fn has_timers(&self) -> bool {
        !self.timers.is_empty()
    }

    /// When the next of them goes on.
    #[inline]
    pub fn first_due_ns(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((due_ns, _))| *due_ns)
    }

    /// One whose time has come.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<u32> {
        if self.first_due_ns()? > now_ns {
            return None;
        }
        let Reverse((_, id)) = self.timers.pop()?;
        if let Some(Stream { reply: Some(reply), .. }) = self.open.get_mut(&id) {
            reply.waits = false;
        }
        Some(id)
    }
}
