//! What a connection speaks: the one thing that every I/O model drives, without any I/O of its
//! own. A model hands what it read to [`Protocol::receive`], writes the output, and does what
//! [`Next`] says; it never learns whether there is TLS around the protocol. Plain HTTP/1 pays one
//! comparison for that: the choice is inlined, and the rest is called.

use ablaze_wire::http2::frame::PREFACE;

use crate::conditions::ResponseKind;
use crate::counters::Counters;
use crate::handler::Handler;
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::protocol::Http1;
use crate::http2::Http2;
use crate::service::Service;
use crate::tls::session::TlsSession;

pub use crate::http1::protocol::Next;

/// One connection's state, in the protocol that it speaks.
#[derive(Debug)]
pub enum Protocol {
    /// HTTP/1, as it is on the wire.
    Http1(Http1),
    /// No HTTP: see [`ResponseKind`].
    Bare(Http1),
    /// HTTP/2.
    Http2(Box<Http2>),
    /// HTTP/1 or HTTP/2: the first bytes say which, and these are those that came.
    Undecided(Vec<u8>),
    /// TLS, and another protocol in it.
    Tls(Box<TlsSession>),
}

impl Protocol {
    /// For a connection that was just accepted.
    pub fn new<H>(service: &Service<H>) -> Self {
        match service.tls.as_ref().map(TlsSession::new) {
            Some(session) => Self::Tls(Box::new(session)),
            None if service.http2 => Self::Undecided(Vec::new()),
            None => Self::within(service),
        }
    }

    /// What is spoken on a plain connection, or inside of TLS.
    pub(crate) fn within<H>(service: &Service<H>) -> Self {
        match service.response {
            ResponseKind::Http => Self::Http1(Http1::default()),
            ResponseKind::Echo | ResponseKind::None => Self::Bare(Http1::default()),
        }
    }

    /// Takes in received bytes and answers every request they complete, as far as the
    /// output may grow.
    #[inline(always)]
    pub fn receive<H: Handler>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        match self {
            Self::Http1(http1) => http1.receive(bytes, service, date, out),
            Self::Bare(bare) => bare.receive_bare(bytes, service, out),
            Self::Http2(http2) => http2.receive(bytes, service, date, out),
            Self::Tls(session) => session.receive(bytes, service, date, out),
            Self::Undecided(_) => self.decide(bytes, service, date, out),
        }
    }

    /// Goes on after [`Next::Proceed`] or [`Next::Wait`]. `out` is empty.
    #[inline]
    pub fn proceed<H: Handler>(
        &mut self,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        match self {
            Self::Http1(http1) | Self::Bare(http1) => http1.proceed(service, date, out),
            Self::Http2(http2) => http2.proceed(out),
            Self::Undecided(_) => Next::Read,
            Self::Tls(session) => session.proceed(service, date, out),
        }
    }

    /// Counts what was done since the last call.
    #[inline(always)]
    pub fn count_into(&mut self, counters: &Counters) {
        match self {
            Self::Http1(http1) | Self::Bare(http1) => {
                counters.requests.add(http1.take_answered());
                if let Some(struck) = http1.take_struck() {
                    counters.faults.add(struck);
                }
            }
            Self::Http2(http2) => {
                counters.requests.add(http2.take_answered());
                counters.faults.add(http2.take_struck());
            }
            Self::Undecided(_) => {}
            Self::Tls(session) => session.count_into(counters),
        }
    }

    /// Whether no request is under way and no byte of one has come.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        match self {
            Self::Http1(http1) | Self::Bare(http1) => http1.is_idle(),
            Self::Http2(http2) => http2.is_idle(),
            Self::Undecided(kept) => kept.is_empty(),
            Self::Tls(session) => session.is_idle(),
        }
    }

    /// The next response is the last: the connection will be closed behind it.
    pub fn finish(&mut self) {
        match self {
            Self::Http1(http1) | Self::Bare(http1) => http1.finish(),
            Self::Http2(http2) => http2.finish(),
            // It has nothing under way that could be the last.
            Self::Undecided(kept) if !kept.is_empty() => {}
            Self::Undecided(_) => {
                let mut http1 = Http1::default();
                http1.finish();
                *self = Self::Http1(http1);
            }
            Self::Tls(session) => session.finish(),
        }
    }

    /// The connection is closed though nothing is under way: says what is to be said then.
    pub fn say_goodbye(&mut self, out: &mut Output) {
        match self {
            Self::Http1(_) | Self::Bare(_) | Self::Undecided(_) => {}
            Self::Http2(http2) => http2.say_goodbye(out),
            Self::Tls(session) => session.end(out),
        }
    }

    /// Looks at the first bytes of a connection: a client of HTTP/2 begins with what no client of
    /// HTTP/1 says (RFC 9113, 3.4).
    #[cold]
    fn decide<H: Handler>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        let Self::Undecided(kept) = self else { return Next::Read };
        kept.extend_from_slice(bytes);
        let known = kept.len().min(PREFACE.len());
        if kept[..known] == PREFACE[..known] && known < PREFACE.len() {
            return Next::Read;
        }
        let first = std::mem::take(kept);
        *self = match first[..known] == PREFACE[..known] {
            true => Self::Http2(Box::default()),
            false => Self::Http1(Http1::default()),
        };
        self.receive(&first, service, date, out)
    }
}
