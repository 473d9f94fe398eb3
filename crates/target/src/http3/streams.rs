//! The streams of a connection that are under way: requests that are not complete, and responses that have not left.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use ablaze_wire::http3::error::ErrorCode;
use bytes::Bytes;

use crate::handler::{Method, Stream as Source};
use crate::http1::output::Output;

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
}

impl Upload {
    /// Counts content; whether it is not more than was announced (RFC 9114, 4.1.2).
    pub fn take(&mut self, content_bytes: u64) -> bool {
        let Some(left) = &mut self.content_left else { return true };
        let fits = content_bytes <= *left;
        *left = left.saturating_sub(content_bytes);
        fits
    }
}

/// A response that has not left.
#[derive(Debug)]
pub struct Reply {
    /// Frames that leave first, without a copy.
    pub first: Bytes,
    /// Frames behind them.
    pub frames: Output,
    /// What makes the rest of the body.
    pub source: Option<Box<dyn Source>>,
    /// It leaves in pieces of this many bytes, with pauses of this many nanoseconds between them.
    pub pace: Option<(u64, u64)>,
    /// When what is there has left, it goes on this many nanoseconds later.
    pub pause_ns: u64,
    /// What comes behind it.
    pub then: Then,
}

/// What comes behind a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The end of its stream.
    End,
    /// The end of its stream; what still comes of the request is not wanted.
    Stop,
    /// A reset of its stream.
    Reset,
    /// The end of its stream and of the connection, with an error.
    EndConnection,
}

/// A stream.
#[derive(Debug)]
pub enum Stream {
    /// Its request is not complete.
    Uploading(Box<Upload>),
    /// Its response leaves.
    Replying(Box<Reply>),
    /// Its request is complete; its response is being made.
    Complete,
}

/// The streams that are under way.
#[derive(Debug, Default)]
pub struct Streams {
    open: HashMap<u64, Stream>,
    /// When responses go on that wait for a time.
    timers: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Streams {
    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A request whose body is to come.
    pub fn begin(&mut self, stream: u64, upload: Upload) {
        self.open.insert(stream, Stream::Uploading(Box::new(upload)));
    }

    /// A response that leaves.
    pub fn reply(&mut self, stream: u64, reply: Reply) {
        self.open.insert(stream, Stream::Replying(Box::new(reply)));
    }

    /// A request whose body is coming.
    pub fn upload(&mut self, stream: u64) -> Option<&mut Upload> {
        match self.open.get_mut(&stream) {
            Some(Stream::Uploading(upload)) => Some(upload),
            _ => None,
        }
    }

    /// A request is complete.
    pub fn end_upload(&mut self, stream: u64) -> Option<Upload> {
        match self.open.get_mut(&stream) {
            Some(own @ Stream::Uploading(_)) => match std::mem::replace(own, Stream::Complete) {
                Stream::Uploading(upload) => Some(*upload),
                Stream::Replying(_) | Stream::Complete => None,
            },
            _ => None,
        }
    }

    /// A response that is leaving.
    pub fn replying(&mut self, stream: u64) -> Option<&mut Reply> {
        match self.open.get_mut(&stream) {
            Some(Stream::Replying(reply)) => Some(reply),
            _ => None,
        }
    }

    /// It is over.
    pub fn close(&mut self, stream: u64) {
        self.open.remove(&stream);
    }

    /// Its response goes on at this time.
    pub fn wait(&mut self, stream: u64, due_ns: u64) {
        self.timers.push(Reverse((due_ns, stream)));
    }

    /// When the first of them goes on.
    pub fn first_due_ns(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((due_ns, _))| *due_ns)
    }

    /// One whose time has come.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<u64> {
        if self.first_due_ns()? > now_ns {
            return None;
        }
        self.timers.pop().map(|Reverse((_, stream))| stream)
    }
}

/// The code of streams and connections that end by a fault.
pub const FAULT: ErrorCode = ErrorCode::INTERNAL_ERROR;
