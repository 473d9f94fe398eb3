//! What of a response leaves later: a response that waits for its time, one that comes a few bytes
//! at a time, and a body that is made as it leaves.

use std::mem;

use crate::handler::{Flow, Stream};
use crate::http1::chunks::Chunks;
use crate::http1::output::Output;
use crate::http1::protocol::{Next, OUTPUT_BYTES_MAX};

/// A reset destroys what the kernel has not sent yet (socket(7), SO_LINGER). As much as this, it
/// has sent at once; behind more, a reset waits, so that a client that reads gets it.
const DELIVERED_BYTES: u64 = 32 * 1024;
const DELIVERY_NS: u64 = 50_000_000;

/// The rest of a response, and what follows it.
#[derive(Debug)]
pub(super) struct Later {
    /// What is in bytes already.
    pub output: Output,
    /// How it leaves.
    pub pace: Pace,
    /// What comes behind it.
    pub stream: Option<Streaming>,
    /// What comes at the very end, though it does not belong there.
    pub surplus: &'static [u8],
    /// What happens behind the response.
    pub then: Next,
}

/// How output leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// All of it at once.
    Whole,
    /// In pieces, with pauses between them.
    Pieces {
        /// Length of a piece.
        bytes: u64,
        /// Length of a pause.
        pause_ns: u64,
    },
}

/// The rest of a body that is made as it leaves.
#[derive(Debug)]
pub(super) struct Streaming {
    pub stream: Box<dyn Stream>,
    /// In chunks, or up to the end of the connection.
    pub chunked: bool,
}

impl Later {
    /// Nothing but this, and what follows it.
    pub fn new(output: Output, then: Next) -> Self {
        Self { output, pace: Pace::Whole, stream: None, surplus: b"", then }
    }

    /// Adds what leaves now to `out`; returns when it goes on, nothing if the response is complete.
    pub fn go_on(&mut self, out: &mut Output) -> Option<Next> {
        match self.pace {
            Pace::Whole if out.is_empty() => mem::swap(out, &mut self.output),
            Pace::Whole => self.output.move_to(out, u64::MAX),
            Pace::Pieces { bytes, pause_ns } => {
                self.output.move_to(out, bytes);
                if !self.output.is_empty() {
                    return Some(Next::Wait(pause_ns));
                }
            }
        }
        if let Some(streaming) = &mut self.stream {
            if let Some(next) = streaming.go_on(out) {
                return Some(next);
            }
            self.stream = None;
        }
        out.push_text(mem::take(&mut self.surplus));
        // Once: then, there is nothing left to write.
        let at_risk = self.then == Next::Reset && out.left() > DELIVERED_BYTES;
        at_risk.then_some(Next::Wait(DELIVERY_NS))
    }
}

impl Streaming {
    /// Adds what is ready to `out`; returns when it goes on, nothing if the body is complete.
    pub fn go_on(&mut self, out: &mut Output) -> Option<Next> {
        loop {
            let before = out.left();
            let mut pieces = Chunks::new(out, self.chunked);
            match self.stream.next(&mut pieces) {
                Flow::End => {
                    pieces.end();
                    return None;
                }
                Flow::After(0) if out.left() > before && out.left() < OUTPUT_BYTES_MAX => {}
                Flow::After(0) => return Some(Next::Proceed),
                Flow::After(pause_ns) => return Some(Next::Wait(pause_ns)),
            }
        }
    }
}
