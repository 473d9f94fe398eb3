//! One connection's HTTP/1 state without any I/O: bytes in, responses out. Every I/O model drives
//! it the same way; see [`Next`] for what is asked of the model after each call.
//!
//! Here, requests are found in what was received. `answering` has them answered, `later` keeps what
//! of a response leaves later, `spoiling` makes faults, `bare` is for servers without HTTP.

mod answering;
mod bare;
mod later;
mod spoiling;

pub(crate) use spoiling::{GARBAGE, SURPLUS, TRICKLE_PAUSE_NS, TRICKLE_PIECES};

use std::mem;

use ablaze_wire::http1::request_head::{RequestFraming, RequestHead, RequestScan};

use crate::handler::{Handler, path_and_query};
use crate::http1::date::Date;
use crate::http1::known_head;
use crate::http1::output::Output;
use crate::http1::rendering::RequestBody;
use crate::http1::upload::Upload;
use crate::service::{Refused, Service};
use later::Later;

/// What the model has to do next, after it has written all output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read, and call [`Http1::receive`].
    Read,
    /// The same, but if nothing comes for this many nanoseconds, call [`Http1::proceed`]: it can be
    /// called at any time then, and does nothing if nothing is due.
    ReadFor(u64),
    /// Call [`Http1::proceed`]: more was received than has been answered.
    Proceed,
    /// Wait for this long, then call [`Http1::proceed`].
    Wait(u64),
    /// Close. With `unread`, more may have arrived than was read: close the sending side first
    /// and read on until the client closes too, or the reset that follows could destroy the
    /// response on its way (RFC 9112, 9.6).
    Close {
        /// Whether there may be unread bytes.
        unread: bool,
    },
    /// Close at once, with a reset: see [`crate::accepting::reset_on_close`].
    Reset,
}

/// Responses are given up to this many bytes before they are written, when requests come faster.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 256 * 1024;

/// Memory kept by an idle connection for the beginning of a request.
const KEPT_BYTES_MAX: usize = 4 * 1024;

/// One connection's state.
#[derive(Debug, Default)]
pub struct Http1 {
    /// Bytes that were received but not used, from `used` on.
    kept: Vec<u8>,
    used: usize,
    upload: Option<Box<Upload>>,
    /// What of a response is still to leave; before it has, nothing else is answered.
    later: Option<Box<Later>>,
    /// Requests answered, since they were last asked for, and on this connection.
    answered: u64,
    answered_ever: u64,
    /// Of those answered since then, how many met a fault.
    struck: u64,
    last: bool,
}

