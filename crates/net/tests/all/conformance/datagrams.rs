//! Sockets for datagrams.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Duration;

use ablaze_net::driver::{CloseReason, Io, OutDatagrams, Receive};
use ablaze_net::{Address, CloseHow, Endpoint};
use socket2::SockRef;

use crate::conformance::TestDriver;
use crate::conformance::datagram_server::{Datagram, DatagramServer, DatagramSocket};
use crate::conformance::recorder::{
    Event, Recorder, driver_to, pattern, run, run_for, setup, turn,
};

const ECN: u8 = 0b10;

/// A server that sends back what it gets.
fn echo(address: &str) -> DatagramServer<u64> {
    DatagramServer::at(address.parse().unwrap(), |socket, count, datagram, from| {
        *count += 1;
        socket.send(&datagram, from);
    })
}

/// The datagrams of a slot, one by one.
fn received<I: Io>(recorder: &Recorder<I>, slot: u32) -> Vec<Datagram> {
    let mut all = Vec::new();
    for (of, event) in &recorder.events {
        if let (true, Event::Datagrams { bytes, segment_bytes, ecn }) = (*of == slot, event) {
            let parts = bytes.chunks(*segment_bytes);
            all.extend(parts.map(|bytes| Datagram { bytes: bytes.to_vec(), ecn: *ecn }));
        }
    }
    all
}

fn send<I: Io>(io: &mut I, slot: u32, bytes: &[u8], segment_bytes: usize) {
    io.send_datagrams(slot, OutDatagrams { bytes, segment_bytes, ecn: 0 });
}

