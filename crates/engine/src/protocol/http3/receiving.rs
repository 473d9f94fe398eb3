//! Tells responses to their exchanges.

use ablaze_quic::client::{End, ResponseHead, Sink};
use ablaze_wire::http3::error::{ErrorCode, StreamFault};

use super::Http3;
use crate::protocol::streams::{GoAway, Responses};
use crate::walk::Walk;
use ablaze_model::failure::FailureKind;

impl<S: Walk> Sink for Responses<'_, Http3, S> {
    #[inline]
    fn head(&mut self, tag: u32, head: ResponseHead) {
        self.response_head(tag, head);
    }

    #[inline]
    fn data(&mut self, tag: u32, content: &[u8]) {
        self.content(tag, content);
    }

    #[inline]
    fn ended(&mut self, tag: u32, end: End) {
        if self.is_early(tag, end == End::Unprocessed && self.is_going_away()) {
            return;
        }
        match end {
            End::Complete => self.complete(tag),
            End::Unprocessed => {
                if !self.is_going_away() {
                    self.multiplexer.facts.resets.add(&ErrorCode::REQUEST_REJECTED.to_string(), 1);
                }
                self.unprocessed(tag);
            }
            End::Reset(code) => {
                let code = code.to_string();
                self.multiplexer.facts.resets.add(&code, 1);
                self.fail(tag, FailureKind::StreamReset, || {
                    format!("the server reset a stream with {code}")
                });
            }
            // The limit is the client's own.
            End::Fault(fault @ StreamFault::FieldsTooLarge) => {
                self.fail(tag, FailureKind::TooLarge, || fault.to_string());
            }
            End::Fault(fault) => {
                self.fail(tag, FailureKind::Http3Violated, || fault.to_string());
            }
        }
    }

    #[cold]
    fn request_cut(&mut self, tag: u32) {
        self.answered_early(tag);
    }

    fn interim(&mut self, tag: u32, _status: u16) {
        self.interim_head(tag);
    }

    fn wants_fields(&self, _tag: u32) -> bool {
        self.wants_them()
    }

    fn field(&mut self, _tag: u32, name: &[u8], value: &[u8]) {
        self.take_field(name, value);
    }

    fn goaway(&mut self, first_refused: u64) {
        if self.goes_away(GoAway { is_error: false, first_refused }) {
            self.multiplexer.facts.goaways += 1;
        }
    }
}
