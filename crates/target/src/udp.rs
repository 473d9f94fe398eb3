//! A UDP socket whose calls carry many datagrams: one of the kernel's lists of equal datagrams goes out
//! (`UDP_SEGMENT`), and what came from one sender comes in as one (`UDP_GRO`), with the marks of congestion (RFC 3168).
//! See udp(7) and, for what both promise, Documentation/networking/segmentation-offloads.rst of the kernel.

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::{c_int, c_void, iovec, msghdr, sockaddr_storage, socklen_t};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, socket_with, sockopt,
};

use self::control::{Control, for_each, local_of, number_of, push, push_local};
use self::names::{address_of, name_of};
use crate::conditions::SocketOptions;

mod control;
mod names;

/// The longest list of datagrams that one call can bring.
pub const RECEIVED_BYTES_MAX: usize = 65_535;

/// A UDP socket, non-blocking.
#[derive(Debug)]
pub struct UdpSocket {
    socket: OwnedFd,
    is_ipv4: bool,
    /// The kernel cuts a buffer into datagrams.
    pub segments: bool,
}

/// Datagrams that one call brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Their bytes together.
    pub bytes: usize,
    /// Size of each; the last may be shorter.
    pub segment_bytes: usize,
    /// Who sent them.
    pub from: SocketAddr,
    /// The address at which they came, where the socket is bound to all of the machine's.
    pub at: Option<IpAddr>,
    /// The two lowest bits of the type of service.
    pub ecn: u8,
}

