//! A server of HTTP/3 over UDP, whose every connection follows a script: QUIC is quinn-proto's, what is said on its streams are
//! bytes by hand, without any codec. For tests of clients, end to end. It breaks whatever rule the script breaks.

use std::collections::{BTreeMap, HashMap};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ablaze_quic::quinn_proto::crypto::rustls::QuicServerConfig;
use ablaze_quic::quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, ServerConfig, Side,
    StreamEvent, VarInt, WriteError,
};
use bytes::BytesMut;

pub use ablaze_quic::quinn_proto::StreamId;

use crate::quic::read_over;

// Types of frames (RFC 9114, 7.2).

/// DATA: a part of a body.
pub const DATA: u64 = 0x0;
/// HEADERS: a head, or trailers.
pub const HEADERS: u64 = 0x1;
/// SETTINGS: what the sender permits.
pub const SETTINGS: u64 = 0x4;
/// PUSH_PROMISE: a response that nobody asked for.
pub const PUSH_PROMISE: u64 = 0x5;
/// GOAWAY: ends a connection.
pub const GOAWAY: u64 = 0x7;

/// A head of `:status: 200`, entry 25 of the static table (RFC 9204, 4.5.1 and appendix A).
pub const OK: &[u8] = &[1, 3, 0, 0, 0xd9];

/// A control stream with SETTINGS of nothing.
pub const CONTROL: &[u8] = &[0, 4, 0];

/// No wait for a datagram is longer, so that the server ends soon when it is told to.
const WAIT_MAX: Duration = Duration::from_millis(5);
/// Bytes of what does not end that a stream is given at a time: each gets its turn.
const AT_A_TIME_BYTES: usize = 16_384;

/// How every connection is served: what is done when its handshake is complete, and when a request came whole.
pub trait Script: Send + Sync {
    /// The handshake is complete. The usual is a control stream.
    fn connected(&self, peer: &mut Peer) {
        peer.open(CONTROL);
    }

    /// A request came whole.
    fn request(&self, peer: &mut Peer, stream: StreamId);
}

impl<F: Fn(&mut Peer, StreamId) + Send + Sync> Script for F {
    fn request(&self, peer: &mut Peer, stream: StreamId) {
        self(peer, stream);
    }
}

/// The server, which ends with this value.
#[derive(Debug)]
pub struct Hostile {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    serves: Option<JoinHandle<()>>,
}

impl Hostile {
    /// Serves every connection with this script, on a free port of loopback, with a certificate that nobody knows.
    pub fn start(script: Arc<dyn Script>) -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.set_read_timeout(Some(WAIT_MAX)).unwrap();
        let address = socket.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = stopped.clone();
        let serves = std::thread::spawn(move || {
            let endpoint = Endpoint::new(Arc::default(), Some(config()), true, None);
            let mut server = Server { socket, endpoint, peers: HashMap::new(), script };
            while !is_stopped.load(Ordering::Relaxed) {
                server.turn();
            }
        });
        Self { address, stopped, serves: Some(serves) }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("https://{}/", self.address)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(serves) = self.serves.take() {
            let _ = serves.join();
        }
    }
}

fn config() -> Arc<ServerConfig> {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = own.signing_key.serialize_der().try_into().unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let crypto = QuicServerConfig::try_from(tls).unwrap();
    Arc::new(ServerConfig::with_crypto(Arc::new(crypto)))
}

/// All connections of one socket.
struct Server {
    socket: UdpSocket,
    endpoint: Endpoint,
    peers: HashMap<ConnectionHandle, Peer>,
    script: Arc<dyn Script>,
}

impl Server {
    /// Takes what came, and has every connection go on.
    fn turn(&mut self) {
        let mut room = [0; 65_535];
        if let Ok((bytes, from)) = self.socket.recv_from(&mut room) {
            self.receive(&room[..bytes], from);
        }
        let now = Instant::now();
        let mut out = Vec::new();
        for (handle, peer) in &mut self.peers {
            if peer.quic.poll_timeout().is_some_and(|due| due <= now) {
                peer.quic.handle_timeout(now);
            }
            peer.go_on(&*self.script);
            while let Some(event) = peer.quic.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    peer.quic.handle_event(event);
                }
            }
            out.clear();
            while let Some(transmit) = peer.quic.poll_transmit(now, 1, &mut out) {
                // Lost if the kernel does not take it.
                let _ = self.socket.send_to(&out, transmit.destination);
                out.clear();
            }
        }
        self.peers.retain(|_, peer| !peer.quic.is_drained());
    }

    fn receive(&mut self, datagram: &[u8], from: SocketAddr) {
        let (now, mut answer) = (Instant::now(), Vec::new());
        let bytes = BytesMut::from(datagram);
        match self.endpoint.handle(now, from, None, None, bytes, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(peer) = self.peers.get_mut(&handle) {
                    peer.quic.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if let Ok((handle, quic)) = self.endpoint.accept(incoming, now, &mut answer, None) {
                    self.peers.insert(handle, Peer { quic, unwritten: BTreeMap::new() });
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                let _ = self.socket.send_to(&answer, transmit.destination);
            }
            None => {}
        }
    }
}

