//! A server that misbehaves on purpose, for tests of clients: one thread per connection, blocking,
//! simple. What it does is a [`Script`] of [`Behaviour`]s, chosen by connection or by request; it
//! counts what it saw.
//!
//! ```
//! use ablaze_testing::hostile::{Behaviour, Hostile, Script};
//!
//! // The second request of the run is answered by a reset, all others well.
//! let script = Script::per_request([Behaviour::Fine { body_bytes: 5 }, Behaviour::Reset])
//!     .then(Behaviour::Fine { body_bytes: 5 });
//! let server = Hostile::start(script)?;
//! let address = server.address();
//! # let _ = address;
//! assert_eq!(server.requests(), 0);
//! # Ok::<(), std::io::Error>(())
//! ```

mod behaviour;
mod bytes;
mod perform;
mod script;
mod stamps;
mod visitor;

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

pub use behaviour::{Behaviour, Chunks};
pub use script::Script;
pub use stamps::Stamp;

/// A misbehaving server that runs. Dropping it ends it.
#[derive(Debug)]
pub struct Hostile {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What its threads share.
#[derive(Debug)]
struct Shared {
    script: Script,
    connections: AtomicU64,
    requests: AtomicU64,
    /// How far a script that goes by requests is.
    turns: AtomicU64,
    stop: AtomicBool,
    stamps: Mutex<Vec<Stamp>>,
    /// A second handle of every open connection, so that its thread can be woken.
    open: Mutex<Vec<(u64, TcpStream)>>,
}

impl Hostile {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no port or thread.
    pub fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            stamps: Mutex::new(Vec::new()),
            open: Mutex::new(Vec::new()),
        });
        let of_thread = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("hostile".into())
            .spawn(move || accept(&listener, &of_thread))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Starts one that always does the same.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn always(behaviour: Behaviour) -> io::Result<Self> {
        Self::start(Script::always(behaviour))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of its root.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Connections it has accepted so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Requests whose head it has read so far.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// When each request of [`Behaviour::Stamped`] was read and answered, in order of the responses.
    pub fn stamps(&self) -> Vec<Stamp> {
        lock(&self.shared.stamps).clone()
    }

    fn end(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.shared.stop.store(true, Ordering::Release);
        // Wakes the acceptor, which then sees the flag. If this fails, it is gone already.
        let _ = TcpStream::connect(self.address);
        let _ = acceptor.join();
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.end();
    }
}

/// Accepts until told to stop, then ends every connection and waits for its thread.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        if shared.stop.load(Ordering::Acquire) {
            break;
        }
        let number = shared.connections.fetch_add(1, Ordering::Relaxed);
        if let Ok(second) = stream.try_clone() {
            lock(&shared.open).push((number, second));
        }
        let of_thread = Arc::clone(shared);
        let visit = move || {
            // An error here is the client's doing, which is none of this server's business.
            let _ = visitor::receive(&stream, number, &of_thread);
            lock(&of_thread.open).retain(|(other, _)| *other != number);
        };
        // Small stacks, so that a thousand connections are no burden.
        let builder = thread::Builder::new().stack_size(256 * 1024);
        match builder.spawn(visit) {
            Ok(thread) => threads.push(thread),
            Err(_) => lock(&shared.open).retain(|(other, _)| *other != number),
        }
        threads.retain(|thread| !thread.is_finished());
    }
    for (_, stream) in lock(&shared.open).iter() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn record(&self, stamp: Stamp) {
        lock(&self.stamps).push(stamp);
    }
}

/// A thread that panicked while it held the lock leaves nothing half done: pushes only.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Duration;

    use super::*;

    /// Everything that comes back until the server closes; nothing more is sent meanwhile.
    fn asked_by_1_0(behaviour: &Behaviour, fields: &str) -> Option<String> {
        let server = Hostile::always(behaviour.clone()).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(400))).unwrap();
        write!(stream, "GET / HTTP/1.0\r\n{fields}\r\n").unwrap();
        let mut text = String::new();
        let closed = stream.read_to_string(&mut text).is_ok();
        closed.then_some(text)
    }

    /// RFC 9112, section 9.3: an HTTP/1.0 client has to ask, and is told.
    #[test]
    fn http_1_0_is_kept_only_if_it_asks() {
        for behaviour in [Behaviour::Fine { body_bytes: 3 }, Behaviour::BareLf, Behaviour::ObsFold]
        {
            let text = asked_by_1_0(&behaviour, "").expect("closed behind the response");
            assert!(text.contains("Connection: close"), "{behaviour:?}: {text}");
            assert_eq!(asked_by_1_0(&behaviour, "Connection: keep-alive\r\n"), None);
        }
        assert_eq!(asked_by_1_0(&Behaviour::KeepAlive10, ""), None);
    }
}
