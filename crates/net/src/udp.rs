//! Datagram sockets, as every driver that has a kernel below it uses them: their options, what a message
//! carries beside its bytes ([`control`]), and the order in which datagrams leave ([`sending`]).

pub(crate) mod control;
pub(crate) mod sending;
#[cfg(test)]
pub(crate) mod testing;

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::net::sockopt;
use socket2::{MsgHdr, SockRef};

use self::control::{Beside, Received, Room};
use crate::socket::{LocalFailure, errno_of, failure, set_option};

/// Room for what one call receives: the kernel joins no more than one IP packet's worth (`udp_gro_receive`).
pub(crate) const BATCH_BYTES: usize = 64 * 1024;

/// The IP version that a socket's datagrams travel by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
    /// An IPv6 socket whose peer's address is an IPv4 one (RFC 4291, section 2.5.5.2).
    V4OverV6,
}

impl Version {
    pub(crate) fn toward(remote: SocketAddr) -> Self {
        match remote {
            SocketAddr::V4(_) => Self::V4,
            SocketAddr::V6(remote) if remote.ip().to_ipv4_mapped().is_some() => Self::V4OverV6,
            SocketAddr::V6(_) => Self::V6,
        }
    }

    /// Whether the packets have an IPv4 header.
    pub(crate) fn is_v4(self) -> bool {
        self != Self::V6
    }
}

/// Sets the options of a socket for QUIC: packets are never fragmented, nor is their size bounded by what the
/// kernel remembers of the path (RFC 9000, section 14); datagrams that arrive together are handed over in one
/// call; each call says what was dropped before it and which ECN bits came. Returns the errno with which joining
/// was refused. Adds the system calls made to `calls`.
///
/// # Errors
/// This machine refused one of the others.
pub(crate) fn prepare(
    socket: BorrowedFd<'_>,
    version: Version,
    calls: &mut u32,
) -> Result<Option<i32>, LocalFailure> {
    let mut set = |level, name, value| {
        *calls += 1;
        set_option(socket, level, name, value)
    };
    let mut needed = vec![(libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)];
    if version.is_v4() {
        needed.push((libc::SOL_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE));
        needed.push((libc::SOL_IP, libc::IP_RECVTOS, 1));
    }
    if version != Version::V4 {
        needed.push((libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE));
        needed.push((libc::SOL_IPV6, libc::IPV6_RECVTCLASS, 1));
    }
    for (level, name, value) in needed {
        set(level, name, value).map_err(|error| failure("setsockopt", &error))?;
    }
    let joined = set(libc::SOL_UDP, libc::UDP_GRO, 1);
    Ok(joined.err().map(|error| error.raw_os_error().unwrap_or(libc::EIO)))
}

/// Sends what lies one behind the other in `bytes` by one call, without blocking.
///
/// # Errors
/// The errno.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], beside: &Beside) -> Result<(), i32> {
    let parts = [IoSlice::new(bytes)];
    let message = MsgHdr::new().with_buffers(&parts).with_control(beside.bytes());
    loop {
        match SockRef::from(&socket).sendmsg(&message, libc::MSG_DONTWAIT) {
            Ok(_) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(errno_of(&error)),
        }
    }
}

/// Receives datagrams that came one behind the other into `buffer`, without blocking: how many bytes, and what
/// came beside them.
///
/// # Errors
/// The errno.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    calls: &mut u32,
) -> Result<(usize, Received), i32> {
    let mut room = Room::default();
    loop {
        *calls += 1;
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut message = message(&raw mut part, room.0.as_mut_ptr(), room.0.len());
        // SAFETY: the message points at `part` and `room`, and `part` at `buffer`; this function has all three for
        // itself during the call, and the kernel writes at most the lengths named beside each.
        let came =
            unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        if let Ok(came) = usize::try_from(came) {
            #[allow(clippy::unnecessary_cast)] // Its type differs between C libraries.
            let length = message.msg_controllen as usize;
            return Ok((came, control::read(&room.0[..length.min(room.0.len())])));
        }
        match errno_of(&io::Error::last_os_error()) {
            libc::EINTR => {}
            errno => return Err(errno),
        }
    }
}

/// The header of a message without an address, of one part (or of none, for null), and with these bytes beside it,
/// or room for them.
pub(crate) fn message(
    part: *mut libc::iovec,
    beside: *mut u8,
    beside_bytes: usize,
) -> libc::msghdr {
    // SAFETY: null pointers and lengths of 0 are a valid header: one of an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = if part.is_null() { 0 } else { 1 };
    message.msg_control = beside.cast();
    message.msg_controllen = beside_bytes as _;
    message
}

/// The longest datagram that the device and the route of a connected socket take; `None` where the kernel does not say.
pub(crate) fn longest(socket: BorrowedFd<'_>, version: Version, calls: &mut u32) -> Option<u16> {
    const UDP_HEADER_BYTES: u32 = 8;
    *calls += 1;
    // IPv4 counts the header of a packet with its length, IPv6 does not (RFC 791, 3.1; RFC 8200, 3).
    let (packet_bytes, header_bytes, packet_bytes_max) = match version.is_v4() {
        true => (sockopt::ip_mtu(socket), 20, u32::from(u16::MAX)),
        false => (sockopt::ipv6_mtu(socket), 40, u32::from(u16::MAX) + 40),
    };
    let packet_bytes = packet_bytes.ok()?.min(packet_bytes_max);
    u16::try_from(packet_bytes.checked_sub(header_bytes + UDP_HEADER_BYTES)?).ok()
}

/// Datagrams that the kernel dropped since the socket was made, for want of room in its receive buffer
/// (`sk_drops`); `None` where it does not say (`SO_MEMINFO`, Linux 4.12). The count that comes beside datagrams
/// does not tell of those dropped after the last one.
pub(crate) fn dropped(socket: BorrowedFd<'_>, calls: &mut u32) -> Option<u32> {
    *calls += 1;
    let mut counts = [0u32; libc::SK_MEMINFO_DROPS as usize + 1];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `counts`, whose size that is.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let whole = result == 0 && length as usize == size_of_val(&counts);
    whole.then(|| counts[libc::SK_MEMINFO_DROPS as usize])
}
