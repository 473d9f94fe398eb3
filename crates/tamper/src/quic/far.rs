//! The far end: quinn-proto's, so that packets are sealed with the right keys, and on its streams whatever is chosen.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use ablaze_quic::clock::Clock;
use ablaze_quic::quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use ablaze_quic::quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, RandomConnectionIdGenerator, ServerConfig, Side, StreamEvent, StreamId, VarInt,
};
use ablaze_wire::http2::hpack::encoder::Name;
use ablaze_wire::http3::control::{first_bytes, stream_type};
use ablaze_wire::http3::frame::{kind, write_head};
use ablaze_wire::http3::qpack::encoder::{begin, literal};
use ablaze_wire::http3::varint;
use bytes::BytesMut;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::REQUESTS;
use super::near::{CLIENT, SERVER};
use crate::choices::Choices;

/// The name of the server.
pub const NAME: &str = "server.test";

/// Things that a far end does besides the usual, in a connection.
const DEEDS_MAX: usize = 60;

/// The certificate of the server and its key.
pub struct Identity {
    pub certificate: CertificateDer<'static>,
    pub key: PrivateKeyDer<'static>,
}

static IDENTITY: LazyLock<Identity> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    Identity { certificate: made.cert.der().clone(), key }
});

/// TLS of a client that trusts this server.
pub fn tls() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(IDENTITY.certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    tls
}

/// The TLS of a server of this name.
pub fn server_tls() -> rustls::ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![IDENTITY.certificate.clone()], IDENTITY.key.clone_key())
        .unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    tls
}

static SERVER_CONFIG: LazyLock<Arc<ServerConfig>> = LazyLock::new(|| {
    let crypto = QuicServerConfig::try_from(server_tls()).unwrap();
    Arc::new(ServerConfig::with_crypto(Arc::new(crypto)))
});

static CLIENT_CONFIG: LazyLock<ClientConfig> =
    LazyLock::new(|| ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls()).unwrap())));

/// One side of a connection.
pub struct Far {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    side: Side,
    clock: Clock,
    stands: bool,
    /// Streams that can be written or read, as far as is known.
    streams: Vec<StreamId>,
    /// What was to be written and found no room.
    unwritten: VecDeque<(StreamId, Vec<u8>, bool)>,
    deeds: usize,
    /// Datagrams of the endpoint itself.
    aside: Vec<Vec<u8>>,
}

impl Far {
    /// A server.
    pub fn server(clock: Clock) -> Self {
        Self::new(Side::Server, Some(Arc::clone(&SERVER_CONFIG)), clock)
    }

    /// A client, which begins at once.
    pub fn client(clock: Clock, now_ns: u64) -> Self {
        let mut own = Self::new(Side::Client, None, clock);
        let (config, remote) = (CLIENT_CONFIG.clone(), SERVER.parse().unwrap());
        let now = clock.instant(now_ns);
        own.connection = Some(own.endpoint.connect(now, config, remote, NAME).unwrap());
        own
    }

