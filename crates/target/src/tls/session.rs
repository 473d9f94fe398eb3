//! One TLS connection without any I/O: records in, records out, and a protocol inside that sees
//! only what was said. It drives the protocol as a model would, and looks like one to the model.
//!
//! No more is decrypted than the protocol can answer, and no more is encrypted at once than a
//! socket takes: the rest waits, as records or as output, for [`TlsSession::proceed`].

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::{Error, HandshakeKind};

use super::received::Received;
use super::sealing::{push_encoded, seal, seal_end};
use crate::counters::Counters;
use crate::handler::Handler;
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::protocol::{Http1, OUTPUT_BYTES_MAX};
use crate::protocol::{Next, Protocol};
use crate::service::{Refused, Service};

thread_local! {
    /// What a connection needs while it is busy. It is never lent beyond a call.
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

#[derive(Debug, Default)]
struct Buffers {
    records: Vec<u8>,
    plain: Output,
}

/// One connection's state.
pub struct TlsSession {
    tls: UnbufferedServerConnection,
    /// What is spoken inside, once the handshake is done.
    inner: Option<Protocol>,
    received: Received,
    /// What the protocol said and is not in records yet.
    plain: Option<Box<Output>>,
    /// What the protocol asked for last.
    next: Next,
    /// It wants to be called while it reads, too.
    listens: bool,
    /// Bytes have come.
    begun: bool,
    /// It has failed: rustls is not asked again.
    broken: bool,
    /// The next response is the last.
    last: bool,
    /// To be counted.
    handshake: Option<HandshakeKind>,
    failed: bool,
}

/// What the next record, or the lack of one, brought.
enum Step {
    /// There may be more.
    GoOn,
    /// The handshake has been done.
    Established,
    /// The protocol has been asked, and wants this.
    Asked(Next),
    /// Nothing more can be read.
    Read,
    /// The client has said that it ends.
    PeerClosed,
    /// This is no TLS, or not one that we speak.
    Failed(Error),
}

impl TlsSession {
    /// For a connection that was just accepted.
    pub fn new(config: &Arc<ServerConfig>) -> Self {
        let tls = UnbufferedServerConnection::new(config.clone())
            .expect("a connection was made of this configuration before the server started");
        Self {
            tls,
            inner: None,
            received: Received::default(),
            plain: None,
            next: Next::Read,
            listens: false,
            begun: false,
            broken: false,
            last: false,
            handshake: None,
            failed: false,
        }
    }

    /// Takes in bytes that were received; as [`Protocol::receive`].
    #[inline(never)]
    pub fn receive<H: Handler>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        if !mem::replace(&mut self.begun, true) && is_plain_http(bytes) {
            return self.refuse_plain_http(service, date, out);
        }
        let mut buffers = BUFFERS.take();
        self.received.extend(bytes, &mut buffers.records);
        let next = self.read(None, service, date, &mut buffers.plain, out);
        self.hand_over(next, buffers, out)
    }

    /// Goes on; as [`Protocol::proceed`].
    pub fn proceed<H: Handler>(
        &mut self,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        let mut buffers = BUFFERS.take();
        let mut next = mem::replace(&mut self.next, Next::Read);
        if let Some(plain) = &mut self.plain {
            // It has to leave first.
            mem::swap(&mut **plain, &mut buffers.plain);
        } else {
            let due = matches!(next, Next::Proceed | Next::Wait(_) | Next::ReadFor(_));
            if due && let Some(inner) = &mut self.inner {
                next = inner.proceed(service, date, &mut buffers.plain);
            }
            if matches!(next, Next::Read | Next::ReadFor(_)) && self.received.has_record() {
                next = self.read(Some(next), service, date, &mut buffers.plain, out);
            }
        }
        self.hand_over(next, buffers, out)
    }

    /// Counts what was done since the last call.
    pub fn count_into(&mut self, counters: &Counters) {
        if let Some(inner) = &mut self.inner {
            inner.count_into(counters);
        }
        match self.handshake.take() {
            None => {}
            Some(HandshakeKind::Resumed) => counters.tls_resumptions.one(),
            Some(_) => counters.tls_handshakes.one(),
        }
        if mem::take(&mut self.failed) {
            counters.tls_failures.one();
        }
    }

    /// Whether no request is under way and no byte of one has come, nor of a handshake.
    pub fn is_idle(&self) -> bool {
        match &self.inner {
            None => !self.begun,
            Some(inner) => self.received.is_empty() && self.plain.is_none() && inner.is_idle(),
        }
    }

    /// The next response is the last.
    pub fn finish(&mut self) {
        self.last = true;
        if let Some(inner) = &mut self.inner {
            inner.finish();
        }
    }

    /// The connection is closed though nothing is under way; as [`Protocol::say_goodbye`].
    pub fn end(&mut self, out: &mut Output) {
        let Some(inner) = &mut self.inner else { return };
        let mut plain = Output::default();
        inner.say_goodbye(&mut plain);
        let shown = self.received.shown();
        if !self.broken && seal(&mut self.tls, shown, &mut plain, out).is_ok() {
            self.say_goodbye(out);
        }
    }

    /// Reads records until the protocol has to be waited for, or there are none. `timeout` is what
    /// the protocol has asked for already.
    fn read<H: Handler>(
        &mut self,
        mut timeout: Option<Next>,
        service: &Service<H>,
        date: &Date,
        plain: &mut Output,
        out: &mut Output,
    ) -> Next {
        let mut used = 0;
        let mut visible = self.received.show_next();
        let next = loop {
            let (discard, step) = self.step(used..visible, service, date, plain, out);
            used += discard;
            match step {
                Step::GoOn => {}
                Step::Established => self.establish(service),
                // Responses leave before there are too many of them.
                Step::Asked(Next::Read | Next::ReadFor(_)) if plain.left() >= OUTPUT_BYTES_MAX => {
                    break Next::Proceed;
                }
                Step::Asked(asked @ (Next::Read | Next::ReadFor(_))) => timeout = Some(asked),
                Step::Asked(next) => break next,
                Step::Read if visible < self.received.len() => visible = self.received.show_next(),
                Step::Read => break timeout.unwrap_or_else(|| self.ask(service, date, plain)),
                Step::PeerClosed => break Next::Close { unread: false },
                Step::Failed(why) => {
                    plain.clear();
                    self.fail(&why, used..visible, out);
                    // After an alert of the client's, it has nothing to wait for.
                    break Next::Close { unread: !matches!(why, Error::AlertReceived(_)) };
                }
            }
        };
        // What comes next in full is read when the protocol wants it.
        self.received.discard(used);
        next
    }

    /// What the protocol waits for when nothing came for it.
    fn ask<H: Handler>(&mut self, service: &Service<H>, date: &Date, plain: &mut Output) -> Next {
        match &mut self.inner {
            Some(inner) if mem::take(&mut self.listens) && plain.is_empty() => {
                inner.proceed(service, date, plain)
            }
            _ => Next::Read,
        }
    }

    /// Looks at the next of these bytes; returns how many are done with.
    fn step<H: Handler>(
        &mut self,
        visible: Range<usize>,
        service: &Service<H>,
        date: &Date,
        plain: &mut Output,
        out: &mut Output,
    ) -> (usize, Step) {
        let UnbufferedStatus { discard, state } =
            self.tls.process_tls_records(self.received.visible(visible));
        let step = match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => match &mut self.inner {
                // Untouched, the record is there again.
                None => Step::Established,
                Some(inner) => match traffic.next_record() {
                    Some(Ok(record)) => {
                        Step::Asked(inner.receive(record.payload, service, date, plain))
                    }
                    Some(Err(error)) => Step::Failed(error),
                    None => Step::GoOn,
                },
            },
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                push_encoded(&mut data, out);
                Step::GoOn
            }
            Ok(ConnectionState::TransmitTlsData(data)) => {
                data.done();
                Step::GoOn
            }
            Ok(ConnectionState::WriteTraffic(_)) if self.inner.is_none() => Step::Established,
            Ok(ConnectionState::WriteTraffic(_) | ConnectionState::BlockedHandshake) => Step::Read,
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => Step::PeerClosed,
            // Early data was never offered.
            Ok(_) => Step::Failed(Error::HandshakeNotComplete),
            Err(error) => Step::Failed(error),
        };
        (discard, step)
    }

    /// The handshake is done: from here on, a protocol is spoken.
    fn establish<H>(&mut self, service: &Service<H>) {
        self.handshake = self.tls.handshake_kind();
        let mut inner = match self.tls.alpn_protocol() {
            Some(b"h2") => Protocol::Http2(Box::default()),
            _ => Protocol::within(service),
        };
        if self.last {
            inner.finish();
        }
        self.inner = Some(inner);
    }

    /// Says what went wrong, as far as TLS has a word for it.
    fn fail(&mut self, why: &Error, visible: Range<usize>, out: &mut Output) {
        (self.broken, self.failed) = (true, true);
        // Of some errors rustls makes no alert. Before there are keys, one in the clear is understood.
        if !self.tls.wants_write()
            && self.tls.negotiated_cipher_suite().is_none()
            && let Some(alert) = alert_of(why)
        {
            return out.push_text(&[ALERT, 3, 3, 0, 2, FATAL, alert]);
        }
        // As long as there is something to send, no record is looked at.
        while self.tls.wants_write() {
            let state = self.tls.process_tls_records(self.received.visible(visible.clone())).state;
            let Ok(ConnectionState::EncodeTlsData(mut data)) = state else { return };
            push_encoded(&mut data, out);
        }
    }

    /// Puts into records what the protocol said, as much as leaves at once, and passes on what it
    /// asked for when all is in them.
    fn hand_over(&mut self, next: Next, mut buffers: Buffers, out: &mut Output) -> Next {
        let sealed = seal(&mut self.tls, self.received.shown(), &mut buffers.plain, out);
        let told = if sealed.is_err() {
            buffers.plain.clear();
            (self.broken, self.failed) = (true, true);
            Next::Close { unread: false }
        } else if buffers.plain.is_empty() {
            self.plain = None;
            self.pass_on(next, out)
        } else {
            let plain = self.plain.get_or_insert_default();
            mem::swap(&mut **plain, &mut buffers.plain);
            self.next = next;
            Next::Proceed
        };
        self.received.tidy(&mut buffers.records);
        BUFFERS.set(buffers);
        told
    }

    fn pass_on(&mut self, next: Next, out: &mut Output) -> Next {
        match next {
            Next::Read | Next::Reset => next,
            Next::Proceed | Next::Wait(_) | Next::ReadFor(_) => {
                self.listens = matches!(next, Next::ReadFor(_));
                self.next = Next::Proceed;
                next
            }
            Next::Close { unread } => {
                if !self.broken {
                    self.say_goodbye(out);
                }
                Next::Close { unread: unread || !self.received.is_empty() }
            }
        }
    }

    /// Ends our side in the way that tells an end from a cut (RFC 8446, 6.1).
    fn say_goodbye(&mut self, out: &mut Output) {
        seal_end(&mut self.tls, self.received.shown(), out);
    }

    /// A client that took the port for a plain one is told so in its own language, as nginx does
    /// it, for it would understand no alert.
    #[cold]
    fn refuse_plain_http<H: Handler>(
        &mut self,
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        self.failed = true;
        let mut http1 = Http1::default();
        let next = http1.refuse(Refused::PlainHttp, service, date, out);
        self.inner = Some(Protocol::Http1(http1));
        next
    }
}

impl fmt::Debug for TlsSession {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("TlsSession")
            .field("inner", &self.inner)
            .field("received", &self.received.len())
            .field("plain", &self.plain)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// A record with an alert, and its level (RFC 8446, 5.1 and 6).
const ALERT: u8 = 21;
const FATAL: u8 = 2;

/// The alert for an error of a client's before keys were agreed on (RFC 8446, 6.2); none for an alert of its own.
fn alert_of(why: &Error) -> Option<u8> {
    Some(match why {
        Error::AlertReceived(_) => return None,
        Error::PeerSentOversizedRecord => 22,
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => 10,
        Error::InvalidMessage(_) => 50,
        Error::PeerIncompatible(_) => 40,
        Error::PeerMisbehaved(_) => 47,
        _ => 80,
    })
}

/// A handshake's first byte is 22 (RFC 8446, 5.1); a method begins with a capital.
fn is_plain_http(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_uppercase)
}
