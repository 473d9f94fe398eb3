//! A plain client whose every step is bounded. It counts the bytes it moves and judges nothing.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longest wait of any single step.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// What `/hello` responses.
pub const HELLO: &[u8] = b"hello, world!\n";

/// A connection, with what was read beyond the last response.
pub struct Client {
    /// The socket.
    pub stream: TcpStream,
    surplus: Vec<u8>,
    /// Bytes read so far.
    pub received_bytes: u64,
    /// Bytes sent so far.
    pub sent_bytes: u64,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its head, with the date masked.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// Value of the first field of this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, surplus: Vec::new(), received_bytes: 0, sent_bytes: 0 }
    }

    /// Connects with a receive buffer that does not grow: what the server sends backs up.
    pub fn connect_narrow(address: SocketAddr) -> Self {
        let client = Self::connect(address);
        rustix::net::sockopt::set_socket_recv_buffer_size(&client.stream, 32 * 1024).unwrap();
        client
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self.sent_bytes += bytes.as_ref().len() as u64;
    }

    /// Sends and reads the response.
    pub fn ask(&mut self, bytes: impl AsRef<[u8]>) -> Response {
        self.send(bytes);
        self.response()
    }

    /// Reads a head, and a body of the length it announces.
    pub fn response(&mut self) -> Response {
        let response = self.head();
        let length = response.field("Content-Length").map_or(0, |text| text.parse().unwrap());
        let body = self.take(length);
        Response { body, ..response }
    }

    /// Reads a head only.
    pub fn head(&mut self) -> Response {
        let end = loop {
            if let Some(at) = self.surplus.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            let bytes = self.read_more();
            assert!(bytes > 0, "closed in a head: {:?}", String::from_utf8_lossy(&self.surplus));
        };
        let mut head: Vec<u8> = self.surplus.drain(..end).collect();
        mask_date(&mut head);
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("HTTP/1.1 "), "{head}");
        let status = head[9..12].parse().unwrap();
        Response { status, head, body: Vec::new() }
    }

    /// Reads a head, and a body in chunks (RFC 9112, 7.1).
    pub fn chunked_response(&mut self) -> Response {
        let response = self.head();
        assert_eq!(response.field("Transfer-Encoding"), Some("chunked"), "{}", response.head);
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line(), 16).unwrap();
            body.extend(self.take(size));
            assert_eq!(self.take(2), b"\r\n", "behind a chunk of {size} bytes");
            if size == 0 {
                return Response { body, ..response };
            }
        }
    }

    /// A line, without its end.
    fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.take(1));
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line).unwrap()
    }

    /// The next `bytes` bytes.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.surplus.len() < bytes {
            let missing = bytes - self.surplus.len();
            assert!(self.read_more() > 0, "closed with {missing} of {bytes} bytes missing");
        }
        let rest = self.surplus.split_off(bytes);
        std::mem::replace(&mut self.surplus, rest)
    }

    /// Everything up to the orderly end of the stream.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.read_more() > 0 {}
        std::mem::take(&mut self.surplus)
    }

    /// Reads until the connection is over, in order or by a reset; what came, and how long it
    /// took.
    pub fn until_closed(&mut self) -> (Vec<u8>, Duration) {
        let began = Instant::now();
        self.stream.set_read_timeout(Some(TIMEOUT / 3)).unwrap();
        let mut buffer = [0; 65_536];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(bytes) => self.surplus.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
                Err(error) => panic!("not closed: {error}"),
            }
        }
        (std::mem::take(&mut self.surplus), began.elapsed())
    }

    /// Says that nothing more will be sent.
    pub fn finish(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Closes with a reset.
    pub fn reset(self) {
        rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)).unwrap();
    }

    fn read_more(&mut self) -> usize {
        let mut buffer = [0; 65_536];
        let bytes = self.stream.read(&mut buffer).unwrap();
        self.surplus.extend_from_slice(&buffer[..bytes]);
        self.received_bytes += bytes as u64;
        bytes
    }
}

/// A GET of HTTP/1.1.
pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")
}

/// Overwrites the date, which differs between responses that are otherwise the same.
pub fn mask_date(head: &mut [u8]) {
    const NAME: &[u8] = b"\r\nDate: ";
    const DATE_BYTES: usize = 29;
    if let Some(at) = head.windows(NAME.len()).position(|some| some == NAME) {
        let from = at + NAME.len();
        head[from..from + DATE_BYTES].fill(b'*');
    }
}
