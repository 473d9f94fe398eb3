//! Ready-made peers, and ways to make them misbehave.
//!
//! The wrappers compose: `FixedResponse::new(bytes, 1_000).cut(Pieces::Of(1), 10).closing_after(3)`.

use std::sync::Arc;

use super::peer::{ConnectReply, FarEnd, Pieces, SimPeer};
use crate::driver::CloseHow;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// Accepts at once and answers every request, recognised by the empty line that ends its head,
/// with the same bytes.
#[derive(Debug, Clone)]
pub struct FixedResponse {
    response: Arc<[u8]>,
    delay: Delay,
    requests: u64,
    /// How many bytes of [`HEAD_END`] the bytes so far ended with, when they ended between
    /// requests or within one.
    matched: usize,
}

#[derive(Debug, Clone)]
enum Delay {
    Fixed(u64),
    PerRequest(fn(u64) -> u64),
}

impl FixedResponse {
    /// Responses each request after the same delay.
    pub fn new(response: impl Into<Arc<[u8]>>, delay_ns: u64) -> Self {
        Self::with_delay(response.into(), Delay::Fixed(delay_ns))
    }

    /// Responses after a delay that depends on the request's number within its connection, from 0.
    pub fn with_delay_of(response: impl Into<Arc<[u8]>>, delay_ns: fn(u64) -> u64) -> Self {
        Self::with_delay(response.into(), Delay::PerRequest(delay_ns))
    }

    fn with_delay(response: Arc<[u8]>, delay: Delay) -> Self {
        Self { response, delay, requests: 0, matched: 0 }
    }

    fn response(&mut self, far: &mut FarEnd<'_>) {
        let delay_ns = match self.delay {
            Delay::Fixed(ns) => ns,
            Delay::PerRequest(of) => of(self.requests),
        };
        self.requests += 1;
        far.send_after(delay_ns, 0, self.response.len() as u32);
    }

    /// Takes one byte; whether it ends a head.
    fn step(&mut self, byte: u8) -> bool {
        self.matched = match byte {
            byte if byte == HEAD_END[self.matched] => self.matched + 1,
            b'\r' => 1,
            _ => 0,
        };
        if self.matched < HEAD_END.len() {
            return false;
        }
        self.matched = 0;
        true
    }
}

impl SimPeer for FixedResponse {
    fn bytes(&self) -> &[u8] {
        &self.response
    }

    fn received(&mut self, far: &mut FarEnd<'_>, mut bytes: &[u8]) {
        // A head's end that began in the bytes before.
        while let (true, [byte, rest @ ..]) = (self.matched > 0, bytes) {
            bytes = rest;
            if self.step(*byte) {
                self.response(far);
            }
        }
        // Horspool's search: the byte under the pattern's last says how far the pattern can move.
        let mut unanswered_from = 0;
        let mut last = HEAD_END.len() - 1;
        while let Some(byte) = bytes.get(last) {
            last += match byte {
                b'\n' if bytes[unanswered_from..=last].ends_with(HEAD_END) => {
                    unanswered_from = last + 1;
                    self.response(far);
                    HEAD_END.len()
                }
                b'\n' => 2,
                b'\r' => 1,
                _ => HEAD_END.len(),
            };
        }
        let unanswered = &bytes[unanswered_from..];
        for byte in &unanswered[unanswered.len().saturating_sub(HEAD_END.len() - 1)..] {
            self.step(*byte);
        }
    }
}

/// Responses every connect in the same way, and accepted ones with silence.
#[derive(Debug, Clone, Copy)]
pub struct Silent(pub ConnectReply);

impl SimPeer for Silent {
    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn connect(&mut self, _: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        self.0
    }

    fn received(&mut self, _: &mut FarEnd<'_>, _: &[u8]) {}
}

/// A peer whose link is prepared before it answers a connect.
#[derive(Debug, Clone)]
pub struct Prepared<P> {
    peer: P,
    preparation: Preparation,
}

#[derive(Debug, Clone, Copy)]
enum Preparation {
    Cut(Pieces, u64),
    Delay(u64),
    Stall(u64, u64),
    CloseAfterSends(u32),
    ReadSlowly { window_bytes: usize, bytes: usize, every_ns: u64 },
}

impl<P: SimPeer> SimPeer for Prepared<P> {
    fn bytes(&self) -> &[u8] {
        self.peer.bytes()
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        match self.preparation {
            Preparation::Cut(pieces, gap_ns) => far.cut(pieces, gap_ns),
            Preparation::Delay(ns) => far.delay(ns),
            Preparation::Stall(from_ns, until_ns) => far.stall(from_ns, until_ns),
            Preparation::CloseAfterSends(responses) => far.close_after_sends(responses),
            Preparation::ReadSlowly { window_bytes, bytes, every_ns } => {
                far.set_window(window_bytes);
                far.read_slowly(bytes, every_ns);
            }
        }
        self.peer.connect(far, number)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.peer.received(far, bytes);
    }

    fn woken(&mut self, far: &mut FarEnd<'_>, token: u32) {
        self.peer.woken(far, token);
    }

    fn closed(&mut self, how: CloseHow) {
        self.peer.closed(how);
    }
}

/// Ways to make any peer misbehave.
pub trait Misbehave: SimPeer + Sized {
    /// Its responses arrive in pieces, `gap_ns` apart.
    fn cut(self, pieces: Pieces, gap_ns: u64) -> Prepared<Self> {
        Prepared { peer: self, preparation: Preparation::Cut(pieces, gap_ns) }
    }

    /// Everything of it arrives later.
    fn delayed(self, extra_ns: u64) -> Prepared<Self> {
        Prepared { peer: self, preparation: Preparation::Delay(extra_ns) }
    }

    /// Whatever of it would arrive in this span of simulated time arrives at its end.
    fn stalled(self, from_ns: u64, until_ns: u64) -> Prepared<Self> {
        Prepared { peer: self, preparation: Preparation::Stall(from_ns, until_ns) }
    }

    /// It closes each connection behind its `responses`-th response.
    fn closing_after(self, responses: u32) -> Prepared<Self> {
        Prepared { peer: self, preparation: Preparation::CloseAfterSends(responses) }
    }

    /// It reads `bytes` bytes every `every_ns`, and has a window of `window_bytes` for the rest.
    fn reading_slowly(self, window_bytes: usize, bytes: usize, every_ns: u64) -> Prepared<Self> {
        let preparation = Preparation::ReadSlowly { window_bytes, bytes, every_ns };
        Prepared { peer: self, preparation }
    }
}

impl<P: SimPeer> Misbehave for P {}
