//! Makes the sockets that go to an [`Endpoint`], and starts their connects.
//!
//! A [`Route`] is an endpoint made ready once, before the run: its socket addresses are built and
//! stay where they are, so that both a plain `connect` and one queued on a ring can point at them.
//! It also remembers whose turn it is among the local addresses and ports. What this machine
//! refuses is told apart from what the peer refuses ([`LocalFailure`]).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use socket2::{Domain, SockAddr, SockRef, Socket, Type};

use crate::driver::CloseReason;
use crate::endpoint::{Address, Endpoint, SocketOptions};
use crate::udp;

/// How many local ports are tried for one connection before it fails. A taken port costs about
/// two microseconds to find out, so that the worst case stays near ten milliseconds.
const PORT_ATTEMPTS: u32 = 4096;

/// How many local addresses are tried for one connection when the kernel has no port left for
/// them. Few, because each makes the kernel walk through its whole ephemeral range.
const ADDRESS_ATTEMPTS: u32 = 4;

/// This machine refused something a connection needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalFailure {
    /// The call that failed.
    pub call: &'static str,
    /// Its errno.
    pub errno: i32,
}

impl From<LocalFailure> for CloseReason {
    fn from(failure: LocalFailure) -> Self {
        Self::Here(failure.call, failure.errno)
    }
}

/// What a started connect came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connect {
    /// The connection stands.
    Done,
    /// The outcome comes later: the socket becomes writable.
    InProgress,
    /// It failed with this errno; [`connect_failure`] says whose fault that is.
    Failed(i32),
}

/// Whose turn it is among the local addresses and ports of one endpoint.
///
/// One counter for both, so that every pair of address and port is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotation {
    turn: u64,
}

impl Rotation {
    /// The next index among `addresses` and the next among `ports`; the port moves on when every
    /// address had it. Neither may be 0.
    fn next(&mut self, addresses: usize, ports: usize) -> (usize, usize) {
        let turn = self.turn;
        self.turn += 1;
        let (addresses, ports) = (addresses as u64, ports as u64);
        ((turn % addresses) as usize, (turn / addresses % ports) as usize)
    }
}

/// An endpoint made ready for connecting to it many times.
#[derive(Debug)]
pub struct Route {
    remote: SockAddr,
    domain: Domain,
    local_addresses: Vec<IpAddr>,
    local_ports: Option<RangeInclusive<u16>>,
    options: SocketOptions,
    rotation: Rotation,
    kind: Type,
    /// Of sockets for datagrams.
    datagrams: Option<Datagrams>,
}

/// What is special about a route for datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datagrams {
    pub(crate) version: udp::Version,
    /// The errno with which the last socket refused to join received datagrams.
    pub(crate) no_coalescing: Option<i32>,
    /// The longest that the device and the route take, once the first socket was connected and the kernel said so.
    pub(crate) bytes_max: Option<u16>,
}

impl Route {
    /// Builds the socket addresses of an endpoint.
    ///
    /// # Errors
    /// The path of a Unix socket is longer than the kernel allows (107 bytes).
    pub fn new(endpoint: &Endpoint) -> io::Result<Self> {
        let (remote, domain) = match &endpoint.address {
            Address::Tcp(address) | Address::Udp(address) => {
                (SockAddr::from(*address), Domain::for_address(*address))
            }
            Address::Unix(path) => {
                let remote = SockAddr::unix(path).map_err(|error| {
                    let path = path.display();
                    io::Error::new(error.kind(), format!("Unix socket path {path}: {error}"))
                })?;
                (remote, Domain::UNIX)
            }
        };
        let is_ip = domain != Domain::UNIX;
        let datagrams = match endpoint.address {
            Address::Udp(address) => {
                let version = udp::Version::toward(address);
                Some(Datagrams { version, no_coalescing: None, bytes_max: None })
            }
            Address::Tcp(_) | Address::Unix(_) => None,
        };
        let kind = if datagrams.is_some() { Type::DGRAM } else { Type::STREAM };
        Ok(Self {
            remote,
            domain,
            local_addresses: if is_ip { endpoint.local_addresses.clone() } else { Vec::new() },
            local_ports: endpoint.local_ports.clone().filter(|ports| is_ip && !ports.is_empty()),
            options: endpoint.options,
            rotation: Rotation::default(),
            kind: kind.nonblocking().cloexec(),
            datagrams,
        })
    }

