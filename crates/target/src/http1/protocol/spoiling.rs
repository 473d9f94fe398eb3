//! Faults, as they show on the wire: each turns a right response into what a client is to cope with.

use crate::conditions::Fault;
use crate::http1::output::Output;
use crate::http1::protocol::Next;
use crate::http1::protocol::later::{Later, Pace};

/// Neither a status line nor anything that could become one.
pub(crate) const GARBAGE: &[u8] = b"\x15\x03\x01 this is no HTTP\x00\xff\xfe\r\n\
    ]]>0123456789 :: garbage, as from a broken server or the wrong port\r\n\r\n";

/// Comes behind the end of a body, and of what Content-Length promised.
pub(crate) const SURPLUS: &[u8] = b"bytes that nobody announced";

/// A response that trickles comes in this many pieces, or in single bytes.
pub(crate) const TRICKLE_PIECES: u64 = 50;
pub(crate) const TRICKLE_PAUSE_NS: u64 = 10_000_000;

impl Later {
    /// Does to a response what the fault says. Its output begins with a head of this many bytes.
    pub fn spoil(&mut self, fault: Fault, head_bytes: usize) {
        let close = Next::Close { unread: false };
        match fault {
            Fault::ResetBefore => self.replace(b"", Next::Reset),
            Fault::ResetDuring => {
                self.begin_stream();
                self.shorten(self.output.left() / 2, Next::Reset);
            }
            Fault::ResetAfter => self.then = Next::Reset,
            Fault::CloseUnanswered => self.replace(b"", close),
            Fault::ShortBody => {
                self.begin_stream();
                let body_bytes = self.output.left().saturating_sub(head_bytes as u64);
                let kept_bytes = match body_bytes {
                    // A response without a body loses half of its head.
                    0 => head_bytes as u64 / 2,
                    _ => head_bytes as u64 + body_bytes / 2,
                };
                self.shorten(kept_bytes, close);
            }
            Fault::WrongLength => self.surplus = SURPLUS,
            Fault::Garbage => self.replace(GARBAGE, close),
            Fault::Trickle => {
                let bytes = self.output.left().div_ceil(TRICKLE_PIECES).max(1);
                self.pace = Pace::Pieces { bytes, pause_ns: TRICKLE_PAUSE_NS };
            }
        }
    }

    /// Instead of the response.
    fn replace(&mut self, text: &[u8], then: Next) {
        let mut output = Output::default();
        output.push_text(text);
        *self = Self::new(output, then);
    }

    /// The first bytes of the response only.
    fn shorten(&mut self, bytes: u64, then: Next) {
        let mut kept = Output::default();
        self.output.move_to(&mut kept, bytes);
        *self = Self::new(kept, then);
    }

    /// What a stream has ready, so that there is a body to cut.
    fn begin_stream(&mut self) {
        if let Some(streaming) = &mut self.stream {
            let _ = streaming.go_on(&mut self.output);
        }
    }
}
