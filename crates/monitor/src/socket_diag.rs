//! sock_diag(7): the kernel's list of TCP sockets over netlink, filtered in the kernel by state
//! and port. It needs no right, and reads no socket but those asked for, where /proc/net/tcp
//! prints all of them, sockets in TIME_WAIT included.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// linux/sock_diag.h, linux/netlink.h, linux/inet_diag.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST_DUMP: u16 = 0x1 | 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_SKV6ONLY: u16 = 11;
const HEADER_BYTES: usize = 16;
const MESSAGE_BYTES: usize = 72;

/// States of a TCP socket to ask for, by the kernel's numbers (net/tcp_states.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum States {
    Listening,
    /// Established, and on the way to being closed, but not TIME_WAIT.
    Connected,
}

impl States {
    fn mask(self) -> u32 {
        match self {
            Self::Listening => 1 << 10,
            // ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK.
            Self::Connected => 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9,
        }
    }
}

/// Which sockets to ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub ipv6: bool,
    pub states: States,
    /// Local port, 0 for any.
    pub local_port: u16,
    /// Port of the peer, 0 for any.
    pub remote_port: u16,
}

/// One socket as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Socket {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// Bytes to be read; of a listening socket, connections waiting to be accepted.
    pub receive_queue: u32,
    /// Bytes not acknowledged; of a listening socket, the most that may wait.
    pub send_queue: u32,
    pub inode: u32,
    /// Listens to IPv6 alone.
    pub v6_only: bool,
    /// struct tcp_info, as long as this kernel's is.
    pub tcp_info: Vec<u8>,
}

/// The sockets that fit; `None` where the kernel does not answer such questions.
pub(crate) fn sockets(question: Question) -> Option<Vec<Socket>> {
    let link = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )
    .ok()?;
    // A kernel that did not answer would hold up the end of a run.
    let timeout = Some(std::time::Duration::from_secs(1));
    rustix::net::sockopt::set_socket_timeout(&link, rustix::net::sockopt::Timeout::Recv, timeout)
        .ok()?;
    rustix::net::send(&link, &request(question), SendFlags::empty()).ok()?;
    responses(&link)
}

fn responses(link: &OwnedFd) -> Option<Vec<Socket>> {
    let mut sockets = Vec::new();
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let (length, _) = rustix::net::recv(link, bytes.as_mut_slice(), RecvFlags::empty()).ok()?;
        if length == 0 || parsed(&bytes[..length], &mut sockets)? {
            return Some(sockets);
        }
    }
}