    /// The same, with blocking sockets: a ring waits on those by itself and would report EAGAIN
    /// on others.
    ///
    /// # Errors
    /// As [`Route::new`].
    pub fn for_ring(endpoint: &Endpoint) -> io::Result<Self> {
        let mut route = Self::new(endpoint)?;
        let kind = if route.datagrams.is_some() { Type::DGRAM } else { Type::STREAM };
        route.kind = kind.cloexec();
        Ok(route)
    }

    /// The peer's address. It keeps its place in memory as long as the route does, which is
    /// what a connect queued on a ring needs.
    pub fn remote(&self) -> &SockAddr {
        &self.remote
    }

    /// The address family, for a socket made elsewhere (`AF_INET`, `AF_INET6`, `AF_UNIX`).
    pub fn domain(&self) -> i32 {
        self.domain.into()
    }

    /// The options every socket of this route gets.
    pub fn options(&self) -> SocketOptions {
        self.options
    }

    /// Whether this goes over TCP: only there `MSG_TRUNC` drops bytes without a copy.
    pub fn is_tcp(&self) -> bool {
        self.domain != Domain::UNIX && self.datagrams.is_none()
    }

    /// What is special about it if it is for datagrams.
    pub(crate) fn datagrams(&self) -> Option<Datagrams> {
        self.datagrams
    }

    /// Whether sockets are bound to a local address or port before they connect.
    pub fn binds(&self) -> bool {
        self.local_ports.is_some() || !self.local_addresses.is_empty()
    }

    /// How many sockets to try when a connect finds its local address and port taken.
    pub fn attempts(&self) -> u32 {
        let addresses = self.local_addresses.len().max(1) as u32;
        match self.port_count() {
            0 if self.local_addresses.is_empty() => 1,
            0 => addresses.min(ADDRESS_ATTEMPTS),
            ports => addresses.saturating_mul(ports).min(PORT_ATTEMPTS),
        }
    }

    /// A close-on-exec socket with its options set, bound to the next local address
    /// and port if the endpoint names some, and not yet connected. Adds the system calls it made
    /// to `calls`.
    ///
    /// # Errors
    /// The call this machine refused. `EADDRINUSE` from `bind` means that no local port was free.
    pub fn socket(&mut self, calls: &mut u32) -> Result<OwnedFd, LocalFailure> {
        let mut attempts_left = self.attempts();
        self.socket_within(&mut attempts_left, calls)
    }

