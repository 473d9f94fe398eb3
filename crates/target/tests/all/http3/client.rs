//! A client of HTTP/3 over quinn-proto and a UDP socket, which sends on its streams whatever it is told.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ablaze_quic::quinn_proto::crypto::rustls::QuicClientConfig;
use ablaze_quic::quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, ReadError, StreamEvent, StreamId, TransportConfig, VarInt, WriteError,
};
use ablaze_target::Options;
use ablaze_wire::http2::hpack::encoder::Name;
use ablaze_wire::http3::frame::{FrameReader, Piece, kind, write_head};
use ablaze_wire::http3::qpack::decoder::Decoder;
use ablaze_wire::http3::qpack::encoder::{begin, literal};

/// No wait is longer.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// What came on a stream.
#[derive(Debug, Clone, Default)]
pub struct Came {
    pub bytes: Vec<u8>,
    /// It ended: whole, or with the code of a reset.
    pub end: Option<Result<(), u64>>,
}

/// A response in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// Statuses of all heads.
    pub statuses: Vec<String>,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// One connection.
pub struct Client {
    socket: UdpSocket,
    endpoint: Endpoint,
    pub connection: Connection,
    handle: ConnectionHandle,
    streams: BTreeMap<u64, Came>,
    /// What is still to be written on streams, and whether these end behind it.
    unsent: BTreeMap<u64, (Vec<u8>, bool)>,
    closed: Option<ConnectionError>,
    connected: bool,
    /// Nothing is read of the server's streams.
    pub reads: bool,
}

impl Client {
    /// Connects to a server with these options.
    pub fn connect(server: SocketAddr, options: &Options) -> Self {
        Self::connect_with(server, options, TransportConfig::default())
    }

    /// The same, with what it permits the server.
    pub fn connect_with(server: SocketAddr, options: &Options, permits: TransportConfig) -> Self {
        let mut client = Self::begin_with(server, options, permits);
        client.wait(|client| client.connected || client.closed.is_some());
        assert!(client.connected, "{:?}", client.closed);
        client
    }

    /// Sends its first datagram.
    pub fn begin(server: SocketAddr, options: &Options) -> Self {
        Self::begin_with(server, options, TransportConfig::default())
    }