/// What is still to be written on a stream.
#[derive(Debug, Default)]
struct Unwritten {
    bytes: Vec<u8>,
    /// What follows again and again.
    forever: &'static [u8],
    ends: bool,
}

/// One connection of it.
#[derive(Debug)]
pub struct Peer {
    quic: Connection,
    unwritten: BTreeMap<StreamId, Unwritten>,
}

impl Peer {
    /// Sends these bytes on a stream, which may end behind them.
    pub fn send(&mut self, stream: StreamId, bytes: &[u8], ends: bool) {
        let unwritten = self.unwritten.entry(stream).or_default();
        unwritten.bytes.extend_from_slice(bytes);
        unwritten.ends |= ends;
    }

    /// Sends the same bytes for as long as the client takes them.
    pub fn send_forever(&mut self, stream: StreamId, bytes: &'static [u8]) {
        self.unwritten.entry(stream).or_default().forever = bytes;
    }

    /// A response of these bytes, whole.
    pub fn respond(&mut self, stream: StreamId, content: &[u8]) {
        self.send(stream, &[OK, &frame(DATA, content)].concat(), true);
    }

    /// Opens a stream of the server's that begins so.
    pub fn open(&mut self, bytes: &[u8]) -> StreamId {
        let stream = self.quic.streams().open(Dir::Uni).expect("a client permits three");
        self.send(stream, bytes, false);
        stream
    }

    /// Says something on the control stream, which was opened first.
    pub fn control(&mut self, bytes: &[u8], ends: bool) {
        self.send(StreamId::new(Side::Server, Dir::Uni, 0), bytes, ends);
    }

    /// RESET_STREAM with this code, behind what was sent.
    pub fn reset(&mut self, stream: StreamId, code: u64) {
        self.write();
        self.unwritten.remove(&stream);
        // The client may have stopped it.
        let _ = self.quic.send_stream(stream).reset(number(code));
    }

    /// The control stream is reset, which was opened first.
    pub fn reset_control(&mut self, code: u64) {
        self.reset(StreamId::new(Side::Server, Dir::Uni, 0), code);
    }

    /// CONNECTION_CLOSE with this code of HTTP/3, and these words.
    pub fn close(&mut self, code: u64, words: &'static str) {
        self.write();
        self.quic.close(Instant::now(), number(code), words.into());
    }

    fn go_on(&mut self, script: &dyn Script) {
        while let Some(event) = self.quic.poll() {
            match event {
                Event::Connected => script.connected(self),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = self.quic.streams().accept(dir) {
                        self.read(stream, script);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id, script),
                Event::Stream(StreamEvent::Stopped { id, .. }) => drop(self.unwritten.remove(&id)),
                _ => {}
            }
        }
        self.write();
    }

    /// Reads over what came; the script hears of the end of a request.
    fn read(&mut self, stream: StreamId, script: &dyn Script) {
        if read_over(&mut self.quic, stream) && stream.dir() == Dir::Bi {
            script.request(self, stream);
        }
    }

    fn write(&mut self) {
        let quic = &mut self.quic;
        self.unwritten.retain(|stream, left| {
            if !left.forever.is_empty() && left.bytes.is_empty() {
                left.bytes = left.forever.repeat(AT_A_TIME_BYTES.div_ceil(left.forever.len()));
            }
            let mut sends = quic.send_stream(*stream);
            while !left.bytes.is_empty() {
                match sends.write(&left.bytes) {
                    Ok(written) => drop(left.bytes.drain(..written)),
                    Err(WriteError::Blocked) => return true,
                    Err(_) => return false,
                }
            }
            if left.ends {
                let _ = sends.finish();
            }
            !left.forever.is_empty()
        });
    }
}

fn number(code: u64) -> VarInt {
    VarInt::from_u64(code).expect("codes have 62 bits")
}

/// The bytes of a frame.
pub fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    [&varint(kind)[..], &varint(payload.len() as u64), payload].concat()
}

/// A number of variable length (RFC 9000, 16).
pub fn varint(value: u64) -> Vec<u8> {
    match value {
        0..0x40 => vec![value as u8],
        0x40..0x4000 => (value as u16 | 0x4000).to_be_bytes().to_vec(),
        0x4000..0x4000_0000 => (value as u32 | 0x8000_0000).to_be_bytes().to_vec(),
        _ => (value | 0xc000_0000_0000_0000).to_be_bytes().to_vec(),
    }
}

/// A HEADERS frame of these fields: literals without Huffman code (RFC 9204, 4.5.6).
pub fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    use crate::hostile_http2::integer;
    let mut section = vec![0, 0];
    for (name, value) in fields {
        section.extend(integer(0x20, 3, name.len()));
        section.extend_from_slice(name.as_bytes());
        section.extend(integer(0x00, 7, value.len()));
        section.extend_from_slice(value.as_bytes());
    }
    frame(HEADERS, &section)
}
