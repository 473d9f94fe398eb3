//! A peer that speaks TLS: rustls's server, and behind it a closure that answers requests.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use ablaze_engine::{Control, run_simulated, run_simulated_at_once};
use ablaze_model::plan::tls::Tls;
use ablaze_model::{Plan, Run};
use ablaze_net::CloseHow;
use ablaze_net::sim::{ConnectReply, FarEnd, Pieces, SimPeer};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};

use crate::authority::{Authority, Issued};

const US: u64 = 1_000;

/// Time between the arrival of bytes at the peer and what it sends.
const DELAY_NS: u64 = 100 * US;

/// What a peer does with a request whose head and body have come.
pub type Act = dyn Fn(&mut Moment<'_>) + Send + Sync;

/// A request at the peer.
#[derive(Debug)]
pub struct Moment<'a> {
    /// The server's side of the connection.
    pub server: &'a mut ServerConnection,
    /// Number of the request on its connection, from 0.
    pub request: u64,
    /// Close when everything is sent.
    pub close: bool,
}

impl Moment<'_> {
    /// Sends these bytes.
    pub fn response(&mut self, bytes: &[u8]) {
        self.server.writer().write_all(bytes).unwrap();
    }
}

/// What peers saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// Requests, whole.
    pub requests: Vec<Vec<u8>>,
    /// Connections whose client said `close_notify`.
    pub close_notifies: u64,
    /// The server name on the connection of each request.
    pub names: Vec<Option<String>>,
    /// What a proxy in front was asked.
    pub tunnels: Vec<Vec<u8>>,
}

/// The peer: one for each connection, made of the one that a run is given.
pub struct TlsPeer {
    config: Arc<ServerConfig>,
    act: Arc<Act>,
    /// What all of them saw.
    pub seen: Arc<Mutex<Seen>>,
    pieces: Pieces,
    slowly: Option<(usize, usize)>,
    /// It closes when the client has sent `close_notify`, and not before.
    closes_when_told: bool,
    /// What a proxy in front says before there is TLS.
    proxy: Option<&'static [u8]>,
    /// What it says from which connection on, and then no more.
    tires: Option<(u64, &'static [u8])>,
    asked: Vec<u8>,
    server: Option<Box<ServerConnection>>,
    sent: Vec<u8>,
    plain: Vec<u8>,
    requests: u64,
    sent_close_notify: bool,
}

impl Clone for TlsPeer {
    fn clone(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
            act: Arc::clone(&self.act),
            seen: Arc::clone(&self.seen),
            pieces: self.pieces,
            slowly: self.slowly,
            closes_when_told: self.closes_when_told,
            proxy: self.proxy,
            tires: self.tires,
            asked: Vec::new(),
            server: None,
            sent: Vec::new(),
            plain: Vec::new(),
            requests: 0,
            sent_close_notify: false,
        }
    }
}

impl TlsPeer {
    /// One that does this with every request.
    pub fn new(
        config: ServerConfig,
        act: impl Fn(&mut Moment<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            config: Arc::new(config),
            act: Arc::new(act),
            seen: Arc::default(),
            pieces: Pieces::Whole,
            slowly: None,
            closes_when_told: false,
            proxy: None,
            tires: None,
            asked: Vec::new(),
            server: None,
            sent: Vec::new(),
            plain: Vec::new(),
            requests: 0,
            sent_close_notify: false,
        }
    }

    /// Responds to everything with the same bytes.
    pub fn always(config: ServerConfig, response: &'static [u8]) -> Self {
        Self::new(config, move |moment| moment.response(response))
    }

    /// What it sends arrives in such pieces.
    pub fn cut(mut self, pieces: Pieces) -> Self {
        self.pieces = pieces;
        self
    }

    /// It reads this many bytes at a time, and has a window of this many.
    pub fn reading_slowly(mut self, bytes: usize, window: usize) -> Self {
        self.slowly = Some((bytes, window));
        self
    }

    /// It closes when the client has sent `close_notify`: shuts TLS down both ways, as some servers do.
    pub fn closing_when_told(mut self) -> Self {
        self.closes_when_told = true;
        self
    }

    /// A proxy in front makes a tunnel and says so.
    pub fn behind_proxy(mut self, response: &'static [u8]) -> Self {
        self.proxy = Some(response);
        self
    }

    /// From this connection on the proxy says something else.
    pub fn tiring_after(mut self, connections: u64, response: &'static [u8]) -> Self {
        self.tires = Some((connections, response));
        self
    }

