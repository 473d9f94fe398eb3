//! Handing output to a socket without waiting: the same calls for the event loops, the fibers, the
//! threads and async. (io_uring's requests are made in its own model.)

use std::io::IoSlice;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, send, sendmsg};

use crate::counters::Counters;
use crate::http1::output::Output;

/// Slices handed to one sendmsg: 4 MiB of filler.
const SLICES: usize = 64;

/// So many bytes may leave before other connections have their turn: a client that reads as fast as it is written to
/// never fills its socket, and a long response would hold the worker.
const TURN_BYTES: usize = 1 << 20;

/// How far writing got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// There is nothing left.
    All,
    /// The turn is over, and the socket may have room for more.
    Part,
}

/// Writes output as far as it goes without waiting, for one turn.
///
/// # Errors
/// Those of sendmsg(2), EAGAIN among them.
#[inline]
pub fn send_all(socket: impl AsFd, out: &mut Output, counters: &Counters) -> Result<Sent, Errno> {
    let socket = socket.as_fd();
    let mut sent_bytes = 0;
    while !out.is_empty() {
        if sent_bytes >= TURN_BYTES {
            return Ok(Sent::Part);
        }
        counters.writes.one();
        let sent = match out.as_text() {
            Some(text) => send(socket, text, SendFlags::NOSIGNAL),
            None => {
                let mut slices = [IoSlice::new(&[]); SLICES];
                let used = out.slices(&mut slices);
                let mut nothing = SendAncillaryBuffer::default();
                sendmsg(socket, &slices[..used], &mut nothing, SendFlags::NOSIGNAL)
            }
        };
        match sent {
            Ok(bytes) => {
                counters.written_bytes.add(bytes as u64);
                out.wrote(bytes);
                sent_bytes += bytes;
            }
            Err(Errno::INTR) => {}
            Err(errno) => {
                if errno == Errno::AGAIN {
                    counters.write_eagains.one();
                }
                return Err(errno);
            }
        }
    }
    Ok(Sent::All)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_socket_that_takes_everything_does_not_hold_the_worker() {
        let (near, _far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        set_socket_send_buffer_size(&near, 8 << 20).unwrap();
        let space = socket_send_buffer_size(&near).unwrap();
        if space < 4 * TURN_BYTES {
            return ablaze_testing::skip::skip("net.core.wmem_max permits no send buffer of 4 MiB");
        }
        let counters = Counters::default();
        let mut out = Output::default();
        for _ in 0..2 * TURN_BYTES / 1000 {
            out.push_text(&[b'x'; 1000]);
            // Each leaves by a call of its own.
            out.cut();
        }
        let before = out.left();
        assert_eq!(send_all(&near, &mut out, &counters), Ok(Sent::Part));
        assert!(out.left() > 0 && out.left() < before);
        out.clear();
        out.push_filler(100);
        assert_eq!(send_all(&near, &mut out, &counters), Ok(Sent::All));
    }
}
