//! The loop allocates nothing per request, over HTTP/1, HTTP/2 and TLS: twice as many requests
//! allocate as much as once. What the simulated peers allocate is their own affair.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

mod built_in;
#[path = "../all/simulated/http2_peer.rs"]
#[expect(dead_code, reason = "these tests need responses only")]
mod http2_peer;
mod kernel;
#[path = "../all/simulated/plans.rs"]
mod plans;

use ablaze_engine::sink::{BodySink, NoSink, Response, SinkOf};
use ablaze_engine::walk::Walk;
use ablaze_engine::{Control, run, run_simulated_with_sinks};
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::{Close, Http2, IoChoice, Plan};
use ablaze_net::CloseHow;
use ablaze_net::sim::{AnyPeer, ConnectReply, FarEnd, FixedResponse, Misbehave, Pieces, SimPeer};
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, with_tls};
use ablaze_testing::allocations::{Counting, of_all_threads, uncounted};
use ablaze_testing::skip::skip;
use ablaze_wire::http1::builder::RequestBuilder;

use built_in::{BuiltIn, offering};
use http2_peer::Http2Script;
use plans::{
    HELLO, HELLO_CLOSE, MS, S, US, clock_before, closing_each, get, pipelined, plan_for,
    with_timeout, with_workers, without_repeat,
};

#[global_allocator]
static COUNTING: Counting = Counting;

