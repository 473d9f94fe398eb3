//! Datagrams over loopback: their sizes, their marks, and the addresses that they leave from.

use super::*;

impl UdpSocket {
    /// Sends without checksums from now on: of such a socket the kernel takes no lists (`udp_send_skb`).
    pub fn refuse_lists(&self) {
        set(&self.socket, libc::SOL_SOCKET, libc::SO_NO_CHECK, 1).unwrap();
    }
}

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
    from.send(&bytes, bytes.len(), to.address().unwrap(), None, 0).unwrap();
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
        from.send(&bytes, 1_200, to.address().unwrap(), None, 2).unwrap();
        let (sizes, all, marks) = receive(&to, bytes.len());
        assert_eq!(sizes, [[1_200; 8].as_slice(), &[400]].concat(), "{address}");
        assert_eq!(all, bytes);
        assert!(marks.iter().all(|mark| *mark == 2), "{marks:?}");
        from.send(b"one", 3, to.address().unwrap(), None, 0).unwrap();
        assert_eq!(receive(&to, 3), (vec![3], b"one".to_vec(), vec![0]));
    }
}

/// A client knows its server by the address that it sent to: a connected socket takes nothing from another.
#[test]
fn a_socket_at_all_addresses_answers_from_the_one_that_was_asked() {
    let cases = [("0.0.0.0:0", "127.0.0.2"), ("[::]:0", "127.0.0.3"), ("[::]:0", "::1")];
    for (bound, asked) in cases {
        let options = SocketOptions::default();
        let server = UdpSocket::bind(bound.parse().unwrap(), false, &options).unwrap();
        let any = if asked.contains(':') { "[::1]:0" } else { "127.0.0.1:0" };
        let client = std::net::UdpSocket::bind(any).unwrap();
        client.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let port = server.address().unwrap().port();
        client.connect((asked.parse::<IpAddr>().unwrap(), port)).unwrap();
        client.send(b"asked").unwrap();
        let received = received(&server);
        assert_eq!(received.at.map(|at| at.to_canonical()), Some(asked.parse().unwrap()));
        // As one list, with a mark: three control messages.
        server.send(&[7; 2_500], 1_200, received.from, received.at, 2).unwrap();
        let mut buffer = [0; 2_000];
        let sizes: Vec<usize> = (0..3).map(|_| client.recv(&mut buffer).unwrap()).collect();
        assert_eq!(sizes, [1_200, 1_200, 100], "{bound} at {asked}");
    }
    // Bound to one, there is nothing to say.
    let (from, to) = pair("127.0.0.1:0");
    from.send(b"one", 3, to.address().unwrap(), None, 0).unwrap();
    assert_eq!(received(&to).at, None);
}

fn received(socket: &UdpSocket) -> Received {
    let mut buffer = vec![0; RECEIVED_BYTES_MAX];
    for _ in 0..10_000 {
        match socket.receive(&mut buffer) {
            Ok(received) => return received,
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    }
    panic!("nothing came");
}
