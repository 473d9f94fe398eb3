//! What a walk is told of responses: heads in the form that HTTP/1 gives them, ends and failures.

use std::io::Write;

use super::{Multiplexer, Responses};
use crate::walk::{Answered, Walk};
use ablaze_model::failure::FailureKind;

impl<C: Multiplexer, S: Walk> Responses<'_, C, S> {
    /// The user of a place.
    fn user(&self, tag: u32) -> u32 {
        self.connection.user * self.exchanges.len() as u32 + tag
    }

    /// The head of the response to a request is complete.
    pub(super) fn tell_head(&mut self, tag: u32, status: u16) {
        self.told.clear();
        // Writing to memory does not fail.
        let _ = write!(self.told, "{} {status}\r\n", C::VERSION);
        self.told.extend_from_slice(&self.head);
        self.told.extend_from_slice(b"\r\n");
        let place = self.first_place + tag as usize;
        let template = self.exchanges[tag as usize].template;
        let user = self.user(tag);
        self.bodies.sink().head(user, place, template, status, self.told);
    }

    /// The response to a request is complete.
    pub(super) fn tell_answered(&mut self, tag: u32, body_bytes: u64, counts: bool) {
        let exchange = &self.exchanges[tag as usize];
        let answered = Answered {
            place: self.first_place + tag as usize,
            number: exchange.number,
            counts,
            total_ns: self.at.saturating_sub(exchange.started_ns),
            body_bytes,
            at_ns: self.at,
        };
        let (user, template) = (self.user(tag), exchange.template);
        self.bodies.sink().answered(user, template, answered);
    }

    /// There will be no response to a request.
    pub(super) fn tell_failed(&mut self, tag: u32, kind: FailureKind) {
        let (user, template) = (self.user(tag), self.exchanges[tag as usize].template);
        self.bodies.sink().failed(user, template, kind, self.at);
    }
}