impl UdpSocket {
    /// Binds it; together with others in a group if it is to share the address.
    ///
    /// # Errors
    /// Those of the kernel, first of all EADDRINUSE.
    pub fn bind(address: SocketAddr, shared: bool, options: &SocketOptions) -> io::Result<Self> {
        let is_ipv4 = address.is_ipv4();
        let family = if is_ipv4 { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::DGRAM, flags, None)?;
        sockopt::set_socket_reuseport(&socket, shared)?;
        if let Some(bytes) = options.send_buffer_bytes {
            sockopt::set_socket_send_buffer_size(&socket, bytes as usize)?;
        }
        if let Some(bytes) = options.receive_buffer_bytes {
            sockopt::set_socket_recv_buffer_size(&socket, bytes as usize)?;
        }
        bind(&socket, &address)?;
        let (level, tos) = match is_ipv4 {
            true => (libc::IPPROTO_IP, libc::IP_RECVTOS),
            false => (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
        };
        // What is too long for the path is lost, not cut into pieces (RFC 9000, 14): that is how its size is found out. An IPv6
        // socket may have clients of both.
        let _ = set(&socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE);
        if !is_ipv4 {
            let probe = libc::IPV6_PMTUDISC_PROBE;
            let _ = set(&socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, probe);
        }
        // Without any of these, more calls are needed, or marks are not seen.
        let _ = set(&socket, level, tos, 1);
        let _ = set(&socket, libc::SOL_UDP, libc::UDP_GRO, 1);
        // A client knows its server by the address that it sent to, and bound to all of them the kernel would answer from the one
        // that it likes best. Bound to one there is no choice, and nothing to ask for.
        if address.ip().is_unspecified() {
            let (level, which) = match is_ipv4 {
                true => (libc::IPPROTO_IP, libc::IP_PKTINFO),
                false => (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
            };
            set(&socket, level, which, 1)?;
        }
        let segments = set(&socket, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
        Ok(Self { socket, is_ipv4, segments })
    }

    /// Where it is bound.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn address(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr::try_from(getsockname(&self.socket)?)?)
    }

    /// Receives into `buffer`.
    ///
    /// # Errors
    /// Those of the kernel; EAGAIN if nothing is there.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        let mut name = MaybeUninit::<sockaddr_storage>::zeroed();
        let mut control: Control = [0; 12];
        let mut bytes =
            iovec { iov_base: buffer.as_mut_ptr().cast::<c_void>(), iov_len: buffer.len() };
        let mut message = empty_message();
        message.msg_name = name.as_mut_ptr().cast();
        message.msg_namelen = size_of::<sockaddr_storage>() as socklen_t;
        message.msg_iov = &raw mut bytes;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>();
        // SAFETY: everything that the message points at lives until the call returns, is exclusively ours, and is as
        // long as the message says.
        let count = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, 0) };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: a sockaddr_storage of zeros is valid, whatever the kernel wrote over it.
        let from = address_of(&unsafe { name.assume_init() });
        let from = from.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let (mut segment_bytes, mut at, mut ecn) = (count, None, 0);
        for_each(&message, |level, kind, data| match (level, kind) {
            (libc::SOL_UDP, libc::UDP_GRO) => segment_bytes = number_of(data) as usize,
            (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                ecn = data.first().map_or(0, |tos| tos & 3);
            }
            (libc::IPPROTO_IP, libc::IP_PKTINFO) | (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                at = local_of(level, data);
            }
            _ => {}
        });
        Ok(Received { bytes: count, segment_bytes, from, at, ecn })
    }

    /// Sends `bytes` as datagrams of `segment_bytes`, the last of which may be shorter, from this address of the machine's, or
    /// from the one that the kernel chooses.
    ///
    /// # Errors
    /// Those of the kernel; EAGAIN if its buffer is full.
    pub fn send(
        &self,
        bytes: &[u8],
        segment_bytes: usize,
        to: SocketAddr,
        from: Option<IpAddr>,
        ecn: u8,
    ) -> io::Result<()> {
        let (mut name, name_bytes) = name_of(to);
        let mut control: Control = [0; 12];
        let mut slice =
            iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
        let mut message = empty_message();
        message.msg_name = (&raw mut name).cast();
        message.msg_namelen = name_bytes;
        message.msg_iov = &raw mut slice;
        message.msg_iovlen = 1;
        let mut used = 0;
        let tos = match self.is_ipv4 {
            true => (libc::IPPROTO_IP, libc::IP_TOS),
            false => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
        };
        if ecn != 0 {
            used = push(&mut control, used, tos, &c_int::from(ecn).to_ne_bytes());
        }
        if segment_bytes < bytes.len() {
            let size = (segment_bytes as u16).to_ne_bytes();
            used = push(&mut control, used, (libc::SOL_UDP, libc::UDP_SEGMENT), &size);
        }
        if let Some(from) = from {
            used = push_local(&mut control, used, from);
        }
        if used > 0 {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = used;
        }
        // SAFETY: everything that the message points at lives until the call returns and is as long as the message
        // says; the kernel only reads it.
        let sent = unsafe { libc::sendmsg(self.socket.as_raw_fd(), &raw const message, 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// The longest datagram that the device and the route toward a client take; `None` where the kernel does not say.
pub fn longest_to(client: SocketAddr) -> Option<u16> {
    const UDP_HEADER_BYTES: u32 = 8;
    let client = SocketAddr::new(client.ip().to_canonical(), client.port());
    let is_ipv4 = client.is_ipv4();
    let family = if is_ipv4 { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    connect(&socket, &client).ok()?;
    // IPv4 counts the header of a packet with its length, IPv6 does not (RFC 791, 3.1; RFC 8200, 3).
    let (packet_bytes, header_bytes, packet_bytes_max) = match is_ipv4 {
        true => (sockopt::ip_mtu(&socket), 20, u32::from(u16::MAX)),
        false => (sockopt::ipv6_mtu(&socket), 40, u32::from(u16::MAX) + 40),
    };
    let packet_bytes = packet_bytes.ok()?.min(packet_bytes_max);
    u16::try_from(packet_bytes.checked_sub(header_bytes + UDP_HEADER_BYTES)?).ok()
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn set(socket: &OwnedFd, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    // SAFETY: the value is an int that lives until the call returns, and its length is given.
    let result = unsafe {
        let value = (&raw const value).cast::<c_void>();
        let bytes = size_of::<c_int>() as socklen_t;
        libc::setsockopt(socket.as_raw_fd(), level, option, value, bytes)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn empty_message() -> msghdr {
    // SAFETY: a msghdr is integers and pointers, for all of which zero is a value.
    unsafe { mem::zeroed() }
}

#[cfg(test)]
mod tests;
