//! A server's TLS, without sockets, against a client whose records are tampered with.

use std::io::{IoSlice, Read, Write};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ablaze_target::Options;
use ablaze_target::counters::Counters;
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, Options as Http2Options};
use ablaze_wire::http2::request::{Request, RequestSet};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::client::SUITES;
use super::tampering::Tampering;
use super::tap;

/// What a client does one after the other, at most.
const DEEDS: usize = 12;
/// Requests of a client that does nothing else.
const REQUESTS: u32 = 3;
/// No server goes round so often without wanting to read.
const TURNS_MAX: usize = 100_000;

/// What servers and clients are made of, once.
struct Parts {
    identity: Identity,
    /// By suite, then by whether HTTP/2 is offered.
    clients: Vec<[Arc<ClientConfig>; 2]>,
}

static PARTS: LazyLock<Parts> = LazyLock::new(|| {
    let identity = Identity::self_made(&[]).expect("randomness");
    let authority = identity.authority().expect("it was made here").as_bytes();
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(authority).expect("a certificate");
    roots.add(authority).expect("an authority");
    let client = |suite, protocols: &[&[u8]]| {
        let mut client = ClientConfig::builder_with_provider(tap::provider(suite))
            .with_safe_default_protocol_versions()
            .expect("a version for the suite")
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        client.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        client.resumption = rustls::client::Resumption::disabled();
        Arc::new(client)
    };
    let clients = SUITES.map(|suite| [client(suite, &[]), client(suite, &[b"h2"])]).to_vec();
    Parts { identity, clients }
});

/// Lets a client ask a server as the input says: its first three bytes are what is set up, the others
/// what is done to the client's records. Without these, every request is answered.
///
/// # Panics
/// When the server does, or goes round in circles, or does not answer an untouched client.
pub fn ask(input: &[u8]) {
    let &[setup, details, pieces, ref choices @ ..] = input else { return };
    tap::forget();
    let bit = |bit: u8| details >> bit & 1 == 1;
    let http2 = bit(0);
    let options = Options {
        http2,
        tls: Some(TlsOptions::new(PARTS.identity.clone())),
        delay: Duration::from_nanos(if bit(1) { 1 } else { 0 }).into(),
        max_requests: bit(2).then_some(2),
        body_bytes: bit(3).then_some(100_000),
        ..Options::default()
    };
    let mut config = PARTS.clients[usize::from(setup) % SUITES.len()][usize::from(http2)].clone();
    if bit(4) {
        Arc::make_mut(&mut config).max_fragment_size = Some(32 + usize::from(setup));
    }
    let piece_bytes = if pieces == 0 { usize::MAX } else { pieces.into() };
    let mut exchange = Exchange {
        side: Side::new(&options, bit(5)),
        client: Client::new(config, http2),
        tampering: Tampering::new(choices),
        piece_bytes,
    };
    let is_untouched = exchange.tampering.is_over();
    for _ in 0..DEEDS {
        let choice = exchange.tampering.choices().byte();
        exchange.client.act(choice);
        if choice == 4 {
            exchange.side.protocol.finish();
        }
        exchange.talk();
    }
    exchange.side.end();
    if is_untouched && options.max_requests.is_none() {
        let counts = exchange.side.counters.read();
        assert_eq!((counts.requests, counts.tls_failures), (u64::from(REQUESTS), 0));
        assert!(exchange.client.is_well);
        let least = if bit(3) { 100_000 } else { 10 } * REQUESTS as usize;
        assert!(exchange.client.heard_bytes >= least, "{}", exchange.client.heard_bytes);
    }
}

/// A client and a server, and what is between them.
struct Exchange {
    side: Side,
    client: Client,
    tampering: Tampering,
    piece_bytes: usize,
}

impl Exchange {
    /// Lets the two talk until both are silent.
    fn talk(&mut self) {
        for _ in 0..DEEDS {
            let mut bytes = self.tampering.pass(&self.client.write());
            bytes.extend(self.tampering.interject());
            for piece in bytes.chunks(self.piece_bytes) {
                self.side.receive(piece);
            }
            self.side.wait();
            let written = std::mem::take(&mut self.side.written);
            if written.is_empty() && bytes.is_empty() {
                return;
            }
            self.client.read(&written);
        }
    }
}

/// A client over rustls.
struct Client {
    tls: ClientConnection,
    /// Requests of HTTP/2, if that is spoken, made one by one.
    http2: Option<(Connection, RequestSet)>,
    asked: u32,
    /// Nothing has failed.
    is_well: bool,
    /// It has sent `close_notify`, and reads no more.
    is_over: bool,
    heard_bytes: usize,
}

