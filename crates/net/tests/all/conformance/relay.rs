//! The simulated driver, and between its network and a case's server a relay: what the client sends in
//! simulated time goes out on a real socket, and what comes there arrives in simulated time.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use ablaze_net::driver::{Driver, Handler, Setup, Turn, Wait};
use ablaze_net::sim::{ConnectReply, FarEnd, Path, SimDriver, SimIo, SimPeer};
use ablaze_net::{Address, CloseHow};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::conformance::TestDriver;
use crate::conformance::datagram_server::{Datagram, DatagramSocket};

/// How often the relay looks at its socket, ns of simulated time.
const LOOK_NS: u64 = 1_000_000;
/// How long it lets other threads work if it finds nothing.
const PAUSE: Duration = Duration::from_micros(100);
/// What the client can send ahead of the relay, and what the relay takes of it at a time.
const WINDOW_BYTES: usize = 256 * 1024;
const READ_BYTES: usize = 64 * 1024;
const READ_NS: u64 = 10_000;

pub struct Simulated<const SENDS_AT_ONCE: bool>(SimDriver<Relay, SENDS_AT_ONCE>);

impl<const SENDS_AT_ONCE: bool> Driver for Simulated<SENDS_AT_ONCE> {
    type Io = SimIo<Relay, SENDS_AT_ONCE>;

    fn io(&mut self) -> &mut Self::Io {
        self.0.io()
    }

    fn turn<H: Handler<Self::Io>>(&mut self, handler: &mut H, wait: Wait) -> io::Result<Turn> {
        self.0.turn(handler, wait)
    }
}

impl<const SENDS_AT_ONCE: bool> TestDriver for Simulated<SENDS_AT_ONCE> {
    fn make(setup: Setup) -> io::Result<Self> {
        let relays = setup.endpoints.iter().map(|endpoint| Relay::to(endpoint.address.clone()));
        Ok(Self(SimDriver::new(&setup, relays.collect())))
    }
}

/// The peer of one simulated connection.
pub struct Relay {
    address: Address,
    socket: Option<Socket>,
    /// Instead of it, where the server is one of datagrams.
    datagrams: Option<DatagramSocket>,
    /// Everything that came from the server, which the simulation takes ranges of.
    came: Vec<u8>,
    /// What the client sent and the socket has not taken.
    left: VecDeque<u8>,
    /// The server's end was passed on.
    ended: bool,
}

impl Relay {
    fn to(address: Address) -> Self {
        Self {
            address,
            socket: None,
            datagrams: None,
            came: Vec::new(),
            left: VecDeque::new(),
            ended: false,
        }
    }

    fn connected(&self) -> io::Result<Socket> {
        let (address, domain) = match &self.address {
            Address::Tcp(to) => (SockAddr::from(*to), Domain::for_address(*to)),
            Address::Udp(_) => unreachable!("it has another kind of socket"),
            Address::Unix(path) => (SockAddr::unix(path)?, Domain::UNIX),
        };
        let socket = Socket::new(domain, Type::STREAM, None)?;
        if domain != Domain::UNIX {
            socket.set_tcp_nodelay(true)?;
        }
        socket.connect(&address)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }

    /// Passes on to the client the datagrams that came; returns whether any did.
    fn bring_datagrams(&mut self, far: &mut FarEnd<'_>) -> bool {
        let Some(socket) = &self.datagrams else { return false };
        let mut any = false;
        while let Some((Datagram { bytes, ecn }, _)) = socket.receive_now() {
            far.send_datagram_after(0, &bytes, ecn);
            any = true;
        }
        any
    }

    /// Passes on to the server what it takes; returns whether anything went.
    fn pass_on(&mut self, far: &mut FarEnd<'_>) -> bool {
        let Some(socket) = &mut self.socket else { return false };
        let before = self.left.len();
        while !self.left.is_empty() {
            match socket.write(self.left.make_contiguous()) {
                Ok(took) => drop(self.left.drain(..took)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.left.clear();
                    far.reset_after(0);
                    break;
                }
            }
        }
        if self.left.is_empty() {
            far.read_slowly(READ_BYTES, READ_NS);
        } else {
            far.stop_reading();
        }
        self.left.len() < before
    }

    /// Passes on to the client what came; returns whether anything did.
    fn bring(&mut self, far: &mut FarEnd<'_>) -> bool {
        let (Some(socket), false) = (&mut self.socket, self.ended) else { return false };
        let mut bytes = [0; READ_BYTES];
        match socket.read(&mut bytes) {
            Ok(0) => {
                self.ended = true;
                far.fin_after(0);
            }
            Ok(count) => {
                far.send_after(0, self.came.len() as u32, count as u32);
                self.came.extend_from_slice(&bytes[..count]);
                return true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => {
                self.ended = true;
                far.reset_after(0);
            }
        }
        false
    }
}

impl Clone for Relay {
    /// For another connection to the same server.
    fn clone(&self) -> Self {
        Self::to(self.address.clone())
    }
}

impl SimPeer for Relay {
    fn bytes(&self) -> &[u8] {
        &self.came
    }

    fn path(&self) -> Option<Path> {
        matches!(self.address, Address::Udp(_)).then(Path::default)
    }

    fn datagram(&mut self, _: &mut FarEnd<'_>, bytes: &[u8], ecn: u8) {
        let (Some(socket), Address::Udp(to)) = (&self.datagrams, &self.address) else { return };
        socket.send(&Datagram { bytes: bytes.to_vec(), ecn }, *to);
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        if let Address::Udp(address) = self.address {
            let here = if address.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" };
            self.datagrams = Some(DatagramSocket::bind(here.parse().unwrap()));
            far.wake_after(LOOK_NS, 0);
            return ConnectReply::AcceptAfter(0);
        }
        match self.connected() {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => return ConnectReply::RefuseAfter(0, error.raw_os_error().unwrap()),
        }
        far.set_window(WINDOW_BYTES);
        far.read_slowly(READ_BYTES, READ_NS);
        far.wake_after(LOOK_NS, 0);
        ConnectReply::AcceptAfter(0)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.left.extend(bytes);
        self.pass_on(far);
    }

    fn woken(&mut self, far: &mut FarEnd<'_>, _: u32) {
        let passed = !self.left.is_empty() && self.pass_on(far);
        if !self.bring(far) && !self.bring_datagrams(far) && !passed {
            std::thread::sleep(PAUSE);
        }
        far.wake_after(LOOK_NS, 0);
    }

    /// As a kernel does it: what it had accepted still goes out, in front of a FIN.
    fn closed(&mut self, how: CloseHow) {
        let Some(mut socket) = self.socket.take() else { return };
        if how == CloseHow::Reset {
            return socket.set_linger(Some(Duration::ZERO)).unwrap();
        }
        let mut left = std::mem::take(&mut self.left);
        if !left.is_empty() {
            std::thread::spawn(move || {
                let _ = socket.set_nonblocking(false);
                let _ = socket.write_all(left.make_contiguous());
            });
        }
    }
}