    fn new(side: Side, server: Option<Arc<ServerConfig>>, clock: Clock) -> Self {
        let mut config = EndpointConfig::default();
        config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(8)));
        Self {
            endpoint: Endpoint::new(Arc::new(config), server, true, None),
            connection: None,
            side,
            clock,
            stands: false,
            streams: Vec::new(),
            unwritten: VecDeque::new(),
            deeds: 0,
            aside: Vec::new(),
        }
    }

    pub fn receive(&mut self, datagram: &[u8], now_ns: u64) {
        let now = self.clock.instant(now_ns);
        let remote = if self.side == Side::Client { SERVER } else { CLIENT }.parse().unwrap();
        let mut aside = Vec::new();
        let bytes = BytesMut::from(datagram);
        match self.endpoint.handle(now, remote, None, None, bytes, &mut aside) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, quic)) = &mut self.connection {
                    quic.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, now, &mut aside, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(_)) => self.aside.push(aside),
            None => {}
        }
    }

    /// Does the usual, and what is chosen besides.
    pub fn go_on(&mut self, choices: &mut Choices, now_ns: u64) {
        self.settle();
        if !self.stands {
            return;
        }
        if self.deeds < DEEDS_MAX && !choices.are_over() {
            self.deeds += 1;
            self.act(choices, now_ns);
        }
        self.write();
    }

    pub fn fetch(&mut self, now_ns: u64) -> Vec<Vec<u8>> {
        let mut all = std::mem::take(&mut self.aside);
        let now = self.clock.instant(now_ns);
        let mut buffer = Vec::new();
        let Some((_, quic)) = &mut self.connection else { return all };
        while let Some(transmit) = quic.poll_transmit(now, 10, &mut buffer) {
            let segment_bytes = transmit.segment_size.unwrap_or(transmit.size);
            all.extend(buffer.chunks(segment_bytes).map(<[u8]>::to_vec));
            buffer.clear();
        }
        all
    }

    pub fn due_ns(&mut self) -> Option<u64> {
        let at = self.connection.as_mut()?.1.poll_timeout()?;
        Some(self.clock.ns(at))
    }

    pub fn expire(&mut self, now_ns: u64) {
        let now = self.clock.instant(now_ns);
        if let Some((_, quic)) = &mut self.connection
            && quic.poll_timeout().is_some_and(|at| at <= now)
        {
            quic.handle_timeout(now);
        }
    }

    /// Does what QUIC has to tell.
    fn settle(&mut self) {
        let Some((handle, quic)) = &mut self.connection else { return };
        while let Some(event) = quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                quic.handle_event(event);
            }
        }
        let mut events = Vec::new();
        while let Some(event) = quic.poll() {
            events.push(event);
        }
        for event in events {
            match event {
                Event::Connected => self.connected(),
                Event::ConnectionLost { .. } => self.stands = false,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some((_, quic)) = &mut self.connection
                        && let Some(id) = quic.streams().accept(dir)
                    {
                        self.streams.push(id);
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                _ => {}
            }
        }
    }

    /// The usual: a control stream, and of a client its requests.
    fn connected(&mut self) {
        self.stands = true;
        let mut control = Vec::new();
        control.extend_from_slice(&first_bytes(0, 16_384));
        self.open(Dir::Uni, control, false);
        let requests = if self.side == Side::Client { REQUESTS } else { 0 };
        (0..requests).for_each(|_| self.open(Dir::Bi, request(), true));
    }

    fn read(&mut self, id: StreamId) {
        let Some((_, quic)) = &mut self.connection else { return };
        if read_over(quic, id) && id.dir() == Dir::Bi && self.side == Side::Server {
            self.unwritten.push_back((id, response(b"hello"), true));
        }
    }

    fn open(&mut self, dir: Dir, bytes: Vec<u8>, ends: bool) {
        let Some((_, quic)) = &mut self.connection else { return };
        // More than are permitted are not.
        if let Some(id) = quic.streams().open(dir) {
            self.streams.push(id);
            self.unwritten.push_back((id, bytes, ends));
        }
    }

    fn write(&mut self) {
        let Some((_, quic)) = &mut self.connection else { return };
        for _ in 0..self.unwritten.len() {
            let Some((id, mut bytes, ends)) = self.unwritten.pop_front() else { return };
            let mut stream = quic.send_stream(id);
            match stream.write(&bytes) {
                Ok(written) => drop(bytes.drain(..written)),
                Err(ablaze_quic::quinn_proto::WriteError::Blocked) => {}
                Err(_) => continue,
            }
            if !bytes.is_empty() {
                self.unwritten.push_back((id, bytes, ends));
            } else if ends {
                let _ = stream.finish();
            }
        }
    }

    /// Something that is not the usual.
    fn act(&mut self, choices: &mut Choices, now_ns: u64) {
        let deed = choices.byte();
        let code = VarInt::from_u32(0xf0 + u32::from(choices.byte()));
        let place = usize::from(choices.byte());
        let stream = (!self.streams.is_empty()).then(|| self.streams[place % self.streams.len()]);
        let Some((_, quic)) = &mut self.connection else { return };
        match (deed % 10, stream) {
            (1, _) => {
                let mut bytes = vec![choices.up_to(4) as u8];
                bytes.extend(saying(choices));
                self.open(Dir::Uni, bytes, place % 4 == 0);
            }
            (2, _) => self.open(Dir::Bi, saying(choices), place % 2 == 0),
            (3, Some(id)) => self.unwritten.push_front((id, saying(choices), place % 3 == 0)),
            // It may have ended, or be the other side's alone.
            (4, Some(id)) if can_send(id, self.side) => drop(quic.send_stream(id).reset(code)),
            (5, Some(id)) if can_receive(id, self.side) => drop(quic.recv_stream(id).stop(code)),
            (6, Some(id)) if can_send(id, self.side) => drop(quic.send_stream(id).finish()),
            (7, _) if place % 8 == 0 => {
                let now = self.clock.instant(now_ns);
                quic.close(now, code, choices.bytes(30).into());
            }
            (8, _) => self.aside.push(choices.bytes(100)),
            (9, _) => quic.ping(),
            _ => {}
        }
        let side = self.side;
        self.unwritten.retain(|(id, ..)| can_send(*id, side));
    }
}

/// Reads over what has come on a stream; whether that was its end.
pub fn read_over(quic: &mut Connection, id: StreamId) -> bool {
    let mut stream = quic.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else { return false };
    let ended = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(_)) => {}
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    let _ = chunks.finalize();
    ended
}

fn can_send(id: StreamId, side: Side) -> bool {
    id.dir() == Dir::Bi || id.initiator() == side
}

fn can_receive(id: StreamId, side: Side) -> bool {
    id.dir() == Dir::Bi || id.initiator() != side
}

/// A frame or two, most of them nearly right.
fn saying(choices: &mut Choices) -> Vec<u8> {
    let mut said = Vec::new();
    for _ in 0..=choices.up_to(2) {
        let payload = choices.bytes(60);
        match choices.byte() % 8 {
            0 => said.extend(response(&payload)),
            1 => said.extend(request()),
            2 => frame(&mut said, kind::DATA, &payload),
            3 => frame(&mut said, kind::HEADERS, &payload),
            4 => frame(&mut said, u64::from(choices.byte() % 16), &payload),
            5 => {
                // A length that is another than its payload's.
                write_head(
                    &mut said,
                    u64::from(choices.byte() % 16),
                    u64::from(choices.byte()) << 20,
                );
                said.extend(&payload);
            }
            6 => {
                varint::write(
                    &mut said,
                    [stream_type::QPACK_ENCODER, stream_type::QPACK_DECODER]
                        [usize::from(choices.byte() % 2)],
                );
                said.extend(&payload);
            }
            _ => said.extend(&payload),
        }
    }
    said
}

fn frame(out: &mut Vec<u8>, kind: u64, payload: &[u8]) {
    write_head(out, kind, payload.len() as u64);
    out.extend_from_slice(payload);
}

fn section(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut section = Vec::new();
    begin(&mut section);
    for (name, value) in fields {
        literal(&mut section, false, Name::Literal(name.as_bytes()), value.as_bytes());
    }
    section
}

/// A request that can be answered.
fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    let fields = [(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/")];
    frame(&mut bytes, kind::HEADERS, &section(&fields));
    bytes
}

/// A response with this content.
pub fn response(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame(&mut bytes, kind::HEADERS, &section(&[(":status", "200")]));
    frame(&mut bytes, kind::DATA, content);
    bytes
}
