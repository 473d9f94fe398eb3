//! A load over HTTP/3 by quiche with as little around it as there can be: one thread, a socket for each connection, epoll, batches
//! in and out (UDP_GRO, UDP_SEGMENT), nothing recorded. What a client on quiche costs at least, beside ablaze's on quinn-proto.
//! Certificates are not verified.
//!
//! Nothing builds it; it was measured once (results/2026-11-26-http3-quiche-amd-epyc-2-cpus.md). It is the `src/main.rs` of a package
//! that depends on quiche 0.24.9 and libc 0.2, profile release with `lto = "fat"`, `codegen-units = 1`, `panic = "abort"`. In quiche's
//! `src/crypto/boringssl.rs` the two `EVP_aead_aes_*_gcm_tls13` were replaced by the ones without `_tls13`: with them BoringSSL refused to
//! seal the sixth packet (INVALID_NONCE), and nothing more was sent.
//!
//! `quiche-load HOST:PORT PATH CONNECTIONS STREAMS REQUESTS`

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use quiche::h3::{self, NameValue};

const BUFFER: usize = 1 << 16;

struct Client {
    socket: UdpSocket,
    local: SocketAddr,
    quic: quiche::Connection,
    http: Option<h3::Connection>,
    in_flight: usize,
}

struct Load {
    peer: SocketAddr,
    headers: Vec<h3::Header>,
    http: h3::Config,
    streams: usize,
    to_send: usize,
    to_receive: usize,
    body_bytes: u64,
    failed: u64,
    received: Vec<u8>,
    sent: Vec<u8>,
    body: Vec<u8>,
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let peer: SocketAddr = words[1].parse().unwrap();
    let number = |at: usize| words[at].parse::<usize>().unwrap();
    let (connections, streams, requests) = (number(3), number(4), number(5));
    let header = |name: &str, value: &str| h3::Header::new(name.as_bytes(), value.as_bytes());
    let mut load = Load {
        peer,
        headers: vec![
            header(":method", "GET"),
            header(":scheme", "https"),
            header(":authority", &words[1]),
            header(":path", &words[2]),
            header("user-agent", "quiche-load"),
        ],
        http: h3::Config::new().unwrap(),
        streams,
        to_send: requests,
        to_receive: requests,
        body_bytes: 0,
        failed: 0,
        received: vec![0; BUFFER],
        sent: vec![0; BUFFER],
        body: vec![0; BUFFER],
    };
    // SAFETY: takes no memory of ours.
    let epoll = unsafe { libc::epoll_create1(0) };
    let mut clients: Vec<Client> = (0..connections).map(|at| open(at, peer, epoll)).collect();
    for client in &mut clients {
        load.send(client);
    }
    let mut events: Vec<libc::epoll_event> =
        vec![libc::epoll_event { events: 0, u64: 0 }; connections];
    let begun = Instant::now();
    while load.to_receive > 0 {
        assert!(begun.elapsed() < Duration::from_secs(100), "{} left", load.to_receive);
        let wait = clients.iter().filter_map(|client| client.quic.timeout()).min();
        let wait_ms = wait.map_or(1_000, |wait| wait.as_millis() as i32 + 1);
        // SAFETY: `events` has room for as many as are said, and outlives the call.
        let ready =
            unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), connections as i32, wait_ms) };
        for event in &events[..ready.max(0) as usize] {
            let client = &mut clients[event.u64 as usize];
            load.receive(client);
            load.send(client);
        }
        for client in &mut clients {
            if client.quic.timeout() == Some(Duration::ZERO) {
                client.quic.on_timeout();
                load.send(client);
            }
        }
    }
    println!(
        "{requests} responses, {} failed, {} bytes of bodies, {:?}",
        load.failed,
        load.body_bytes,
        begun.elapsed()
    );
}

fn open(at: usize, peer: SocketAddr, epoll: i32) -> Client {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(peer).unwrap();
    socket.set_nonblocking(true).unwrap();
    let on: i32 = 1;
    // SAFETY: `on` and `event` outlive the calls, whose lengths are theirs.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_UDP,
            libc::UDP_GRO,
            (&raw const on).cast(),
            4,
        )
    };
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: at as u64 };
    // SAFETY: as above.
    unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, socket.as_raw_fd(), &mut event) };
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).unwrap();
    config.set_application_protos(h3::APPLICATION_PROTOCOL).unwrap();
    config.verify_peer(false);
    config.set_max_idle_timeout(30_000);
    config.set_max_recv_udp_payload_size(65_507);
    config.set_max_send_udp_payload_size(1_452);
    config.set_initial_max_data(16 << 20);
    config.set_initial_max_stream_data_bidi_local(4 << 20);
    config.set_initial_max_stream_data_uni(1 << 20);
    config.set_max_connection_window(64 << 20);
    config.set_max_stream_window(16 << 20);
    config.set_initial_max_streams_bidi(100);
    config.set_initial_max_streams_uni(100);
    config.set_disable_active_migration(true);
    let local = socket.local_addr().unwrap();
    let mut id = [7u8; 16];
    id[..8].copy_from_slice(&(at as u64 + 1).to_le_bytes());
    let quic = quiche::connect(
        Some("localhost"),
        &quiche::ConnectionId::from_ref(&id),
        local,
        peer,
        &mut config,
    )
    .unwrap();
    Client { socket, local, quic, http: None, in_flight: 0 }
}

