//! What lies between a worker and its driver: nothing, TLS, tunnels through a proxy, or TLS in these.
//!
//! Whoever is above knows slots, verbs and events, and nothing of who is behind them. A [`Line`] gives it
//! those of the driver itself ([`plain`]), or those of [`tls`] or [`proxy`], which have the same verbs
//! and events for the bytes inside. The line is chosen once for a run, so that plain connections pay
//! nothing.
//!
//! A layer acts through the [`Io`] of what is below it, and tells what happened to what is [`Above`] it:
//! the worker, or another layer. Both are types that the compiler knows, so that no call between them is
//! an indirect one.

pub mod plain;
pub mod proxy;
pub mod tls;

use std::io;

use ablaze_model::failure::FailureKind;
use ablaze_model::record::{ProxyFacts, TlsFacts};
use ablaze_net::{CloseReason, Handler, Io, Slot, Turn, Wait};

/// What `A`, in the end a worker, acts through.
pub trait Line<A> {
    /// Whether sends are handed to the kernel during the call; see [`Io::SENDS_AT_ONCE`].
    const SENDS_AT_ONCE: bool;

    /// The verbs, outside of a turn.
    fn io(&mut self) -> impl Io;

    /// Submits what is queued, waits, and has `above` told what happened.
    ///
    /// # Errors
    /// As [`ablaze_net::Driver::turn`].
    fn turn(&mut self, above: &mut A, wait: Wait) -> io::Result<Turn>;

    /// What is to be reported about the line itself when the run is over.
    fn facts(self) -> Facts;
}

/// Who is told what happens on connections by a layer below: a driver's events, about the bytes inside,
/// and what else a layer knows of a connection. The events are those of [`Handler`], for the verbs of any
/// layer.
pub trait Above {
    /// As [`Handler::opened`]: what the layer agrees on with the peer is agreed on.
    fn opened<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64);

    /// As [`Handler::received`].
    fn received<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool);

    /// As [`Handler::discarded`].
    fn discarded<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64);

    /// As [`Handler::sent`].
    fn sent<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64);

    /// As [`Handler::closed`].
    fn closed<I: Io>(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64);

    /// As [`Handler::batch_end`].
    fn batch_end<I: Io>(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64);

    /// The connection that is about to be reported as open needed so long for its TLS handshake, ns.
    fn handshake_took(&mut self, slot: Slot, tls_ns: u64);

    /// The connection is about to be reported as closed, because its handshake failed, or
    /// the tunnel for it.
    fn handshake_failed(&mut self, slot: Slot, kind: FailureKind);

    /// The server says that it will send nothing more: what it sent last is complete.
    fn nothing_more<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64);

    /// The connection is about to be reported as ended, and the server did not say that it would: a
    /// response that has no other end may be short (RFC 9112, 9.8).
    fn cut_off(&mut self, slot: Slot, at: u64);

    /// What came cannot be read, or says that the server will not go on.
    fn broke_off<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind);
}

/// Has a driver tell its events to whoever is above: the lowest layer in front of it.
struct OnDriver<A>(A);

impl<I: Io, A: Above> Handler<I> for OnDriver<A> {
    #[inline]
    fn opened(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.0.opened(io, slot, at);
    }

    #[inline]
    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool) {
        self.0.received(io, slot, bytes, at, more);
    }

    #[inline]
    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        self.0.discarded(io, slot, bytes, at);
    }

    #[inline]
    fn sent(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.0.sent(io, slot, at);
    }

    #[inline]
    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        self.0.closed(io, slot, why, at);
    }

    #[inline]
    fn batch_end(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64) {
        self.0.batch_end(io, events, oldest_at, at);
    }
}

/// What a line knows when the run is over.
#[derive(Debug, Default)]
pub struct Facts {
    /// Of TLS, where it was spoken.
    pub tls: Option<Box<TlsFacts>>,
    /// Of tunnels through a proxy, where there were any.
    pub proxy: Option<Box<ProxyFacts>>,
}
