//! A server of HTTP/2 over TCP, or TLS, whose every connection follows a script, frame by frame, without any codec: for
//! tests of clients, end to end. It breaks whatever rule the script breaks.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

// Types of frames (RFC 9113, 6).

/// DATA: a part of a body.
pub const DATA: u8 = 0;
/// HEADERS: a head, or the beginning of one.
pub const HEADERS: u8 = 1;
/// PRIORITY: deprecated.
pub const PRIORITY: u8 = 2;
/// RST_STREAM: ends a stream.
pub const RST_STREAM: u8 = 3;
/// SETTINGS: what the sender permits.
pub const SETTINGS: u8 = 4;
/// PUSH_PROMISE: a response that nobody asked for.
pub const PUSH_PROMISE: u8 = 5;
/// PING.
pub const PING: u8 = 6;
/// GOAWAY: ends a connection.
pub const GOAWAY: u8 = 7;
/// WINDOW_UPDATE: room for more of a body.
pub const WINDOW_UPDATE: u8 = 8;
/// CONTINUATION: more of a head.
pub const CONTINUATION: u8 = 9;

// Their flags.

/// Of SETTINGS and PING: acknowledges one.
pub const ACK: u8 = 1;
/// Of DATA and HEADERS: the last of its stream.
pub const END_STREAM: u8 = 1;
/// Of HEADERS and CONTINUATION: the end of the head.
pub const END_HEADERS: u8 = 4;
/// Of DATA and HEADERS: with padding.
pub const PADDED: u8 = 8;

/// `:status: 200`, from the static table (RFC 7541, appendix A).
pub const OK: &[u8] = &[0x88];

/// Nothing that a peer waits for takes so long, unless the client is gone.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What each connection is served with. An error ends it: the client went.
pub type Script = fn(&mut Peer) -> Result<()>;

/// The server, which ends with this value.
#[derive(Debug)]
pub struct Hostile {
    scheme: &'static str,
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Hostile {
    /// Serves every connection with this script, on a free port of loopback.
    pub fn start(script: Script) -> Self {
        Self::serve("http", None, script)
    }

    /// The same over TLS, with a certificate that nobody knows.
    pub fn start_tls(script: Script) -> Self {
        Self::serve("https", Some(tls()), script)
    }

    fn serve(scheme: &'static str, tls: Option<Arc<ServerConfig>>, script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = stopped.clone();
        let accepts = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let tls = tls.clone();
                std::thread::spawn(move || {
                    let mut peer = Peer::new(stream, tls);
                    let _ = script(&mut peer);
                    peer.linger();
                });
            }
        });
        Self { scheme, address, stopped, accepts: Some(accepts) }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("{}://{}/", self.scheme, self.address)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}