/// struct nlmsghdr and struct inet_diag_req_v2; netlink has the byte order of the machine, ports
/// that of the network.
fn request(question: Question) -> [u8; HEADER_BYTES + 56] {
    let mut bytes = [0; HEADER_BYTES + 56];
    let length = bytes.len() as u32;
    bytes[0..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    let body = &mut bytes[HEADER_BYTES..];
    body[0] = (if question.ipv6 { libc::AF_INET6 } else { libc::AF_INET }) as u8;
    body[1] = libc::IPPROTO_TCP as u8;
    body[2] = match question.states {
        States::Listening => 0,
        States::Connected => 1 << (INET_DIAG_INFO - 1),
    };
    body[4..8].copy_from_slice(&question.states.mask().to_ne_bytes());
    body[8..10].copy_from_slice(&question.local_port.to_be_bytes());
    body[10..12].copy_from_slice(&question.remote_port.to_be_bytes());
    bytes
}

/// Adds the sockets of one datagram; whether it was the last one. `None` for an error.
fn parsed(mut bytes: &[u8], sockets: &mut Vec<Socket>) -> Option<bool> {
    while bytes.len() >= HEADER_BYTES {
        let length = u32::from_ne_bytes(bytes[0..4].try_into().ok()?) as usize;
        let kind = u16::from_ne_bytes(bytes[4..6].try_into().ok()?);
        if length < HEADER_BYTES || length > bytes.len() {
            return None;
        }
        match kind {
            NLMSG_DONE => return Some(true),
            NLMSG_ERROR => return None,
            SOCK_DIAG_BY_FAMILY => sockets.extend(socket(&bytes[HEADER_BYTES..length])),
            _ => {}
        }
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    Some(false)
}

/// struct inet_diag_msg and the attributes behind it.
fn socket(message: &[u8]) -> Option<Socket> {
    let (fixed, mut attributes) = message.split_at_checked(MESSAGE_BYTES)?;
    let number = |at: usize| Some(u32::from_ne_bytes(fixed[at..at + 4].try_into().ok()?));
    let port = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address = |at: usize| -> Option<IpAddr> {
        match i32::from(fixed[0]) {
            libc::AF_INET => {
                let octets: [u8; 4] = fixed[at..at + 4].try_into().ok()?;
                Some(Ipv4Addr::from(octets).into())
            }
            libc::AF_INET6 => {
                let octets: [u8; 16] = fixed[at..at + 16].try_into().ok()?;
                Some(Ipv6Addr::from(octets).into())
            }
            _ => None,
        }
    };
    let mut socket = Socket {
        local: SocketAddr::new(address(8)?, port(4)),
        remote: SocketAddr::new(address(24)?, port(6)),
        receive_queue: number(56)?,
        send_queue: number(60)?,
        inode: number(68)?,
        v6_only: false,
        tcp_info: Vec::new(),
    };
    while let Some((head, _)) = attributes.split_at_checked(4) {
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let Some(content) = attributes.get(4..length) else { break };
        match u16::from_ne_bytes([head[2], head[3]]) {
            INET_DIAG_INFO => socket.tcp_info = content.to_vec(),
            INET_DIAG_SKV6ONLY => socket.v6_only = content.first().is_some_and(|only| *only != 0),
            _ => {}
        }
        attributes = attributes.get(aligned(length)..).unwrap_or_default();
    }
    Some(socket)
}

/// Messages and attributes begin at multiples of four bytes.
fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn ask(states: States, local_port: u16, remote_port: u16) -> Vec<Socket> {
        sockets(Question { ipv6: false, states, local_port, remote_port }).unwrap()
    }

    #[test]
    fn a_listener_and_its_connections_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let found = ask(States::Listening, address.port(), 0);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].local, found[0].receive_queue), (address, 0));
        assert!(found[0].send_queue > 0 && found[0].inode > 0);
        let client = TcpStream::connect(address).unwrap();
        let found = ask(States::Connected, 0, address.port());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].local, client.local_addr().unwrap());
        assert_eq!(found[0].remote, address);
        assert!(found[0].tcp_info.len() >= 104, "{}", found[0].tcp_info.len());
        // It waits to be accepted.
        assert_eq!(ask(States::Listening, address.port(), 0)[0].receive_queue, 1);
    }

    #[test]
    fn malformed_messages_are_refused_and_cuts_do_no_harm() {
        let mut message = request(Question {
            ipv6: false,
            states: States::Listening,
            local_port: 1,
            remote_port: 2,
        })
        .to_vec();
        let mut sockets = Vec::new();
        // Too short for a socket: skipped.
        assert_eq!(parsed(&message, &mut sockets), Some(false));
        for cut in 1..message.len() {
            let _ = parsed(&message[..cut], &mut sockets);
        }
        message[0..4].copy_from_slice(&3u32.to_ne_bytes());
        assert_eq!(parsed(&message, &mut sockets), None);
        message[0..4].copy_from_slice(&72u32.to_ne_bytes());
        message[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        assert_eq!(parsed(&message, &mut sockets), None);
        assert!(sockets.is_empty());
        let mut fixed = [0u8; MESSAGE_BYTES + 4];
        fixed[0] = libc::AF_INET as u8;
        // An attribute of no length must not be read for ever.
        assert!(socket(&fixed).is_some());
        fixed[0] = 99;
        assert_eq!(socket(&fixed), None);
    }
}