impl Load {
    fn receive(&mut self, client: &mut Client) {
        while let Ok((bytes, segment)) = receive(&client.socket, &mut self.received) {
            for datagram in self.received[..bytes].chunks_mut(segment) {
                let info = quiche::RecvInfo { from: self.peer, to: client.local };
                let _ = client.quic.recv(datagram, info);
            }
        }
        if client.http.is_none() && client.quic.is_established() {
            client.http =
                Some(h3::Connection::with_transport(&mut client.quic, &self.http).unwrap());
        }
        let Some(http) = &mut client.http else { return };
        loop {
            match http.poll(&mut client.quic) {
                Ok((_, h3::Event::Headers { list, .. })) => {
                    self.failed += u64::from(list[0].value() != b"200");
                }
                Ok((stream, h3::Event::Data)) => {
                    while let Ok(bytes) = http.recv_body(&mut client.quic, stream, &mut self.body) {
                        self.body_bytes += bytes as u64;
                    }
                }
                Ok((_, h3::Event::Finished)) => {
                    client.in_flight -= 1;
                    self.to_receive -= 1;
                }
                Ok((_, h3::Event::Reset(code))) => panic!("reset {code}"),
                Ok(_) => {}
                Err(h3::Error::Done) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn send(&mut self, client: &mut Client) {
        if let Some(http) = &mut client.http {
            while client.in_flight < self.streams && self.to_send > 0 {
                match http.send_request(&mut client.quic, &self.headers, true) {
                    Ok(_) => {
                        client.in_flight += 1;
                        self.to_send -= 1;
                    }
                    Err(h3::Error::StreamBlocked) => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        // Datagrams of one length go together.
        let (mut at, mut segment) = (0, 0);
        loop {
            let made = client.quic.send(&mut self.sent[at..at + 1_500]);
            let length = made.map_or(0, |(length, _)| length);
            if segment == 0 {
                segment = length;
            }
            if length > segment {
                send(&client.socket, &self.sent[..at], segment);
                self.sent.copy_within(at..at + length, 0);
                (at, segment) = (length, length);
                continue;
            }
            at += length;
            if length == 0 || length < segment || at / segment >= 40 {
                if at > 0 {
                    send(&client.socket, &self.sent[..at], segment);
                }
                (at, segment) = (0, 0);
            }
            if length == 0 {
                return;
            }
        }
    }
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, usize)> {
    let mut control = [0u64; 8];
    let mut slice = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all bytes zero is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut slice;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: the lengths in `message` are those of `buffer` and `control`, which outlive the call.
    let bytes = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, 0) };
    if bytes <= 0 {
        return Err(io::Error::last_os_error());
    }
    let mut segment = bytes as usize;
    // SAFETY: the kernel filled `control`, and says in `message` how far.
    unsafe {
        let head = libc::CMSG_FIRSTHDR(&message);
        if !head.is_null() && (*head).cmsg_type == libc::UDP_GRO {
            segment = libc::CMSG_DATA(head).cast::<i32>().read_unaligned() as usize;
        }
    }
    Ok((bytes as usize, segment.max(1)))
}

fn send(socket: &UdpSocket, bytes: &[u8], segment: usize) {
    let mut control = [0u64; 4];
    let mut slice =
        libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all bytes zero is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut slice;
    message.msg_iovlen = 1;
    // SAFETY: `control` has room for the one message that is written, and all that `message` points to outlives the call.
    unsafe {
        if bytes.len() > segment {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(2) as usize;
            let head = libc::CMSG_FIRSTHDR(&message);
            (*head).cmsg_level = libc::SOL_UDP;
            (*head).cmsg_type = libc::UDP_SEGMENT;
            (*head).cmsg_len = libc::CMSG_LEN(2) as usize;
            libc::CMSG_DATA(head).cast::<u16>().write_unaligned(segment as u16);
        }
        libc::sendmsg(socket.as_raw_fd(), &message, 0);
    }
}
