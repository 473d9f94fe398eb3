//! A server whose every frame is written by a test: quinn-proto below, nothing of ours but the codecs above.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, LazyLock};

use ablaze_quic::clock::Clock;
use ablaze_quic::quinn_proto::crypto::rustls::QuicServerConfig;
use ablaze_quic::quinn_proto::{
    Connection, ConnectionHandle, ConnectionIdGenerator, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, RandomConnectionIdGenerator, ServerConfig, Side, StreamEvent, StreamId,
    TransportConfig, VarInt, WriteError,
};
use ablaze_wire::http2::hpack::decoder::Field;
use ablaze_wire::http2::hpack::encoder::Name;
use ablaze_wire::http3::control::{first_bytes, stream_type};
use ablaze_wire::http3::frame::{FrameReader, Piece, kind, write_head};
use ablaze_wire::http3::qpack::decoder::Decoder;
use ablaze_wire::http3::qpack::encoder::{begin, literal};
use ablaze_wire::http3::varint;
use bytes::BytesMut;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The certificate of all test servers and its key.
pub struct Identity {
    pub certificate: CertificateDer<'static>,
    pub key: PrivateKeyDer<'static>,
}

pub static IDENTITY: LazyLock<Identity> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["server.test".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    Identity { certificate: made.cert.der().clone(), key }
});

/// How a server is set up.
pub struct Setup {
    pub alpn: Vec<Vec<u8>>,
    pub transport: TransportConfig,
    pub versions: Vec<u32>,
    pub retries: bool,
    pub client_certificates: bool,
    /// The longest datagram that is accepted.
    pub accepts_bytes: u16,
}

impl Default for Setup {
    fn default() -> Self {
        let mut transport = TransportConfig::default();
        transport.max_concurrent_bidi_streams(100_u32.into());
        let (alpn, versions) = (vec![b"h3".to_vec()], vec![1]);
        Self {
            alpn,
            transport,
            versions,
            retries: false,
            client_certificates: false,
            accepts_bytes: 1_472,
        }
    }
}

/// What a server does.
pub trait Script {
    /// The handshake is complete.
    fn connected(&mut self, served: &mut Served) {
        served.open(&control());
        served.open_type(stream_type::QPACK_ENCODER);
        served.open_type(stream_type::QPACK_DECODER);
    }

    /// A request began to come.
    fn began(&mut self, _served: &mut Served, _id: StreamId) {}

    /// A request came whole.
    fn request(&mut self, served: &mut Served, id: StreamId, bytes: &[u8]);
}

impl<F: FnMut(&mut Served, StreamId, &[u8])> Script for F {
    fn request(&mut self, served: &mut Served, id: StreamId, bytes: &[u8]) {
        self(served, id, bytes);
    }
}

/// One connection as a script sees it.
pub struct Served {
    pub quic: Connection,
    handle: ConnectionHandle,
    /// What was not written yet, and whether the stream ends behind it.
    unwritten: BTreeMap<StreamId, (VecDeque<u8>, bool)>,
    read: BTreeMap<StreamId, Vec<u8>>,
    /// Requests that came whole.
    pub requests: u64,
    pub resets: Vec<(StreamId, u64)>,
    pub lost: Option<String>,
    clock: Clock,
    now_ns: u64,
}

/// The server.
pub struct Server {
    /// What a server has that was started again.
    again: (Arc<EndpointConfig>, Arc<ServerConfig>),
    endpoint: Endpoint,
    pub served: Option<Served>,
    script: Box<dyn Script>,
    retries: bool,
    clock: Clock,
    /// Datagrams to send.
    pub out: VecDeque<Vec<u8>>,
}

impl Server {
    pub fn new(setup: Setup, script: impl Script + 'static, clock: Clock) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap();
        let tls = match setup.client_certificates {
            true => {
                let mut roots = rustls::RootCertStore::empty();
                roots.add(IDENTITY.certificate.clone()).unwrap();
                let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(
                    Arc::new(roots),
                    provider,
                );
                tls.with_client_cert_verifier(verifier.build().unwrap())
            }
            false => tls.with_no_client_auth(),
        };
        let chain = vec![IDENTITY.certificate.clone()];
        let mut tls = tls.with_single_cert(chain, IDENTITY.key.clone_key()).unwrap();
        tls.alpn_protocols = setup.alpn;
        let crypto = Arc::new(QuicServerConfig::try_from(tls).unwrap());
        let mut config = ServerConfig::with_crypto(crypto);
        config.transport_config(Arc::new(setup.transport));
        let mut endpoint = EndpointConfig::default();
        // quinn-proto's usual names of connections are only recognised by whoever gave them.
        let names =
            || -> Box<dyn ConnectionIdGenerator> { Box::new(RandomConnectionIdGenerator::new(8)) };
        endpoint.max_udp_payload_size(setup.accepts_bytes).unwrap();
        endpoint.supported_versions(setup.versions).cid_generator(names);
        let again = (Arc::new(endpoint), Arc::new(config));
        let endpoint = Endpoint::new(again.0.clone(), Some(again.1.clone()), true, None);
        let (retries, out) = (setup.retries, VecDeque::new());
        Self { again, endpoint, served: None, script: Box::new(script), retries, clock, out }
    }

