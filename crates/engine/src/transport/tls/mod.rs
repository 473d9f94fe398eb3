//! TLS between a worker and its driver, without I/O of its own: the worker opens, sends and receives
//! what is inside; the driver is given and gives records.
//!
//! `verbs` are what the worker does ([`TlsIo`] has the driver's own verbs), `sending` seals and
//! flushes, `handshake` carries out the handshake with rustls, `incoming` is what it shows to rustls
//! of what came, `receiving` opens records where they lie and tells the worker, `gathering` puts messages together that
//! records cut. `protection` is the
//! cipher around records, `session` what is kept of a connection, `config` comes from the Plan,
//! `verifier` decides on certificates, `trouble` names what went wrong, `trace` and `messages` list what
//! was said, for those who ask.
//!
//! Where a Plan goes to several origins, each has its own offer, and connections to those without TLS pass
//! through as they are, but for the buffers that they are sent from.

mod asked;
pub mod config;
mod gathering;
mod handshake;
mod incoming;
mod messages;
pub mod pem;
mod protection;
mod receiving;
mod sending;
mod session;
mod trace;
mod trouble;
mod verbs;
mod verifier;

use std::io;
use std::sync::Arc;

use ablaze_net::{CloseReason, Driver, Io, Slot, Turn, Wait};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

pub(crate) use self::asked::on_this_thread;
pub use self::config::{Offers, Shared};
use self::session::{Phase, Session};
use self::trace::Trace;
pub(crate) use self::trouble::Trouble;
pub use self::trouble::kind_of;
use super::proxy::Tunnelled;
use super::{Above, Facts, Line, OnDriver};
use ablaze_model::failure::FailureKind;
use ablaze_model::record::TlsFacts;

/// HTTP/2's name in ALPN (RFC 9113, 3.2).
const HTTP2: &[u8] = b"h2";

/// How connections to an origin begin.
struct Offer {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
}

/// The TLS of one worker's connections.
pub struct Tls {
    offers: Box<[Offer]>,
    /// By the driver's numbers of endpoints: which of them is offered there; `None` is plain.
    of_endpoints: Box<[Option<u16>]>,
    resumes: bool,
    /// HTTP/2 is all that is offered: a connection without it is of no use.
    needs_http2: bool,
    /// The requests, as the driver has them too.
    constant_bytes: Arc<[u8]>,
    sessions: Box<[Session]>,
    /// Buffers the worker leased: their bytes are sealed into the driver's.
    leases: Vec<Box<[u8]>>,
    released: Vec<u32>,
    /// Slots with something to flush.
    listed: Vec<Slot>,
    /// Memory of spills that are not in use.
    spare: Vec<Vec<u8>>,
    facts: Box<TlsFacts>,
    trace: Option<Box<Trace>>,
}

impl Tls {
    /// For this many slots.
    pub fn new(run: &Offers, slots: u32, constant_bytes: Arc<[u8]>) -> Self {
        let offer = |shared: &Shared| Offer {
            config: shared.for_worker(run.resumes),
            server_name: shared.server_name.clone(),
        };
        let offers: Box<[Offer]> = run.offers.iter().map(offer).collect();
        offers.iter().for_each(|offer| use_once(&offer.config));
        let first = offers.first().filter(|_| run.lists_messages);
        Self {
            trace: first.map(|first| Box::new(Trace::new(&first.config))),
            needs_http2: offers.first().is_some_and(|first| first.config.alpn_protocols == [HTTP2]),
            offers,
            of_endpoints: run.of_endpoints.clone(),
            resumes: run.resumes,
            constant_bytes,
            sessions: (0..slots).map(|_| Session::default()).collect(),
            leases: Vec::new(),
            released: Vec::new(),
            listed: Vec::with_capacity(slots as usize),
            spare: Vec::new(),
            facts: Box::default(),
        }
    }

    fn facts(self) -> Box<TlsFacts> {
        let mut facts = self.facts;
        if let Some(trace) = self.trace {
            facts.spoken = trace.spoken();
        }
        facts
    }
}

/// Uses what the first handshake of a thread would have to set up, before the clock starts: the random
/// generator of aws-lc gathers entropy when it is first used, which takes tens of milliseconds of CPU
/// time, and a handshake needs some milliseconds less when its group has been used.
fn use_once(config: &ClientConfig) {
    let provider = config.crypto_provider();
    // What fails here fails in the handshake too, and is reported there.
    let _ = provider.secure_random.fill(&mut [0; 32]);
    if let Some(group) = provider.kx_groups.first() {
        let _ = group.start();
    }
}

/// A driver under TLS, or tunnels of a driver.
pub struct TlsLine<D> {
    below: D,
    tls: Tls,
}

impl<D> TlsLine<D> {
    /// What lies below, under this TLS.
    pub fn new(below: D, tls: Tls) -> Self {
        Self { below, tls }
    }
}