impl Http1 {
    /// Takes in received bytes and answers every request they complete, as far as the
    /// output may grow.
    #[inline]
    pub fn receive<H: Handler>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        if self.kept.is_empty() {
            let (used, next) = self.run(bytes, service, date, out);
            self.kept.extend_from_slice(&bytes[used..]);
            return next;
        }
        let head_may_end = self.upload.is_some() || bytes.contains(&b'\n');
        self.kept.extend_from_slice(bytes);
        // A head ends with a line; before that, looking again would find nothing new.
        if !head_may_end && self.kept.len() - self.used <= service.max_head_bytes {
            return Next::Read;
        }
        self.run_kept(service, date, out)
    }

    /// Goes on after [`Next::Proceed`] or [`Next::Wait`]. `out` is empty.
    pub fn proceed<H: Handler>(
        &mut self,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        debug_assert!(out.is_empty(), "the output was not written");
        if let Some(mut later) = self.later.take() {
            if let Some(next) = later.go_on(out) {
                self.later = Some(later);
                return next;
            }
            return match later.then {
                Next::Close { .. } => Next::Close { unread: !self.kept.is_empty() },
                Next::Read if !self.kept.is_empty() => Next::Proceed,
                then => then,
            };
        }
        self.run_kept(service, date, out)
    }

    /// Number of requests answered since the last call.
    #[inline]
    pub fn take_answered(&mut self) -> u64 {
        mem::take(&mut self.answered)
    }

    /// How many of them met a fault; `None`, as nearly always, if none did.
    #[inline]
    pub fn take_struck(&mut self) -> Option<u64> {
        (self.struck > 0).then(|| mem::take(&mut self.struck))
    }

    /// Whether no request is under way and no byte of one has come.
    pub fn is_idle(&self) -> bool {
        self.kept.is_empty() && self.upload.is_none() && self.later.is_none()
    }

    /// The next response is the last: the connection will be closed behind it.
    pub fn finish(&mut self) {
        self.last = true;
    }

    fn run_kept<H: Handler>(
        &mut self,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        let mut kept = mem::take(&mut self.kept);
        let (used, next) = self.run(&kept[self.used..], service, date, out);
        self.used += used;
        if self.used == kept.len() {
            self.used = 0;
            kept.clear();
            if kept.capacity() > KEPT_BYTES_MAX {
                kept = Vec::new();
            }
        } else if self.used >= KEPT_BYTES_MAX && self.used >= kept.len() / 2 {
            // Who sends pieces that each end within a request would have all of them kept. Moved when
            // at least half is used up, so that a long pipeline is not copied for each of its requests.
            kept.drain(..self.used);
            self.used = 0;
            if kept.capacity() > 4 * kept.len().max(KEPT_BYTES_MAX) {
                kept.shrink_to(KEPT_BYTES_MAX);
            }
        }
        self.kept = kept;
        next
    }

    /// Responses what `bytes` complete; returns how many bytes were used, and what comes next.
    #[inline]
    fn run<H: Handler>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> (usize, Next) {
        let mut at = 0;
        loop {
            if self.upload.is_none() {
                let head = match self.look_for_head(&bytes[at..], service) {
                    Ok(Some(head)) => head,
                    Ok(None) => return (at, Next::Read),
                    Err(why) => return (bytes.len(), self.refuse(why, service, date, out)),
                };
                let head_bytes = &bytes[at..at + head.len];
                at += head.len;
                let rest = &bytes[at..];
                let whole = match head.framing {
                    RequestFraming::None => Some(0),
                    RequestFraming::Length(bytes) => {
                        usize::try_from(bytes).ok().filter(|&bytes| bytes <= rest.len())
                    }
                    RequestFraming::Chunked => None,
                };
                if let Some(body_bytes) = whole {
                    let body = match wanted_body(&head, head_bytes, &rest[..body_bytes], service) {
                        Ok(body) => RequestBody::Lent(body),
                        Err(why) => return (bytes.len(), self.refuse(why, service, date, out)),
                    };
                    at += body_bytes;
                    let next = self.response(&head, head_bytes, body, service, date, out);
                    if let Some(next) = stop_at(next, bytes.len() - at, out) {
                        return (at, next);
                    }
                    continue;
                }
                if let Err(why) = self.begin_upload(head, head_bytes, rest, service, out) {
                    return (bytes.len(), self.refuse(why, service, date, out));
                }
            }
            let Some(upload) = &mut self.upload else { continue };
            match upload.feed(&bytes[at..]) {
                Ok((used, done)) => {
                    at += used;
                    if !done {
                        return (at, Next::Read);
                    }
                }
                Err(why) => return (bytes.len(), self.refuse(why, service, date, out)),
            }
            let Some(upload) = self.upload.take() else { continue };
            let Upload { head, head_bytes, body, .. } = *upload;
            let body = RequestBody::Owned(body);
            let next = self.response(&head, &head_bytes, body, service, date, out);
            if let Some(next) = stop_at(next, bytes.len() - at, out) {
                return (at, next);
            }
        }
    }

    #[inline]
    fn look_for_head<H>(
        &self,
        bytes: &[u8],
        service: &Service<H>,
    ) -> Result<Option<RequestHead>, Refused> {
        let too_long = |len: usize| len > service.max_head_bytes;
        match known_head::scan(bytes) {
            Ok(RequestScan::Complete(head)) if too_long(head.len) => Err(Refused::HeadTooLong),
            Ok(RequestScan::Complete(head)) => Ok(Some(head)),
            Ok(RequestScan::Incomplete) if too_long(bytes.len()) => Err(Refused::HeadTooLong),
            Ok(RequestScan::Incomplete) => Ok(None),
            Err(_) => Err(Refused::Malformed),
        }
    }

    /// The body is yet to come, or chunked.
    fn begin_upload<H: Handler>(
        &mut self,
        head: RequestHead,
        head_bytes: &[u8],
        rest: &[u8],
        service: &Service<H>,
        out: &mut Output,
    ) -> Result<(), Refused> {
        let (path, _) = path_and_query(&head_bytes[head.target.clone()]);
        let wanted = service.wants_body(head.method, path);
        if let RequestFraming::Length(bytes) = head.framing
            && wanted
            && bytes > service.max_body_bytes
        {
            return Err(Refused::BodyTooLong);
        }
        // A client that has begun to send the body does not wait for leave (RFC 9110, 10.1.1).
        if head.expect_continue && rest.is_empty() {
            out.push_text(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        let keep_bytes_max = wanted.then_some(service.max_body_bytes);
        self.upload = Some(Box::new(Upload::new(head, head_bytes, keep_bytes_max)));
        Ok(())
    }
}

/// What the handler gets of a body that arrived with its head.
#[inline]
fn wanted_body<'a, H: Handler>(
    head: &RequestHead,
    head_bytes: &[u8],
    body: &'a [u8],
    service: &Service<H>,
) -> Result<&'a [u8], Refused> {
    if body.is_empty() {
        return Ok(body);
    }
    let (path, _) = path_and_query(&head_bytes[head.target.clone()]);
    match service.wants_body(head.method, path) {
        false => Ok(b""),
        true if body.len() as u64 > service.max_body_bytes => Err(Refused::BodyTooLong),
        true => Ok(body),
    }
}

/// Whether the responses stop here for now.
#[inline]
fn stop_at(next: Next, unused_bytes: usize, out: &Output) -> Option<Next> {
    match next {
        Next::Read if unused_bytes > 0 && out.left() >= OUTPUT_BYTES_MAX => Some(Next::Proceed),
        Next::Read if unused_bytes > 0 => None,
        Next::Close { unread } => Some(Next::Close { unread: unread || unused_bytes > 0 }),
        next => Some(next),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::options::Options;
    use crate::registry::Registry;
    use crate::routes::Routes;

    /// Pieces that each end within a request leave nothing of those before.
    #[test]
    fn what_was_answered_is_not_kept() {
        let options = Options::default();
        let routes = Routes::new(&options);
        let service = Service::new(routes, &options, None, Arc::new(Registry::default()));
        let (mut http1, mut out, date) = (Http1::default(), Output::default(), Date::now());
        let request = b"GET / HTTP/1.1\r\nHost: t\r\n\r\nG";
        for number in 0..10_000 {
            let piece = if number == 0 { &request[..] } else { &request[1..] };
            assert_eq!(http1.receive(piece, &service, &date, &mut out), Next::Read);
            assert_eq!(http1.take_answered(), 1);
            out = Output::default();
            assert!(http1.kept.len() <= 2 * KEPT_BYTES_MAX, "{number}: {}", http1.kept.len());
        }
        assert!(http1.kept.capacity() <= 8 * KEPT_BYTES_MAX, "{}", http1.kept.capacity());
    }
}