    /// The proxy in front reads its request; the rest of the bytes, once the tunnel stands.
    fn ask_proxy<'a>(&mut self, far: &mut FarEnd<'_>, bytes: &'a [u8]) -> &'a [u8] {
        let Some(response) = self.proxy else { return bytes };
        let before = self.asked.len();
        self.asked.extend_from_slice(bytes);
        let Some(end) = self.asked.windows(4).position(|four| four == b"\r\n\r\n") else {
            return &[];
        };
        self.asked.truncate(end + 4);
        self.seen.lock().unwrap().tunnels.push(std::mem::take(&mut self.asked));
        self.proxy = None;
        self.sent.extend_from_slice(response);
        far.send_after(DELAY_NS, 0, response.len() as u32);
        &bytes[end + 4 - before..]
    }

    fn flush(&mut self, far: &mut FarEnd<'_>) {
        let Some(server) = &mut self.server else { return };
        let start = self.sent.len();
        while server.wants_write() {
            server.write_tls(&mut self.sent).unwrap();
        }
        let bytes = self.sent.len() - start;
        if bytes > 0 {
            far.send_after(DELAY_NS, start as u32, bytes as u32);
        }
    }

    /// Length of the first request in `plain`, if it is whole.
    fn request_bytes(&self) -> Option<usize> {
        let head = self.plain.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let text = String::from_utf8_lossy(&self.plain[..head]).to_ascii_lowercase();
        let body = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |number| number.parse::<usize>().unwrap());
        (self.plain.len() >= head + body).then_some(head + body)
    }
}

impl SimPeer for TlsPeer {
    fn bytes(&self) -> &[u8] {
        &self.sent
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        far.cut(self.pieces, 0);
        if let Some((_, response)) = self.tires.filter(|(from, _)| number >= *from) {
            self.proxy = Some(response);
        }
        if let Some((bytes, window)) = self.slowly {
            far.set_window(window);
            far.read_slowly(bytes, 10 * US);
        }
        self.server = Some(Box::new(ServerConnection::new(Arc::clone(&self.config)).unwrap()));
        ConnectReply::AcceptAfter(50 * US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let mut bytes = self.ask_proxy(far, bytes);
        let mut ends = false;
        while !bytes.is_empty() {
            let server = self.server.as_mut().unwrap();
            server.read_tls(&mut bytes).unwrap();
            match server.process_new_packets() {
                Ok(state) => {
                    let mut buffer = vec![0; state.plaintext_bytes_to_read()];
                    server.reader().read_exact(&mut buffer).unwrap();
                    self.plain.extend(buffer);
                    if state.peer_has_closed() && !self.sent_close_notify {
                        self.sent_close_notify = true;
                        self.seen.lock().unwrap().close_notifies += 1;
                        ends |= self.closes_when_told;
                    }
                }
                Err(_) => ends = true,
            }
            if ends {
                break;
            }
            while let Some(length) = self.request_bytes() {
                let request: Vec<u8> = self.plain.drain(..length).collect();
                let server = self.server.as_mut().unwrap();
                let mut seen = self.seen.lock().unwrap();
                seen.names.push(server.server_name().map(str::to_owned));
                let act = Arc::clone(&self.act);
                let number = self.requests;
                let mut moment = Moment { server, request: number, close: false };
                act(&mut moment);
                ends |= moment.close;
                self.requests += 1;
                seen.requests.push(request);
            }
        }
        self.flush(far);
        if ends {
            far.close_after(DELAY_NS);
        }
    }

    fn closed(&mut self, _: CloseHow) {}
}

/// A server's configuration for one certificate.
pub fn config(versions: &[&'static SupportedProtocolVersion], issued: &Issued) -> ServerConfig {
    config_with_chain(versions, vec![issued.certificate.clone()], issued)
}

/// The same, with other certificates behind it.
pub fn config_with_chain(
    versions: &[&'static SupportedProtocolVersion],
    chain: Vec<CertificateDer<'static>>,
    issued: &Issued,
) -> ServerConfig {
    ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, issued.key.clone_key())
        .unwrap()
}

/// The same as [`config`], for clients that show a certificate of this issuer.
pub fn config_for_clients_of(
    versions: &[&'static SupportedProtocolVersion],
    issued: &Issued,
    authority: &Authority,
) -> ServerConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(authority.der.clone().into()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .unwrap();
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![issued.certificate.clone()], issued.key.clone_key())
        .unwrap()
}

/// The versions of TLS, with their names.
pub const BOTH: [(&str, &SupportedProtocolVersion); 2] =
    [("1.2", &rustls::version::TLS12), ("1.3", &rustls::version::TLS13)];

/// A plan with this TLS.
pub fn with_tls(mut plan: Plan, tls: Tls) -> Plan {
    plan.tls = Some(tls);
    plan
}

/// Runs over both kinds of simulated driver; the last run.
pub fn run<P: SimPeer + Send + Sync>(plan: &Plan, peer: &P, check: impl Fn(&Run)) -> Run {
    let peers = std::slice::from_ref(peer);
    check(&run_simulated(plan.clone(), peers, &Control::new()).unwrap());
    let run = run_simulated_at_once(plan.clone(), peers, &Control::new()).unwrap();
    check(&run);
    run
}