fn exchange_batches<D: TestDriver>(address: &str) {
    let server = echo(address);
    let mut driver: D = driver_to(server.endpoint_address(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    let mut expected = Vec::new();
    for count in 1..=64 {
        // The last is shorter, by another length each time.
        let bytes = pattern(count * 1000 - 13 * count);
        send(driver.io(), 0, &bytes, 1000);
        expected.extend(bytes.chunks(1000).map(<[u8]>::to_vec));
        let until = expected.len();
        run(&mut driver, &mut recorder, |recorder| received(recorder, 0).len() >= until);
    }
    let came: Vec<_> = received(&recorder, 0).into_iter().map(|datagram| datagram.bytes).collect();
    assert!(came == expected, "what came back is what was sent, in order");
    let counts = driver.io().datagram_counts(0);
    assert_eq!(counts.sent.datagrams, expected.len() as u64);
    assert_eq!(counts.sent.bytes, counts.received.bytes);
    assert_eq!(counts.received.datagrams, expected.len() as u64);
    assert_eq!((counts.dropped, counts.given_up, counts.no_segmentation), (0, 0, None));
    assert_eq!(counts.sent.calls, 64, "one for each batch");
    assert_eq!(server.join(), expected.len() as u64);
}

pub fn batches_of_every_size_are_exchanged_over_ipv4<D: TestDriver>() {
    exchange_batches::<D>("127.0.0.1:0");
}

pub fn batches_of_every_size_are_exchanged_over_ipv6<D: TestDriver>() {
    exchange_batches::<D>("[::1]:0");
}

fn carry_ecn<D: TestDriver>(listen: &str, map: fn(SocketAddr) -> SocketAddr) {
    let server = DatagramServer::at(
        listen.parse().unwrap(),
        |socket, seen: &mut Vec<u8>, datagram, from| {
            seen.push(datagram.ecn);
            let ecn = (datagram.ecn + 1) % 4;
            socket.send(&Datagram { ecn, ..datagram }, from);
        },
    );
    let mut driver: D = driver_to(Address::Udp(map(server.address)), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    for ecn in 0..4 {
        driver.io().send_datagrams(0, OutDatagrams { bytes: &[ecn; 20], segment_bytes: 10, ecn });
        let until = 2 * (usize::from(ecn) + 1);
        run(&mut driver, &mut recorder, |recorder| received(recorder, 0).len() >= until);
    }
    let came: Vec<_> = received(&recorder, 0).iter().map(|datagram| datagram.ecn).collect();
    assert_eq!(came, [1, 1, 2, 2, 3, 3, 0, 0]);
    assert_eq!(server.join(), [0, 0, 1, 1, 2, 2, 3, 3]);
}

pub fn ecn_is_carried_both_ways_over_ipv4<D: TestDriver>() {
    carry_ecn::<D>("127.0.0.1:0", |address| address);
}

pub fn ecn_is_carried_both_ways_over_ipv6<D: TestDriver>() {
    carry_ecn::<D>("[::1]:0", |address| address);
}

pub fn ecn_is_carried_to_an_ipv4_address_written_as_ipv6<D: TestDriver>() {
    carry_ecn::<D>("127.0.0.1:0", |address| {
        let SocketAddr::V4(address) = address else { panic!("{address}") };
        (address.ip().to_ipv6_mapped(), address.port()).into()
    });
}

/// Loopback's packets have 65,536 bytes, of which IPv4 can name 65,535.
pub fn the_longest_datagram_of_the_device_is_known_and_exchanged<D: TestDriver>() {
    let packet_bytes = std::fs::read_to_string("/sys/class/net/lo/mtu").unwrap();
    let packet_bytes: u32 = packet_bytes.trim().parse().unwrap();
    let mapped = |address| match address {
        SocketAddr::V4(v4) => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
        SocketAddr::V6(_) => address,
    };
    let cases: [(&str, bool, u32); 3] = [
        ("127.0.0.1:0", false, packet_bytes.min(65_535) - 28),
        ("127.0.0.1:0", true, packet_bytes.min(65_535) - 28),
        ("[::1]:0", false, packet_bytes.min(65_575) - 48),
    ];
    for (listen, as_ipv6, longest) in cases {
        let server = echo(listen);
        let address = if as_ipv6 { mapped(server.address) } else { server.address };
        let mut driver: D = driver_to(Address::Udp(address), b"");
        let mut recorder = Recorder::silent();
        driver.io().open(0, 0, None, Receive::Pause);
        run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
        let known = driver.io().datagram_bytes_max(0);
        assert_eq!(known.map(u32::from), Some(longest), "{address}");
        let bytes = pattern(longest as usize);
        send(driver.io(), 0, &bytes, bytes.len());
        run(&mut driver, &mut recorder, |recorder| !received(recorder, 0).is_empty());
        let came = received(&recorder, 0);
        assert!(came.len() == 1 && came[0].bytes == bytes, "{address}");
        assert_eq!(server.join(), 1);
    }
}

/// Ten thousand each way, of which as many are under way as any socket holds.
pub fn both_ends_count_the_same<D: TestDriver>() {
    const ALL: u64 = 10_000;
    let server = echo("127.0.0.1:0");
    let mut driver: D = driver_to(server.endpoint_address(), b"");
    let left = Rc::new(RefCell::new(ALL));
    let batch = pattern(50 * 300);
    let reacting = left.clone();
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| {
        let answered = match event {
            Event::Opened => 50,
            Event::Datagrams { bytes, segment_bytes, .. } => bytes.len().div_ceil(*segment_bytes),
            _ => return,
        };
        let now = (*reacting.borrow()).min(answered as u64);
        *reacting.borrow_mut() -= now;
        if now > 0 {
            send(io, slot, &batch[..now as usize * 300], 300);
        }
    });
    driver.io().open(0, 0, None, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.datagrams_of(0) >= ALL as usize);
    let counts = driver.io().datagram_counts(0);
    assert_eq!((counts.sent.datagrams, counts.received.datagrams), (ALL, ALL));
    assert_eq!(counts.sent.bytes, 300 * ALL);
    assert!(!driver.io().unsent(0));
    assert_eq!(server.join(), ALL);
}

/// Two endpoints that are each other's peer, and so two slots of one driver that talk to each other.
fn endpoints_facing_each_other() -> Vec<Endpoint> {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    // Free a moment ago; nothing else here asks for a port by number.
    let [one, other] = [DatagramSocket::bind(any), DatagramSocket::bind(any)];
    let [one, other] = [one.address(), other.address()];
    let facing = |here: SocketAddr, there: SocketAddr| {
        let mut endpoint = Endpoint::new(Address::Udp(there));
        endpoint.local_ports = Some(here.port()..=here.port());
        endpoint
    };
    vec![facing(one, other), facing(other, one)]
}

pub fn what_leaves_in_one_call_arrives_in_one<D: TestDriver>() {
    let mut driver = D::make(setup(2, endpoints_facing_each_other(), b"")).unwrap();
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    driver.io().open(1, 1, None, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 2);
    let bytes = pattern(63 * 1000 + 1);
    driver.io().send_datagrams(0, OutDatagrams { bytes: &bytes, segment_bytes: 1000, ecn: ECN });
    run(&mut driver, &mut recorder, |recorder| recorder.datagrams_of(1) >= 64);
    let expected = Event::Datagrams { bytes, segment_bytes: 1000, ecn: ECN };
    assert_eq!(recorder.count(&expected), 1, "all of it in one piece, cut where it was");
    let received = driver.io().datagram_counts(1).received;
    assert_eq!((received.calls, received.datagrams, received.bytes), (1, 64, 63_001));
    assert_eq!(driver.io().datagram_counts(0).sent, received);
}

pub fn a_local_port_is_for_one_socket<D: TestDriver>() {
    let mut driver = D::make(setup(2, endpoints_facing_each_other(), b"")).unwrap();
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    driver.io().open(1, 0, None, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(1).is_some());
    assert_eq!(recorder.closed(1), Some(CloseReason::Here("bind", libc::EADDRINUSE)));
    assert_eq!(recorder.closed(0), None);
}

pub fn a_refused_port_ends_the_slot_behind_what_came<D: TestDriver>() {
    let far = DatagramSocket::bind("127.0.0.1:0".parse().unwrap());
    let mut driver: D = driver_to(Address::Udp(far.address()), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    send(driver.io(), 0, b"hello", 5);
    turn(&mut driver, &mut recorder, 0);
    turn(&mut driver, &mut recorder, 0);
    let (_, from) = far.receive(Duration::from_secs(20)).expect("the first datagram arrives");
    for number in 0..3 {
        far.send(&Datagram { bytes: vec![number; 7], ecn: 0 }, from);
    }
    drop(far);
    send(driver.io(), 0, b"nobody", 6);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(recorder.closed(0), Some(CloseReason::Transfer(libc::ECONNREFUSED)));
    assert_eq!(received(&recorder, 0).len(), 3, "what came before is delivered first");
    assert_eq!(recorder.closes(0).count(), 1);
    assert_eq!(driver.io().datagram_counts(0).received.datagrams, 3, "it can still be asked");
}

pub fn every_manner_of_closing_closes_at_once<D: TestDriver>() {
    let server = echo("127.0.0.1:0");
    let mut driver: D = driver_to(server.endpoint_address(), b"");
    let mut recorder = Recorder::silent();
    for how in [CloseHow::AwaitPeer, CloseHow::Fin, CloseHow::Reset] {
        recorder.events.clear();
        driver.io().open(1, 0, None, Receive::Pause);
        run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
        send(driver.io(), 1, &pattern(6400), 100);
        driver.io().close(1, how);
        driver.io().close(1, how);
        run(&mut driver, &mut recorder, |recorder| recorder.closed(1).is_some());
        run_for(&mut driver, &mut recorder, Duration::from_millis(10));
        assert_eq!(recorder.closes(1).collect::<Vec<_>>(), [CloseReason::Local], "{how:?}");
        assert!(!driver.io().unsent(1));
    }
    assert_eq!(
        server.join(),
        3 * 64,
        "what was sent before arrives, such as QUIC's word of the close"
    );
}

pub fn a_socket_closed_before_anything_is_told_of_it_is_closed<D: TestDriver>() {
    let server = echo("127.0.0.1:0");
    let mut driver: D = driver_to(server.endpoint_address(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(1, 0, None, Receive::Pause);
    send(driver.io(), 1, b"word", 4);
    driver.io().close(1, CloseHow::Reset);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(1).is_some());
    assert_eq!(recorder.closes(1).collect::<Vec<_>>(), [CloseReason::Local]);
    assert_eq!(server.join(), 1, "what was sent before arrives");
}

pub fn a_slot_opened_again_gets_nothing_of_its_last_socket<D: TestDriver>() {
    let far = DatagramSocket::bind("127.0.0.1:0".parse().unwrap());
    let mut driver: D = driver_to(Address::Udp(far.address()), b"");
    let reopened = Rc::new(RefCell::new(0));
    let again = reopened.clone();
    let mut recorder = Recorder::new(move |io: &mut D::Io, slot, event| {
        if let Event::Closed(_) = event
            && *again.borrow() < 20
        {
            *again.borrow_mut() += 1;
            io.open(slot, 0, None, Receive::Pause);
        }
    });
    driver.io().open(0, 0, None, Receive::Pause);
    for number in 0..20u8 {
        send(driver.io(), 0, &[number; 5], 5);
        let (datagram, from) = loop {
            turn(&mut driver, &mut recorder, 1_000_000);
            if let Some(came) = far.receive(Duration::from_millis(1)) {
                break came;
            }
        };
        assert_eq!(datagram.bytes, [number; 5]);
        assert_eq!(received(&recorder, 0).len(), 0, "of the socket before");
        let late = Datagram { bytes: vec![number; 9], ecn: ECN };
        far.send(&late, from);
        driver.io().close(0, CloseHow::Fin);
        far.send(&late, from);
        run(&mut driver, &mut recorder, |recorder| {
            recorder.count(&Event::Opened) == usize::from(number) + 2
        });
        assert_eq!(driver.io().datagram_counts(0).received.datagrams, 0);
        recorder.events.retain(|(_, event)| !matches!(event, Event::Datagrams { .. }));
    }
}

/// The driver does not turn while more comes than fits.
pub fn what_the_full_receive_buffer_drops_is_counted<D: TestDriver>() {
    const SENT: usize = 3000;
    let far = DatagramSocket::bind("127.0.0.1:0".parse().unwrap());
    let mut endpoint = Endpoint::new(Address::Udp(far.address()));
    endpoint.options.receive_buffer_bytes = Some(32 * 1024);
    let mut driver = D::make(setup(1, vec![endpoint], b"")).unwrap();
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    send(driver.io(), 0, b"hello", 5);
    turn(&mut driver, &mut recorder, 0);
    turn(&mut driver, &mut recorder, 0);
    let (_, from) = far.receive(Duration::from_secs(20)).expect("the first datagram arrives");
    for number in 0..SENT {
        far.send(&Datagram { bytes: number.to_le_bytes().to_vec(), ecn: 0 }, from);
    }
    run_for(&mut driver, &mut recorder, Duration::from_millis(50));
    let counts = driver.io().datagram_counts(0);
    let (came, dropped) = (counts.received.datagrams, counts.dropped);
    assert!(came > 0 && dropped > 0, "{counts:?}");
    assert_eq!(came + dropped, SENT as u64);
    driver.io().close(0, CloseHow::Fin);
    run(&mut driver, &mut recorder, |recorder| recorder.closed(0).is_some());
    assert_eq!(driver.io().datagram_counts(0).dropped, dropped, "it can still be asked");
}

/// A socket without checksums is one that the kernel does not cut datagrams for (`udp_send_skb`).
pub fn where_the_kernel_does_not_cut_each_datagram_is_a_call<D: TestDriver>() {
    let server = echo("127.0.0.1:0");
    let mut driver: D = driver_to(server.endpoint_address(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    send_without_checksums(server.address);
    let bytes = pattern(20_500);
    send(driver.io(), 0, &bytes, 1000);
    run(&mut driver, &mut recorder, |recorder| recorder.datagrams_of(0) >= 21);
    send(driver.io(), 0, b"behind", 6);
    run(&mut driver, &mut recorder, |recorder| recorder.datagrams_of(0) >= 22);
    let came: Vec<_> = received(&recorder, 0).into_iter().map(|datagram| datagram.bytes).collect();
    assert!(came.concat() == [&bytes[..], b"behind"].concat(), "all of it, in order");
    let counts = driver.io().datagram_counts(0);
    assert_eq!(counts.no_segmentation, Some(libc::EINVAL));
    assert_eq!((counts.sent.datagrams, counts.sent.calls), (22, 22));
    server.join();
}

/// Finds this process's socket that is connected to the server.
fn send_without_checksums(server: SocketAddr) {
    let sockets = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
        let number = entry.unwrap().file_name().to_str().unwrap().parse().unwrap();
        // SAFETY: whatever it is by now, it is only asked for its peer; only the driver of this case has a socket
        // with this peer, and the driver stays.
        let socket = unsafe { BorrowedFd::borrow_raw(number) };
        let peer = SockRef::from(&socket).peer_addr().ok()?.as_socket()?;
        (peer == server).then_some(number)
    });
    let socket: Vec<i32> = sockets.collect();
    assert_eq!(socket.len(), 1);
    let on: libc::c_int = 1;
    // SAFETY: the value is an int on this frame, given with its size.
    let set = unsafe {
        libc::setsockopt(
            socket[0],
            libc::SOL_SOCKET,
            libc::SO_NO_CHECK,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    assert_eq!(set, 0);
}

/// Longer than the path takes: lost, as QUIC wants to find out.
pub fn a_datagram_too_long_for_the_path_is_lost<D: TestDriver>() {
    let server = echo("127.0.0.1:0");
    let mut driver: D = driver_to(server.endpoint_address(), b"");
    let mut recorder = Recorder::silent();
    driver.io().open(0, 0, None, Receive::Pause);
    run(&mut driver, &mut recorder, |recorder| recorder.count(&Event::Opened) == 1);
    // Loopback takes 65,536 bytes, and UDP has 65,507 of an IPv4 packet.
    send(driver.io(), 0, &pattern(65_508), 65_508);
    send(driver.io(), 0, b"short", 5);
    run(&mut driver, &mut recorder, |recorder| recorder.datagrams_of(0) >= 1);
    assert_eq!(received(&recorder, 0)[0].bytes, b"short");
    assert_eq!(driver.io().datagram_counts(0).sent.datagrams, 1);
    server.join();
}