impl<D: Driver, A: Above> Line<A> for TlsLine<D> {
    const SENDS_AT_ONCE: bool = <D::Io as Io>::SENDS_AT_ONCE;

    fn io(&mut self) -> impl Io {
        TlsIo { io: self.below.io(), tls: &mut self.tls }
    }

    fn turn(&mut self, above: &mut A, wait: Wait) -> io::Result<Turn> {
        TlsIo { io: self.below.io(), tls: &mut self.tls }.flush_all();
        self.below.turn(&mut OnDriver(Layer { above, tls: &mut self.tls }), wait)
    }

    fn facts(self) -> Facts {
        Facts { tls: Some(self.tls.facts()), proxy: None }
    }
}

impl<D: Driver, A: Above> Line<A> for TlsLine<Tunnelled<D>> {
    const SENDS_AT_ONCE: bool = <D::Io as Io>::SENDS_AT_ONCE;

    fn io(&mut self) -> impl Io {
        TlsIo { io: self.below.io(), tls: &mut self.tls }
    }

    fn turn(&mut self, above: &mut A, wait: Wait) -> io::Result<Turn> {
        TlsIo { io: self.below.io(), tls: &mut self.tls }.flush_all();
        self.below.turn(&mut Layer { above, tls: &mut self.tls }, wait)
    }

    fn facts(self) -> Facts {
        Facts { tls: Some(self.tls.facts()), ..self.below.facts() }
    }
}

/// The verbs of what lies under TLS.
pub struct TlsIo<'a, I> {
    io: I,
    tls: &'a mut Tls,
}

impl<I: Io> TlsIo<'_, I> {
    fn session(&mut self, slot: Slot) -> &mut Session {
        &mut self.tls.sessions[slot as usize]
    }
}

/// Hears what happens below, and tells who is above what happens inside.
struct Layer<'a, A> {
    above: &'a mut A,
    tls: &'a mut Tls,
}

impl<A: Above> Layer<'_, A> {
    /// Does something with the verbs; a driver that sends at once does so behind it.
    #[inline]
    fn with<I: Io>(&mut self, io: &mut I, act: impl FnOnce(&mut TlsIo<'_, &mut I>, &mut A)) {
        let mut io = TlsIo { io, tls: self.tls };
        act(&mut io, self.above);
        if I::SENDS_AT_ONCE {
            io.flush_all();
        }
    }
}

impl<A: Above> Above for Layer<'_, A> {
    fn opened<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        if matches!(self.tls.sessions[slot as usize].phase, Phase::Plain) {
            return self.with(io, |io, above| io.stand_plain(above, slot, at));
        }
        self.tls.facts.connected += 1;
        self.tls.sessions[slot as usize].stood_ns = at;
        if let Some(trace) = &mut self.tls.trace {
            trace.stands(slot);
        }
    }

    #[inline]
    fn received<I: Io>(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool) {
        self.with(io, |io, above| io.arrived(above, slot, bytes, at, more));
    }

    fn discarded<I: Io>(&mut self, _io: &mut I, _slot: Slot, _bytes: u64, _at: u64) {
        debug_assert!(false, "TLS never asks for bytes to be discarded");
    }

    fn sent<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.with(io, |io, above| io.left(above, slot, at));
    }

    fn closed<I: Io>(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        self.with(io, |io, above| {
            let session = io.session(slot);
            let open = matches!(session.phase, Phase::Data(_)) && !session.ended;
            if open && why == CloseReason::Eof && !session.got_close_notify {
                above.cut_off(slot, at);
            }
            let spill = std::mem::take(&mut io.session(slot).spill);
            io.keep_spare(spill);
            io.tls.sessions[slot as usize].clear(&mut io.io);
            if let Some(trace) = &mut io.tls.trace {
                trace.closed(slot);
            }
            above.closed(io, slot, why, at);
        });
    }

    #[inline]
    fn batch_end<I: Io>(&mut self, io: &mut I, events: u32, oldest_at: u64, at: u64) {
        let mut io = TlsIo { io, tls: self.tls };
        self.above.batch_end(&mut io, events, oldest_at, at);
        io.flush_all();
    }

    // The layers that TLS lies on know of tunnels that failed; the rest is said by TLS itself.

    fn handshake_took(&mut self, slot: Slot, tls_ns: u64) {
        self.above.handshake_took(slot, tls_ns);
    }

    fn handshake_failed(&mut self, slot: Slot, kind: FailureKind) {
        self.above.handshake_failed(slot, kind);
    }

    fn nothing_more<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.with(io, |io, above| above.nothing_more(io, slot, at));
    }

    fn cut_off(&mut self, slot: Slot, at: u64) {
        self.above.cut_off(slot, at);
    }

    fn broke_off<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        self.with(io, |io, above| above.broke_off(io, slot, at, kind));
    }
}
