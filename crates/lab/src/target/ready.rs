//! Whether a server answers yet: a connection that is accepted is not enough, since the kernel
//! accepts before the server has begun to work.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One request may take so long.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Whether a request to this address brings back at least one byte. A server that speaks TLS
/// may answer one in plain HTTP by closing: it works, then.
pub(super) fn responses(at: SocketAddr, path: &str, is_secure: bool) -> bool {
    match asked(at, path) {
        Ok(bytes) => bytes == 1 || is_secure,
        // It closed with our words unread: the kernel makes a reset of that.
        Err(error) => {
            is_secure && matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
        }
    }
}

fn asked(address: SocketAddr, path: &str) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    stream.read(&mut [0; 1])
}
