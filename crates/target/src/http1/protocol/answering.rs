//! From a complete request to the bytes of its response, under the server's conditions.

use ablaze_wire::http1::request_head::{Method, RequestHead};

use crate::conditions::circumstances::Met;
use crate::handler::{Handler, Reply, Request, path_and_query};
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::protocol::later::{Later, Streaming};
use crate::http1::protocol::{Http1, Next};
use crate::http1::rendering::{Rendering, RequestBody, Rest};
use crate::http1::response::Persistence;
use crate::service::{Refused, Service};

impl Http1 {
    /// Responses a complete request. What comes next is [`Next::Read`] if nothing speaks against
    /// the next request.
    #[inline]
    pub(super) fn response<H: Handler>(
        &mut self,
        head: &RequestHead,
        head_bytes: &[u8],
        body: RequestBody<'_>,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        let may_keep = self.count(service) && head.keep_alive;
        let (path, query) = path_and_query(&head_bytes[head.target.clone()]);
        let lent = body.bytes();
        let request = Request { method: head.method, path, query, head: head_bytes, body: lent };
        let (Reply { response, delay_ns }, met) = match service.own_page(path) {
            Some(reply) => (reply, Some(Met::default())),
            None => (service.handler.reply(&request), None),
        };
        // Without chunks, only the end of the connection can end a stream.
        let keep = may_keep && !(head.minor_version == 0 && response.is_stream());
        let rendering = Rendering {
            persistence: match (keep, head.minor_version) {
                (false, 0) if !service.tells_http10_of_close => Persistence::Implied,
                (false, _) => Persistence::Close,
                (true, 0) => Persistence::Announced,
                (true, _) => Persistence::Implied,
            },
            head_only: head.method == Method::Head,
            split: service.split,
            chunked: head.minor_version > 0,
            server_fields: &service.server_fields,
            head_bytes: service.head_bytes,
            date,
        };
        let then = if keep { Next::Read } else { Next::Close { unread: false } };
        let plain = delay_ns == 0
            && !response.is_stream()
            && (met.is_some() || service.circumstances.are_none());
        let mut later = (!plain).then(|| Later::new(Output::default(), then));
        let to = match &mut later {
            Some(later) => &mut later.output,
            None => &mut *out,
        };
        let rendered = rendering.push(response, lent.len(), to);
        let mut streaming = None;
        match rendered.rest {
            Rest::Nothing => {}
            Rest::BodyOfRequest => rendering.give_back(body, to),
            Rest::Stream(stream) => {
                streaming = Some(Streaming { stream, chunked: rendering.chunked });
            }
        }
        let Some(mut later) = later else { return then };
        later.stream = streaming;
        let met = met.unwrap_or_else(|| service.circumstances.meet(delay_ns));
        self.leave(later, met, rendered.head_bytes, out)
    }

    /// Lets a response leave as its circumstances have it.
    #[inline(never)]
    pub(super) fn leave(
        &mut self,
        mut later: Later,
        met: Met,
        head_bytes: usize,
        out: &mut Output,
    ) -> Next {
        if let Some(fault) = met.fault {
            self.struck += 1;
            later.spoil(fault, head_bytes);
        }
        let next = match met.delay_ns {
            0 => later.go_on(out),
            delay_ns => Some(Next::Wait(delay_ns)),
        };
        match next {
            None => later.then,
            Some(next) => {
                self.later = Some(Box::new(later));
                next
            }
        }
    }

    /// Counts a request; returns whether another may follow on this connection.
    #[inline]
    pub(super) fn count<H>(&mut self, service: &Service<H>) -> bool {
        self.answered += 1;
        self.answered_ever += 1;
        service.keep_alive && !self.last && self.answered_ever < service.max_requests
    }

    /// Responses that a request is refused, and closes.
    #[cold]
    pub(crate) fn refuse<H: Handler>(
        &mut self,
        why: Refused,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        self.count(service);
        self.upload = None;
        let rendering = Rendering {
            persistence: Persistence::Close,
            head_only: false,
            split: service.split,
            chunked: false,
            server_fields: &service.server_fields,
            head_bytes: service.head_bytes,
            date,
        };
        service.refusal(why).push(&rendering, out);
        Next::Close { unread: true }
    }
}
