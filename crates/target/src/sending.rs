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

/// Writes output as far as it goes without waiting.
///
/// # Errors
/// Those of sendmsg(2), EAGAIN among them.
#[inline]
pub fn send_all(socket: impl AsFd, out: &mut Output, counters: &Counters) -> Result<(), Errno> {
    let socket = socket.as_fd();
    while !out.is_empty() {
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
    Ok(())
}