impl Client {
    fn new(config: Arc<ClientConfig>, http2: bool) -> Self {
        let name = ServerName::try_from("localhost").expect("a name");
        let mut tls = ClientConnection::new(config, name).expect("a client");
        let http2 = http2.then(|| {
            let mut out = Vec::new();
            let connection = Connection::new(Http2Options::default(), &mut out);
            write_all(&mut tls, &out);
            (connection, RequestSet::new(&[Request::new("GET", "https", "localhost", "/")]))
        });
        Self { tls, http2, asked: 0, is_well: true, is_over: false, heard_bytes: 0 }
    }

    /// Asks, as long as it has something to ask, or does what is chosen.
    fn act(&mut self, choice: u8) {
        if choice & 1 == 1 {
            // TLS 1.2 has no such thing, and before the end of the handshake there are no keys.
            let _ = self.tls.refresh_traffic_keys();
        }
        match choice >> 1 & 3 {
            0 if self.asked < REQUESTS => self.ask(),
            3 => {
                self.tls.send_close_notify();
                self.is_over = true;
            }
            _ => {}
        }
    }

    fn ask(&mut self) {
        let mut out = Vec::new();
        match &mut self.http2 {
            None => out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            Some((connection, set)) => {
                let mut digits = Digits::new(1, 1);
                let asked = connection.request(set, 0, 0, &mut digits, self.asked, &mut out);
                debug_assert!(asked.is_ok(), "a few streams are permitted");
            }
        }
        write_all(&mut self.tls, &out);
        self.asked += 1;
    }

    fn write(&mut self) -> Vec<u8> {
        let mut written = Vec::new();
        while self.tls.wants_write() {
            let wrote = self.tls.write_tls(&mut written);
            debug_assert!(wrote.is_ok(), "memory takes everything");
        }
        written
    }

    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.is_well && !self.is_over {
            let took = self.tls.read_tls(&mut bytes).unwrap_or(0);
            let Ok(state) = self.tls.process_new_packets() else { return self.is_well = false };
            let mut plain = vec![0; state.plaintext_bytes_to_read()];
            self.is_well = took > 0 && self.tls.reader().read_exact(&mut plain).is_ok();
            self.heard_bytes += plain.len();
        }
    }
}

fn write_all(tls: &mut ClientConnection, bytes: &[u8]) {
    // It may fail only after its own `close_notify`.
    let _ = tls.writer().write_all(bytes);
}

/// A server's side of a connection, driven as a model does it.
struct Side {
    service: Service<Routes>,
    protocol: Protocol,
    date: Date,
    counters: Counters,
    written: Vec<u8>,
    /// What it wants, unless the connection is over.
    next: Option<Next>,
    /// It is called when what it waits for is due, before more is read.
    is_punctual: bool,
}

impl Side {
    fn new(options: &Options, is_punctual: bool) -> Self {
        let tls = options.tls.as_ref().map(|tls| tls.configuration(options.http2));
        let tls = tls.map(|tls| tls.expect("what goes together"));
        let registry = Arc::new(Registry::default());
        let service = Service::new(Routes::new(options), options, tls, registry);
        Self {
            protocol: Protocol::new(&service),
            service,
            date: Date::now(),
            counters: Counters::default(),
            written: Vec::new(),
            next: Some(Next::Read),
            is_punctual,
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        if self.next.is_none() {
            return;
        }
        let mut out = Output::default();
        let next = self.protocol.receive(bytes, &self.service, &self.date, &mut out);
        self.go_on(next, out, false);
        if self.is_punctual {
            self.wait();
        }
    }

    /// Time passes, until it has nothing to wait for but what is to be read.
    fn wait(&mut self) {
        if let Some(next @ Next::ReadFor(_)) = self.next {
            self.go_on(next, Output::default(), true);
        }
    }

    fn go_on(&mut self, mut next: Next, mut out: Output, waits: bool) {
        for _ in 0..TURNS_MAX {
            self.protocol.count_into(&self.counters);
            self.write(&mut out);
            self.next = Some(next);
            match next {
                Next::Read => return,
                Next::ReadFor(_) if !waits => return,
                Next::Proceed | Next::Wait(_) | Next::ReadFor(_) => {}
                Next::Close { .. } | Next::Reset => return self.next = None,
            }
            next = self.protocol.proceed(&self.service, &self.date, &mut out);
        }
        panic!("it never wants to read again: {:?}", self.protocol);
    }

    /// As when a server stops.
    fn end(&mut self) {
        let mut out = Output::default();
        if self.next.is_some() && self.protocol.is_idle() {
            self.protocol.say_goodbye(&mut out);
            self.write(&mut out);
        }
    }

    fn write(&mut self, out: &mut Output) {
        while !out.is_empty() {
            let mut slices = [IoSlice::new(&[]); 4];
            let used = out.slices(&mut slices);
            let bytes = slices[..used].iter().map(|slice| slice.len()).sum();
            for slice in &slices[..used] {
                self.written.extend_from_slice(slice);
            }
            assert!(bytes > 0, "{} bytes are left and none are offered", out.left());
            out.wrote(bytes);
        }
    }
}
