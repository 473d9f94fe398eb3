//! A UDP socket whose calls carry many datagrams: one of the kernel's lists of equal datagrams goes out
//! (`UDP_SEGMENT`), and what came from one sender comes in as one (`UDP_GRO`), with the marks of congestion (RFC 3168).
//! See udp(7) and, for what both promise, Documentation/networking/segmentation-offloads.rst of the kernel.

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::{c_int, c_void, cmsghdr, iovec, msghdr, sockaddr_storage, socklen_t};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, socket_with, sockopt,
};

use crate::conditions::SocketOptions;

/// The longest list of datagrams that one call can bring.
pub const RECEIVED_BYTES_MAX: usize = 65_535;

/// What the two control messages of a call need at most, in words so that they are aligned.
type Control = [u64; 12];

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
        let (mut segment_bytes, mut ecn) = (count, 0);
        for_each_control(&message, |level, kind, data| match (level, kind) {
            (libc::SOL_UDP, libc::UDP_GRO) => segment_bytes = number_of(data) as usize,
            (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                ecn = data.first().map_or(0, |tos| tos & 3);
            }
            _ => {}
        });
        Ok(Received { bytes: count, segment_bytes, from, ecn })
    }

    /// Sends `bytes` as datagrams of `segment_bytes`, the last of which may be shorter.
    ///
    /// # Errors
    /// Those of the kernel; EAGAIN if its buffer is full.
    pub fn send(
        &self,
        bytes: &[u8],
        segment_bytes: usize,
        to: SocketAddr,
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
            used = push_control(&mut control, used, tos, &c_int::from(ecn).to_ne_bytes());
        }
        if segment_bytes < bytes.len() {
            let size = (segment_bytes as u16).to_ne_bytes();
            used = push_control(&mut control, used, (libc::SOL_UDP, libc::UDP_SEGMENT), &size);
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

/// Appends a control message of at most 8 bytes; how much of `control` is used then.
fn push_control(control: &mut Control, used: usize, kind: (c_int, c_int), data: &[u8]) -> usize {
    const HEAD_BYTES: usize = size_of::<cmsghdr>();
    let head = cmsghdr { cmsg_len: HEAD_BYTES + data.len(), cmsg_level: kind.0, cmsg_type: kind.1 };
    let space = (HEAD_BYTES + data.len()).next_multiple_of(size_of::<usize>());
    assert!(used + space <= size_of::<Control>() && used.is_multiple_of(8) && data.len() <= 8);
    // SAFETY: the assertion says that head and data lie within `control`, and that the head is aligned in it as its
    // words are.
    unsafe {
        let at = control.as_mut_ptr().cast::<u8>().add(used);
        at.cast::<cmsghdr>().write(head);
        at.add(HEAD_BYTES).copy_from_nonoverlapping(data.as_ptr(), data.len());
    }
    used + space
}

/// Shows the control messages that came.
fn for_each_control(message: &msghdr, mut show: impl FnMut(c_int, c_int, &[u8])) {
    // SAFETY: the kernel has filled the control buffer, which lives as long as `message` is used here, up to the length
    // that it wrote into the message; the macros of cmsg(3) stay within that.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(message);
        while let Some(head) = next.as_ref() {
            let bytes = head.cmsg_len - libc::CMSG_LEN(0) as usize;
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(next), bytes);
            show(head.cmsg_level, head.cmsg_type, data);
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
}

/// An int in the machine's order, or 0.
fn number_of(data: &[u8]) -> c_int {
    data.first_chunk().map_or(0, |bytes| c_int::from_ne_bytes(*bytes))
}

fn address_of(name: &sockaddr_storage) -> Option<SocketAddr> {
    let name = std::ptr::from_ref(name);
    // SAFETY: a sockaddr_storage is as long and as aligned as every address, and the family says which it is.
    unsafe {
        match c_int::from((*name).ss_family) {
            libc::AF_INET => {
                let name = &*name.cast::<libc::sockaddr_in>();
                let ip = u32::from_be(name.sin_addr.s_addr).into();
                Some(SocketAddrV4::new(ip, u16::from_be(name.sin_port)).into())
            }
            libc::AF_INET6 => {
                let name = &*name.cast::<libc::sockaddr_in6>();
                let ip = Ipv6Addr::from(name.sin6_addr.s6_addr);
                let port = u16::from_be(name.sin6_port);
                Some(SocketAddrV6::new(ip, port, name.sin6_flowinfo, name.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

fn name_of(address: SocketAddr) -> (sockaddr_storage, socklen_t) {
    // SAFETY: a sockaddr_storage is integers, for which zero is a value.
    let mut storage: sockaddr_storage = unsafe { mem::zeroed() };
    let name = &raw mut storage;
    // SAFETY: a sockaddr_storage is as long and as aligned as every address.
    let bytes = unsafe {
        match address {
            SocketAddr::V4(address) => {
                let own = &mut *name.cast::<libc::sockaddr_in>();
                own.sin_family = libc::AF_INET as libc::sa_family_t;
                own.sin_port = address.port().to_be();
                own.sin_addr.s_addr = u32::from(*address.ip()).to_be();
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(address) => {
                let own = &mut *name.cast::<libc::sockaddr_in6>();
                own.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                own.sin6_port = address.port().to_be();
                own.sin6_addr.s6_addr = address.ip().octets();
                own.sin6_flowinfo = address.flowinfo();
                own.sin6_scope_id = address.scope_id();
                size_of::<libc::sockaddr_in6>()
            }
        }
    };
    (storage, bytes as socklen_t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(address: &str) -> (UdpSocket, UdpSocket) {
        let bound =
            || UdpSocket::bind(address.parse().unwrap(), false, &SocketOptions::default()).unwrap();
        (bound(), bound())
    }

    /// Everything that comes until `bytes` are there: sizes of datagrams, their bytes, and the marks on them.
    fn receive(socket: &UdpSocket, bytes: usize) -> (Vec<usize>, Vec<u8>, Vec<u8>) {
        let (mut sizes, mut all, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut buffer = vec![0; RECEIVED_BYTES_MAX];
        for _ in 0..10_000 {
            match socket.receive(&mut buffer) {
                Ok(received) => {
                    let came = &buffer[..received.bytes];
                    sizes.extend(came.chunks(received.segment_bytes).map(<[u8]>::len));
                    all.extend_from_slice(came);
                    marks.push(received.ecn);
                }
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
            }
            if all.len() >= bytes {
                break;
            }
        }
        (sizes, all, marks)
    }

    /// What loopback takes is what it says, and one datagram of that size arrives whole.
    #[test]
    fn the_longest_datagram_toward_a_client_is_known() {
        let packet_bytes = std::fs::read_to_string("/sys/class/net/lo/mtu").unwrap();
        let packet_bytes: u32 = packet_bytes.trim().parse().unwrap();
        let over_ipv4 = packet_bytes.min(65_535) - 28;
        let cases = [
            ("127.0.0.1:4000", over_ipv4),
            ("[::ffff:127.0.0.1]:4000", over_ipv4),
            ("[::1]:4000", packet_bytes.min(65_575) - 48),
        ];
        for (client, expected) in cases {
            let longest = longest_to(client.parse().unwrap());
            assert_eq!(longest.map(u32::from), Some(expected), "{client}");
        }
        let (from, to) = pair("127.0.0.1:0");
        let bytes = vec![7; over_ipv4 as usize];
        from.send(&bytes, bytes.len(), to.address().unwrap(), 0).unwrap();
        assert_eq!(receive(&to, bytes.len()).0, [bytes.len()]);
    }

    #[test]
    fn a_list_of_datagrams_arrives_as_such_with_its_marks() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (from, to) = pair(address);
            if !from.segments {
                return ablaze_testing::skip::skip("this kernel has no UDP_SEGMENT");
            }
            let bytes: Vec<u8> = (0..10_000u32).map(|number| number as u8).collect();
            from.send(&bytes, 1_200, to.address().unwrap(), 2).unwrap();
            let (sizes, all, marks) = receive(&to, bytes.len());
            assert_eq!(sizes, [[1_200; 8].as_slice(), &[400]].concat(), "{address}");
            assert_eq!(all, bytes);
            assert!(marks.iter().all(|mark| *mark == 2), "{marks:?}");
            from.send(b"one", 3, to.address().unwrap(), 0).unwrap();
            assert_eq!(receive(&to, 3), (vec![3], b"one".to_vec(), vec![0]));
        }
    }
}