    fn socket_within(
        &mut self,
        attempts_left: &mut u32,
        calls: &mut u32,
    ) -> Result<OwnedFd, LocalFailure> {
        // One system call: `new_raw` adds no flags by separate calls.
        *calls += 1;
        let socket = Socket::new_raw(self.domain, self.kind, None)
            .map_err(|error| failure("socket", &error))?;
        self.apply_options(&socket, calls).map_err(|error| failure("setsockopt", &error))?;
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.no_coalescing = udp::prepare(socket.as_fd(), datagrams.version, calls)?;
        }
        if self.binds() {
            self.bind(&socket, attempts_left, calls)?;
        }
        Ok(socket.into())
    }

    /// Makes a socket and starts its connect, with the next local address or port where the
    /// kernel finds one taken.
    ///
    /// # Errors
    /// [`CloseReason::Here`] or [`CloseReason::Connect`]. `Connect(EAGAIN)` is a Unix socket whose
    /// queue of connections is full; the socket is gone by then.
    pub fn connect(&mut self, calls: &mut u32) -> Result<(OwnedFd, Connect), CloseReason> {
        let mut attempts_left = self.attempts();
        loop {
            let socket = self.socket_within(&mut attempts_left, calls)?;
            match start_connect(socket.as_fd(), &self.remote, calls) {
                Connect::Failed(errno) => {
                    *calls += 1; // closing it
                    drop(socket);
                    let errno = self.named_as_for_streams(errno);
                    if errno != libc::EADDRNOTAVAIL || !self.binds() || attempts_left == 0 {
                        return Err(connect_failure(errno));
                    }
                }
                started => {
                    if let Some(Datagrams { version, bytes_max, .. }) = &mut self.datagrams
                        && bytes_max.is_none()
                    {
                        *bytes_max = udp::longest(socket.as_fd(), *version, calls);
                    }
                    return Ok((socket, started));
                }
            }
        }
    }

    /// Where no local port is left, a connect of datagrams says EAGAIN (`inet_dgram_connect`) instead of
    /// EADDRNOTAVAIL.
    fn named_as_for_streams(&self, errno: i32) -> i32 {
        let no_port = self.datagrams.is_some() && errno == libc::EAGAIN;
        if no_port { libc::EADDRNOTAVAIL } else { errno }
    }

    fn port_count(&self) -> u32 {
        self.local_ports.as_ref().map_or(0, |ports| ports.len() as u32)
    }

    fn apply_options(&self, socket: &Socket, calls: &mut u32) -> io::Result<()> {
        if self.options.no_delay && self.is_tcp() {
            *calls += 1;
            socket.set_tcp_nodelay(true)?;
        }
        if let Some(bytes) = self.options.send_buffer_bytes {
            *calls += 1;
            socket.set_send_buffer_size(bytes as usize)?;
        }
        if let Some(bytes) = self.options.receive_buffer_bytes {
            *calls += 1;
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        Ok(())
    }

    fn bind(
        &mut self,
        socket: &Socket,
        attempts_left: &mut u32,
        calls: &mut u32,
    ) -> Result<(), LocalFailure> {
        *calls += 1;
        match self.local_ports {
            // With SO_REUSEADDR two sockets would have the port, and one the datagrams of both.
            Some(_) if self.datagrams.is_some() => socket.set_reuse_address(false),
            // Lets connections to different peers share a port, and a port be used again while
            // its last connection is in TIME-WAIT; `connect` still refuses two equal ones.
            Some(_) => socket.set_reuse_address(true),
            // The port is chosen by `connect`, which then counts per peer.
            None => set_bind_address_no_port(socket.as_fd()),
        }
        .map_err(|error| failure("setsockopt", &error))?;
        loop {
            *calls += 1;
            *attempts_left = attempts_left.saturating_sub(1);
            match socket.bind(&self.next_local()) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    let taken = error.raw_os_error() == Some(libc::EADDRINUSE);
                    if !taken || *attempts_left == 0 {
                        return Err(failure("bind", &error));
                    }
                }
            }
        }
    }

    fn next_local(&mut self) -> SockAddr {
        let addresses = self.local_addresses.len().max(1);
        let (address, port) = self.rotation.next(addresses, self.port_count().max(1) as usize);
        let unspecified = match self.domain {
            Domain::IPV4 => IpAddr::from([0u8; 4]),
            _ => IpAddr::from([0u8; 16]),
        };
        let address = self.local_addresses.get(address).copied().unwrap_or(unspecified);
        let port = self.local_ports.as_ref().map_or(0, |ports| ports.start() + port as u16);
        SockAddr::from(SocketAddr::new(address, port))
    }
}

/// Starts a connect on a non-blocking socket.
pub fn start_connect(socket: BorrowedFd<'_>, remote: &SockAddr, calls: &mut u32) -> Connect {
    *calls += 1;
    match SockRef::from(&socket).connect(remote) {
        Ok(()) => Connect::Done,
        Err(error) => match errno_of(&error) {
            // Interrupted: the connect goes on anyway (connect(2)).
            libc::EINPROGRESS | libc::EINTR => Connect::InProgress,
            errno => Connect::Failed(errno),
        },
    }
}

/// The reason a slot closes with when its connect failed with `errno`. `EADDRNOTAVAIL` is this
/// machine's: it has no free local port toward that peer.
pub fn connect_failure(errno: i32) -> CloseReason {
    match errno {
        libc::EADDRNOTAVAIL => CloseReason::Here("connect", errno),
        _ => CloseReason::Connect(errno),
    }
}

/// The socket's pending error (`SO_ERROR`) as an errno, 0 for none; reading it clears it.
pub fn take_error(socket: BorrowedFd<'_>) -> i32 {
    match SockRef::from(&socket).take_error() {
        Ok(None) => 0,
        Ok(Some(error)) | Err(error) => errno_of(&error),
    }
}

/// Makes closing the socket send RST instead of FIN (`SO_LINGER` of 0 seconds). On a Unix socket
/// it has no effect.
///
/// # Errors
/// The errno of `setsockopt`.
pub fn reset_on_close(socket: BorrowedFd<'_>) -> io::Result<()> {
    SockRef::from(&socket).set_linger(Some(Duration::ZERO))
}

/// `IP_BIND_ADDRESS_NO_PORT` (ip(7)); IPv6 sockets take the same `SOL_IP` option.
fn set_bind_address_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SOL_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

/// Sets an option whose value is an `int`.
pub(crate) fn set_option(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed for the whole call, and the option's value is the `int`
    // that lives on this stack frame, passed with its own size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(&value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn failure(call: &'static str, error: &io::Error) -> LocalFailure {
    LocalFailure { call, errno: errno_of(error) }
}

pub(crate) fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests;