/// A peer of any kind whose own allocations do not count, its copies for connections neither. It works on the
/// thread of the one worker. One type for all of them: the engine is compiled for it and not for each kind.
struct Uncounted(AnyPeer<'static>);

impl Uncounted {
    fn new(peer: impl SimPeer + Send + Sync + 'static) -> Self {
        Self(AnyPeer::new(peer))
    }

    fn act<T>(&mut self, act: impl FnOnce(&mut AnyPeer<'static>) -> T) -> T {
        uncounted(|| act(&mut self.0))
    }
}

impl Clone for Uncounted {
    fn clone(&self) -> Self {
        uncounted(|| Self(self.0.clone()))
    }
}

impl SimPeer for Uncounted {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        self.act(|peer| peer.connect(far, number))
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.act(|peer| peer.received(far, bytes));
    }

    fn woken(&mut self, far: &mut FarEnd<'_>, token: u32) {
        self.act(|peer| peer.woken(far, token));
    }

    fn closed(&mut self, how: CloseHow) {
        self.act(|peer| peer.closed(how));
    }
}

const N: u64 = 3_000;

/// Counts the bytes of bodies by place.
struct BytesOfBodies(Box<[u64]>);

impl BytesOfBodies {
    fn new(of: SinkOf) -> Self {
        Self(vec![0; of.places].into())
    }
}

impl Walk for BytesOfBodies {}

impl BodySink for BytesOfBodies {
    fn begin(&mut self, _: usize, _: Response, _: u64) {}

    fn bytes(&mut self, place: usize, bytes: &[u8], _: u64) {
        self.0[place] += bytes.len() as u64;
    }

    fn end(&mut self, _: usize, _: bool, _: u64) {}
}

/// How a run is driven, and who sees its bodies.
#[derive(Debug, Clone, Copy)]
enum Way {
    Batched,
    AtOnce,
    ToSinks,
}

fn allocations(plan: &Plan, peer: &Uncounted, requests: u64, way: Way) -> u64 {
    let mut plan = plan.clone();
    plan.limits.requests = Some(requests);
    let control = Control::new();
    let peers = std::slice::from_ref(peer);
    let before = of_all_threads();
    let run = match way {
        Way::Batched => {
            let none = |_: SinkOf| NoSink;
            run_simulated_with_sinks::<Uncounted, _, false>(plan, peers, &control, none).unwrap().0
        }
        Way::AtOnce => {
            let none = |_: SinkOf| NoSink;
            run_simulated_with_sinks::<Uncounted, _, true>(plan, peers, &control, none).unwrap().0
        }
        Way::ToSinks => {
            let make = BytesOfBodies::new;
            let done = run_simulated_with_sinks::<Uncounted, _, false>(plan, peers, &control, make);
            let (run, sinks) = done.unwrap();
            let bytes: u64 = sinks.iter().flat_map(|sink| &sink.0).sum();
            assert!(bytes >= run.record.body_bytes, "the sinks saw {bytes} bytes");
            run
        }
    };
    let count = of_all_threads() - before;
    assert_eq!(run.record.responses, requests);
    count
}

fn allocates_nothing_per_request(what: &str, plan: &Plan, peer: &Uncounted) {
    for way in [Way::Batched, Way::AtOnce, Way::ToSinks] {
        let once = allocations(plan, peer, N, way);
        let twice = allocations(plan, peer, 2 * N, way);
        let what = format!("{what}, {way:?}");
        // A queue of the simulated network may grow a last time, a slice be one more.
        assert!(twice <= once + 20, "{what}: {once} for {N} requests, {twice} for twice as many");
    }
}

/// One test, so that no other thread allocates meanwhile.
#[test]
fn nothing_is_allocated_per_request() {
    let hello = Uncounted::new(FixedResponse::new(HELLO, 100 * US));
    let kept = with_timeout(plan_for(3_600 * S, 20), 200 * MS);
    allocates_nothing_per_request("kept alive", &kept, &hello);
    allocates_nothing_per_request("two workers", &with_workers(kept.clone(), 2), &hello);
    allocates_nothing_per_request("pipelined", &pipelined(kept.clone(), 8), &hello);
    let cut = FixedResponse::new(HELLO, 100 * US).cut(Pieces::SplitAt(20), 10 * US);
    let cut = Uncounted::new(cut);
    allocates_nothing_per_request("split heads", &kept, &cut);
    let closing = FixedResponse::new(HELLO_CLOSE, 100 * US).closing_after(1);
    let closing = Uncounted::new(closing);
    allocates_nothing_per_request("closing each", &closing_each(kept.clone()), &closing);
    let mut patched = without_repeat(clock_before(kept));
    patched.requests.templates = vec![get("/{seq}/{rand:8}"), get("/")];
    patched.requests.order = vec![0, 1];
    allocates_nothing_per_request("patched", &patched, &hello);
    patched.requests.groups = Groups::of(&["/{seq}".to_owned(), "/".to_owned()]);
    allocates_nothing_per_request("in groups", &patched, &hello);
    over_http2();
    over_tls();
    over_the_kernel();
}

/// The same over sockets, with both drivers that know them.
fn over_the_kernel() {
    const CONNECTIONS: u32 = 4;
    let threads = CONNECTIONS as usize;
    let kept = kernel::serve(threads, HELLO, u64::MAX);
    let ten = kernel::serve(threads, HELLO, 10);
    let closing = kernel::serve(threads, HELLO_CLOSE, 1);
    let plan = |at: std::net::SocketAddr| {
        let mut plan = plan_for(3_600 * S, CONNECTIONS);
        plan.target.addresses = vec![at];
        plan
    };
    let ended = |close| {
        let mut plan = closing_each(plan(kept));
        plan.connections.close = close;
        plan
    };
    let mut patched = without_repeat(clock_before(plan(kept)));
    patched.requests.templates = vec![get("/{seq}/{rand:8}"), get("/")];
    patched.requests.order = vec![0, 1];
    let plans = [
        ("kept alive", plan(kept)),
        ("pipelined", pipelined(plan(kept), 8)),
        ("patched", patched),
        ("closed by the server", plan(ten)),
        ("closed by the server each", closing_each(plan(closing))),
        ("FIN each", ended(Close::Fin)),
        ("RST each", ended(Close::Reset)),
    ];
    let uring = ablaze_net::uring::UringDriver::probe();
    if let Err(error) = &uring {
        skip(&format!("allocations over io_uring: {error}"));
    }
    for (what, mut plan) in plans {
        plan.workers.io = IoChoice::Epoll;
        allocates_nothing_over_sockets(what, &plan);
        if uring.is_ok() {
            plan.workers.io = IoChoice::Uring;
            allocates_nothing_over_sockets(what, &plan);
        }
    }
}

fn allocates_nothing_over_sockets(what: &str, plan: &Plan) {
    let count = |requests| {
        let mut plan = plan.clone();
        plan.limits.requests = Some(requests);
        let control = Control::new();
        let before = of_all_threads();
        let run = run(plan, &control);
        let count = of_all_threads() - before;
        assert_eq!(run.unwrap().record.responses, requests, "{what}");
        count
    };
    let (once, twice) = (count(N), count(2 * N));
    // A slice more for each tenth of a second, and queues that grow a last time.
    let io = plan.workers.io;
    assert!(
        twice <= once + 40,
        "{what}, {io:?}: {once} for {N} requests, {twice} for twice as many"
    );
}

fn over_http2() {
    for streams in [1, 7] {
        let mut plan = pipelined(with_timeout(plan_for(3_600 * S, 20), 200 * MS), streams);
        plan.http2 = Some(Http2 { streams });
        let peer = Uncounted::new(Http2Script::always(100 * US));
        allocates_nothing_per_request(&format!("{streams} streams"), &plan, &peer);
        let cut = Uncounted::new(Http2Script::always(100 * US).cut(Pieces::Of(7), US));
        allocates_nothing_per_request(&format!("{streams} streams in pieces"), &plan, &cut);
        let mut patched = without_repeat(clock_before(plan));
        let upload = RequestBuilder::new("POST", "/{seq}")
            .header("Host", "there")
            .body_length_header("Content-Length")
            .body("{rand:8}".repeat(100))
            .build()
            .unwrap();
        patched.requests.templates = vec![upload, get("/")];
        patched.requests.order = vec![0, 1];
        allocates_nothing_per_request(&format!("{streams} streams with bodies"), &patched, &peer);
    }
}

fn over_tls() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let kept = with_timeout(plan_for(3_600 * S, 20), 200 * MS);
        let plan = with_tls(kept, authority.trusted("there"));
        let hello = TlsPeer::always(config(&[version], &issued), HELLO);
        let cut = Uncounted::new(hello.clone().cut(Pieces::Of(50)));
        let hello = Uncounted::new(hello);
        allocates_nothing_per_request(&format!("TLS {name}"), &plan, &hello);
        allocates_nothing_per_request(&format!("TLS {name} in pieces"), &plan, &cut);
        let mut patched = without_repeat(clock_before(plan.clone()));
        patched.requests.templates = vec![get("/{seq}/{rand:8}"), get("/")];
        patched.requests.order = vec![0, 1];
        allocates_nothing_per_request(&format!("TLS {name}, patched"), &patched, &hello);
        let mut agreeing = config(&[version], &issued);
        agreeing.alpn_protocols = vec![b"h2".to_vec()];
        let http2 = Uncounted::new(BuiltIn::new(agreeing, true, 100 * US));
        for streams in [1, 7] {
            let offered = offering(authority.trusted("there"), "h2");
            let mut plan = pipelined(with_tls(plan.clone(), offered), streams);
            plan.http2 = Some(Http2 { streams });
            let what = format!("HTTP/2 in TLS {name}, {streams} streams");
            allocates_nothing_per_request(&what, &plan, &http2);
        }
    }
}
