//! A plain client for tests: writes bytes, reads responses, judges nothing. Its every step is bounded.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection with what was read beyond the last response.
#[derive(Debug)]
pub struct Client {
    /// The socket.
    pub stream: TcpStream,
    surplus: Vec<u8>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its head, up to and with the empty line.
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
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, surplus: Vec::new() }
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
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
            assert!(self.read_more() > 0, "closed in a head: {:?}", self.surplus);
        };
        let head = String::from_utf8(self.surplus.drain(..end).collect()).unwrap();
        assert!(head.starts_with("HTTP/1.1 "), "{head}");
        let status = head[9..12].parse().unwrap();
        Response { status, head, body: Vec::new() }
    }

    /// Sends and reads the response.
    pub fn ask(&mut self, bytes: impl AsRef<[u8]>) -> Response {
        self.send(bytes);
        self.response()
    }

    /// The next `bytes` bytes.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.surplus.len() < bytes {
            assert!(self.read_more() > 0, "closed after {} bytes", self.surplus.len());
        }
        self.surplus.drain(..bytes).collect()
    }

    /// Everything up to the end of the stream.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.read_more() > 0 {}
        std::mem::take(&mut self.surplus)
    }

    fn read_more(&mut self) -> usize {
        let mut buffer = [0; 65_536];
        let bytes = self.stream.read(&mut buffer).unwrap();
        self.surplus.extend_from_slice(&buffer[..bytes]);
        bytes
    }
}

/// A GET of HTTP/1.1.
pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")
}