    /// The server is started again: it knows no connection.
    pub fn restart(&mut self) {
        let (config, server) = self.again.clone();
        self.endpoint = Endpoint::new(config, Some(server), true, None);
        self.served = None;
    }

    /// A datagram arrived.
    pub fn receive(&mut self, bytes: &[u8], now_ns: u64) {
        let now = self.clock.instant(now_ns);
        let remote = "192.0.2.1:50000".parse().unwrap();
        let mut aside = Vec::new();
        let event =
            self.endpoint.handle(now, remote, None, None, BytesMut::from(bytes), &mut aside);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(served) = &mut self.served {
                    served.quic.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let mut buffer = Vec::new();
                if self.retries && !incoming.remote_address_validated() {
                    let _ = self.endpoint.retry(incoming, &mut buffer).unwrap();
                    self.out.push_back(buffer);
                } else if let Ok((handle, quic)) =
                    self.endpoint.accept(incoming, now, &mut buffer, None)
                {
                    self.served = Some(Served::new(quic, handle, self.clock));
                } else {
                    self.out.push_back(buffer);
                }
            }
            Some(DatagramEvent::Response(_)) => self.out.push_back(aside),
            None => {}
        }
        self.settle(now_ns);
    }

    /// When something is due, ns.
    pub fn deadline_ns(&mut self) -> Option<u64> {
        let at = self.served.as_mut()?.quic.poll_timeout()?;
        Some(self.clock.ns(at))
    }

    pub fn expired(&mut self, now_ns: u64) {
        if let Some(served) = &mut self.served {
            served.quic.handle_timeout(self.clock.instant(now_ns));
        }
        self.settle(now_ns);
    }

    /// Does something with the connection outside of its script.
    pub fn act(&mut self, now_ns: u64, act: impl FnOnce(&mut Served)) {
        if let Some(served) = &mut self.served {
            served.now_ns = now_ns;
            act(served);
        }
        self.settle(now_ns);
    }

    fn settle(&mut self, now_ns: u64) {
        let Some(served) = &mut self.served else { return };
        served.now_ns = now_ns;
        while let Some(event) = served.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(served.handle, event) {
                served.quic.handle_event(event);
            }
        }
        while let Some(event) = served.quic.poll() {
            served.event(event, &mut *self.script);
        }
        served.write();
        let now = self.clock.instant(now_ns);
        let mut buffer = Vec::new();
        while let Some(transmit) = served.quic.poll_transmit(now, 10, &mut buffer) {
            let segment = transmit.segment_size.unwrap_or(transmit.size);
            self.out.extend(buffer.chunks(segment).map(<[u8]>::to_vec));
            buffer.clear();
        }
    }
}

impl Served {
    fn new(quic: Connection, handle: ConnectionHandle, clock: Clock) -> Self {
        Self {
            quic,
            handle,
            unwritten: BTreeMap::new(),
            read: BTreeMap::new(),
            requests: 0,
            resets: Vec::new(),
            lost: None,
            clock,
            now_ns: 0,
        }
    }

