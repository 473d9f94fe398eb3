//! Faults, as they show in HTTP/3. What ends a connection in HTTP/1 ends a stream here, where there is a way to end one.

use ablaze_quic::server::Connection;
use ablaze_wire::http3::error::ErrorCode;
use bytes::Bytes;

use super::answering::Rendered;
use super::streams::{FAULT, Reply, Then};
use super::{Around, Http3};
use crate::conditions::Fault;
use crate::handler::{Chunks, Flow, Handler};
use crate::http1::output::Output;
use crate::http1::protocol::{GARBAGE, SURPLUS, TRICKLE_PAUSE_NS, TRICKLE_PIECES};

impl<H: Handler> Http3<H> {
    /// Does to a response what the fault says; what is to leave of it.
    pub(super) fn spoil(
        &mut self,
        stream: u64,
        fault: Fault,
        mut rendered: Rendered,
        connection: &mut Connection,
        around: &mut Around<H>,
    ) -> Option<Reply> {
        let mut then = Then::End;
        match fault {
            Fault::ResetBefore => {
                self.streams.close(stream);
                connection.reset(stream, FAULT);
                return None;
            }
            Fault::CloseUnanswered => {
                self.streams.close(stream);
                connection.close(ErrorCode::NO_ERROR);
                return None;
            }
            Fault::Garbage => {
                return Some(Reply::of_frames(Bytes::from_static(GARBAGE), Output::default()));
            }
            Fault::ResetDuring => {
                rendered.halve();
                then = Then::Reset;
            }
            Fault::ResetAfter => then = Then::EndConnection,
            Fault::ShortBody => rendered.halve(),
            Fault::WrongLength => {
                rendered.fill();
                rendered.body.push_text(SURPLUS);
            }
            Fault::Trickle => {}
        }
        let mut leaving = rendered.into_leaving(around);
        leaving.then = then;
        if fault == Fault::Trickle {
            let bytes = leaving.frames.left().div_ceil(TRICKLE_PIECES).max(1);
            leaving.pace = Some((bytes, TRICKLE_PAUSE_NS));
        }
        Some(leaving)
    }
}

impl Rendered {
    /// The first half of the body only.
    fn halve(&mut self) {
        self.fill();
        self.source = None;
        let mut kept = Output::default();
        self.body.move_to(&mut kept, self.body.left() / 2);
        self.body = kept;
    }

    /// Has the body begin, if it is made as it leaves.
    fn fill(&mut self) {
        let Some(source) = &mut self.source else { return };
        if let Flow::End = source.next(&mut Chunks::new(&mut self.body, false)) {
            self.source = None;
        }
    }
}
