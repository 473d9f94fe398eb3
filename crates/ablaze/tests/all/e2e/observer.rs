//! A plain server that notes, per connection, who came, how many requests came, and who ended it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Who ended a connection on which the last request had asked for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client, by FIN, without waiting.
    ClientFin,
    /// The client, by RST.
    ClientReset,
    /// The client waited for the server's FIN.
    Server,
}

/// What was seen of a connection that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub peer: SocketAddr,
    pub requests: u64,
    pub end: End,
}

/// The server; its threads end with the test's process.
pub struct Observer {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Observer {
    /// Ends a connection itself when the client has not for this long.
    pub fn start(client_ends_within: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&seen);
        std::thread::spawn(move || {
            while let Ok((stream, peer)) = listener.accept() {
                let seen = Arc::clone(&of_thread);
                std::thread::spawn(move || {
                    let (requests, end) = attend(stream, client_ends_within);
                    seen.lock().unwrap().push(Seen { peer, requests, end });
                });
            }
        });
        Self { address, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The connections that have ended, once that many requests were seen on them.
    pub fn seen(&self, requests: u64) -> Vec<Seen> {
        let all = || self.seen.lock().unwrap().clone();
        let count = || all().iter().map(|one| one.requests).sum::<u64>();
        assert!(
            crate::e2e::support::eventually(|| count() >= requests),
            "{} of {requests}",
            count()
        );
        all()
    }
}

fn attend(mut stream: TcpStream, client_ends_within: Duration) -> (u64, End) {
    stream.set_nodelay(true).unwrap();
    let (mut requests, mut unread) = (0, Vec::new());
    loop {
        let Some(head) = next_head(&mut stream, &mut unread) else {
            return (requests, End::ClientFin);
        };
        requests += 1;
        let close = head.to_ascii_lowercase().contains("connection: close");
        let field = if close { "Connection: close\r\n" } else { "" };
        let response = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: 2\r\n\r\nok");
        if stream.write_all(response.as_bytes()).is_err() {
            return (requests, End::ClientReset);
        }
        if close {
            return (requests, who_ends(&mut stream, client_ends_within));
        }
    }
}

/// Gives the client a while to close first.
fn who_ends(stream: &mut TcpStream, client_ends_within: Duration) -> End {
    stream.set_read_timeout(Some(client_ends_within)).unwrap();
    match stream.read(&mut [0; 64]) {
        Ok(_) => End::ClientFin,
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            let _ = stream.shutdown(Shutdown::Write);
            End::Server
        }
        Err(_) => End::ClientReset,
    }
}

fn next_head(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<String> {
    let mut buffer = [0; 4096];
    loop {
        if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            let head: Vec<u8> = unread.drain(..at + 4).collect();
            return Some(String::from_utf8_lossy(&head).into_owned());
        }
        match stream.read(&mut buffer) {
            Ok(bytes @ 1..) => unread.extend_from_slice(&buffer[..bytes]),
            _ => return None,
        }
    }
}
