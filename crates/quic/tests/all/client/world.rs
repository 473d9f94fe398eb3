//! A client, a server and the network between them, in simulated time: datagrams are delayed, lost, repeated and overtaken
//! as a seed says.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use ablaze_quic::client::{
    Connection, Connector, End, Options, PeerSettings, RequestSet, ResponseHead, Sink,
};
use ablaze_quic::clock::Clock;
use ablaze_quic::datagrams::Received;
use ablaze_testing::allocations::of_this_thread;
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::request::Request;

use super::server::{IDENTITY, Script, Server, Setup};

/// What became of a request.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Exchange {
    pub interim: Vec<u16>,
    pub head: Option<ResponseHead>,
    pub content: Vec<u8>,
    pub trailers: u32,
    pub ended: Vec<End>,
}

/// A sink that keeps everything.
#[derive(Default)]
pub struct Log {
    pub exchanges: BTreeMap<u32, Exchange>,
    pub settings: Vec<PeerSettings>,
    pub goaways: Vec<u64>,
    pub wants_fields: bool,
    /// Nothing is kept but the number of requests that ended.
    pub is_quiet: bool,
    pub quietly_ended: u64,
    pub fields: Vec<(String, String)>,
}

impl Log {
    fn live(&mut self, tag: u32) -> &mut Exchange {
        let exchange = self.exchanges.entry(tag).or_default();
        assert!(exchange.ended.is_empty(), "{tag} was named after its end");
        exchange
    }

    pub fn ended(&self) -> usize {
        self.exchanges.values().filter(|exchange| !exchange.ended.is_empty()).count()
    }

    /// How a request ended.
    pub fn end_of(&self, tag: u32) -> Option<End> {
        self.exchanges.get(&tag)?.ended.first().copied()
    }
}

impl Sink for Log {
    fn head(&mut self, tag: u32, head: ResponseHead) {
        if self.is_quiet {
            return;
        }
        assert_eq!(self.live(tag).head.replace(head), None, "{tag} has one head");
    }

    fn data(&mut self, tag: u32, content: &[u8]) {
        if self.is_quiet {
            return;
        }
        assert!(self.live(tag).head.is_some());
        self.live(tag).content.extend_from_slice(content);
    }

    fn ended(&mut self, tag: u32, end: End) {
        if self.is_quiet {
            assert_eq!(end, End::Complete);
            self.quietly_ended += 1;
            return;
        }
        self.live(tag).ended.push(end);
    }

    fn interim(&mut self, tag: u32, status: u16) {
        self.live(tag).interim.push(status);
    }

    fn trailers(&mut self, tag: u32) {
        self.live(tag).trailers += 1;
    }

    fn wants_fields(&self, _: u32) -> bool {
        self.wants_fields
    }

    fn field(&mut self, _: u32, name: &[u8], value: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.fields.push((text(name), text(value)));
    }

    fn settings(&mut self, settings: &PeerSettings) {
        self.settings.push(*settings);
    }

    fn goaway(&mut self, first_stream: u64) {
        self.goaways.push(first_stream);
    }
}

/// What the network does to datagrams, of a thousand each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    pub lost: u64,
    pub repeated: u64,
    pub overtaken: u64,
    /// Longer datagrams are lost; 0 none.
    pub path_bytes: usize,
}

/// A datagram: when it arrives, its order, whether it goes to the server, its bytes.
type OnItsWay = (u64, u64, bool, Vec<u8>);

pub struct World {
    pub client: Connection,
    pub server: Server,
    pub log: Log,
    pub now_ns: u64,
    faults: Faults,
    random: u64,
    network: BinaryHeap<Reverse<OnItsWay>>,
    order: u64,
    pub digits: Digits,
    out: Vec<u8>,
    /// Allocations in calls of the client.
    pub client_allocations: u64,
}

/// One way through the network.
pub const DELAY_NS: u64 = 5_000_000;

/// Bytes of the largest datagram that the client sent is at most this.
const BUFFER_MAX: usize = 65_507;

pub fn tls() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(IDENTITY.certificate.clone()).unwrap();
    trusting(roots)
}

pub fn trusting(roots: rustls::RootCertStore) -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

impl World {
    pub fn new(setup: Setup, script: impl Script + 'static) -> Self {
        Self::with(Options::with_streams(10), &tls(), "server.test", setup, script)
    }

    pub fn with(
        options: Options,
        tls: &rustls::ClientConfig,
        name: &str,
        setup: Setup,
        script: impl Script + 'static,
    ) -> Self {
        let connector = Connector::new(tls, options).unwrap();
        let remote = "192.0.2.2:443".parse().unwrap();
        let now_ns = 1_000_000_000;
        Self {
            client: Connection::new(&connector, remote, name, now_ns).unwrap(),
            server: Server::new(setup, script, Clock::new()),
            log: Log::default(),
            now_ns,
            faults: Faults::default(),
            random: 0,
            network: BinaryHeap::new(),
            order: 0,
            digits: Digits::new(1, 1),
            out: Vec::new(),
            client_allocations: 0,
        }
    }

