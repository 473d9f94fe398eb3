//! Faults, as they show in HTTP/2. What ends a connection in HTTP/1 ends a stream here, where
//! there is a way to end one; the others on the connection go on.

use ablaze_wire::http2::error::ErrorCode;

use super::Core;
use super::streams::{Reply, Then};
use crate::conditions::Fault;
use crate::http1::output::Output;
use crate::http1::protocol::{GARBAGE, SURPLUS, TRICKLE_PAUSE_NS, TRICKLE_PIECES};
use crate::protocol::Next;

impl Core {
    /// Does to a response what the fault says; whether it is to leave.
    pub(super) fn spoil(
        &mut self,
        id: u32,
        fault: Fault,
        reply: &mut Reply,
        out: &mut Output,
    ) -> bool {
        match fault {
            Fault::ResetBefore => {
                // It is over by our doing, as if it had been answered.
                self.floods.answered();
                self.reset(id, ErrorCode::INTERNAL_ERROR, out);
                return false;
            }
            Fault::CloseUnanswered => {
                self.end = Some(Next::Close { unread: false });
                return false;
            }
            Fault::Garbage => {
                out.push_text(GARBAGE);
                self.end = Some(Next::Close { unread: false });
                return false;
            }
            Fault::ResetDuring => {
                reply.halve();
                reply.then = Then::Reset(ErrorCode::INTERNAL_ERROR);
            }
            Fault::ResetAfter => reply.then = Then::ResetConnection,
            Fault::ShortBody => reply.halve(),
            Fault::WrongLength => {
                reply.fill();
                reply.body.push_text(SURPLUS);
            }
            Fault::Trickle => {
                let bytes = reply.body.left().div_ceil(TRICKLE_PIECES).max(1);
                reply.pace = Some((bytes, TRICKLE_PAUSE_NS));
            }
        }
        true
    }
}

impl Reply {
    /// The first half of the body only.
    fn halve(&mut self) {
        self.fill();
        self.source = None;
        let mut kept = Output::default();
        self.body.move_to(&mut kept, self.body.left() / 2);
        self.body = kept;
    }
}
