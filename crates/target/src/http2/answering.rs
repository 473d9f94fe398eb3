//! From a complete request to its response, under the server's conditions.

use std::ops::Range;

use ablaze_wire::http2::error::ErrorCode;
use ablaze_wire::http2::frame::{flag, kind, write_block, write_head};

use super::Core;
use super::receiving::Receiving;
use super::streams::{Reply as Leaving, Stream, Then};
use crate::conditions::circumstances::Met;
use crate::handler::{Handler, Method, Reply, Request, Response, path_and_query};
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::protocol::OUTPUT_BYTES_MAX;
use crate::http1::rendering::{Rendering, RequestBody, Rest};
use crate::http1::response::{FixedResponse, Persistence};
use crate::service::{Refused, Service};

/// A head of this length fits into one frame, however it is coded.
const HEAD_BYTES_MAX: usize = 8 * 1024;

impl<H: Handler> Receiving<'_, H> {
    /// Responses a complete request.
    #[inline]
    pub(super) fn response(
        &mut self,
        id: u32,
        method: Method,
        head: &[u8],
        target: Range<usize>,
        body: RequestBody<'_>,
    ) {
        let Self { core, service, date, out } = self;
        core.count(service);
        let (path, query) = path_and_query(&head[target]);
        let lent = body.bytes();
        let request = Request { method, path, query, head, body: lent };
        let (Reply { response, delay_ns }, met) = match service.own_page(path) {
            Some(reply) => (reply, Some(Met::default())),
            None => (service.handler.reply(&request), None),
        };
        let plain = delay_ns == 0 && (met.is_some() || service.circumstances.are_none());
        if plain
            && let Response::Fixed(fixed) = &response
            && core.send_fixed(id, fixed, method == Method::Head, date, out)
        {
            return;
        }
        let rendering = rendering(service, method == Method::Head, date);
        let mut rendered = Output::default();
        let facts = rendering.push(response, lent.len(), &mut rendered);
        let mut source = None;
        match facts.rest {
            Rest::Nothing => {}
            Rest::BodyOfRequest => rendering.give_back(body, &mut rendered),
            Rest::Stream(stream) => source = Some(stream),
        }
        let leaving = Leaving::new(rendered, facts.head_bytes, source);
        let met = met.unwrap_or_else(|| service.circumstances.meet(delay_ns));
        core.leave(id, leaving, met, out);
    }

    /// Responses that a request is refused; what is still to come of it is of no use.
    #[cold]
    pub(super) fn refuse(&mut self, id: u32, why: Refused) {
        let Self { core, service, date, out } = self;
        core.count(service);
        let mut rendered = Output::default();
        let rendering = rendering(service, false, date);
        let head_bytes = service.refusal(why).push(&rendering, &mut rendered);
        let mut leaving = Leaving::new(rendered, head_bytes, None);
        // Without an error, so that the response is taken (RFC 9113, 8.1).
        leaving.then = Then::Reset(ErrorCode::NO_ERROR);
        if let Some(stream) = core.streams.get(id) {
            stream.upload = None;
        }
        core.leave(id, leaving, Met::default(), out);
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

impl Leaving {
    /// What was rendered, with a head of this many bytes.
    fn new(
        mut rendered: Output,
        head_bytes: usize,
        source: Option<Box<dyn crate::handler::Stream>>,
    ) -> Self {
        let mut head = Output::default();
        rendered.move_to(&mut head, head_bytes as u64);
        let head = head.as_text().map(<[u8]>::to_vec);
        Self {
            head,
            body: rendered,
            source,
            pace: None,
            pause_ns: 0,
            then: Then::End,
            ready: false,
            waits: false,
        }
    }
}

impl Core {
    /// Counts a request, and takes no further one behind the last.
    #[inline]
    fn count<H>(&mut self, service: &Service<H>) {
        self.answered += 1;
        self.answered_ever += 1;
        self.last |= !service.keep_alive || self.answered_ever >= service.max_requests;
    }

    /// Adds a response that was built before, whole, if it can leave now.
    #[inline]
    fn send_fixed(
        &mut self,
        id: u32,
        fixed: &FixedResponse,
        head_only: bool,
        date: &Date,
        out: &mut Output,
    ) -> bool {
        let Some(body) = fixed.inline_body() else { return false };
        if fixed.head_bytes() > HEAD_BYTES_MAX {
            return false;
        }
        let body = if head_only { &[][..] } else { body };
        let bytes = body.len() as i64;
        let window = match self.streams.is_empty() {
            true => self.peer.stream_window_bytes.into(),
            false => {
                self.streams.get(id).map_or(self.peer.stream_window_bytes.into(), |s| s.window)
            }
        };
        let fits = bytes <= self.send_window && bytes <= window && out.left() < OUTPUT_BYTES_MAX;
        if !fits {
            return false;
        }
        let block = self.encoder.fixed(fixed, date);
        let last = if body.is_empty() { flag::END_STREAM } else { 0 };
        out.push_with(|text| {
            let flags = flag::END_HEADERS | last;
            write_head(text, kind::HEADERS, flags, id, block.len() as u32);
            text.extend_from_slice(block);
            if !body.is_empty() {
                write_head(text, kind::DATA, flag::END_STREAM, id, body.len() as u32);
                text.extend_from_slice(body);
            }
        });
        self.send_window -= bytes;
        self.floods.answered();
        if !self.streams.is_empty() {
            self.streams.close(id);
        }
        true
    }

    /// Lets a response leave as its circumstances have it.
    #[inline(never)]
    fn leave(&mut self, id: u32, mut leaving: Leaving, met: Met, out: &mut Output) {
        if let Some(fault) = met.fault {
            self.struck += 1;
            if !self.spoil(id, fault, &mut leaving, out) {
                return;
            }
        }
        if self.streams.get(id).is_none() {
            self.open(id);
        }
        if let Some(stream) = self.streams.get(id) {
            stream.reply = Some(Box::new(leaving));
        }
        match met.delay_ns {
            0 => self.begin_reply(id, out),
            delay_ns => {
                let now_ns = ablaze_sys::clock::monotonic_ns();
                self.streams.wait(id, now_ns.saturating_add(delay_ns));
            }
        }
    }

    /// The head of a response leaves; its body may go on.
    pub(super) fn begin_reply(&mut self, id: u32, out: &mut Output) {
        let Some(Stream { reply: Some(reply), .. }) = self.streams.get(id) else { return };
        let Some(head) = reply.head.take() else { return self.streams.make_ready(id) };
        let is_all = reply.body.is_empty() && reply.source.is_none() && reply.then == Then::End;
        let mut block = Vec::new();
        self.encoder.encode(&head, &mut block);
        out.push_with(|text| write_block(text, id, is_all, &block));
        if is_all {
            self.floods.answered();
            self.streams.close(id);
        } else {
            self.streams.make_ready(id);
        }
    }

    /// Leave to send a body (RFC 9110, 15.2.1).
    pub(super) fn say_continue(&mut self, id: u32, out: &mut Output) {
        let mut block = Vec::new();
        self.encoder.encode(b"HTTP/1.1 100 Continue\r\n\r\n", &mut block);
        out.push_with(|text| write_block(text, id, false, &block));
    }
}
