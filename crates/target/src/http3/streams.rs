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

/// A request whose client is told 100 (Continue): its response leaves behind that, and word of room may come before its time.
#[derive(Debug)]
pub struct Continuing {
    /// What of it had no room yet.
    unsaid: Bytes,
    /// The request, until it is complete.
    upload: Option<Upload>,
    /// The response, once there is one.
    reply: Option<Box<Reply>>,
}

/// A stream.
#[derive(Debug)]
pub enum Stream {
    /// Its request is not complete.
    Uploading(Box<Upload>),
    /// The same where 100 (Continue) leaves first.
    Continuing(Box<Continuing>),
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

    /// A request whose client was told 100 (Continue), but for what had no room.
    pub fn continues(&mut self, stream: u64, unsaid: Bytes) {
        if let Some(upload) = self.end_upload(stream) {
            let continuing = Continuing { unsaid, upload: Some(upload), reply: None };
            self.open.insert(stream, Stream::Continuing(Box::new(continuing)));
        }
    }

    /// What of 100 (Continue) had no room, where that leaves first.
    pub fn unsaid(&mut self, stream: u64) -> Option<&mut Bytes> {
        match self.open.get_mut(&stream) {
            Some(Stream::Continuing(continuing)) => Some(&mut continuing.unsaid),
            _ => None,
        }
    }

    /// A response that leaves.
    pub fn reply(&mut self, stream: u64, reply: Reply) {
        let before = self.open.insert(stream, Stream::Replying(Box::new(reply)));
        if let Some(Stream::Continuing(continuing)) = before {
            self.put_behind(stream, continuing);
        }
    }

    /// Has a response wait for what leaves before it.
    #[cold]
    fn put_behind(&mut self, stream: u64, mut continuing: Box<Continuing>) {
        if let Some(Stream::Replying(reply)) = self.open.remove(&stream) {
            continuing.upload = None;
            continuing.reply = Some(reply);
            self.open.insert(stream, Stream::Continuing(continuing));
        }
    }

    /// All of 100 (Continue) was said: the response leaves, if there is one and its time has come. Whether it does.
    pub fn reply_follows(&mut self, stream: u64) -> bool {
        // Room came before the end of its delay, whose timer is gone when it ends.
        if self.timers.iter().any(|Reverse((_, waiting))| *waiting == stream) {
            return false;
        }
        let Some(Stream::Continuing(continuing)) = self.open.get_mut(&stream) else { return false };
        let Some(reply) = continuing.reply.take() else { return false };
        self.open.insert(stream, Stream::Replying(reply));
        true
    }

    /// A request whose body is coming.
    pub fn upload(&mut self, stream: u64) -> Option<&mut Upload> {
        match self.open.get_mut(&stream) {
            Some(Stream::Uploading(upload)) => Some(upload),
            Some(Stream::Continuing(continuing)) => continuing.upload.as_mut(),
            _ => None,
        }
    }

    /// A request is complete.
    pub fn end_upload(&mut self, stream: u64) -> Option<Upload> {
        match self.open.get_mut(&stream) {
            Some(own @ Stream::Uploading(_)) => match std::mem::replace(own, Stream::Complete) {
                Stream::Uploading(upload) => Some(*upload),
                Stream::Continuing(_) | Stream::Replying(_) | Stream::Complete => None,
            },
            Some(Stream::Continuing(continuing)) => continuing.upload.take(),
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
