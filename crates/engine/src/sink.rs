//! The seam for body bytes: who wants to see them is a [`BodySink`], chosen before the run.
//!
//! Without one ([`NoSink`]) bodies are counted and dropped, where they can be without a copy, and nothing
//! of what is here is compiled into the loop. With one, each worker has its own: it is told of every
//! response in the order in which it arrives, with the times, its framing taken off (chunks of HTTP/1,
//! frames and padding of HTTP/2, records of TLS). Bodies are then received, never discarded on the
//! socket.
//!
//! A sink is called in the loop. It must neither allocate there nor wait, and what it does with a byte is
//! paid for by every request: it keeps one bounded state for each place that an exchange can be in, all
//! made before the run, and reads on from there however the bytes are cut.
//!
//! What will sit on it needs, beside what is here:
//! - **Captures** for the next step of a journey: a bounded buffer per place, handed to the journey at
//!   `end`, before the worker takes the next request of that user. Captures of fields of the head need a
//!   call of their own beside [`BodySink::begin`]: HTTP/1 has the head's bytes there, HTTP/2 its fields.
//! - **Server-sent events**: the scanner of lines, and `at_ns` of [`BodySink::bytes`] as each event's time.
//!   Such a response does not end by itself: the timeout has to count from the last byte, not from the
//!   request, and a way to end an exchange that has seen enough (a verdict returned by `bytes`).
//! - **gRPC**: the five bytes before each message, across pieces; its status is in the trailers, which
//!   HTTP/2 has as fields after the body: the same call for fields, before `end`.

/// What a worker tells about the bodies of its responses.
///
/// `place` is where the exchange is in the worker's table, from 0 up to the number the sink was made
/// for. For each place the calls are [`begin`](Self::begin), any number of [`bytes`](Self::bytes), one
/// [`end`](Self::end), and then all over again; places take turns as connections and streams do. Responses
/// of a warm-up are told, too.
///
/// Times are those at which the driver saw the bytes, on its clock in ns, and do not go back. What was in
/// flight when the run ended has the time at which the measured window closed.
pub trait BodySink {
    /// Whether anyone listens. If not, no call is made, and bodies are dropped unread where possible.
    const LISTENS: bool = true;

    /// The head of a response is complete. Interim responses (1xx) are not told of.
    fn begin(&mut self, place: usize, response: Response, at_ns: u64);

    /// The next bytes of the body, in order; never none.
    fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64);

    /// There will be no more of this body: it is `complete`, or its exchange failed, is sent again, or was
    /// in flight when the run ended.
    fn end(&mut self, place: usize, complete: bool, at_ns: u64);
}

/// What is known of a response when its body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// Number of the request in the run.
    pub number: u64,
    /// Which of the Plan's templates it was made from.
    pub template: u32,
    /// Status code.
    pub status: u16,
}

/// Which worker a sink is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkOf {
    /// Number of the worker, from 0.
    pub worker: u32,
    /// Exchanges that it can have in flight: `place` is below this.
    pub places: usize,
    /// Users that a [`Walk`](crate::walk::Walk) is asked about.
    pub users: u32,
}

/// Nobody wants to see bodies.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl BodySink for NoSink {
    const LISTENS: bool = false;

    fn begin(&mut self, _place: usize, _response: Response, _at_ns: u64) {}

    fn bytes(&mut self, _place: usize, _bytes: &[u8], _at_ns: u64) {}

    fn end(&mut self, _place: usize, _complete: bool, _at_ns: u64) {}
}

/// A worker's sink, with which of its bodies have begun: a protocol may say that an exchange is over
/// without knowing whether its body had begun.
pub(crate) struct Bodies<S> {
    sink: S,
    /// By place; empty where nobody listens.
    begun: Box<[bool]>,
}

impl<S: BodySink> Bodies<S> {
    /// For this many places.
    pub fn new(sink: S, places: usize) -> Self {
        let places = if S::LISTENS { places } else { 0 };
        Self { sink, begun: vec![false; places].into() }
    }

    #[inline(always)]
    pub fn begin(&mut self, place: usize, response: Response, at_ns: u64) {
        if S::LISTENS {
            self.begun[place] = true;
            self.sink.begin(place, response, at_ns);
        }
    }

    #[inline(always)]
    pub fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64) {
        if S::LISTENS && !bytes.is_empty() {
            debug_assert!(self.begun[place], "bytes of a body that has not begun");
            self.sink.bytes(place, bytes, at_ns);
        }
    }

    #[inline(always)]
    pub fn end(&mut self, place: usize, complete: bool, at_ns: u64) {
        if S::LISTENS && std::mem::take(&mut self.begun[place]) {
            self.sink.end(place, complete, at_ns);
        }
    }

    /// Who sees them.
    #[inline(always)]
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// The same, to ask.
    #[inline(always)]
    pub fn sink_ref(&self) -> &S {
        &self.sink
    }

    pub fn into_sink(self) -> S {
        self.sink
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Calls(Vec<&'static str>);

    impl BodySink for Calls {
        fn begin(&mut self, _: usize, _: Response, _: u64) {
            self.0.push("begin");
        }

        fn bytes(&mut self, _: usize, _: &[u8], _: u64) {
            self.0.push("bytes");
        }

        fn end(&mut self, _: usize, complete: bool, _: u64) {
            self.0.push(if complete { "complete" } else { "cut" });
        }
    }

    #[test]
    fn each_body_that_began_ends_once_and_no_other() {
        let mut bodies = Bodies::new(Calls(Vec::new()), 2);
        let response = Response { number: 0, template: 0, status: 200 };
        bodies.end(1, false, 1);
        bodies.begin(1, response, 2);
        bodies.bytes(1, b"", 3);
        bodies.bytes(1, b"a", 3);
        bodies.end(0, false, 4);
        bodies.end(1, true, 4);
        bodies.end(1, false, 5);
        assert_eq!(bodies.into_sink().0, ["begin", "bytes", "complete"]);
    }
}