    fn event(&mut self, event: Event, script: &mut dyn Script) {
        match event {
            Event::Connected => script.connected(self),
            Event::ConnectionLost { reason } => self.lost = Some(reason.to_string()),
            Event::Stream(StreamEvent::Opened { dir }) => {
                while let Some(id) = self.quic.streams().accept(dir) {
                    if dir == Dir::Bi {
                        script.began(self, id);
                    }
                    self.readable(id, script);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.readable(id, script),
            Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                self.unwritten.remove(&id);
                let _ = self.quic.send_stream(id).reset(error_code);
                self.resets.push((id, error_code.into_inner()));
            }
            _ => {}
        }
    }

    fn readable(&mut self, id: StreamId, script: &mut dyn Script) {
        let mut recv = self.quic.recv_stream(id);
        let Ok(mut chunks) = recv.read(true) else { return };
        let read = self.read.entry(id).or_default();
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => read.extend_from_slice(&chunk.bytes),
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        let _ = chunks.finalize();
        if ended && id.dir() == Dir::Bi {
            let bytes = self.read.remove(&id).unwrap();
            self.requests += 1;
            script.request(self, id, &bytes);
        }
    }

    fn write(&mut self) {
        let ids: Vec<StreamId> = self.unwritten.keys().copied().collect();
        for id in ids {
            let (bytes, ends) = self.unwritten.get_mut(&id).unwrap();
            while !bytes.is_empty() {
                match self.quic.send_stream(id).write(bytes.make_contiguous()) {
                    Ok(written) => drop(bytes.drain(..written)),
                    Err(WriteError::Blocked) => break,
                    Err(_) => bytes.clear(),
                }
            }
            if bytes.is_empty() {
                if *ends {
                    let _ = self.quic.send_stream(id).finish();
                }
                self.unwritten.remove(&id);
            }
        }
    }

    /// Writes on a stream.
    pub fn send(&mut self, id: StreamId, bytes: &[u8], ends: bool) {
        let (unwritten, ended) = self.unwritten.entry(id).or_default();
        unwritten.extend(bytes);
        *ended |= ends;
    }

    /// A stream of our own that begins with these bytes.
    pub fn open(&mut self, bytes: &[u8]) -> StreamId {
        let id = self.quic.streams().open(Dir::Uni).unwrap();
        self.send(id, bytes, false);
        id
    }

    pub fn open_type(&mut self, stream_type: u64) -> StreamId {
        let mut bytes = Vec::new();
        varint::write(&mut bytes, stream_type);
        self.open(&bytes)
    }

    pub fn reset(&mut self, id: StreamId, code: u64) {
        self.write();
        self.unwritten.remove(&id);
        self.quic.send_stream(id).reset(VarInt::from_u64(code).unwrap()).unwrap();
    }

    pub fn stop(&mut self, id: StreamId, code: u64) {
        self.quic.recv_stream(id).stop(VarInt::from_u64(code).unwrap()).unwrap();
    }

    pub fn close(&mut self, code: u64, reason: &'static [u8]) {
        self.write();
        let now = self.clock.instant(self.now_ns);
        self.quic.close(now, VarInt::from_u64(code).unwrap(), reason.into());
    }

    /// What the client said on its stream of this type, without the type.
    pub fn said_on(&self, stream_type: u64) -> &[u8] {
        let of_type = |(id, bytes): &(&StreamId, &Vec<u8>)| {
            id.dir() == Dir::Uni && bytes.first() == Some(&(stream_type as u8))
        };
        self.read.iter().find(of_type).map_or(&[], |(_, bytes)| &bytes[1..])
    }

    /// A frame on the first stream of our own, which is the control stream.
    pub fn goaway(&mut self, first: u64) {
        let id = StreamId::new(Side::Server, Dir::Uni, 0);
        let mut number = Vec::new();
        varint::write(&mut number, first);
        self.send(id, &frame(kind::GOAWAY, &number), false);
    }
}

/// Settings of a server, with reserved numbers among them (RFC 9114, 7.2.4.1).
pub fn control() -> Vec<u8> {
    let mut bytes = first_bytes(0, 1 << 20);
    bytes.extend(frame(0x21, b"reserved"));
    bytes
}

pub fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_head(&mut out, kind, payload.len() as u64);
    out.extend_from_slice(payload);
    out
}

/// A HEADERS frame.
pub fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut section = Vec::new();
    begin(&mut section);
    for (name, value) in fields {
        literal(&mut section, false, Name::Literal(name.as_bytes()), value.as_bytes());
    }
    frame(kind::HEADERS, &section)
}

pub fn data(content: &[u8]) -> Vec<u8> {
    frame(kind::DATA, content)
}

/// 200 with this content.
pub fn ok(content: &[u8]) -> Vec<u8> {
    let length = content.len().to_string();
    let mut bytes = head(&[(":status", "200"), ("content-length", &length)]);
    bytes.extend(data(content));
    bytes
}

/// Fields and content of a request.
pub fn read(mut bytes: &[u8]) -> (Vec<(String, String)>, Vec<u8>) {
    let (mut fields, mut content) = (Vec::new(), Vec::new());
    let (mut frames, mut current, mut section) = (FrameReader::default(), 0, Vec::new());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    while let Some(piece) = frames.next(&mut bytes) {
        match piece {
            Piece::Begins { kind, .. } => current = kind,
            Piece::Payload { bytes, ends } if current == kind::HEADERS => {
                section.extend_from_slice(bytes);
                if ends {
                    let show =
                        |field: Field<'_, _>| fields.push((text(field.name), text(field.value)));
                    Decoder::new(0).decode(&section, show).unwrap();
                }
            }
            Piece::Payload { bytes, .. } => content.extend_from_slice(bytes),
        }
    }
    assert!(frames.between_frames());
    (fields, content)
}

/// The stream of the first request.
pub fn first_request() -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, 0)
}

/// The path of a request.
pub fn path(bytes: &[u8]) -> String {
    let (fields, _) = read(bytes);
    fields.into_iter().find(|(name, _)| name == ":path").unwrap().1
}

/// Answers `/N` with N bytes, whose values follow from their places.
pub fn answers(served: &mut Served, id: StreamId, bytes: &[u8]) {
    let asked: usize = path(bytes)[1..].parse().unwrap();
    served.send(id, &ok(&content(asked)), true);
}

pub fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 % 251) as u8).collect()
}
