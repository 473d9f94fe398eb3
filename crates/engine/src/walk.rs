//! The seam for who says what is sent: a [`Walk`], chosen before the run.
//!
//! Without one, requests are the Plan's templates in the Plan's order, each on whatever connection is free, and
//! nothing of what is here is compiled into the loop. With one ([`Walk::WALKS`]), each connection of a worker
//! belongs to a user, and the walk says for each user what it sends next: one request at a time, a pause, or
//! nothing until it is given the next number of the run. It sees heads here and bodies as the
//! [`BodySink`] it is, so that what it sends can depend on what came back. Journeys, feeds and scripts are walks.
//!
//! It is called in the loop: what it does is paid for by every request and delays those behind it.

mod boxed;

use crate::sink::{BodySink, NoSink, Response};
use ablaze_model::failure::FailureKind;
use ablaze_model::record::Record;

pub use boxed::{AnyWalk, MakeWalk, run_walking};

/// What a worker asks about the requests of its users, and tells about their responses.
///
/// `user` is a number from 0 up to the worker's number of users. Each has a connection to every origin of the Plan, over HTTP/2
/// a stream at a time of one, and uses one at a time; a connection that ends is followed by another of the same user. For each request the calls are [`next`](Self::next) with [`Next::Send`] as its result,
/// [`write`](Self::write), then either [`head`](Self::head), the calls of [`BodySink`] and
/// [`answered`](Self::answered), or at any point [`failed`](Self::failed). A request that the worker sends again, because the server had
/// closed the connection, has the same bytes and is not told of.
///
/// Requests of a warm-up are told of, too.
pub trait Walk: BodySink {
    /// Whether users are asked. If not, no function of this trait is called.
    const WALKS: bool = false;

    /// Whether it only sees what comes back, and requests are the Plan's, as without a walk: `start`, `next` and `write` are
    /// not called then, and a connection may have several requests in flight. Asked once, before the first request.
    fn only_watches(&self) -> bool {
        false
    }

    /// Whether it is to be told of heads. Asked once, before the first request, over HTTP/2, where their fields cost decoding.
    fn wants_heads(&self) -> bool {
        true
    }

    /// The text of a request that the worker filled in: of one that only watches, or [`Written::Filled`].
    fn sent(&mut self, _place: usize, _bytes: &[u8]) {}

    /// A user without anything to do is given a number of the run: in closed loop as soon as it is free, in open loop
    /// when an arrival is due. `due_ns` is when it was due; 0 in closed loop.
    fn start(&mut self, _user: u32, _number: u64, _due_ns: u64, _now_ns: u64) {}

    /// What a user does next. It has nothing in flight.
    fn next(&mut self, _user: u32, _now_ns: u64) -> Next {
        Next::Start
    }

    /// Whether a user sends another request behind the one that it chose last, without waiting for the response: in closed loop
    /// it then gets its next number at once, as long as the Plan's pipeline has places. [`write`](Self::write) is called for each in
    /// their order, and each is answered or fails.
    fn has_more(&self, _user: u32) -> bool {
        false
    }

    /// Writes the request that [`next`](Self::next) chose, head and body, to `out`, which is empty, or says that it is the
    /// template of the Plan as it is. What is written has the form of HTTP/1, also where HTTP/2 is spoken.
    fn write(&mut self, _user: u32, _template: u32, _out: &mut Vec<u8>) -> Written {
        Written::Constant
    }

    /// The head of a final response is complete; its body, if it has one, follows as that of `place`. `head` ends with
    /// its empty line, and has the form of HTTP/1: over HTTP/2 its first line is `HTTP/2` and the status.
    fn head(&mut self, _user: u32, _place: usize, _template: u32, _status: u16, _head: &[u8]) {}

    /// The response is complete.
    fn answered(&mut self, _user: u32, _template: u32, _response: Answered) {}

    /// There will be no response.
    fn failed(&mut self, _user: u32, _template: u32, _kind: FailureKind, _at_ns: u64) {}

    /// Whether users have something to do before the clock starts: they are asked what, and the clock waits until all workers
    /// are through with it.
    fn is_preparing(&self) -> bool {
        false
    }

    /// All users of the run have done it.
    fn prepared(&mut self) {}

    /// Whether no user begins anything any more.
    fn is_over(&self) -> bool {
        false
    }

    /// The measured window opens: what users are in the middle of belongs to the warm-up.
    fn window_opens(&mut self, _at_ns: u64) {}

    /// Whether a user has begun something that it has not ended: the run goes on until all have, if its numbers are used up
    /// before its time.
    fn is_walking(&self) -> bool {
        false
    }

    /// Which of the Plan's addresses the worker's connections go to first.
    fn address(&self) -> usize {
        0
    }

    /// The run is over: adds what is to be reported.
    fn report(&mut self, _record: &mut Record, _closed_ns: u64) {}
}

/// What a user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It waits for a number of the run: [`Walk::start`] follows, if there is one left.
    Start,
    /// It sends a request.
    Send {
        /// Which of the Plan's templates it counts as: the one that says what its method is and which group it belongs to.
        template: u32,
        /// Its number, for reports.
        number: u64,
        /// When it was due, in open loop; 0 in closed loop.
        due_ns: u64,
        /// Where it goes: 0 is the Plan's target, and the others follow in their order.
        origin: u32,
    },
    /// It does nothing until then, on the driver's clock; [`Walk::next`] is called again.
    Pause {
        /// When it goes on.
        until_ns: u64,
    },
}

/// What a request is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The bytes of the Plan's template.
    Constant,
    /// The bytes that were written.
    Here,
    /// The template of the Plan with its fields filled in for this request's number.
    Filled,
}

/// A response that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// Where its exchange was, as [`BodySink`] numbers places.
    pub place: usize,
    /// Number of its request in the run.
    pub number: u64,
    /// Whether the run counts it: not those of a warm-up, nor those that came too late.
    pub counts: bool,
    /// From when the request began to the last byte of the response, ns, connecting included.
    pub total_ns: u64,
    /// Length of its body, without transfer coding.
    pub body_bytes: u64,
    /// When its last byte came, on the driver's clock.
    pub at_ns: u64,
}

impl Walk for NoSink {}

/// Who neither says what is sent nor wants to see what comes back: for requests that are written anew each time where only
/// the part of the engine that is compiled for walks does so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unwatched;

impl BodySink for Unwatched {
    fn begin(&mut self, _place: usize, _response: Response, _at_ns: u64) {}

    fn bytes(&mut self, _place: usize, _bytes: &[u8], _at_ns: u64) {}

    fn end(&mut self, _place: usize, _complete: bool, _at_ns: u64) {}
}

impl Walk for Unwatched {
    const WALKS: bool = true;

    fn only_watches(&self) -> bool {
        true
    }

    fn wants_heads(&self) -> bool {
        false
    }
}