    fn begin_with(server: SocketAddr, options: &Options, permits: TransportConfig) -> Self {
        let mut tls = ablaze_tamper::tls_client::config(options, &rustls::version::TLS13);
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let crypto = QuicClientConfig::try_from(tls).unwrap();
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(permits));
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
        let (handle, connection) =
            endpoint.connect(Instant::now(), config, server, "localhost").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        let mut client = Self {
            socket,
            endpoint,
            connection,
            handle,
            streams: BTreeMap::new(),
            unsent: BTreeMap::new(),
            closed: None,
            connected: false,
            reads: true,
        };
        client.transmit();
        client
    }

    /// Opens a stream for a request, and writes this on it.
    pub fn open(&mut self, bytes: &[u8], ends: bool) -> u64 {
        self.open_in(Dir::Bi, bytes, ends)
    }

    /// Opens a stream in one direction, and writes this on it.
    pub fn open_one_way(&mut self, bytes: &[u8], ends: bool) -> u64 {
        self.open_in(Dir::Uni, bytes, ends)
    }

    /// Opens a stream for a request, if the server permits one more.
    pub fn open_if_permitted(&mut self) -> Option<u64> {
        self.connection.streams().open(Dir::Bi).map(u64::from)
    }

    fn open_in(&mut self, dir: Dir, bytes: &[u8], ends: bool) -> u64 {
        self.wait(|client| client.connection.streams().send_streams() < 100);
        let stream = u64::from(self.connection.streams().open(dir).unwrap());
        self.write(stream, bytes, ends);
        stream
    }

    /// Writes on a stream, as far and as soon as the server has room.
    pub fn write(&mut self, stream: u64, bytes: &[u8], ends: bool) {
        let unsent = self.unsent.entry(stream).or_default();
        unsent.0.extend_from_slice(bytes);
        unsent.1 |= ends;
        self.send();
        self.transmit();
    }

    pub fn reset(&mut self, stream: u64, code: u64) {
        let code = VarInt::from_u64(code).unwrap();
        self.connection.send_stream(id(stream)).reset(code).unwrap();
    }

    pub fn stop(&mut self, stream: u64, code: u64) {
        let code = VarInt::from_u64(code).unwrap();
        self.connection.recv_stream(id(stream)).stop(code).unwrap();
        self.transmit();
    }

    /// Sends a request and waits for its response; the code of the reset if there is none.
    pub fn ask(&mut self, request: &[u8]) -> Result<Response, u64> {
        let stream = self.open(request, true);
        self.response(stream)
    }

    pub fn get(&mut self, path: &str) -> Result<Response, u64> {
        self.ask(&head(&get_fields(path)))
    }

    /// Waits for the end of a stream.
    pub fn response(&mut self, stream: u64) -> Result<Response, u64> {
        let end = self.end(stream).unwrap_or_else(|error| panic!("{stream}: {error}"));
        end.map(|bytes| read(&bytes))
    }

    /// What came on a stream until it ended, with the code if that was a reset; why the connection ended before.
    pub fn end(&mut self, stream: u64) -> Result<Result<Vec<u8>, u64>, ConnectionError> {
        let has_ended = |client: &mut Self| client.came(stream).end.is_some();
        self.wait(|client| has_ended(client) || client.closed.is_some());
        let came = self.came(stream).clone();
        match (came.end, &self.closed) {
            (Some(end), _) => Ok(end.map(|()| came.bytes)),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => panic!("the stream has not ended"),
        }
    }

    pub fn came(&mut self, stream: u64) -> &Came {
        self.streams.entry(stream).or_default()
    }

    /// Waits for the server to close the connection: the code it gives.
    pub fn closed(&mut self) -> u64 {
        self.wait(|client| client.closed.is_some());
        match self.closed.clone() {
            Some(ConnectionError::ApplicationClosed(close)) => close.error_code.into(),
            other => panic!("not closed by the server: {other:?}"),
        }
    }

    pub fn has_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// What the server's control stream brought.
    pub fn control(&mut self) -> Vec<u8> {
        self.wait(|client| client.came(3).bytes.len() > 3 || client.closed.is_some());
        self.came(3).bytes.clone()
    }

    pub fn close(mut self) {
        self.connection.close(Instant::now(), VarInt::from_u32(0x100), Default::default());
        self.transmit();
    }

    /// Goes on until that is so.
    pub fn wait(&mut self, mut is_so: impl FnMut(&mut Self) -> bool) {
        let started = Instant::now();
        while !is_so(self) {
            assert!(started.elapsed() < WAIT_MAX, "waited for too long");
            self.turn(Duration::from_millis(20));
        }
    }

    /// Goes on for so long.
    pub fn pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now())
            && !left.is_zero()
        {
            self.turn(left.min(Duration::from_millis(20)));
        }
    }

    fn turn(&mut self, most: Duration) {
        let due = self.connection.poll_timeout();
        let left = due.map_or(most, |due| due.saturating_duration_since(Instant::now()).min(most));
        self.socket.set_read_timeout(Some(left.max(Duration::from_micros(100)))).unwrap();
        let mut buffer = vec![0; 65_536];
        if let Ok(count) = self.socket.recv(&mut buffer) {
            self.take(&buffer[..count]);
        }
        let now = Instant::now();
        if self.connection.poll_timeout().is_some_and(|due| due <= now) {
            self.connection.handle_timeout(now);
        }
        self.events();
        self.send();
        self.transmit();
    }

    fn take(&mut self, bytes: &[u8]) {
        let from = self.socket.peer_addr().unwrap();
        let now = Instant::now();
        let event = self.endpoint.handle(now, from, None, None, bytes.into(), &mut Vec::new());
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
            self.connection.handle_event(event);
        }
    }

    fn events(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => self.connected = true,
                Event::ConnectionLost { reason } => self.closed = Some(reason),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = self.connection.streams().accept(dir) {
                        self.read(stream);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                _ => {}
            }
        }
    }

    fn read(&mut self, stream: StreamId) {
        if !self.reads {
            return;
        }
        let came = self.streams.entry(stream.into()).or_default();
        let mut receiving = self.connection.recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => came.bytes.extend_from_slice(&chunk.bytes),
                Ok(None) => break came.end = Some(Ok(())),
                Err(ReadError::Reset(code)) => break came.end = Some(Err(code.into())),
                Err(ReadError::Blocked) => break,
            }
        }
        let _ = chunks.finalize();
    }

    /// Reads what came on a stream while nothing was read.
    pub fn read_now(&mut self, stream: u64) {
        self.read(id(stream));
        self.transmit();
    }

    fn send(&mut self) {
        let streams: Vec<u64> = self.unsent.keys().copied().collect();
        for stream in streams {
            let (bytes, ends) = self.unsent.get_mut(&stream).unwrap();
            let mut sending = self.connection.send_stream(id(stream));
            let over = loop {
                if bytes.is_empty() {
                    if *ends {
                        let _ = sending.finish();
                    }
                    break true;
                }
                match sending.write(bytes) {
                    Ok(sent) => drop(bytes.drain(..sent)),
                    Err(WriteError::Blocked) => break false,
                    Err(_) => break true,
                }
            };
            if over {
                self.unsent.remove(&stream);
            }
        }
    }

    fn transmit(&mut self) {
        let mut out = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit(Instant::now(), 1, &mut out) {
            // A server that has gone is told of by the next call.
            let _ = self.socket.send(&out[..transmit.size]);
            out.clear();
        }
    }
}

/// What the control stream of a client begins with: its type, and SETTINGS without any.
pub const CONTROL: &[u8] = &[0, 4, 0];

pub fn get_fields(path: &str) -> Vec<(&str, &str)> {
    let pseudo = [(":method", "GET"), (":scheme", "https"), (":authority", "localhost")];
    pseudo.into_iter().chain([(":path", path)]).collect()
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

pub fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    write_head(&mut frame, kind, payload.len() as u64);
    frame.extend_from_slice(payload);
    frame
}

/// The stream of a response.
fn read(mut bytes: &[u8]) -> Response {
    let (mut response, mut section, mut kind) = (Response::default(), Vec::new(), 0);
    let mut frames = FrameReader::default();
    while let Some(piece) = frames.next(&mut bytes) {
        match piece {
            Piece::Begins { kind: own, .. } => kind = own,
            Piece::Payload { bytes, .. } if kind == kind::DATA => response.body.extend(bytes),
            Piece::Payload { bytes, ends } => {
                section.extend_from_slice(bytes);
                if ends && kind == kind::HEADERS {
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    let decoded = Decoder::new(0).decode(&std::mem::take(&mut section), |field| {
                        let (name, value) = (text(field.name), text(field.value));
                        match name.as_str() {
                            ":status" => response.statuses.push(value),
                            _ => response.fields.push((name, value)),
                        }
                    });
                    decoded.unwrap();
                }
            }
        }
    }
    assert!(frames.between_frames());
    response
}

impl Response {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn id(stream: u64) -> StreamId {
    VarInt::from_u64(stream).unwrap().into()
}
