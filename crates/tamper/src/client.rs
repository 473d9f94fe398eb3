//! The engine's TLS, over the simulated network, against a server whose records are tampered with.

use std::io::{Read, Write};
use std::sync::{Arc, LazyLock};

use ablaze_engine::{Control, run_simulated, run_simulated_at_once};
use ablaze_model::plan::Plan;
use ablaze_model::plan::tls::{Tls, Trust};
use ablaze_net::sim::{ConnectReply, FarEnd, Pieces, SimPeer};
use ablaze_wire::http1::builder::RequestBuilder;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::{CipherSuite, ServerConfig, ServerConnection};

use super::choices::Choices;
use super::plans;
use super::tampering::Tampering;
use super::tap;

/// Requests of a run.
const REQUESTS: u64 = 3;
/// Connections that fail, in a run: what it costs to begin is shared by them.
const CONNECTIONS_MAX: u32 = 20;
/// Each connection has this many choices for itself, and those of the next ones.
const CHOICES_EACH: usize = 12;
const US: u64 = 1_000;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// One suite of each kind in each version.
pub const SUITES: [CipherSuite; 6] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
];

/// Servers of each suite, with one certificate: how a run begins costs no keys.
static SERVERS: LazyLock<Vec<ServerConfig>> = LazyLock::new(|| {
    let key = KeyPair::generate_for(&PKCS_ED25519).expect("randomness");
    let params = CertificateParams::new(vec!["there".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("what can be signed").der().clone();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let server = |suite: &CipherSuite| {
        let mut server = ServerConfig::builder_with_provider(tap::provider(*suite))
            .with_safe_default_protocol_versions()
            .expect("a version for the suite")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.clone_key())
            .expect("its key");
        server.ticketer = aws_lc_rs::Ticketer::new().expect("randomness");
        server
    };
    SUITES.iter().map(server).collect()
});

/// Lets the engine load a server as the input says: its first three bytes are what is set up, the
/// others what is done to the server's records. Without these, every request is answered.
///
/// # Panics
/// When the engine does, or a request of an untouched connection fails.
pub fn load(input: &[u8]) {
    let &[setup, details, pieces, ref choices @ ..] = input else { return };
    let bit = |bit: u8| details >> bit & 1 == 1;
    let mut config = SERVERS[usize::from(setup) % SERVERS.len()].clone();
    // Handshakes in small records; words before the client's last; tickets, or none.
    config.max_fragment_size = bit(0).then_some(32 + usize::from(setup));
    config.send_half_rtt_data = bit(1);
    config.send_tls13_tickets = usize::from(details >> 2 & 3);
    let peer = TamperedServer {
        config: Arc::new(config),
        pieces: if pieces == 0 { Pieces::Whole } else { Pieces::Of(pieces.into()) },
        choices: choices.to_vec(),
        tampering: Tampering::default(),
        server: None,
        is_over: false,
        sent: Vec::new(),
        plain: Vec::new(),
    };
    let tls =
        Tls { trust: Trust::Anyone, resume: bit(4), list_messages: bit(5), ..Tls::new("there") };
    let plan = plan(tls, !bit(6));
    let run = if bit(7) { run_simulated_at_once } else { run_simulated };
    let run = run(plan, &[peer], &Control::new()).expect("a plan that can be carried out");
    let (responses, failures) = (run.record.responses, run.record.failures_total());
    assert!(responses <= REQUESTS, "{responses} responses");
    if Tampering::new(choices).is_over() {
        let failures = (failures, run.record.tls.and_then(|tls| tls.first_failure));
        assert_eq!((responses, failures), (REQUESTS, (0, None)));
    }
}

fn plan(tls: Tls, keep_alive: bool) -> Plan {
    let template = RequestBuilder::new("GET", "/").header("Host", "there").build();
    let mut plan = plans::plan(template.expect("a request"), REQUESTS, CONNECTIONS_MAX);
    plan.target.url = "https://there/".to_owned();
    plan.target.port = 443;
    plan.target.addresses = vec![([127, 0, 0, 1], 443).into()];
    plan.tls = Some(tls);
    plan.connections.keep_alive = keep_alive;
    plan
}

/// The peer of a connection.
struct TamperedServer {
    config: Arc<ServerConfig>,
    pieces: Pieces,
    choices: Vec<u8>,
    tampering: Tampering,
    server: Option<Box<ServerConnection>>,
    /// It has sent `close_notify`, and reads no more.
    is_over: bool,
    sent: Vec<u8>,
    plain: Vec<u8>,
}

impl Clone for TamperedServer {
    fn clone(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
            pieces: self.pieces,
            choices: self.choices.clone(),
            tampering: Tampering::default(),
            server: None,
            is_over: false,
            sent: Vec::new(),
            plain: Vec::new(),
        }
    }
}

impl TamperedServer {
    /// Reads what came; whether the connection goes on.
    fn read(&mut self, mut bytes: &[u8]) -> bool {
        let Some(server) = &mut self.server else { return false };
        while !bytes.is_empty() && !self.is_over {
            let took = server.read_tls(&mut bytes).unwrap_or(0);
            let Ok(state) = server.process_new_packets() else { return false };
            let mut plain = vec![0; state.plaintext_bytes_to_read()];
            if server.reader().read_exact(&mut plain).is_err() || took == 0 {
                return false;
            }
            self.plain.extend(plain);
            if state.peer_has_closed() {
                return false;
            }
        }
        true
    }

    /// Responses the requests that came, but for those that the input has other ideas about.
    fn response(&mut self, choices: &mut Choices) {
        let Some(server) = &mut self.server else { return };
        while let Some(end) = self.plain.windows(4).position(|four| four == b"\r\n\r\n") {
            self.plain.drain(..end + 4);
            let choice = choices.byte();
            if choice & 1 == 1 {
                // TLS 1.2 has no such thing.
                let _ = server.refresh_traffic_keys();
            }
            if choice & 14 != 2 {
                // It may fail only after its own `close_notify`.
                let _ = server.writer().write_all(ANSWER);
            }
            if choice & 14 == 4 {
                server.send_close_notify();
                self.is_over = true;
            }
        }
    }
}

impl SimPeer for TamperedServer {
    fn bytes(&self) -> &[u8] {
        &self.sent
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        far.cut(self.pieces, 0);
        let server = ServerConnection::new(Arc::clone(&self.config));
        self.server = server.ok().map(Box::new);
        let skipped = (number as usize * CHOICES_EACH).min(self.choices.len());
        self.tampering = Tampering::new(&self.choices[skipped..]);
        ConnectReply::AcceptAfter(US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let goes_on = self.read(bytes);
        let mut tampering = std::mem::take(&mut self.tampering);
        self.response(tampering.choices());
        let mut written = Vec::new();
        if let Some(server) = &mut self.server {
            while server.wants_write() {
                let wrote = server.write_tls(&mut written);
                debug_assert!(wrote.is_ok(), "memory takes everything");
            }
        }
        let start = self.sent.len();
        self.sent.extend(tampering.pass(&written));
        self.sent.extend(tampering.interject());
        self.tampering = tampering;
        let bytes = self.sent.len() - start;
        if bytes > 0 {
            far.send_after(10 * US, start as u32, bytes as u32);
        }
        if !goes_on {
            far.close_after(10 * US);
        }
    }
}
