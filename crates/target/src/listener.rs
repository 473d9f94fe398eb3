//! Listening sockets: one for all workers, or one each, all on one address by `SO_REUSEPORT`.
//!
//! Why one each is the default: the kernel spreads connections over the group by a hash of their
//! addresses, so every worker gets its share whatever the others do, no worker is woken for a
//! connection that another takes, and no accept queue is shared. With one listener and
//! `EPOLLEXCLUSIVE`, the worker that woke first takes all that came at once, and keeps them.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt,
};

use crate::conditions::SocketOptions;
use crate::options::Options;

/// Why a server cannot listen. Each text names the fix.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another socket has the port.
    #[error(
        "port {port} of {ip} is in use by another program; choose another port, \
         port 0 for any free one, or find the program with `ss -ltnp 'sport = :{port}'`",
        ip = .0.ip(), port = .0.port()
    )]
    Busy(SocketAddr),
    /// Ports below 1024 need a right.
    #[error(
        "port {} is privileged (below 1024); choose a port from 1024 up, run as root, or grant \
         the capability with `setcap cap_net_bind_service=+ep` on the program",
        .0.port()
    )]
    NotPermitted(SocketAddr),
    /// The address belongs to no interface.
    #[error(
        "{} is not an address of this machine; use 127.0.0.1, 0.0.0.0 for all addresses, or one \
         that `ip address` lists",
        .0.ip()
    )]
    NotHere(SocketAddr),
    /// The kernel has no such address family.
    #[error("this machine has no IPv6, so it cannot listen on {0}; use an IPv4 address")]
    NoIpv6(SocketAddr),
    /// Anything else.
    #[error("cannot listen on {address}: {call}: {errno}")]
    Other {
        /// The address to listen on.
        address: SocketAddr,
        /// The system call that failed.
        call: &'static str,
        /// The error of the call.
        errno: Errno,
    },
}

/// Listens `count` times on one address; returns the sockets, non-blocking, and the address with
/// its real port.
///
/// # Errors
/// When the address cannot be listened on.
pub fn listen_on(
    options: &Options,
    count: usize,
) -> Result<(Vec<OwnedFd>, SocketAddr), ListenError> {
    let Options { address, backlog, .. } = *options;
    let open = |address| open(address, &options.sockets);
    let fail = |call, errno| explain(address, call, errno);
    // The first binds without SO_REUSEPORT, so that a port that any other socket listens on is
    // refused, and port 0 never picks one; it joins the group before it listens. The others then
    // bind beside it (inet_csk_bind_conflict in the kernel looks at both sockets' option).
    let first = open(address).map_err(|errno| fail("socket", errno))?;
    bind(&first, &address).map_err(|errno| fail("bind", errno))?;
    if count > 1 {
        sockopt::set_socket_reuseport(&first, true).map_err(|errno| fail("setsockopt", errno))?;
    }
    let bound = getsockname(&first)
        .and_then(SocketAddr::try_from)
        .map_err(|errno| fail("getsockname", errno))?;
    let mut listeners = vec![first];
    for _ in 1..count {
        let next = open(address).map_err(|errno| fail("socket", errno))?;
        sockopt::set_socket_reuseport(&next, true).map_err(|errno| fail("setsockopt", errno))?;
        bind(&next, &bound).map_err(|errno| fail("bind", errno))?;
        listeners.push(next);
    }
    for listener in &listeners {
        listen(listener, backlog).map_err(|errno| fail("listen", errno))?;
    }
    Ok((listeners, bound))
}

/// A socket whose options its accepted connections inherit, so that none has to set them.
fn open(address: SocketAddr, options: &SocketOptions) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    // Connections of a former server that are not quite gone do not keep the port.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_tcp_nodelay(&socket, options.no_delay)?;
    if let Some(bytes) = options.send_buffer_bytes {
        sockopt::set_socket_send_buffer_size(&socket, bytes as usize)?;
    }
    if let Some(bytes) = options.receive_buffer_bytes {
        sockopt::set_socket_recv_buffer_size(&socket, bytes as usize)?;
    }
    Ok(socket)
}

fn explain(address: SocketAddr, call: &'static str, errno: Errno) -> ListenError {
    match errno {
        Errno::ADDRINUSE => ListenError::Busy(address),
        Errno::ACCESS | Errno::PERM if address.port() < 1024 => ListenError::NotPermitted(address),
        Errno::ADDRNOTAVAIL => ListenError::NotHere(address),
        Errno::AFNOSUPPORT if address.is_ipv6() => ListenError::NoIpv6(address),
        errno => ListenError::Other { address, call, errno },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: SocketAddr) -> Options {
        Options { address, backlog: 16, ..Options::default() }
    }

    #[test]
    fn a_group_shares_one_port_and_lets_no_second_group_in() {
        let (listeners, bound) = listen_on(&at("127.0.0.1:0".parse().unwrap()), 3).unwrap();
        assert_eq!(listeners.len(), 3);
        for count in [1, 3] {
            let refused = listen_on(&at(bound), count).unwrap_err();
            assert!(matches!(refused, ListenError::Busy(port) if port == bound), "{refused}");
        }
        drop(listeners);
        listen_on(&at(bound), 1).unwrap();
    }

    #[test]
    fn a_port_without_the_right_is_refused_with_the_ways_out() {
        // Tests may run as root, who may use every port: the kernel's response is given here.
        let text =
            explain(SocketAddr::from(([127, 0, 0, 1], 80)), "bind", Errno::ACCESS).to_string();
        assert!(text.contains("port 80") && text.contains("1024") && text.contains("setcap"));
    }

    #[test]
    fn an_address_of_another_machine_is_refused_with_a_fix() {
        // 192.0.2.0/24 is for documentation and belongs to no one (RFC 5737).
        let refused = listen_on(&at(SocketAddr::from(([192, 0, 2, 1], 0))), 1).unwrap_err();
        assert!(refused.to_string().contains("ip address"), "{refused}");
    }
}