    /// With faults that follow from a seed.
    pub fn faulty(mut self, faults: Faults, seed: u64) -> Self {
        (self.faults, self.random) = (faults, seed);
        self
    }

    /// Goes on until this is so; at most for so long.
    pub fn run_for(&mut self, most_ns: u64, mut until: impl FnMut(&mut Self) -> bool) -> bool {
        let end_ns = self.now_ns + most_ns;
        while !until(self) {
            self.fetch();
            let waits = [self.client.deadline_ns(), self.server.deadline_ns(), self.arrives_ns()];
            let Some(next_ns) = waits.into_iter().flatten().min() else { return until(self) };
            if next_ns > end_ns {
                self.now_ns = end_ns;
                return until(self);
            }
            self.now_ns = self.now_ns.max(next_ns);
            self.step();
        }
        true
    }

    /// Goes on until this is so.
    ///
    /// # Panics
    /// When a simulated minute is not enough.
    pub fn run(&mut self, until: impl FnMut(&mut Self) -> bool) {
        let happened = self.run_for(60_000_000_000, until);
        assert!(happened, "not within a minute: {:?}", self.client.ended());
    }

    /// Goes on until nothing happens any more but timers.
    pub fn settle(&mut self) {
        self.run_for(1_000_000_000, |_| false);
    }

    pub fn connect(&mut self) {
        self.run(|world| world.client.stands() || world.client.ended().is_some());
        assert!(self.client.stands(), "{:?}", self.client.ended());
    }

    /// GETs these paths, as tags from 0 on.
    pub fn get(&mut self, paths: &[&str]) {
        let requests: Vec<Request> =
            paths.iter().map(|path| Request::new("GET", "https", "server.test", path)).collect();
        let set = RequestSet::new(&requests);
        for at in 0..paths.len() {
            let tag = at as u32;
            self.client.request(&set, at, at as u64, &mut self.digits, tag).unwrap();
        }
    }

    /// The server does something besides its script.
    pub fn act(&mut self, act: impl FnOnce(&mut super::server::Served)) {
        self.server.act(self.now_ns, act);
    }

    fn arrives_ns(&self) -> Option<u64> {
        self.network.peek().map(|Reverse((at, ..))| *at)
    }

    fn step(&mut self) {
        while self.arrives_ns().is_some_and(|at| at <= self.now_ns) {
            let Reverse((_, _, to_server, mut bytes)) = self.network.pop().unwrap();
            if to_server {
                self.server.receive(&bytes, self.now_ns);
                continue;
            }
            // Datagrams of one size that arrive together are handed over together.
            let segment_bytes = bytes.len();
            while let Some(Reverse((at, _, false, next))) = self.network.peek()
                && *at <= self.now_ns
                && bytes.len().is_multiple_of(segment_bytes)
                && next.len() <= segment_bytes
                && bytes.len() + next.len() <= BUFFER_MAX
            {
                bytes.extend_from_slice(next);
                self.network.pop();
            }
            let received = Received { bytes: &mut bytes, segment_bytes, ecn: 0 };
            let before = of_this_thread();
            self.client.receive(received, self.now_ns, &mut self.log);
            self.client_allocations += of_this_thread() - before;
        }
        if self.client.deadline_ns().is_some_and(|at| at <= self.now_ns) {
            self.client.expired(self.now_ns, &mut self.log);
        }
        if self.server.deadline_ns().is_some_and(|at| at <= self.now_ns) {
            self.server.expired(self.now_ns);
        }
    }

    /// Puts on the network what is to be sent.
    fn fetch(&mut self) {
        let mut out = std::mem::take(&mut self.out);
        loop {
            let before = of_this_thread();
            let transmit = self.client.transmit(self.now_ns, &mut out);
            self.client_allocations += of_this_thread() - before;
            let Some(transmit) = transmit else { break };
            assert!(out.len() <= BUFFER_MAX && out.len().div_ceil(transmit.segment_bytes) <= 64);
            for datagram in out.chunks(transmit.segment_bytes) {
                self.put(true, datagram.to_vec());
            }
        }
        assert!(out.is_empty());
        self.out = out;
        while let Some(datagram) = self.server.out.pop_front() {
            self.put(false, datagram);
        }
    }

    fn put(&mut self, to_server: bool, datagram: Vec<u8>) {
        let is_too_long = self.faults.path_bytes > 0 && datagram.len() > self.faults.path_bytes;
        if is_too_long || self.chance(self.faults.lost) {
            return;
        }
        let times = if self.chance(self.faults.repeated) { 2 } else { 1 };
        for _ in 0..times {
            let late =
                if self.chance(self.faults.overtaken) { self.number(3 * DELAY_NS) } else { 0 };
            self.order += 1;
            let at = self.now_ns + DELAY_NS + late;
            self.network.push(Reverse((at, self.order, to_server, datagram.clone())));
        }
    }

    fn chance(&mut self, of_thousand: u64) -> bool {
        of_thousand > 0 && self.number(1_000) < of_thousand
    }

    /// SplitMix64, below a limit.
    fn number(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
