//! What the tests share: small servers that behave as a test wants, and both programs run with a
//! bound on their time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ablaze_testing::Bounded;
use ablaze_testing::skip::installed;
pub use ablaze_testing::{Ran, ScratchFile as Scratch};

/// Longest a server waits for bytes, so that no thread stays behind.
const SERVER_WAIT: Duration = Duration::from_secs(20);

/// A server on a port of its own, a thread per connection, gone with the test.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// Connections it accepted.
    pub connections: Arc<AtomicUsize>,
    /// Every request head and body it read by [`Client::request`].
    pub requests: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// One connection, as a server's behaviour sees it.
pub struct Client {
    pub stream: TcpStream,
    /// Which connection this is, from 0.
    pub number: usize,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
    unread: Vec<u8>,
}

impl Server {
    /// Starts a server that treats each connection so.
    pub fn start(behaviour: impl Fn(&mut Client) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (counter, log, behaviour) =
            (Arc::clone(&connections), Arc::clone(&requests), Arc::new(behaviour));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                stream.set_read_timeout(Some(SERVER_WAIT)).unwrap();
                let number = counter.fetch_add(1, Ordering::SeqCst);
                let (behaviour, requests) = (Arc::clone(&behaviour), Arc::clone(&log));
                std::thread::spawn(move || {
                    behaviour(&mut Client { stream, number, requests, unread: Vec::new() });
                });
            }
        });
        Self { address, connections, requests }
    }

    /// A server that answers every request of every connection with these bytes, then closes.
    pub fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |client| {
            if client.request().is_some() {
                client.send(&response);
            }
        })
    }

    /// A server that answers so and keeps the connection.
    pub fn keeping(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |client| {
            while client.request().is_some() {
                client.send(&response);
            }
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}/x", self.address)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Client {
    /// The next request, head and body; `None` when the client closed.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(bytes) = complete_request(&self.unread) {
                let request: Vec<u8> = self.unread.drain(..bytes).collect();
                self.requests.lock().unwrap().push(request.clone());
                return Some(request);
            }
            let mut buffer = [0; 65_536];
            match self.stream.read(&mut buffer) {
                Ok(bytes) if bytes > 0 => self.unread.extend_from_slice(&buffer[..bytes]),
                _ => return None,
            }
        }
    }

    /// Sends bytes; that the client went away is its own business.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Ends the connection with RST: the kernel does so when received bytes were never read.
    pub fn reset(&mut self) {
        let _ = self.stream.peek(&mut [0]);
    }

    /// Reads nothing and says nothing until the client goes away.
    pub fn stay_silent(&mut self) {
        while let Ok(1..) = self.stream.read(&mut [0; 4096]) {}
    }
}

fn complete_request(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok())
        .unwrap_or(0);
    (bytes.len() >= head + body).then_some(head + body)
}

/// `HTTP/1.1 200 OK` with a length and this body.
pub fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nServer: t/1 (x)\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// Runs `ablaze ab` with these words. Lines of the verdict, which ab has not, are left out of its
/// stderr: tests of ab's own lines have runs too short to be VALID.
pub fn ablaze(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.arg("ab").args(words);
    let mut ran = command.ran();
    ran.stderr = ran.stderr.split_inclusive('\n').filter(|line| !is_finding(line)).collect();
    ran
}

/// `ablaze: D14 SUSPECT …`
fn is_finding(line: &str) -> bool {
    let number = line.strip_prefix("ablaze: D").and_then(|rest| rest.split_once(' '));
    number.is_some_and(|(number, _)| number.len() == 2 && number.parse::<u8>().is_ok())
}

/// Runs the real ab; `None`, and a skip, where there is none.
#[track_caller]
pub fn real_ab(words: &[&str]) -> Option<Ran> {
    Some(Command::new(installed("ab")?).arg0("ab").args(words).ran())
}