fn tls() -> Arc<ServerConfig> {
    let names = vec!["localhost".to_owned()];
    let own = rcgen::generate_simple_self_signed(names).unwrap();
    let key = own.signing_key.serialize_der().try_into().unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

/// What a connection is read from and written to.
#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    fn tcp(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &mut stream.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, room: &mut [u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// One connection of it.
#[derive(Debug)]
pub struct Peer {
    stream: Stream,
}

impl Peer {
    fn new(stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        let stream = match tls {
            None => Stream::Plain(stream),
            Some(config) => {
                let server = ServerConnection::new(config).unwrap();
                let mut stream = StreamOwned::new(server, stream);
                // The handshake is not what this server is hostile in; a client that leaves it is seen
                // at the first byte.
                let _ = stream.conn.complete_io(&mut stream.sock);
                Stream::Tls(Box::new(stream))
            }
        };
        Self { stream }
    }

    /// Reads the client's preface and says these settings.
    pub fn hello_with(&mut self, settings: &[(u16, u32)]) -> Result<()> {
        self.preface()?;
        self.frame(SETTINGS, 0, 0, &settings_payload(settings))
    }

    /// Reads the client's preface and begins as a server has to.
    pub fn hello(&mut self) -> Result<()> {
        self.hello_with(&[])
    }

    /// Reads the client's preface (RFC 9113, 3.4).
    pub fn preface(&mut self) -> Result<()> {
        let mut preface = [0; 24];
        self.stream.read_exact(&mut preface)?;
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        Ok(())
    }

    /// The number of the next stream that is opened. Everything else is read over.
    pub fn request(&mut self) -> Result<u32> {
        loop {
            let (kind, _, stream, _) = self.read()?;
            if kind == HEADERS {
                return Ok(stream);
            }
        }
    }

    /// The next frame: type, flags, stream and payload.
    pub fn read(&mut self) -> Result<(u8, u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head)?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.stream.read_exact(&mut payload)?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Ok((head[3], head[4], stream, payload))
    }

    /// Sends a frame.
    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<()> {
        self.raw(&frame(kind, flags, stream, payload))
    }

    /// Sends a whole head.
    pub fn head(&mut self, stream: u32, block: &[u8]) -> Result<()> {
        self.frame(HEADERS, END_HEADERS, stream, block)
    }

    /// Sends a head that is the whole response.
    pub fn response(&mut self, stream: u32, block: &[u8]) -> Result<()> {
        self.frame(HEADERS, END_HEADERS | END_STREAM, stream, block)
    }

    /// Sends these bytes, whatever they are.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// Sends the same bytes so many times, in large pieces.
    pub fn flood(&mut self, bytes: &[u8], times: usize) -> Result<()> {
        let at_once = (16_384 / bytes.len()).clamp(1, times);
        let piece = bytes.repeat(at_once);
        for _ in 0..times.div_ceil(at_once) {
            self.raw(&piece)?;
        }
        Ok(())
    }

    /// Closes its side at once, with what was sent.
    pub fn close(&mut self) -> Result<()> {
        if let Stream::Tls(stream) = &mut self.stream {
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        self.stream.tcp().shutdown(std::net::Shutdown::Write)?;
        Err(Error::from(ErrorKind::ConnectionAborted))
    }

    /// Closes with a reset: what the client sent is left unread.
    pub fn reset(&mut self) -> Result<()> {
        let stream = self.stream.tcp();
        rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO))?;
        self.stream = Stream::Plain(TcpStream::connect(stream.local_addr()?)?);
        Err(Error::from(ErrorKind::ConnectionReset))
    }

    /// Reads until the client closes, so that it reads what was sent before any reset.
    pub fn linger(&mut self) {
        let begun = Instant::now();
        let mut room = [0; 16_384];
        while begun.elapsed() < TIMEOUT && self.stream.read(&mut room).is_ok_and(|bytes| bytes > 0)
        {
        }
    }
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The payload of SETTINGS.
pub fn settings_payload(settings: &[(u16, u32)]) -> Vec<u8> {
    let bytes =
        |(number, value): &(u16, u32)| [&number.to_be_bytes()[..], &value.to_be_bytes()].concat();
    settings.iter().flat_map(bytes).collect()
}

/// A field as a literal without indexing, and without Huffman code (RFC 7541, 6.2.2).
pub fn field(name: &str, value: &str) -> Vec<u8> {
    literal(0x00, name, value)
}

/// A field that is added to the table (RFC 7541, 6.2.1).
pub fn indexed_field(name: &str, value: &str) -> Vec<u8> {
    literal(0x40, name, value)
}

fn literal(first: u8, name: &str, value: &str) -> Vec<u8> {
    [&[first][..], &string(name), &string(value)].concat()
}

fn string(text: &str) -> Vec<u8> {
    [&integer(0x00, 7, text.len()), text.as_bytes()].concat()
}

/// RFC 7541, 5.1.
pub fn integer(first: u8, prefix_bits: u32, value: usize) -> Vec<u8> {
    let most = (1_usize << prefix_bits) - 1;
    if value < most {
        return vec![first | value as u8];
    }
    let mut bytes = vec![first | most as u8];
    let mut rest = value - most;
    while rest >= 128 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}
