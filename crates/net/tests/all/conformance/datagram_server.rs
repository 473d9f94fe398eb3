//! A server of datagrams: one thread, one socket without any of the options that the drivers set but that for the
//! ECN bits, each datagram handed to the case's function.

use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ablaze_net::Address;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// How often the thread looks whether it is to end.
const LOOK: Duration = Duration::from_millis(20);

/// A socket that sends and receives one datagram at a time, with its ECN bits.
pub struct DatagramSocket(Socket);

/// One datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagram {
    pub bytes: Vec<u8>,
    pub ecn: u8,
}

impl DatagramSocket {
    pub fn bind(address: SocketAddr) -> Self {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP)).unwrap();
        if address.is_ipv4() {
            socket.set_recv_tos_v4(true).unwrap();
        } else {
            socket.set_recv_tclass_v6(true).unwrap();
        }
        socket.set_recv_buffer_size(4 * 1024 * 1024).unwrap();
        socket.bind(&address.into()).unwrap();
        Self(socket)
    }

    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap().as_socket().unwrap()
    }

    /// Waits up to `timeout` for a datagram.
    pub fn receive(&self, timeout: Duration) -> Option<(Datagram, SocketAddr)> {
        self.0.set_read_timeout(Some(timeout)).unwrap();
        self.receive_by(0)
    }

    /// A datagram, if there is one.
    pub fn receive_now(&self) -> Option<(Datagram, SocketAddr)> {
        self.receive_by(libc::MSG_DONTWAIT)
    }

    fn receive_by(&self, flags: i32) -> Option<(Datagram, SocketAddr)> {
        let mut bytes = vec![0u8; 65_536];
        let mut control = [0u64; 16];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: the message points at an address, a part and a buffer for control messages with their lengths,
        // all of which outlive the call; the control messages are read as the kernel left them.
        let (count, ecn, from) = unsafe {
            let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
            let mut from: libc::sockaddr_storage = MaybeUninit::zeroed().assume_init();
            message.msg_name = (&raw mut from).cast();
            message.msg_namelen = size_of_val(&from) as libc::socklen_t;
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control);
            let count = libc::recvmsg(self.0.as_raw_fd(), &raw mut message, flags);
            let count = usize::try_from(count).ok()?;
            let first = libc::CMSG_FIRSTHDR(&raw const message);
            assert!(!first.is_null(), "the kernel says the type of service of each");
            let ecn = *libc::CMSG_DATA(first) & 0b11;
            let ((), from) = SockAddr::try_init(|storage, length| {
                *storage.cast() = from;
                *length = message.msg_namelen;
                Ok(())
            })
            .unwrap();
            (count, ecn, from.as_socket().unwrap())
        };
        bytes.truncate(count);
        Some((Datagram { bytes, ecn }, from))
    }

    /// What the kernel does not take for now is tried again.
    pub fn send(&self, datagram: &Datagram, to: SocketAddr) {
        if to.is_ipv4() {
            self.0.set_tos_v4(u32::from(datagram.ecn)).unwrap();
        } else {
            self.0.set_tclass_v6(u32::from(datagram.ecn)).unwrap();
        }
        // A client that is gone refuses.
        let _ = self.0.send_to(&datagram.bytes, &to.into());
    }
}

/// A server thread. [`DatagramServer::join`] ends it and returns what it made.
pub struct DatagramServer<T> {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<T>,
}

impl<T: Default + Send + 'static> DatagramServer<T> {
    /// Hands each datagram to `serve`, with what it gathers over all of them.
    pub fn at(
        address: SocketAddr,
        mut serve: impl FnMut(&DatagramSocket, &mut T, Datagram, SocketAddr) + Send + 'static,
    ) -> Self {
        let socket = DatagramSocket::bind(address);
        let address = socket.address();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut made = T::default();
            loop {
                // What has come by then is served.
                let ends = stopped.load(Ordering::Relaxed);
                match socket.receive(LOOK) {
                    Some((datagram, from)) => serve(&socket, &mut made, datagram, from),
                    None if ends => break made,
                    None => {}
                }
            }
        });
        Self { address, stop, thread }
    }

    pub fn endpoint_address(&self) -> Address {
        Address::Udp(self.address)
    }

    pub fn join(self) -> T {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the server was content")
    }
}
