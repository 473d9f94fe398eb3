//! A server of HTTP/3 in the simulated network: QUIC is the server's of this project, what is said on its streams a
//! script.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use ablaze_net::sim::{ConnectReply, FarEnd, Path, SimPeer};
use ablaze_quic::server::{Connection, Conversation, Datagram, Endpoint, Event, Settings};
use ablaze_wire::http3::error::ErrorCode;
use bytes::Bytes;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// What the script does with a request: its number among all that the server was asked, from 0.
pub type Script = dyn Fn(&mut Asked<'_>) + Send + Sync;

/// A request at the server.
pub struct Asked<'a> {
    pub number: u64,
    pub body_bytes: u64,
    stream: u64,
    connection: &'a mut Connection,
    sending: &'a mut Vec<(u64, Bytes)>,
}

impl Asked<'_> {
    /// A response with a body of this many bytes.
    pub fn respond(&mut self, body_bytes: usize) {
        // HEADERS of three bytes: no entry of the dynamic table, then `:status: 200`, entry 25 of the static one
        // (RFC 9204, 4.5.1 and appendix A); DATA with a length of four bytes.
        let mut bytes = vec![1, 3, 0, 0, 0xd9, 0];
        bytes.extend((body_bytes as u32 | 0x8000_0000).to_be_bytes());
        bytes.resize(bytes.len() + body_bytes, b'x');
        self.sending.push((self.stream, bytes.into()));
    }

    /// RESET_STREAM with this code.
    pub fn reset(&mut self, code: ErrorCode) {
        self.connection.reset(self.stream, code);
    }

    /// GOAWAY: what follows this request is not processed.
    pub fn goaway(&mut self) {
        self.connection.goaway(self.stream + 4);
    }

    /// CONNECTION_CLOSE with this code.
    pub fn close(&mut self, code: ErrorCode) {
        self.connection.close(code);
    }
}

/// What all connections of a server have in common.
struct Around {
    script: Arc<Script>,
    asked: Arc<Mutex<u64>>,
    device_bytes_max: Option<u16>,
}

/// What is behind the address of one connection.
type Socket = (Endpoint<Talk>, Around);

/// What is said on one connection.
struct Talk {
    bodies: std::collections::HashMap<u64, u64>,
    sending: Vec<(u64, Bytes)>,
}

impl Conversation for Talk {
    type Around = Around;

    fn new(_: &mut Around) -> Self {
        Self { bodies: std::collections::HashMap::new(), sending: Vec::new() }
    }

    fn go_on(&mut self, connection: &mut Connection, around: &mut Around, _now_ns: u64) {
        while let Some(event) = connection.next_event() {
            match event {
                Event::Content(stream, bytes) => {
                    *self.bodies.entry(stream).or_default() += bytes.len() as u64;
                }
                Event::End(stream) => {
                    let mut asked = around.asked.lock().unwrap();
                    let number = *asked;
                    *asked += 1;
                    drop(asked);
                    let body_bytes = self.bodies.remove(&stream).unwrap_or(0);
                    let sending = &mut self.sending;
                    let mut asked = Asked { number, body_bytes, stream, connection, sending };
                    (around.script)(&mut asked);
                }
                _ => {}
            }
        }
        self.sending.retain_mut(|(stream, bytes)| {
            connection.send(*stream, bytes);
            let is_sent = bytes.is_empty();
            if is_sent {
                connection.finish(*stream);
            }
            !is_sent
        });
    }

    fn due_ns(&self) -> Option<u64> {
        None
    }

    fn finish(&mut self) {}

    fn device_bytes_max(around: &mut Around, _client: SocketAddr) -> Option<u16> {
        around.device_bytes_max
    }
}

/// The server; each connection has an endpoint of its own.
#[derive(Clone)]
pub struct Server {
    settings: Settings,
    path: Path,
    script: Arc<Script>,
    asked: Arc<Mutex<u64>>,
    endpoint: Option<Arc<Mutex<Socket>>>,
    /// It does nothing any more so long after its first connection, as a stopped process.
    stops_after_ns: u64,
    first_ns: Arc<Mutex<Option<u64>>>,
}

