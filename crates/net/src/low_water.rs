//! How many bytes a socket gathers before it says that it is readable: `SO_RCVLOWAT`, socket(7).
//! While a large body is dropped, being told of each part of it costs more than dropping it; at
//! the end of the body the socket is as it was.
//!
//! The kernel says readable earlier when its memory or the window is used up (`tcp_stream_is_readable`
//! in net/ipv4/tcp.c), and at the end of the stream or an error at once, so nothing can hang. It
//! also opens the window as wide as is asked for, so the peer is not held up. A body that comes
//! slowly is still reported in parts: whoever measures wants to see its progress.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Fewer are dropped as they come.
const LEFT_BYTES_MIN: u64 = 64 * 1024;
/// Most that is waited for: the rest of the body is told in parts of this length. More would cost the
/// client less and slow the server down: 1 MiB bodies over 10 connections came at 3,400 a second with
/// 256 KiB (65 µs of CPU each), 2,150 with 1 MiB (40 µs), 2,900 as wrk reads them (225 µs).
const GATHERED_BYTES_MAX: u64 = 256 << 10;
/// A connection on which so much took longer is slow.
const SLOW_NS: u64 = 50_000_000;

/// What one connection's socket waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowWater {
    /// As the kernel has it; 1 unless a body is being dropped.
    level_bytes: u32,
    raised_ns: u64,
    slow: bool,
}

impl LowWater {
    /// That of a new socket.
    pub const fn new() -> Self {
        Self { level_bytes: 1, raised_ns: 0, slow: false }
    }

    /// Whether reading at once would find less than is waited for.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.level_bytes > 1
    }

    /// Before waiting for more of a body of which `left` bytes are to be dropped. For TCP sockets
    /// only. Returns the number of system calls made.
    pub fn raise(&mut self, socket: BorrowedFd<'_>, left: u64, now_ns: u64) -> u32 {
        if self.is_raised() {
            self.note_pace(now_ns);
        }
        let level = match self.slow {
            false if left >= LEFT_BYTES_MIN || self.is_raised() => left.min(GATHERED_BYTES_MAX),
            _ => 1,
        };
        self.raised_ns = now_ns;
        self.set(socket, level as u32)
    }

    /// Before waiting for anything else. Returns the number of system calls made.
    #[inline]
    pub fn lower(&mut self, socket: BorrowedFd<'_>, now_ns: u64) -> u32 {
        if !self.is_raised() {
            return 0;
        }
        self.note_pace(now_ns);
        self.set(socket, 1)
    }

    fn note_pace(&mut self, now_ns: u64) {
        self.slow |= now_ns.saturating_sub(self.raised_ns) > SLOW_NS;
    }

    fn set(&mut self, socket: BorrowedFd<'_>, level_bytes: u32) -> u32 {
        if level_bytes == self.level_bytes {
            return 0;
        }
        // An `int` of at most 2^18, which the kernel does not refuse on a TCP socket. Were it not
        // set, bytes would be told in other portions, and none would be lost.
        if set_receive_low_water(socket, level_bytes as libc::c_int).is_ok() {
            self.level_bytes = level_bytes;
        }
        1
    }
}

fn set_receive_low_water(socket: BorrowedFd<'_>, bytes: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed for the whole call, and the option's value is the `int`
    // that lives on this stack frame, passed with its own size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            std::ptr::from_ref(&bytes).cast(),
            size_of_val(&bytes) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    fn level(socket: &TcpStream) -> i32 {
        let mut bytes: libc::c_int = 0;
        let mut size = size_of_val(&bytes) as libc::socklen_t;
        // SAFETY: both out-parameters are live locals of the sizes passed.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVLOWAT,
                std::ptr::from_mut(&mut bytes).cast(),
                &mut size,
            )
        };
        assert_eq!(result, 0);
        bytes
    }

    fn socket() -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        TcpStream::connect(listener.local_addr().unwrap()).unwrap()
    }

    #[test]
    fn the_kernel_waits_for_what_is_left_and_then_for_anything() {
        let socket = socket();
        let mut water = LowWater::new();
        assert_eq!(water.raise(socket.as_fd(), LEFT_BYTES_MIN - 1, 0), 0);
        assert_eq!(level(&socket), 1);
        assert_eq!(water.raise(socket.as_fd(), 3 << 20, 0), 1);
        assert_eq!(level(&socket) as u64, GATHERED_BYTES_MAX);
        // The last part of the body must not be waited for in vain.
        assert_eq!(water.raise(socket.as_fd(), 1000, 10), 1);
        assert_eq!(level(&socket), 1000);
        assert_eq!(water.lower(socket.as_fd(), 20), 1);
        assert_eq!((level(&socket), water.lower(socket.as_fd(), 30)), (1, 0));
    }

    #[test]
    fn a_slow_body_is_told_in_parts() {
        let socket = socket();
        let mut water = LowWater::new();
        water.raise(socket.as_fd(), 3 << 20, 0);
        water.raise(socket.as_fd(), 2 << 20, SLOW_NS + 1);
        assert_eq!(level(&socket), 1);
        assert_eq!(water.raise(socket.as_fd(), 9 << 20, SLOW_NS + 2), 0);
    }
}
