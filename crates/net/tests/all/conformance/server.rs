//! Small blocking servers: one thread, a fixed number of connections, each handed to the case's
//! function.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ablaze_net::Address;

/// A blocked server thread gives up after this long, so that a failed test ends.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A server thread. Dropping it does not wait; `join` does, and passes its panics on.
pub struct Server {
    pub address: Address,
    thread: JoinHandle<()>,
    socket_file: Option<SocketFile>,
}

impl Server {
    /// Accepts `connections` on a free IPv4 loopback port, one after the other, and hands each to
    /// `serve`.
    pub fn tcp(connections: usize, serve: impl FnMut(TcpStream) + Send + 'static) -> Self {
        Self::tcp_at(([127, 0, 0, 1], 0).into(), connections, serve)
    }

    pub fn tcp_at(
        address: SocketAddr,
        connections: usize,
        mut serve: impl FnMut(TcpStream) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).expect("loopback has a free port");
        let address = Address::Tcp(listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            for _ in 0..connections {
                let (stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(TIMEOUT)).unwrap();
                stream.set_write_timeout(Some(TIMEOUT)).unwrap();
                stream.set_nodelay(true).unwrap();
                serve(stream);
            }
        });
        Self { address, thread, socket_file: None }
    }

    /// The same over a Unix socket.
    pub fn unix(connections: usize, mut serve: impl FnMut(UnixStream) + Send + 'static) -> Self {
        let path = unix_path();
        let listener = UnixListener::bind(&path).expect("the path is new");
        let thread = std::thread::spawn(move || {
            for _ in 0..connections {
                let (stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(TIMEOUT)).unwrap();
                stream.set_write_timeout(Some(TIMEOUT)).unwrap();
                serve(stream);
            }
        });
        let socket_file = Some(SocketFile(path.clone()));
        Self { address: Address::Unix(path), thread, socket_file }
    }

    pub fn join(self) {
        self.thread.join().expect("the server saw what it expected");
        drop(self.socket_file);
    }
}

/// Removed with the server, joined or not.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A path for a Unix socket that no other test uses.
pub fn unix_path() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("ablaze-{}-{number}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// A loopback port where nobody listens, and that no one else gets as long as this lives.
pub struct RefusingPort(socket2::Socket);

impl RefusingPort {
    pub fn new() -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        Self(socket)
    }

    pub fn address(&self) -> Address {
        Address::Tcp(self.0.local_addr().unwrap().as_socket().unwrap())
    }
}

/// Reads exactly `len` bytes.
pub fn read_exactly(stream: &mut impl Read, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// Reads until the peer closes, whichever way.
pub fn drain(stream: &mut impl Read) {
    let mut bytes = [0; 4096];
    while matches!(stream.read(&mut bytes), Ok(came) if came > 0) {}
}

/// Writes; a client that closed meanwhile is no fault of the server.
pub fn write(stream: &mut impl Write, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Has the stream's close send RST.
pub fn reset_on_close(stream: &TcpStream) {
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
}