impl Server {
    /// With so many streams at once, over this path.
    pub fn new(
        streams: u32,
        path: Path,
        script: impl Fn(&mut Asked<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::with(streams, false, b"h3", path, script)
    }

    /// Also with Retry, or another application protocol.
    pub fn with(
        streams: u32,
        retry: bool,
        protocol: &[u8],
        path: Path,
        script: impl Fn(&mut Asked<'_>) + Send + Sync + 'static,
    ) -> Self {
        let own = rcgen::generate_simple_self_signed(vec!["there".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
        let mut tls = ServerConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        tls.alpn_protocols = vec![protocol.to_vec()];
        let settings = Settings::new(Arc::new(tls), streams, 65_536, None, retry).unwrap();
        Self {
            settings,
            path,
            script: Arc::new(script),
            asked: Arc::default(),
            endpoint: None,
            stops_after_ns: u64::MAX,
            first_ns: Arc::default(),
        }
    }

    /// Of requests with field sections of at most this size (RFC 9114, 4.2.2).
    pub fn taking(mut self, section_bytes_max: usize) -> Self {
        self.settings = self.settings.taking(section_bytes_max);
        self
    }

    /// Which does nothing any more so long after its first connection began.
    pub fn stopping_after(mut self, stops_after_ns: u64) -> Self {
        self.stops_after_ns = stops_after_ns;
        self
    }

    /// How many requests came, whole.
    pub fn asked(&self) -> u64 {
        *self.asked.lock().unwrap()
    }

    /// Forgets what was asked: the same server is asked again.
    pub fn restart(&self) {
        *self.asked.lock().unwrap() = 0;
        *self.first_ns.lock().unwrap() = None;
    }

    fn go_on(&self, far: &mut FarEnd<'_>, arrived: Option<(&[u8], u8)>) {
        let Some(endpoint) = &self.endpoint else { return };
        let mut endpoint = endpoint.lock().unwrap();
        let (endpoint, around) = &mut *endpoint;
        let now = far.now();
        let first_ns = self.first_ns.lock().unwrap().unwrap_or(now);
        if now - first_ns >= self.stops_after_ns {
            return;
        }
        if let Some((bytes, ecn)) = arrived {
            let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 4_000));
            let datagram = Datagram { bytes, segment_bytes: bytes.len(), from, at: None, ecn };
            endpoint.receive(&datagram, around, now);
        }
        endpoint.run(around, now);
        let mut out = Vec::new();
        while let Some(transmit) = endpoint.transmit(&mut out, now) {
            for bytes in out.chunks(transmit.segment_bytes) {
                far.send_datagram_after(0, bytes, transmit.ecn);
            }
            out.clear();
        }
        if let Some(due_ns) = endpoint.due_ns() {
            far.wake_after(due_ns.saturating_sub(now).max(1), 0);
        }
    }
}

impl SimPeer for Server {
    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _number: u64) -> ConnectReply {
        let around = Around {
            script: self.script.clone(),
            asked: self.asked.clone(),
            device_bytes_max: self.path.device_bytes_max,
        };
        self.first_ns.lock().unwrap().get_or_insert(far.now());
        let endpoint = Endpoint::new(self.settings.clone(), far.now());
        self.endpoint = Some(Arc::new(Mutex::new((endpoint, around))));
        ConnectReply::AcceptAfter(0)
    }

    fn received(&mut self, _far: &mut FarEnd<'_>, _bytes: &[u8]) {}

    fn woken(&mut self, far: &mut FarEnd<'_>, _token: u32) {
        self.go_on(far, None);
    }

    fn path(&self) -> Option<Path> {
        Some(self.path)
    }

    fn datagram(&mut self, far: &mut FarEnd<'_>, bytes: &[u8], ecn: u8) {
        self.go_on(far, Some((bytes, ecn)));
    }
}
