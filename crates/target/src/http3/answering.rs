//! From a complete request to its response, under the server's conditions.

use std::ops::Range;

use ablaze_quic::server::Connection;
use ablaze_wire::http3::frame::{kind, write_head};
use bytes::Bytes;

use super::streams::{Reply as Leaving, Then};
use super::{Around, Http3};
use crate::conditions::circumstances::Met;
use crate::handler::{Handler, Method, Reply, Request, Response, Stream, path_and_query};
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::rendering::{Rendering, RequestBody, Rest};
use crate::http1::response::Persistence;
use crate::service::{Refused, Service};

/// A response in the form of HTTP/1, its head apart.
pub(super) struct Rendered {
    head: Vec<u8>,
    pub body: Output,
    pub source: Option<Box<dyn Stream>>,
}

impl<H: Handler> Http3<H> {
    /// Responds to a complete request.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn respond(
        &mut self,
        stream: u64,
        method: Method,
        head: &[u8],
        target: Range<usize>,
        body: RequestBody<'_>,
        connection: &mut Connection,
        around: &mut Around<H>,
        now_ns: u64,
    ) {
        let service = around.service.clone();
        self.count(around);
        let (path, query) = path_and_query(&head[target]);
        let lent = body.bytes();
        let request = Request { method, path, query, head, body: lent };
        let (Reply { response, delay_ns }, met) = match service.own_page(path) {
            Some(reply) => (reply, Some(Met::default())),
            None => (service.handler.reply(&request), None),
        };
        let met = met.unwrap_or_else(|| service.circumstances.meet(delay_ns));
        if let Response::Fixed(fixed) = &response
            && met.fault.is_none()
            && let Some(frames) = around.encoder.fixed(fixed, method == Method::Head, &around.date)
        {
            let leaving = Leaving::of_frames(frames, Output::default());
            return self.leave(stream, leaving, met.delay_ns, connection, now_ns);
        }
        let rendering = rendering(&service, method == Method::Head, &around.date);
        let mut out = Output::default();
        let facts = rendering.push(response, lent.len(), &mut out);
        let mut source = None;
        match facts.rest {
            Rest::Nothing => {}
            Rest::BodyOfRequest => rendering.give_back(body, &mut out),
            Rest::Stream(stream) => source = Some(stream),
        }
        let rendered = Rendered::new(out, facts.head_bytes, source);
        let Some(fault) = met.fault else {
            let leaving = rendered.into_leaving(around);
            return self.leave(stream, leaving, met.delay_ns, connection, now_ns);
        };
        around.counters.faults.one();
        if let Some(leaving) = self.spoil(stream, fault, rendered, connection, around) {
            self.leave(stream, leaving, met.delay_ns, connection, now_ns);
        }
    }

    /// Responds that a request is refused; what is still to come of it is of no use.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        stream: u64,
        why: Refused,
        connection: &mut Connection,
        around: &mut Around<H>,
        now_ns: u64,
    ) {
        let service = around.service.clone();
        self.count(around);
        let mut out = Output::default();
        let rendering = rendering(&service, false, &around.date);
        let head_bytes = service.refusal(why).push(&rendering, &mut out);
        let mut leaving = Rendered::new(out, head_bytes, None).into_leaving(around);
        leaving.then = Then::Stop;
        self.leave(stream, leaving, 0, connection, now_ns);
    }

    /// Leave to send a body (RFC 9110, 15.2.1).
    pub(super) fn say_continue(
        &mut self,
        stream: u64,
        connection: &mut Connection,
        around: &mut Around<H>,
    ) {
        let mut frames = Vec::new();
        around.encoder.encode(b"HTTP/1.1 100 Continue\r\n\r\n", &mut frames);
        let mut frames = Bytes::from(frames);
        // What has no room now is said before anything else: what follows a part of a frame would be its content (RFC 9114,
        // 7.1).
        if connection.send(stream, &mut frames) {
            self.streams.continues(stream, frames);
        }
    }

    /// Counts a request, and takes no further one behind the last.
    fn count(&mut self, around: &Around<H>) {
        around.counters.requests.one();
        self.floods.answered();
        self.answered_ever += 1;
        let Service { keep_alive, max_requests, .. } = &*around.service;
        self.last |= !keep_alive || self.answered_ever >= *max_requests;
    }

    /// Lets a response leave when its time has come.
    fn leave(
        &mut self,
        stream: u64,
        leaving: Leaving,
        delay_ns: u64,
        connection: &mut Connection,
        now_ns: u64,
    ) {
        self.streams.reply(stream, leaving);
        match delay_ns {
            0 => self.advance(stream, connection, now_ns),
            delay_ns => {
                let now_ns = ablaze_sys::clock::monotonic_ns();
                self.streams.wait(stream, now_ns.saturating_add(delay_ns));
            }
        }
    }
}

/// As over HTTP/1, but for what only that knows: chunks, and words about the connection.
fn rendering<'a, H>(service: &'a Service<H>, head_only: bool, date: &'a Date) -> Rendering<'a> {
    Rendering {
        persistence: Persistence::Implied,
        head_only,
        split: false,
        chunked: false,
        server_fields: &service.server_fields,
        head_bytes: service.head_bytes,
        date,
    }
}

impl Rendered {
    fn new(mut body: Output, head_bytes: usize, source: Option<Box<dyn Stream>>) -> Self {
        let mut head = Output::default();
        body.move_to(&mut head, head_bytes as u64);
        let head = head.as_text().map(<[u8]>::to_vec).unwrap_or_default();
        Self { head, body, source }
    }

    /// The same in frames.
    pub(super) fn into_leaving<H>(self, around: &mut Around<H>) -> Leaving {
        let Self { head, mut body, source } = self;
        let mut frames = Output::default();
        frames.push_with(|text| {
            around.encoder.encode(&head, text);
            if !body.is_empty() {
                write_head(text, kind::DATA, body.left());
            }
        });
        body.move_to(&mut frames, u64::MAX);
        Leaving { source, ..Leaving::of_frames(Bytes::new(), frames) }
    }
}

impl Leaving {
    /// These frames, and nothing behind them.
    pub(super) fn of_frames(first: Bytes, frames: Output) -> Self {
        Self { first, frames, source: None, pace: None, pause_ns: 0, then: Then::End }
    }
}
