//! A connection that one request at a time goes over: TCP or TLS, blocking, with a deadline. It reads while it still sends,
//! so that a server that responds to a body as it comes is not waited for.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use ablaze_engine::transport::tls::Shared;
use ablaze_report::system_error::reason;
use ablaze_wire::http1::request::Template;
use rustls::{ClientConnection, StreamOwned};

use super::incoming::{Deliver, Incoming};

/// Sending and receiving wait so long before the other, and the deadline, are looked at.
const TICK: Duration = Duration::from_millis(50);
/// A request that is longer may have to be sent while its response comes: neither waits for the other then.
const SENT_AT_ONCE_BYTES: usize = 16 * 1024;
/// How long a connection rests on which nothing can be sent or received.
const REST: Duration = Duration::from_millis(1);
/// What is read at once.
const READ_BYTES: usize = 64 * 1024;

/// An open connection.
pub struct Connection {
    stream: Stream,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// Why there is no response.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// In words.
    pub line: String,
    /// The connection ended before anything of the response came.
    pub before_response: bool,
}

impl Connection {
    /// Connects to the first of these addresses that accepts.
    ///
    /// # Errors
    /// Why none does, or why there is no TLS.
    pub fn open(
        addresses: &[SocketAddr],
        tls: Option<&Shared>,
        deadline: Option<Instant>,
    ) -> Result<Self, String> {
        let tcp = connected(addresses, deadline)?;
        let stream = match tls {
            None => Stream::Plain(tcp),
            Some(shared) => Stream::Tls(Box::new(shaken(tcp, shared, deadline)?)),
        };
        Ok(Self { stream })
    }

    /// Whether the server has closed it, or said something unasked.
    pub fn is_stale(&mut self) -> bool {
        let socket = self.stream.socket();
        if socket.set_nonblocking(true).is_err() {
            return true;
        }
        let quiet = matches!(
            self.stream.read(&mut [0]),
            Err(error) if error.kind() == ErrorKind::WouldBlock
        );
        let usable = self.stream.socket().set_nonblocking(false).is_ok();
        !(quiet && usable)
    }

    /// Sends a request and hands over its response. Whether the connection can carry another.
    ///
    /// # Errors
    /// Why there is no response, or no whole one.
    pub fn exchange(
        &mut self,
        request: &Template,
        deadline: Option<Instant>,
        deliver: Deliver<'_>,
    ) -> Result<bool, Failure> {
        let mut incoming = Incoming::to(&request.bytes[..request.head_bytes]);
        let failed = |incoming: &Incoming<'_>, line: String| Failure {
            line,
            before_response: !incoming.has_begun(),
        };
        let mut buffer = vec![0; READ_BYTES];
        let mut unsent = &request.bytes[..];
        let mut sending_failed = None;
        self.wait_for_neither(unsent.len() > SENT_AT_ONCE_BYTES);
        while !incoming.is_over() {
            if is_past(deadline) {
                let line = "timed out: -connect-timeout allows it no longer".to_owned();
                return Err(Failure { line, before_response: false });
            }
            if !unsent.is_empty() {
                match self.stream.write(unsent) {
                    Ok(sent) => unsent = &unsent[sent..],
                    Err(error) if is_only_late(&error) => std::thread::sleep(REST),
                    // The response may say why.
                    Err(error) => {
                        unsent = &[];
                        sending_failed = Some(format!("sending failed: {}", reason(&error)));
                    }
                }
                if unsent.is_empty() {
                    self.wait_for_neither(false);
                    // What is left goes out with the next reading.
                    let _ = self.stream.flush();
                }
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => incoming
                    .closed()
                    .map_err(|line| failed(&incoming, sending_failed.take().unwrap_or(line)))?,
                Ok(bytes) => incoming
                    .feed(&buffer[..bytes], deliver)
                    .map_err(|line| Failure { line, before_response: false })?,
                Err(error) if is_only_late(&error) => {}
                // A server may end TLS without close_notify.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    incoming.closed().map_err(|line| failed(&incoming, line))?;
                }
                Err(error) => {
                    let line = sending_failed
                        .unwrap_or_else(|| format!("receiving failed: {}", reason(&error)));
                    return Err(failed(&incoming, line));
                }
            }
        }
        Ok(incoming.leaves_connection() && unsent.is_empty() && sending_failed.is_none())
    }

    /// Whether sending and receiving return at once, done or not. One that cannot be set waits for either, up to a tick.
    fn wait_for_neither(&self, neither: bool) {
        let _ = self.stream.socket().set_nonblocking(neither);
    }
}

/// Whether an operation was only not done in time.
fn is_only_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

fn connected(addresses: &[SocketAddr], deadline: Option<Instant>) -> Result<TcpStream, String> {
    let mut why = "it has no address".to_owned();
    for address in addresses {
        let tcp = match deadline {
            None => TcpStream::connect(address),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                TcpStream::connect_timeout(address, left.max(Duration::from_millis(1)))
            }
        };
        match tcp.and_then(prepared) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => {
                why = match error.kind() {
                    ErrorKind::ConnectionRefused => {
                        format!("{address} refused the connection: is the server running?")
                    }
                    _ => format!("cannot connect to {address}: {}", reason(&error)),
                }
            }
        }
    }
    Err(why)
}

fn prepared(tcp: TcpStream) -> io::Result<TcpStream> {
    tcp.set_nodelay(true)?;
    tcp.set_read_timeout(Some(TICK))?;
    tcp.set_write_timeout(Some(TICK))?;
    Ok(tcp)
}

/// The handshake.
fn shaken(
    mut tcp: TcpStream,
    shared: &Shared,
    deadline: Option<Instant>,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    let config = std::sync::Arc::clone(&shared.config);
    let mut connection = ClientConnection::new(config, shared.server_name.clone())
        .map_err(|error| format!("TLS: {error}"))?;
    while connection.is_handshaking() {
        if is_past(deadline) {
            return Err("timed out in the TLS handshake".to_owned());
        }
        match connection.complete_io(&mut tcp) {
            Ok(_) => {}
            Err(error) if is_only_late(&error) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err("the server closed the connection in the TLS handshake".to_owned());
            }
            Err(error) => {
                let certificate = matches!(
                    error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()),
                    Some(rustls::Error::InvalidCertificate(_))
                );
                let fix = if certificate { " (-k accepts any certificate)" } else { "" };
                return Err(format!("the TLS handshake failed: {}{fix}", reason(&error)));
            }
        }
    }
    Ok(StreamOwned::new(connection, tcp))
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => &tls.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(buffer),
            Self::Tls(tls) => read_tls(tls, buffer),
        }
    }
}

/// As rustls's own, but that it reads also while what is to be sent finds no room.
fn read_tls(
    tls: &mut StreamOwned<ClientConnection, TcpStream>,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let StreamOwned { conn, sock } = tls;
    loop {
        match conn.reader().read(buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read,
        }
        if conn.wants_write() {
            // What becomes of it shows when it is tried again, or by what the server says.
            let _ = conn.write_tls(sock);
        }
        conn.read_tls(sock)?;
        conn.process_new_packets().map_err(io::Error::other)?;
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
